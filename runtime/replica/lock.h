/*
 * lock.h - the lock of a worker's heap in a region; for
 * runtime/replica_*.c only.
 *
 * Nearly always it is the heap's worker that allocates and frees there, from
 * one thread.  So the lock may be biased to that thread: it comes in by saying
 * so in a word of its own, without an atomic read-modify-write, and without
 * waiting until what it wrote before is out.  Everybody else (another worker
 * that frees an object or the region, another thread of the process) takes the
 * mutex, and where the lock is biased, revokes the bias first: says that it is
 * biased no more, makes all processors see that (membarrier), and waits until
 * the thread is out.  Whoever is let in is alone, as with any lock.
 *
 * A lock is biased once its worker took it often enough without others in
 * between; each time it is revoked it takes twice as often, so a heap that
 * others use as much ends up with the mutex.
 *
 * It is a biased lock (memory/biased_lock.h), where the argument for it stands:
 * `bias` is the bias, the thread's word is the inbox's `inside`.
 *
 * Locks can be biased to one thread of a process at a time: the first that
 * qualifies, and when that has ended the next one.  Where the system has no
 * membarrier no lock is biased.
 *
 * That word's upper bits are the thread's own, for what it counts: it writes
 * the word twice whenever it comes in, and another store would cost a
 * nanosecond (memory/heap_cache.h).
 *
 * Callers give back what they took on the same thread, take no second heap
 * meanwhile, and keep the order of locks (state.h).  If a thread dies
 * inside, those who wait are told DRASYNC_EPEER.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_LOCK_H
#define DRASYNC_RUNTIME_REPLICA_LOCK_H

#include "memory/biased_lock.h"
#include "runtime/replica/state.h"

/* How often in a row a worker takes the mutex before it is biased: at first,
 * and at most. */
#define REPLICA_BIAS_AFTER     16u
#define REPLICA_BIAS_AFTER_MAX (1u << 20)

/* Which heap the thread is in; what is above that is its own. */
#define REPLICA_BIAS_HEAP ((UINT64_C(1) << 48) - 1)

/*
 * replica_heap.bias: the local number + 1 of the rank that the lock is biased
 * to, or 0, and above it an epoch, so that who remembers something of a heap
 * sees in one look whether it still holds, and whether it may come in.
 */
#define REPLICA_BIAS_WHO   UINT64_C(0xffff)
#define REPLICA_BIAS_EPOCH (REPLICA_BIAS_WHO + 1)

/* This rank, if locks are biased to one of its threads. */
extern uint64_t replica_bias_mine;

/* What the lock of @heap says if it is biased to this rank. */
static inline uint64_t replica_heap_biased(const struct replica_heap *heap)
{
    return (atomic_load_explicit(&heap->bias, memory_order_relaxed) &
            ~REPLICA_BIAS_WHO) |
           replica_bias_mine;
}

/* What was remembered holds no more; by who is in. */
static inline void replica_heap_new_epoch(struct replica_heap *heap)
{
    /* Others may revoke the bias at the same time. */
    atomic_fetch_add(&heap->bias, REPLICA_BIAS_EPOCH);
}

/* Where that thread says which heap it is in; for others, a word that is
 * REPLICA_BIAS_NONE and not written. */
extern __thread _Atomic uint64_t *replica_bias_word
    __attribute__((tls_model("initial-exec")));

#define REPLICA_BIAS_NONE (UINT64_C(1) << 63)

extern _Atomic uint64_t replica_bias_none;

/* Are locks biased to the calling thread? */
static inline int replica_bias_chosen(void)
{
    return replica_bias_word != &replica_bias_none;
}

/* On every rank, before the first heap is used; and when none is any more. */
void replica_lock_open(void);
void replica_lock_close(void);

/*
 * The thread that locks are biased to ends: it is out of all heaps, and, when
 * it has given back what it kept, another one may have its place.
 */
void replica_lock_come_out(void);
void replica_lock_pass_on(void);

/* A heap's lock is made, straight.  Straight again; by who is in. */
int replica_lock_init(struct replica_heap *heap);
void replica_lock_reset(struct replica_heap *heap);

int replica_heap_take_slow(struct replica_heap *heap);

/*
 * For the thread that locks are biased to: come in if the lock of @heap says
 * *@bias. 1, or 0 and it is as it was.  @at: replica_bias_word; @word: what is
 * there.
 */
static inline int replica_heap_bias(struct replica_heap *heap,
                                    const uint64_t *bias, _Atomic uint64_t *at,
                                    uint64_t word)
{
    return biased_enter(at, word + (uintptr_t)heap, word, &heap->bias, bias);
}

/* Come in.  *biased_out is for replica_heap_give().  0 or DRASYNC_EPEER. */
static inline int replica_heap_take(struct replica_heap *heap, int *biased_out)
{
    _Atomic uint64_t *at = replica_bias_word;
    uint64_t bias = replica_heap_biased(heap);

    *biased_out =
        replica_bias_chosen() &&
        atomic_load_explicit(&heap->bias, memory_order_relaxed) == bias &&
        replica_heap_bias(heap, &bias, at,
                          atomic_load_explicit(at, memory_order_relaxed));
    return *biased_out ? 0 : replica_heap_take_slow(heap);
}

static inline void replica_heap_give(struct replica_heap *heap, int biased)
{
    _Atomic uint64_t *at = replica_bias_word;

    if (biased)
        biased_leave(at, atomic_load_explicit(at, memory_order_relaxed) &
                             ~REPLICA_BIAS_HEAP);
    else
        lock_give(&heap->lock);
}

#endif /* DRASYNC_RUNTIME_REPLICA_LOCK_H */
