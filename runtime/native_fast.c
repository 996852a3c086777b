#include "runtime/native_fast.h"

#include <stdlib.h>

#include "runtime/native_state.h"

/* In a word: state, how often it was taken, ticket. */
enum { FREE = 1, HELD = 2, STATES = 3 };
#define TAKEN_ONE  UINT64_C(4)
#define TAKEN_MAX  ((UINT64_C(1) << 30) - 1)
#define TICKET_BIT 32

/* What a thread has left: where, and what the word was then. */
struct left {
    uint64_t address; /* 0: nothing */
    uint64_t word;
    struct native_fast_slot *slot;
};

#define LEFT_SLOTS 64

/* One pointer, so that it may lie where no call is needed to find it. */
static _Thread_local struct left *left
    __attribute__((tls_model("initial-exec")));

static uint64_t taken_times(uint64_t word)
{
    return (word / TAKEN_ONE) & TAKEN_MAX;
}

static struct left *left_at(uint64_t address)
{
    return &left[(address / PAGE_BYTES * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
}

_Static_assert(LEFT_SLOTS == 1 << 6, "left_at() keeps 6 bits");

/* Swap the word of @address from what it should be; @by is what that adds. */
static inline bool swap(uint64_t address, unsigned from, uint64_t by,
                        memory_order order)
{
    struct left *l;
    uint64_t word;

    if (!left)
        return false;
    l = left_at(address);
    word = l->word;
    if (l->address != address || (word & STATES) != from)
        return false;
    if (atomic_compare_exchange_strong_explicit(&l->slot->word, &word,
                                                l->word + by, order,
                                                memory_order_relaxed)) {
        l->word += by;
        return true;
    }
    l->address = 0;
    return false;
}

bool native_fast_take(uint64_t address)
{
    return swap(address, FREE, TAKEN_ONE + HELD - FREE, memory_order_acquire);
}

bool native_fast_give(uint64_t address)
{
    return swap(address, HELD, (uint64_t)FREE - HELD, memory_order_release);
}

void native_fast_forget(void)
{
    free(left);
    left = NULL;
}

/* Takes and gives are counted when the slot is emptied. */
static void count(const struct native_fast_slot *slot, uint64_t word)
{
    struct runtime_rank *rank = &runtime.shared->ranks[slot->local];
    uint64_t times = taken_times(word);

    if (!times)
        return;
    runtime_count(rank, RUNTIME_COUNT_ACQUIRES, times);
    runtime_count(rank, RUNTIME_COUNT_RELEASES,
                  times - ((word & STATES) == HELD));
}

static void empty(struct native_fast *fast, struct native_fast_slot *slot)
{
    struct proto_effects *effects;
    uint64_t word =
        atomic_exchange_explicit(&slot->word, 0, memory_order_acq_rel);

    fast->used--;
    count(slot, word);
    if ((word & STATES) != FREE)
        return;
    effects = native_effects();
    proto_release(&native.node, slot->rank, slot->region, effects);
    native_do(effects, NULL);
}

void native_fast_settle(struct native_fast *fast,
                        const struct proto_region *root, bool keep_own)
{
    for (int i = 0; i < NATIVE_FAST_SLOTS && fast->used; i++) {
        struct native_fast_slot *slot = &fast->slot[i];
        uint64_t word =
            atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (!word || (root && slot->root != root))
            continue;
        if (keep_own && slot->rank == native.rank && (word & STATES) == HELD)
            continue;
        empty(fast, slot);
    }
}

/* Would the release be of one WRITE hold, with nobody and nothing to serve? */
static bool may_be_left(const struct proto_region *r)
{
    return r->write_rank == native.rank && r->write_count == 1 && r->owned &&
           !r->dead && !r->gone && !r->waiting && !r->reads && !r->away &&
           !r->pinned && r->busy == 1;
}

bool native_fast_leave(struct native_fast *fast, struct proto_region *region)
{
    struct native_fast_slot *slot = &fast->slot[fast->next];
    struct left *l;

    if (!may_be_left(region))
        return false;
    if (!left) {
        left = calloc(LEFT_SLOTS, sizeof(*left));
        if (!left)
            return false;
        native_thread_keeps();
    }
    fast->next = (fast->next + 1) % NATIVE_FAST_SLOTS;
    if (atomic_load_explicit(&slot->word, memory_order_relaxed))
        empty(fast, slot);
    slot->region = region;
    slot->root = region->root;
    slot->rank = native.rank;
    slot->local = runtime.local;
    l = left_at(region->address);
    *l = (struct left){
        .address = region->address,
        .word = (uint64_t)++fast->ticket << TICKET_BIT | FREE,
        .slot = slot,
    };
    fast->used++;
    atomic_store_explicit(&slot->word, l->word, memory_order_release);
    return true;
}
