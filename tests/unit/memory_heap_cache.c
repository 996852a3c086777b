/* Free slots at hand: a heap with a cache is as one without. */
#include "memory_common.h"

#include "memory/extents.h"
#include "memory/heap_cache.h"

#define OBJECTS 3000

static struct heap heap;
static struct heap_cache cache;
static struct heap_context context;

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct extent *extent;
    int err = extent_new(context.space, pages_wanted, arg, 1, &extent);

    (void)pages_min;
    if (err)
        return err;
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

static void *take(size_t bytes)
{
    void *ptr = heap_cache_alloc(&cache, bytes);

    if (!ptr)
        REQUIRE(!heap_cache_alloc_slow(&context, &heap, &cache, bytes, &ptr));
    return ptr;
}

static int give(void *ptr)
{
    struct heap_cache_part part;

    if (!heap_cache_look(&context, &heap, ptr, &part) &&
        heap_cache_in(&part, ptr) && !heap_cache_free(&part, &cache, ptr))
        return 0;
    return heap_cache_free_slow(&context, &heap, &cache, ptr);
}

static uint32_t cached(void)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < HEAP_CACHE_CLASSES; i++)
        count += cache.count[i];
    return count;
}

static void one(void)
{
    char *a = take(100), *b = take(100), *sealed = take(40);
    size_t usable;

    tap_ok(!give(a) && cached() == 1 &&
               heap_usable(&context, &heap, a, &usable) == DRASYNC_EFREED,
           "what is freed is at hand, and free for all");
    tap_ok(give(a) == DRASYNC_EFREED && heap_free(&context, &heap, a) < 0,
           "it is freed once");
    tap_ok(give(b + 64) == DRASYNC_EFREED && give(b + 1) == DRASYNC_EALIGN &&
               give(&usable) == DRASYNC_ENOOBJECT && cached() == 1,
           "what is no object is told apart");
    tap_ok(take(100) == a && !cached(), "it is handed out again");
    REQUIRE(!give(a) && !give(b));
    REQUIRE(!heap_seal(&context, &heap));
    heap_cache_clear(&cache);
    tap_ok(take(100) != a && take(100) != b, "not once it is sealed");
    tap_ok(!give(sealed) && !cached() && give(sealed) == DRASYNC_EFREED,
           "nor is what was alive then, and freed later");
}

static void random_work(void)
{
    static struct {
        unsigned char *ptr;
        size_t bytes;
    } object[OBJECTS];
    uint64_t used;
    uint32_t random = 1;
    int good = 1;

    heap_cache_flush(&context, &heap, &cache);
    used = heap.used_bytes;
    for (int i = 0; i < 300000; i++) {
        uint32_t at;

        random = random * 1664525 + 1013904223;
        at = (random >> 8) % OBJECTS;
        if (i % 50000 == 0)
            heap_cache_flush(&context, &heap, &cache);
        if (object[at].ptr) {
            unsigned char mark = (unsigned char)at;

            good = good && object[at].ptr[0] == mark &&
                   object[at].ptr[object[at].bytes - 1] == mark &&
                   !give(object[at].ptr);
            object[at].ptr = NULL;
        } else {
            size_t most = (size_t)64 << (random >> 4) % 12;

            object[at].bytes = (random >> 12) % most + 1;
            object[at].ptr = take(object[at].bytes);
            object[at].ptr[0] = (unsigned char)at;
            object[at].ptr[object[at].bytes - 1] = (unsigned char)at;
        }
    }
    tap_ok(good, "random objects keep their contents");
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (object[i].ptr)
            good = good && !give(object[i].ptr);
    tap_ok(good && cached() > 0, "all can be freed");
    heap_cache_flush(&context, &heap, &cache);
    tap_ok(!cached() && !heap_check(&context, &heap) && heap.used_bytes == used,
           "slots go back, used bytes are counted, and the heap is sound");
}

int main(void)
{
    struct space space;

    node_open(&space, 4 * GIB, 0, 1, 0);
    context = (struct heap_context){.space = &space,
                                    .view = space_window_view(&space),
                                    .owner = &heap,
                                    .more = more,
                                    .arg = &heap};
    heap_cache_open();
    REQUIRE(!heap_init(&context, &heap, 64, NULL, 0));
    one();
    random_work();
    node_close(&space);
    return tap_end();
}
