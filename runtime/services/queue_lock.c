/* Queue locks: the calls, and the threads of a rank in their order. */
#include "runtime/services/queue_lock.h"

#include "memory/passed.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/services/queue_lock_state.h"
#include "runtime/shared.h"

/* Its address tells threads apart. */
static _Thread_local char self __attribute__((tls_model("initial-exec")));

/* --- Threads of a rank ---------------------------------------------------- */

/*
 * A ticket lock: `tickets` counts those given, `served` those that are over.
 * What a thread did with the lock comes before what the next one does, as
 * ticket_give() rings `served` (release) and the next one reads it (acquire).
 * So the exchanges on `tickets` need no order: each gives a ticket once.
 */
#define TICKET_TRY UINT32_C(1)
#define TICKET_ONE UINT32_C(2)

/* How many tickets are not over that were given before the next one. */
static uint32_t tickets_before(uint32_t tickets, uint32_t over)
{
    return (tickets - over * TICKET_ONE) / TICKET_ONE;
}

static int ticket_take(struct queue_lock *lock)
{
    uint32_t tickets =
        atomic_load_explicit(&lock->tickets, memory_order_relaxed);
    uint32_t now;
    int err = 0;

    while (!atomic_compare_exchange_weak(&lock->tickets, &tickets,
                                         (tickets + TICKET_ONE) & ~TICKET_TRY))
        continue;
    while (!err && tickets_before(tickets, now = doorbell_read(&lock->served)))
        err = doorbell_wait(&lock->served, now, WAIT_FOREVER);
    return err;
}

/*
 * A thread that tries may be about to give up although the lock is free by now.
 * So a second thread that tries waits until the first one's try is decided.
 *
 * `served` is read again after `tickets` (acquire): if it has not moved the two
 * were so at one time.  `tried` is read before both; ticket_tried() rings it
 * after it has changed one of them, so that no change is slept over.
 */
static int ticket_try(struct queue_lock *lock)
{
    int err = 0;

    while (!err) {
        uint32_t tried = doorbell_read(&lock->tried);
        uint32_t now = doorbell_read(&lock->served);
        uint32_t tickets = atomic_load(&lock->tickets);
        uint32_t before = tickets_before(tickets, now);

        if (doorbell_read(&lock->served) != now)
            continue;
        if (before > 1 || (before && !(tickets & TICKET_TRY)))
            return DRASYNC_EAGAIN;
        if (before)
            err = doorbell_wait(&lock->tried, tried, WAIT_FOREVER);
        else if (atomic_compare_exchange_strong(&lock->tickets, &tickets,
                                                (tickets + TICKET_ONE) |
                                                    TICKET_TRY))
            return 0;
    }
    return err;
}

static void ticket_give(struct queue_lock *lock)
{
    doorbell_ring(&lock->served);
}

/* The try is decided: it has the lock, or gives its ticket up. */
static void ticket_tried(struct queue_lock *lock, bool had)
{
    if (had)
        atomic_fetch_and(&lock->tickets, ~TICKET_TRY);
    else
        ticket_give(lock);
    doorbell_ring(&lock->tried);
}

/* Relaxed: only this thread stores its own address, and takes it away; or
 * queue_lock_free() does, when the thread does nothing more with the lock. */
static bool is_mine(const struct queue_lock *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
           (uintptr_t)&self;
}

static void set_owner(struct queue_lock *lock, uintptr_t owner)
{
    atomic_store_explicit(&lock->owner, owner, memory_order_relaxed);
}

/* --- Calls ---------------------------------------------------------------- */

static int wait_given(struct queue_lock *lock, bool remote)
{
    struct waiter *w = &lock->entry->waiter;
    int result, err = remote ? runtime_wait_remote(w, WAIT_FOREVER, &result)
                             : runtime_wait_near(w, WAIT_FOREVER, &result);

    return err ? err : result;
}

static int ask_home(struct queue_lock *lock, bool try)
{
    int err = queue_tell_ask(lock->home, lock->tail_there, lock->mine, try);

    return err ? err : wait_given(lock, true);
}

int queue_lock_take(struct queue_lock *lock)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (is_mine(lock))
        return DRASYNC_EINVAL;
    err = ticket_take(lock);
    if (err)
        return err;
    if (!lock->tail) {
        err = ask_home(lock, false);
    } else {
        uint64_t before = queue_ask(lock->tail, lock->mine);

        if (before)
            err = wait_given(lock, !queue_is_here(before));
    }
    if (!err)
        set_owner(lock, (uintptr_t)&self);
    else if (err != DRASYNC_EPEER)
        ticket_give(lock);
    return err;
}

static int try_home(struct queue_lock *lock)
{
    uint64_t last;
    int err;

    if (lock->tail) {
        last = queue_try(lock->tail, lock->mine);
        if (!last)
            return 0;
        if (queue_is_here(last))
            return DRASYNC_EAGAIN;
        err = queue_tell_push(last, lock->tail_there, lock->mine);
        if (!err)
            err = wait_given(lock, true);
    } else {
        err = ask_home(lock, true);
    }
    if (err == DRASYNC_EAGAIN)
        waiter_reset(&lock->entry->waiter);
    return err;
}

int queue_lock_try(struct queue_lock *lock)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (is_mine(lock))
        return DRASYNC_EINVAL;
    err = ticket_try(lock);
    if (!err) {
        err = try_home(lock);
        if (!err)
            set_owner(lock, (uintptr_t)&self);
        if (err != DRASYNC_EPEER)
            ticket_tried(lock, !err);
    }
    return err != DRASYNC_EAGAIN ? err : death_refused(err);
}

