/*
 * replica_lock.h - the lock of a worker's heap in a region; for
 * runtime/replica_*.c only.
 *
 * Nearly always it is the heap's worker that allocates and frees there, from
 * one thread.  So the lock may lean towards that thread: it comes in by saying
 * so in a word of its own, without an atomic read-modify-write, and without
 * waiting until what it wrote before is out.  Everybody else (another worker
 * that frees an object or the region, another thread of the process) takes the
 * mutex, and where the lock leans, straightens it first: says that it leans no
 * more, makes all processors see that (membarrier), and waits until the thread
 * is out.  Whoever is let in is alone, as with any lock.
 *
 * A lock leans once its worker took it often enough without others in between;
 * each time it is straightened it takes twice as often, so a heap that others
 * use as much ends up with the mutex.
 *
 * One thread of a process can be leaned to: the first that qualifies.  Where
 * the system has no membarrier no lock leans.
 *
 * Callers give back what they took on the same thread, take no second heap
 * meanwhile, and keep the order of locks (replica_state.h).  If a thread dies
 * inside, those who wait are told DRASYNC_EPEER.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_LOCK_H
#define DRASYNC_RUNTIME_REPLICA_LOCK_H

#include "memory/sanitizer.h"
#include "runtime/replica_state.h"

/* How often in a row a worker takes the mutex before it leans: at first, and
 * at most. */
#define REPLICA_LEAN_AFTER     16u
#define REPLICA_LEAN_AFTER_MAX (1u << 20)

/* ThreadSanitizer knows nothing of membarrier. */
#if SANITIZER_THREAD
#define REPLICA_LEAN_ORDER memory_order_seq_cst
#else
#define REPLICA_LEAN_ORDER memory_order_relaxed
#endif

/* What locks that lean towards this thread say: 0 if none can. */
extern __thread uint32_t replica_lean_mine
    __attribute__((tls_model("initial-exec")));

/* Where that thread says which heap it is in; NULL if there is no such thread.
 */
extern _Atomic(struct replica_heap *) *replica_lean_word;

/* On every rank, before the first heap is used. */
void replica_lock_open(void);

/* A heap's lock is made, straight.  Straight again, and as new; by who is in.
 */
int replica_lock_init(struct replica_heap *heap);
void replica_lock_reset(struct replica_heap *heap);

int replica_heap_take_slow(struct replica_heap *heap);

/* Come in if the lock leans to this thread, which says @mine: 1, or 0 and it is
 * as it was. */
static inline int replica_heap_lean(struct replica_heap *heap, uint32_t mine)
{
    if (!mine ||
        atomic_load_explicit(&heap->leans, memory_order_relaxed) != mine)
        return 0;
    atomic_store_explicit(replica_lean_word, heap, REPLICA_LEAN_ORDER);
    /* The other half of the barrier is in who straightens. */
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&heap->leans, REPLICA_LEAN_ORDER) == mine)
        return 1;
    atomic_store_explicit(replica_lean_word, NULL, memory_order_release);
    return 0;
}

/* Come in.  *leaning_out is for replica_heap_give().  0 or DRASYNC_EPEER. */
static inline int replica_heap_take(struct replica_heap *heap, int *leaning_out)
{
    *leaning_out = replica_heap_lean(heap, replica_lean_mine);
    return *leaning_out ? 0 : replica_heap_take_slow(heap);
}

static inline void replica_heap_give(struct replica_heap *heap, int leaning)
{
    if (leaning)
        atomic_store_explicit(replica_lean_word, NULL, memory_order_release);
    else
        lock_give(&heap->lock);
}

#endif /* DRASYNC_RUNTIME_REPLICA_LOCK_H */
