/* Ringing a doorbell, which waits for nothing: see waiter.h. */
#include "runtime/waiter.h"

#include "memory/passed.h"
#include "runtime/futex.h"

/*
 * Dekker's pair: who rings writes `rings`, then reads `sleepers`; who waits
 * writes `sleepers`, then has the kernel read `rings`.  Sequentially consistent,
 * with the barrier that a futex call has in the kernel: one of the two sees the
 * other, so the ringer wakes or the sleeper does not sleep.
 */
void doorbell_ring(struct doorbell *d)
{
    passed_give();
    atomic_fetch_add_explicit(&d->rings, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&d->sleepers, memory_order_seq_cst))
        wait_futex_wake(&d->rings, INT32_MAX);
}
