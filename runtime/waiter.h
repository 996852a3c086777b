/*
 * waiter.h - what threads sleep on, for those who keep such objects or ring, and
 * do not wait themselves; wait.h has the calls that wait.
 */
#ifndef DRASYNC_RUNTIME_WAITER_H
#define DRASYNC_RUNTIME_WAITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct waiter {
    /* 0: nothing yet, 1: asleep, 2: woken; from WAITER_ANY on, the local number of
     * the rank that sleeps, for this and others, on its doorbell. */
    _Atomic uint32_t word;
    int32_t result;
};

#define WAITER_ANY 3

/* Make ready for the next event.  Nobody may be about to wake it. */
static inline void waiter_reset(struct waiter *w)
{
    w->result = 0;
    atomic_store_explicit(&w->word, 0, memory_order_relaxed);
}

/* Is the event here?  Acquire pairs with the release of waiter_wake(): so are
 * its result and what its waker did before. */
static inline int waiter_done(const struct waiter *w)
{
    return atomic_load_explicit(&w->word, memory_order_acquire) == 2;
}

/* Is one of them here? */
static inline bool waiter_done_any(struct waiter *const *waiters, int count)
{
    for (int i = 0; i < count; i++)
        if (waiter_done(waiters[i]))
            return true;
    return false;
}

struct doorbell {
    _Atomic uint32_t rings;
    _Atomic uint32_t sleepers;
};

/* How often it has rung: read it, look for what you wait for, then wait for a
 * change from what was read.  What its ringer did before the ring that is read
 * is seen by that look (acquire; see doorbell_ring() for the rest). */
static inline uint32_t doorbell_read(const struct doorbell *d)
{
    return atomic_load_explicit(&d->rings, memory_order_seq_cst);
}

/* Something has changed: everyone who waits looks again.  Any process. */
void doorbell_ring(struct doorbell *d);

#endif /* DRASYNC_RUNTIME_WAITER_H */
