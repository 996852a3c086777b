/*
 * biased_lock.h - a lock that one thread, its owner, takes with a plain store
 * and a load, while everybody else pays for that with a system call.
 *
 * The owner has a word of its own, `inside`, which says whether it is inside.
 * What it enters has another word, `bias`, which says whether the owner may.
 *
 *     owner                              somebody else, holding the mutex
 *     O1  inside = in                    R1  bias = not the owner's
 *     O2  is bias still mine?            R2  biased_barrier()
 *         yes: work, then inside = out   R3  biased_wait(): until inside != in
 *         no:  inside = out, use the         work, then give the mutex back
 *              mutex
 *
 * Callers guarantee:
 *   - `inside` is written by its owner alone.  Words and owner may be replaced
 *     by those of another thread only when that one can no more be inside.
 *   - R1 to R3, and the work after them, happen under a mutex.  Under the same
 *     mutex the owner, and nobody else, makes the bias its own again; but who
 *     has found it inside may give the bias back to it in place of any work.
 *
 * Why that suffices:
 *
 *   Exclusion.  O1, O2 and R1, R3 are Dekker's pair: each side stores, then
 *   loads what the other one stores.  One of the loads must see the other side's
 *   store, for which both sides need a full fence between store and load.  The
 *   owner has only a compiler's (biased_enter()); R2, membarrier(), makes up for
 *   it: before it returns, each thread of the processes in its scope has
 *   executed a full fence F somewhere in its program order, by an interrupt or
 *   because it was switched out.  Is O1 before F, R3 sees `in`, or what the
 *   owner stored later, and waits.  Else O2 is after F, hence after R1, and sees
 *   that the bias is gone.
 *
 *   What the owner wrote inside happens before the work of the other side: `out`
 *   is stored with release, and R3 loads with acquire.
 *
 *   What others wrote happens before the owner's work although O2 is relaxed:
 *   the bias became the owner's by its own hand under the mutex, which others
 *   had held before, and O2 reads just that store.
 *
 *   The same value again.  A bias that was revoked and given back has its old
 *   value; the owner gave it back itself, so it was not inside in between, or
 *   somebody who did no work.
 *
 * Where the owner stays inside for as long as it likes, nobody waits for that:
 * `inside` counts what the owner has, and R3 reads it once, after R2, and takes
 * over what it finds.  So the owner looks at the bias when it leaves as well
 * (biased_leave_look()): if that is gone, it cannot know whether R3 saw what it
 * had before or what it has now, and asks those who hold the mutex.  The same
 * goes for O2 that finds the bias gone.  (runtime/native/lease.h)
 *
 * A waiter of R3 ends when the owner is out, dies, or the caller's look at the
 * job says that there is no point: no wait is without an end.
 *
 * ThreadSanitizer knows nothing of membarrier(): there O1 and O2 are
 * sequentially consistent, as R1 and R3 are everywhere, which is Dekker's pair
 * as usual.  With the barrier R1 might be relaxed, and R3 an acquire: so says
 * tests/step/biased_lock.t --audit, which drives all of this.
 */
#ifndef MEMORY_BIASED_LOCK_H
#define MEMORY_BIASED_LOCK_H

#include "memory/sanitizer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if SANITIZER_THREAD
#define BIASED_ORDER         memory_order_seq_cst
#define BIASED_ORDER_RELEASE memory_order_seq_cst
#else
#define BIASED_ORDER         memory_order_relaxed
#define BIASED_ORDER_RELEASE memory_order_release
#endif

/* Whose owners a barrier orders. */
enum biased_scope {
    BIASED_PROCESS, /* threads of the calling process */
    BIASED_NODE,    /* of all processes that opened this scope */
};

/* A thread that locks are biased to; numbers as the kernel has them. */
struct biased_owner {
    int32_t process, thread;
};

/* The calling thread. */
struct biased_owner biased_self(void);

/* Before locks of this process are biased within @scope; idempotent.  0, or
 * DRASYNC_EINTERNAL: the kernel has no such barrier, so they must not be.  In a
 * process of several threads the first call waits for a grace period of RCU. */
int biased_open(enum biased_scope scope);

/* R2.  0, or DRASYNC_EINTERNAL: nothing is known of who is inside; a filter of
 * system calls that came after biased_open() does that. */
int biased_barrier(enum biased_scope scope);

/* May a wait that began at @since_us (runtime_now_us()'s clock) go on?  0 or a
 * code that biased_wait() returns. */
typedef int biased_look_fn(uint64_t since_us);

/*
 * R3: wait until @owner is out, which it is while *@inside & @mask is not @in.
 * @look may be NULL.
 *   DRASYNC_EPEER  the owner's thread has ended inside
 *   and what @look returns
 */
int biased_wait(const struct biased_owner *owner,
                const _Atomic uint64_t *inside, uint64_t mask, uint64_t in,
                biased_look_fn *look);

/* O1 and O2.  True: the owner is in, as *@bias is *@mine; false: it must leave
 * at once.  (*@mine is read as late as *@bias: a register less.) */
static inline __attribute__((always_inline)) bool
biased_try(_Atomic uint64_t *inside, uint64_t in, const _Atomic uint64_t *bias,
           const uint64_t *mine)
{
    /* O1: with O2 the half of Dekker's pair that pairs with R1 and R3. */
    atomic_store_explicit(inside, in, BIASED_ORDER);
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(atomic_load_explicit(bias, BIASED_ORDER) == *mine,
                            1);
}

/* The same; false: the owner is not in, and *@inside is @out. */
static inline __attribute__((always_inline)) bool
biased_enter(_Atomic uint64_t *inside, uint64_t in, uint64_t out,
             const _Atomic uint64_t *bias, const uint64_t *mine)
{
    if (biased_try(inside, in, bias, mine))
        return true;
    /* Nothing was done inside; release costs nothing, and keeps the word's
     * stores alike. */
    atomic_store_explicit(inside, out, memory_order_release);
    return false;
}

/* The owner is out.  Release pairs with the acquire of R3. */
static inline __attribute__((always_inline)) void
biased_leave(_Atomic uint64_t *inside, uint64_t out)
{
    atomic_store_explicit(inside, out, memory_order_release);
}

/* The same for an owner whose word may be read at any time after R2.  True: the
 * bias is still *@mine, so whoever revokes it reads @out. */
static inline __attribute__((always_inline)) bool
biased_leave_look(_Atomic uint64_t *inside, uint64_t out,
                  const _Atomic uint64_t *bias, const uint64_t *mine)
{
    /* Release pairs with the acquire of R3; with the load the half of Dekker's
     * pair that pairs with R1 and R3, as O1 and O2 are. */
    atomic_store_explicit(inside, out, BIASED_ORDER_RELEASE);
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(atomic_load_explicit(bias, BIASED_ORDER) == *mine,
                            1);
}

#endif