/* No successor is known yet.  1: there is none, and the lock is free; 0: there
 * is one, or may be, so `next` is to be read again; or an error. */
static int leave(struct queue_lock *lock)
{
    int err;

    if (lock->tail)
        return queue_leave(lock->tail, lock->mine);
    err = queue_tell_left(lock->home, lock->tail_there, lock->mine);
    /* Relaxed: queue_lock_left() reads it when the ranks have agreed that none
     * uses the lock, which orders it. */
    if (!err)
        atomic_fetch_add_explicit(&lock->left, 1, memory_order_relaxed);
    return err;
}

/*
 * Acquire and release of `next` pair with the exchange of queue_follow() in
 * queue_lock_queue.c, which says why.  The last store there is relaxed: nobody
 * has linked itself to the entry's next time, and a late successor of this time
 * that reads it comes after the exchange before it (same thread, same word:
 * C11's release sequence).
 */
static int pass_on(struct queue_lock *lock)
{
    struct queue_entry *e = lock->entry;
    uint64_t none = queue_none(lock->mine), again = next_time(lock->mine);
    uint64_t next = atomic_load_explicit(&e->next, memory_order_acquire);
    int left = 0, err = 0;

    if (next == none) {
        left = leave(lock);
        if (left < 0)
            return left;
        if (!left) {
            /* A successor that comes after this finds that it has the lock. */
            passed_give();
            next = atomic_exchange_explicit(&e->next, queue_none(again),
                                            memory_order_acq_rel);
        }
    }
    passed_take();
    if (next != none)
        err = queue_give(next, 0);
    if (err) {
        atomic_store_explicit(&e->next, next, memory_order_relaxed);
        return err;
    }
    atomic_store_explicit(&e->next, queue_none(again), memory_order_relaxed);
    waiter_reset(&e->waiter);
    lock->mine = again;
    return 0;
}

int queue_lock_give(struct queue_lock *lock)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!is_mine(lock))
        return DRASYNC_ENOTHELD;
    err = pass_on(lock);
    if (err)
        return err;
    set_owner(lock, 0);
    ticket_give(lock);
    return 0;
}

/* Relaxed: the caller knows that the thread which has the lock does nothing
 * more with it. */
int queue_lock_free(struct queue_lock *lock)
{
    if (!atomic_load_explicit(&lock->owner, memory_order_relaxed))
        return DRASYNC_ENOTHELD;
    set_owner(lock, (uintptr_t)&self);
    return queue_lock_give(lock);
}

/* --- Making and ending ---------------------------------------------------- */

static int name_new(const struct queue_entry *entry, uint64_t *name_out)
{
    uint64_t offset = (uint64_t)((const char *)entry - runtime.space.control);
    uint64_t place = offset / CONTROL_ALIGN_BYTES;

    if (place >> NAME_PLACE_BITS ||
        (uint64_t)(runtime.nodes - 1) >> NAME_NODE_BITS)
        return DRASYNC_ELIMIT;
    *name_out = (uint64_t)runtime.node << NAME_NODE_BIT |
                place << NAME_PLACE_BIT | NAME_BIT;
    return 0;
}

int queue_lock_new(struct queue_lock *lock, bool home, uint64_t *tail_out)
{
    void *entry = NULL, *tail = NULL;
    uint64_t mine = 0;
    int err = runtime_enter();

    *tail_out = 0;
    if (err)
        return err;
    err =
        control_alloc_zero(&runtime.space, sizeof(struct queue_entry), &entry);
    if (!err)
        err = name_new(entry, &mine);
    if (!err && home)
        err = control_alloc_zero(&runtime.space, sizeof(struct queue_tail),
                                 &tail);
    if (err) {
        control_free(&runtime.space, entry);
        return err;
    }
    *lock = (struct queue_lock){
        .entry = entry, .tail = tail, .mine = mine, .is_home = home};
    lock->entry->magic = ENTRY_MAGIC;
    if (home)
        lock->tail->magic = TAIL_MAGIC;
    passed_far_give();
    *tail_out = (uint64_t)(uintptr_t)tail;
    return 0;
}

void queue_lock_open(struct queue_lock *lock, int node, uint64_t tail)
{
    lock->home = node;
    lock->tail_there = tail;
    lock->tail = node == runtime.node ? (void *)(uintptr_t)tail : NULL;
}

/* The doorbell is the node's: the tail may be freed as soon as the last LEFT is
 * counted.  Acquire of `left` pairs with left_arrived() of queue_lock_wire.c,
 * which does not touch the tail after that. */
static int wait_left(struct queue_tail *tail, uint32_t left)
{
    struct doorbell *bell = &runtime.shared->call_doorbell;
    int err = 0;

    runtime_remote_wait(1);
    while (!err) {
        uint32_t seen = doorbell_read(bell);

        if (atomic_load(&tail->left) == left)
            break;
        err = doorbell_wait(bell, seen, WAIT_FOREVER);
    }
    runtime_remote_wait(-1);
    return err;
}

int queue_lock_end(struct queue_lock *lock, uint64_t left)
{
    int err = runtime_enter();

    if (!err && lock->is_home)
        err = wait_left(lock->tail, (uint32_t)left);
    if (err)
        return err;
    passed_far_take();
    if (lock->is_home)
        control_free(&runtime.space, lock->tail);
    control_free(&runtime.space, lock->entry);
    return 0;
}
