/*
 * cache.h - free slots (memory/heap_cache.h) at hand for each thread, of the
 * heaps of this worker that it uses most; for this folder only.
 *
 * The lock of a heap is for all of its node: other workers free objects there,
 * and regions.  A thread does without it.  It allocates from a cache of its own
 * and frees into that, whoever allocated the object, while any other call may be
 * at work in the heap.  Refilling a cache, and giving back what it has too much
 * of, are calls on the heap, under its lock.
 *
 * Only who seals a heap, or makes an end of it, needs its caches to be out of
 * use, all threads' at once: replica_caches_revoke().  A cache is a biased lock
 * (memory/biased_lock.h): `epoch` of the heap is the bias, of which the cache
 * has the value that was when it was cleared; `inside` of the thread says which
 * heap it is in; the mutex is the heap's lock.  What is in a cache is void once
 * the epoch is another one.
 *
 * The word's upper bits are the thread's own, for what it counts: it writes the
 * word twice whenever it comes in, and another store would cost a nanosecond
 * (memory/heap_cache.h).
 *
 * A thread gets caches when those of its process have allocated and freed often
 * enough without; so does each heap, and loses its cache to another one that was
 * used as much, if both have the same place.  Its slots go back to its lists
 * then, and when the thread ends.  Where the system has no membarrier there are
 * no caches.  A child of fork has none: they are its parent's.
 *
 * Callers are in no heap, and hold no heap's lock, unless said otherwise.  If a
 * thread dies inside, who waits for it is told DRASYNC_EPEER.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_CACHE_H
#define DRASYNC_RUNTIME_REPLICA_CACHE_H

#include "memory/heap_cache.h"
#include "runtime/replica/state.h"

/* So many heaps have a cache of a thread at a time; a power of two. */
#define REPLICA_CACHES       32
#define REPLICA_CACHES_SHIFT 5

/* So often a thread allocates or frees without a cache before a heap gets one;
 * or takes another one's place. */
#define REPLICA_CACHE_AFTER 16u
#define REPLICA_CACHE_STEAL 256u

/* What `inside` has: the heap; above it how many notes there are; and above
 * those how many calls are still answered, less one: negative if none is. */
#define REPLICA_INSIDE_HEAP ((UINT64_C(1) << 48) - 1)
#define REPLICA_NOTE        (REPLICA_INSIDE_HEAP + 1)
#define REPLICA_NOTES       (REPLICA_NOTE * 0xff)
#define REPLICA_NOTES_MAX   127u
#define REPLICA_CALL        ((uint64_t)1 << 56)
#define REPLICA_NO_CALLS    (UINT64_C(1) << 63)

struct replica_cache {
    _Atomic(struct replica_heap *)
        heap;       /* NULL: none; else set under its lock */
    uint64_t key;   /* of its region; 0: none */
    uint64_t epoch; /* of the heap, while what is here holds */
    struct heap_cache slots;
};

/* Of one thread; never freed, but used again by other threads. */
struct replica_caches {
    _Atomic uint64_t *inside; /* the thread's; REPLICA_NO_CALLS: none is open */
    struct replica_cache *noting; /* whose the notes are */

    /* The address of each cache: read, it takes no register for what it is made
     * of. */
    struct replica_cache *place[REPLICA_CACHES];
    struct replica_thread *thread; /* what others see of it */

    /* Calls there were, and will be in this round; and rounds that follow. */
    _Atomic uint64_t calls_until;
    unsigned rounds;

    /* How often a heap was used that has no cache, for each place; one that is
     * used alternately with others waits longer. */
    struct {
        uint64_t key;
        unsigned count;
    } wanted[REPLICA_CACHES];
    struct replica_caches *next;
    _Atomic uint32_t taken; /* by a thread */

    struct heap_caches shared;
    struct replica_cache cache[REPLICA_CACHES];
};

/* The calling thread's; or some that nobody has, which are not written. */
extern __thread struct replica_caches *replica_caches_mine
    __attribute__((tls_model("initial-exec")));

extern struct replica_caches replica_caches_none;

/* All of this process. */
extern _Atomic(struct replica_caches *) replica_caches_all;

static inline int replica_caches_have(void)
{
    return replica_caches_mine != &replica_caches_none;
}

/* Where the heap of a region has its cache, if it has one. */
static inline struct replica_cache *
replica_cache_at(const struct replica_caches *caches, uint32_t rid)
{
    uint32_t mixed = rid * UINT32_C(0x9e3779b9);

    return caches->place[mixed >> (32 - REPLICA_CACHES_SHIFT)];
}

static inline uint64_t replica_cache_key(uint32_t rid)
{
    return (uint64_t)rid + 1;
}

static inline struct replica_cache *replica_cache_with(struct heap_cache *slots)
{
    return (struct replica_cache *)((char *)slots -
                                    offsetof(struct replica_cache, slots));
}

/* For the cache's own thread. */
static inline struct replica_heap *
replica_cache_heap(const struct replica_cache *cache)
{
    return atomic_load_explicit(&cache->heap, memory_order_relaxed);
}

/*
 * The calling thread comes into its cache of @heap, for a call that takes no
 * lock.  1, or 0 and it is as it was: what the cache has is void.  @at: where its
 * word is; @word: what is there; biased_leave() when it is out.
 */
static inline int replica_cache_enter(const struct replica_cache *cache,
                                      struct replica_heap *heap,
                                      _Atomic uint64_t *at, uint64_t word)
{
    return biased_enter(at, word + (uintptr_t)heap, word, &heap->epoch,
                        &cache->epoch);
}

/* On every rank, before the first heap is used; and when none is any more. */
void replica_caches_open(void);
void replica_caches_close(void);

/* No call of the calling thread is answered quickly any more (cache_calls.c). */
void replica_cache_calls_end(void);

/* The calling thread ends, maybe cancelled in the middle of a call: its heaps
 * get their slots back. */
void replica_caches_thread_ends(void);

/*
 * The caller has the lock of @heap: all caches of it, whosever, are void, and
 * nobody is in any of them.  DRASYNC_EPEER: a thread is in for good, or that
 * cannot be told; the job is poisoned.
 */
int replica_caches_revoke(struct replica_heap *heap);

/* The same for a heap of this worker that is to be sealed: it has again what
 * caches have of it that was never handed out. */
int replica_caches_withdraw(struct replica_heap *heap);

/* Sort the notes there are, if any; what is noted next is of @cache. */
void replica_cache_note(struct replica_cache *cache);

/* The calling thread's cache of a heap of this worker whose lock it has, or
 * NULL.  Nothing of it is noted then. */
struct replica_cache *replica_cache_of(struct replica_heap *heap);

/* An object of this worker's heap was allocated or freed without a cache. */
void replica_cache_want(struct replica_heap *heap);

#endif /* DRASYNC_RUNTIME_REPLICA_CACHE_H */
