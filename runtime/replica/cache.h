/*
 * cache.h - free slots (memory/heap_cache.h) at hand for the heaps that
 * this process uses most; for runtime/replica_*.c only.
 *
 * For one thread: the one that locks are biased to (lock.h).  It may look at
 * them while it is in the heap.  What is in a cache is void once the heap's
 * epoch (lock.h) has changed: whoever seals a heap, or makes an end of
 * it, changes that while it is in.
 *
 * A heap gets a cache when it was freed from often enough, and loses it to
 * another one that was, if both have the same place; its slots go back to its
 * lists then.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_CACHE_H
#define DRASYNC_RUNTIME_REPLICA_CACHE_H

#include "memory/heap_cache.h"
#include "runtime/replica/lock.h"

/* So many heaps have one at a time; a power of two. */
#define REPLICA_CACHES 8 /* replica_cache_at() */

/* So many objects are freed before a heap gets one. */
#define REPLICA_CACHE_AFTER 256

struct replica_cache {
    struct replica_heap *heap; /* NULL: none */
    uint64_t key;              /* of its region; 0: none */
    uint64_t bias; /* of the heap, while what is here holds (lock.h) */
    struct heap_cache slots;
};

extern struct replica_cache replica_caches[REPLICA_CACHES];

/* The address of each: read, it takes no register for what it is made of. */
extern struct replica_cache *replica_cache_places[REPLICA_CACHES];

/* What they share. */
extern struct heap_caches replica_caches_shared;

/* What is noted of frees is of one heap's cache at a time, and counted in the
 * word of replica_lock.h. */
#define REPLICA_NOTE      (REPLICA_BIAS_HEAP + 1)
#define REPLICA_NOTES_MAX 127u

extern struct replica_cache *replica_noting;

/* Where the notes are; like replica_cache_places. */
extern uint64_t *replica_notes;

/* Where the heap of a region has its cache, if it has one. */
static inline struct replica_cache *replica_cache_at(uint32_t rid)
{
    uint32_t mixed = rid * UINT32_C(0x9e3779b9);

    return replica_cache_places[mixed >> 29];
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

/* Sort the notes there are, if any; what is noted next is of @cache.  The
 * calling thread is in no heap. */
void replica_cache_note(struct replica_cache *cache);

/* Sort the notes if they are of @cache, in whose heap the calling thread is. */
void replica_cache_sort(struct replica_cache *cache);

/* Forget what it has. */
void replica_cache_renew(struct replica_cache *cache);

/* The cache of a heap of this worker that the calling thread is in, or NULL.
 * Nothing of it is noted then. */
static inline struct replica_cache *replica_cache_of(struct replica_heap *heap)
{
    struct replica_cache *cache;

    if (!replica_bias_chosen())
        return NULL;
    cache = replica_cache_at(heap->rid);
    if (cache->heap != heap)
        return NULL;
    if (__builtin_expect(cache->bias != replica_heap_biased(heap), 0))
        replica_cache_renew(cache);
    else
        replica_cache_sort(cache);
    return cache;
}

/* The thread ends, out of all heaps: they get their slots back. */
void replica_cache_end(void);

/* And no call is answered quickly any more (cache_calls.c). */
void replica_cache_calls_end(void);

/* An object of the heap was freed without a cache; the calling thread is out of
 * the heap. */
void replica_cache_want(struct replica_heap *heap);

#endif /* DRASYNC_RUNTIME_REPLICA_CACHE_H */
