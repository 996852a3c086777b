/* Which heaps have a cache of free slots, and what goes back: see cache.h. */
#include "runtime/process.h"
#include "runtime/replica/cache.h"

struct replica_cache replica_caches[REPLICA_CACHES];
struct replica_cache *replica_cache_places[REPLICA_CACHES] = {
    &replica_caches[0], &replica_caches[1], &replica_caches[2],
    &replica_caches[3], &replica_caches[4], &replica_caches[5],
    &replica_caches[6], &replica_caches[7],
};
struct heap_caches replica_caches_shared;
struct replica_cache *replica_noting = &replica_caches[0];
uint64_t *replica_notes = replica_caches_shared.note;

/* --- Notes ---------------------------------------------------------------- */

#define NOTES_MASK (REPLICA_NOTE * 0xff)

/* How many notes there are, and none from now on. */
static unsigned take_notes(void)
{
    uint64_t word =
        atomic_load_explicit(replica_bias_word, memory_order_relaxed);

    atomic_store_explicit(replica_bias_word, word & ~NOTES_MASK,
                          memory_order_relaxed);
    return (unsigned)((word & NOTES_MASK) / REPLICA_NOTE);
}

void replica_cache_sort(struct replica_cache *cache)
{
    struct heap_context context = replica_heap_own(cache->heap);

    if (replica_noting == cache)
        heap_cache_sort(&context, &cache->heap->heap, &replica_caches_shared,
                        &cache->slots, take_notes());
}

/* Does what a cache has, if it has something, still hold? */
static int holds(const struct replica_cache *cache)
{
    return cache->heap && cache->bias == replica_heap_biased(cache->heap);
}

void replica_cache_note(struct replica_cache *cache)
{
    struct replica_cache *before = replica_noting;
    int biased;

    if (holds(before) && !replica_heap_take(before->heap, &biased)) {
        if (holds(before))
            replica_cache_sort(before);
        replica_heap_give(before->heap, biased);
    }
    take_notes(); /* what is left is void */
    replica_noting = cache;
}

/* --- Who has a cache ------------------------------------------------------ */

void replica_cache_renew(struct replica_cache *cache)
{
    if (replica_noting == cache)
        take_notes();
    heap_cache_clear(&replica_caches_shared, &cache->slots);
    cache->key = replica_cache_key(cache->heap->rid);
    cache->bias = replica_heap_biased(cache->heap);
}

/* The heap that has it now gets its slots back, if it is still the same. */
static int take_away(struct replica_cache *cache)
{
    struct replica_heap *heap = cache->heap;
    struct heap_context context;
    int biased, err;

    if (!heap)
        return 0;
    err = replica_heap_take(heap, &biased);
    if (err)
        return err;
    if (cache->bias == replica_heap_biased(heap)) {
        replica_cache_sort(cache);
        context = replica_heap_own(heap);
        heap_cache_flush(&context, &heap->heap, &replica_caches_shared,
                         &cache->slots);
        heap->frees = 0;
    } else {
        replica_cache_renew(cache);
    }
    cache->heap = NULL;
    cache->key = 0;
    replica_heap_give(heap, biased);
    return 0;
}

void replica_cache_end(void)
{
    /* A heap that cannot be had is one of a job that is poisoned. */
    for (int i = 0; i < REPLICA_CACHES; i++)
        take_away(&replica_caches[i]);
}

void replica_cache_want(struct replica_heap *heap)
{
    struct replica_cache *cache;
    int biased;

    if (!replica_bias_chosen() ||
        atomic_fetch_add_explicit(&heap->frees, 1, memory_order_relaxed) <
            REPLICA_CACHE_AFTER)
        return;
    cache = replica_cache_at(heap->rid);
    if (take_away(cache) || replica_heap_take(heap, &biased))
        return;
    if (atomic_load(&heap->live) && heap->worker == runtime.rank &&
        !cache->heap) {
        cache->heap = heap;
        replica_cache_renew(cache);
    }
    heap->frees = 0;
    replica_heap_give(heap, biased);
}
