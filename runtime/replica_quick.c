#include "runtime/replica_quick.h"

/* Extents that are known at a time; a power of two, at most 256. */
#define QUICK_EXTENTS 64

/* Which of them was met last in a block of so many bytes (shifted), of blocks
 * that count the same modulo so many. */
#define QUICK_BLOCK_SHIFT 16
#define QUICK_BLOCKS      4096

/* For the thread that locks lean to. */
static struct quick_extent {
    struct heap_cache_part part; /* empty: none */
    const struct extent *extent;
    uint64_t stamp; /* its */
    struct replica_cache *cache;
} known[QUICK_EXTENTS];
static uint8_t met[QUICK_BLOCKS];

/* How many calls were answered, and when to answer no more. */
static _Atomic uint64_t calls;
static uint64_t calls_until;

static unsigned known_at(const struct extent *extent)
{
    return (uintptr_t)extent / 64 % QUICK_EXTENTS;
}

static uint8_t *met_at(const void *ptr)
{
    return &met[((uintptr_t)ptr >> QUICK_BLOCK_SHIFT) % QUICK_BLOCKS];
}

void replica_quick_learn(struct replica_cache *cache, const void *ptr)
{
    const struct heap_context context = replica_heap_own(cache->heap);
    const struct extent *extent = extent_of(&runtime.space, ptr);
    struct quick_extent *at;

    if (!extent)
        return;
    at = &known[known_at(extent)];
    at->part.granules = 0;
    if (heap_cache_look(&context, &cache->heap->heap, ptr, &at->part))
        return;
    at->extent = extent;
    at->stamp = atomic_load_explicit(&extent->stamp, memory_order_relaxed);
    at->cache = cache;
    *met_at(ptr) = (uint8_t)known_at(extent);
}

void replica_quick_forget(const struct replica_cache *cache)
{
    for (int i = 0; i < QUICK_EXTENTS; i++)
        if (known[i].cache == cache)
            known[i].part.granules = 0;
}

/* Another extent was met in the block of @ptr. */
static __attribute__((noinline)) struct quick_extent *meet(const void *ptr)
{
    const struct extent *extent = extent_of(&runtime.space, ptr);

    if (extent && known[known_at(extent)].extent == extent)
        *met_at(ptr) = (uint8_t)known_at(extent);
    return &known[*met_at(ptr)];
}

/* May a call of that thread be answered? */
static inline int is_open(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed) != calls_until &&
           runtime_running();
}

static inline void count(void)
{
    uint64_t before = atomic_load_explicit(&calls, memory_order_relaxed);

    atomic_store_explicit(&calls, before + 1, memory_order_relaxed);
}

uint64_t replica_quick_calls(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

int replica_quick_allow(uint64_t more)
{
    uint64_t now = atomic_load_explicit(&calls, memory_order_relaxed);

    if (!replica_lean_mine || now != calls_until)
        return 0;
    calls_until = now + more;
    return now != 0;
}

void *replica_quick_alloc(uint32_t rid, size_t size_bytes)
{
    struct replica_cache *at = replica_cache_at(rid);
    uint32_t mine = replica_lean_mine;
    struct replica_heap *heap;
    void *ptr = NULL;

    if (!mine || !is_open() || at->key != replica_cache_key(rid))
        return NULL;
    heap = at->heap;
    if (!replica_heap_lean(heap, mine))
        return NULL;
    /* Else it was sealed, or is another region's now. */
    if (at->epoch == heap->epoch)
        ptr = heap_cache_alloc(&at->slots, size_bytes);
    replica_heap_give(heap, 1);
    if (ptr)
        count();
    return ptr;
}

int replica_quick_free(void *ptr)
{
    struct quick_extent *at = &known[*met_at(ptr)];
    uint32_t mine = replica_lean_mine;
    struct replica_heap *heap;
    int err = DRASYNC_EAGAIN;

    if (!mine || !is_open())
        return err;
    if (!heap_cache_in(&at->part, ptr)) {
        at = meet(ptr);
        if (!heap_cache_in(&at->part, ptr))
            return err;
    }
    heap = at->cache->heap;
    if (at->stamp != atomic_load_explicit(&at->extent->stamp,
                                          memory_order_relaxed) ||
        !replica_heap_lean(heap, mine))
        return err;
    if (at->cache->epoch == heap->epoch)
        err = heap_cache_free(&at->part, &at->cache->slots, ptr);
    replica_heap_give(heap, 1);
    if (!err)
        count();
    return err;
}
