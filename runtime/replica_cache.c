#include "runtime/replica_quick.h"

struct replica_cache replica_caches[REPLICA_CACHES];

void replica_cache_renew(struct replica_cache *cache)
{
    heap_cache_clear(&cache->slots);
    replica_quick_forget(cache);
    cache->key = replica_cache_key(cache->heap->rid);
    cache->epoch = cache->heap->epoch;
}

/* The heap that has it now gets its slots back, if it is still the same. */
static int take_away(struct replica_cache *cache)
{
    struct replica_heap *heap = cache->heap;
    struct heap_context context;
    int leaning, err;

    if (!heap)
        return 0;
    err = replica_heap_take(heap, &leaning);
    if (err)
        return err;
    if (cache->epoch == heap->epoch) {
        context = replica_heap_own(heap);
        heap_cache_flush(&context, &heap->heap, &cache->slots);
        heap->frees = 0;
    }
    cache->heap = NULL;
    cache->key = 0;
    replica_quick_forget(cache);
    replica_heap_give(heap, leaning);
    return 0;
}

void replica_cache_want(struct replica_heap *heap)
{
    struct replica_cache *cache;
    int leaning;

    if (!replica_lean_mine ||
        atomic_fetch_add_explicit(&heap->frees, 1, memory_order_relaxed) <
            REPLICA_CACHE_AFTER)
        return;
    cache = replica_cache_at(heap->rid);
    if (take_away(cache) || replica_heap_take(heap, &leaning))
        return;
    if (atomic_load(&heap->live) && heap->worker == runtime.rank &&
        !cache->heap) {
        cache->heap = heap;
        replica_cache_renew(cache);
    }
    heap->frees = 0;
    replica_heap_give(heap, leaning);
}
