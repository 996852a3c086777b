/* The queue of a lock: an exchange on its tail, a link to who comes after. */
#include "memory/passed.h"
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

    passed_give();
    before = atomic_exchange_explicit(&tail->last, who, memory_order_acq_rel);
    passed_take();
    if (!before)
        return 0;
    if (queue_is_here(before))
        return queue_follow(before, who) ? before : 0;
    if (queue_tell_follow(before, who))
        runtime_poison("no memory to wait for a lock");
    return before;
}

uint64_t queue_try(struct queue_tail *tail, uint64_t who)
{
    uint64_t last = 0;

    passed_give();
    atomic_compare_exchange_strong_explicit(
        &tail->last, &last, who, memory_order_acq_rel, memory_order_acquire);
    passed_take();
    return last;
}

bool queue_leave(struct queue_tail *tail, uint64_t who)
{
    passed_give();
    return atomic_compare_exchange_strong_explicit(
        &tail->last, &who, 0, memory_order_acq_rel, memory_order_relaxed);
}
