/* The queue of a lock: an exchange on its tail, a link to who comes after. */
#include "memory/passed.h"
#include "runtime/no_memory.h"
#include "runtime/say.h"
#include "runtime/services/queue_lock_state.h"

int queue_give(uint64_t who, int result)
{
    if (!queue_is_here(who))
        return queue_tell_given(who, result);
    waiter_wake(&queue_entry_of(who)->waiter, result);
    return 0;
}

bool queue_follow(uint64_t before, uint64_t who)
{
    uint64_t none = queue_none(before);

    /*
     * Release pairs with the acquire of who gives the lock back and reads
     * `next`, in pass_on() of queue_lock.c: it finds this entry's waiter
     * prepared.  Acquire pairs with its exchange there, by which it left NONE:
     * what was done under the lock comes before what is done now.
     */
    passed_give();
    if (atomic_compare_exchange_strong_explicit(
            &queue_entry_of(before)->next, &none, who, memory_order_acq_rel,
            memory_order_acquire))
        return true;
    passed_take();
    return false;
}

uint64_t queue_ask(struct queue_tail *tail, uint64_t who)
{
    uint64_t before;

    /*
     * The tail passes from one who asks to the next.  Release pairs with the
     * acquire of the next: it finds the entry that it links itself to.  Where
     * nobody has the lock, acquire pairs with the release of queue_leave().
     */
    passed_give();
    before = atomic_exchange_explicit(&tail->last, who, memory_order_acq_rel);
    passed_take();
    if (!before)
        return 0;
    if (queue_is_here(before))
        return queue_follow(before, who) ? before : 0;
    if (queue_tell_follow(before, who))
        runtime_no_memory("wait for a lock");
    return before;
}

uint64_t queue_try(struct queue_tail *tail, uint64_t who)
{
    uint64_t last = 0;

    /* As in queue_ask(). */
    passed_give();
    atomic_compare_exchange_strong_explicit(
        &tail->last, &last, who, memory_order_acq_rel, memory_order_acquire);
    passed_take();
    return last;
}

bool queue_leave(struct queue_tail *tail, uint64_t who)
{
    /* Release pairs with the acquire of who asks or tries next, and finds the
     * lock free: what was done under it comes before. */
    passed_give();
    return atomic_compare_exchange_strong_explicit(
        &tail->last, &who, 0, memory_order_acq_rel, memory_order_relaxed);
}
