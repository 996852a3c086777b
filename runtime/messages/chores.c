/* Chores wait in a stack of control memory and are done in pieces. */
#include "runtime/messages/chores.h"

#include <stddef.h>

#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/process.h"
#include "runtime/shared.h"

static chore_piece *pieces[CHORE_KINDS];

/* Begun and not over, the next one first; of the leader, under `turns`. */
static struct runtime_chore *first, *last;

void chore_handle(enum chore_kind kind, chore_piece *piece)
{
    pieces[kind] = piece;
}

void chore_begin(struct runtime_chore *chore, enum chore_kind kind)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    struct runtime_chore *head =
        atomic_load_explicit(&box->chores, memory_order_relaxed);

    chore->kind = kind;
    /* Like a message that is not sent yet: the node is not quiescent. */
    atomic_fetch_add(&box->pending, 1);
    /* seq_cst, and so is the look at `asleep` in outbox_wake(): either that
     * sees that the progress thread is about to sleep, or it sees the chore
     * (progress_idle.c). */
    do {
        chore->next = head;
        passed_give();
    } while (!atomic_compare_exchange_weak(&box->chores, &head, chore));
    outbox_wake();
}

static void append(struct runtime_chore *chore)
{
    chore->next = NULL;
    if (last)
        last->next = chore;
    else
        first = chore;
    last = chore;
}

/* Those begun since, the oldest first. */
static void take_new(struct runtime_outbox *box)
{
    struct runtime_chore *stack, *reversed = NULL;

    /* A hint; the exchange below acquires. */
    if (!atomic_load_explicit(&box->chores, memory_order_relaxed))
        return;
    stack = atomic_exchange(&box->chores, NULL);
    passed_take();
    while (stack) {
        struct runtime_chore *next = stack->next;

        stack->next = reversed;
        reversed = stack;
        stack = next;
    }
    while (reversed) {
        struct runtime_chore *next = reversed->next;

        append(reversed);
        reversed = next;
    }
}

int chores_advance(void)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    struct runtime_chore *chore;

    take_new(box);
    chore = first;
    if (!chore)
        return 0;
    first = chore->next;
    if (!first)
        last = NULL;
    if (pieces[chore->kind](chore))
        atomic_fetch_sub(&box->pending, 1);
    else
        append(chore);
    return 1;
}
