/* Free slots at hand: a heap with a cache is as one without. */
#include "memory_common.h"

#include "memory/extents.h"
#include "memory/heap_cache.h"

#define OBJECTS 3000

static struct heap heap;
static struct heap_caches caches;
static struct heap_cache cache;
static struct heap_context context;
static unsigned notes;

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

static void sort(void)
{
    unsigned sorted = heap_cache_sort(&caches, &cache, 0, notes);

    heap_cache_sort_all(&context, &heap, &caches, &cache, sorted, notes);
    notes = 0;
}

static void flush(void)
{
    sort();
    heap_cache_flush(&context, &heap, &caches, &cache);
}

static void *take(size_t bytes)
{
    unsigned class = (unsigned)heap_cache_class(bytes);
    void *ptr = NULL;

    if (caches.note[notes] >> 56 == class)
        ptr = heap_cache_take_noted(&caches, caches.note[notes]);
    if (ptr) {
        notes--;
        return ptr;
    }
    if (!heap_cache_has(&cache, class))
        sort();
    if (heap_cache_has(&cache, class)) {
        ptr = heap_cache_take(&caches, &cache, class);
        if (!ptr)
            ptr = heap_cache_take_stray(&caches, &cache, class);
    }
    if (!ptr)
        ptr = heap_cache_bump(&cache, class);
    if (!ptr)
        REQUIRE(!heap_cache_alloc_slow(&context, &heap, &caches, &cache, bytes,
                                       &ptr));
    return ptr;
}

static int is_known(const void *ptr)
{
    if (!heap_cache_in(heap_cache_met(&caches, ptr), ptr) &&
        !heap_parts_meet(&caches.parts, ptr))
        return 0;
    return heap_cache_in(heap_cache_met(&caches, ptr), ptr);
}

static int give(void *ptr)
{
    if (notes == HEAP_CACHE_NOTES)
        sort();
    if (is_known(ptr) && !heap_cache_free(heap_cache_met(&caches, ptr), ptr,
                                          &caches.note[1 + notes])) {
        notes++;
        return 0;
    }
    return heap_cache_free_slow(&context, &heap, &caches, &cache, ptr);
}

static size_t cached(void)
{
    size_t count = notes;

    for (unsigned i = 0; i < HEAP_CACHE_CLASSES; i++)
        count += (size_t)(cache.top[i] - cache.slot[i]);
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
    REQUIRE(!give(b) && !give(a));
    sort();
    tap_ok(take(100) == a && take(100) == b && !cached(),
           "also once it was sorted, the last one first");
    REQUIRE(!give(a) && !give(b));
    heap_cache_withdraw(&context, &heap, &cache);
    REQUIRE(!heap_seal(&context, &heap));
    notes = 0;
    heap_cache_clear(&caches, &cache);
    tap_ok(take(100) != a && take(100) != b, "not once it is sealed");
    tap_ok(!give(sealed) && !cached() && give(sealed) == DRASYNC_EFREED,
           "nor is what was alive then, and freed later");
}

/* The numbers of extents are given away while their slots are on stacks. */
static void strays(void)
{
    char *a = take(200), *b = take(200), *c;

    REQUIRE(!give(a) && !give(b));
    sort();
    for (unsigned i = 0; i < HEAP_PARTS; i++)
        caches.parts.part[i].granules = 0;
    c = take(200);
    tap_ok((c == a || c == b) && heap_free(&context, &heap, c) == 0,
           "a slot whose extent has no number any more is an object again");
    tap_ok(!is_known(take(200)), "nor does its free go by that number");
}

/* Objects of one size come one after the other out of a piece, which the heap
 * has again where nothing is cut behind it. */
static void pieces(void)
{
    uint64_t used, bump;
    void *other;
    char *a, *b;

    flush();
    REQUIRE(!heap_alloc(&context, &heap, 300000, &other));
    REQUIRE(!heap_free(&context, &heap, other));
    used = heap.used_bytes;
    do
        a = take(900);
    while (!cache.bump);
    bump = heap.bump;
    b = take(130);
    tap_ok(heap.bump == bump && (uint64_t)(uintptr_t)b < cache.bump,
           "a piece has room for several objects");
    tap_ok(!heap_free(&context, &heap, b) &&
               heap_free(&context, &heap, b) == DRASYNC_EFREED,
           "which others may free as soon as they are there");
    REQUIRE(!give(a));
    flush();
    tap_ok(!cache.bump && heap.used_bytes <= used + 1024 && heap.bump < bump,
           "the rest of a piece goes back");
}

static struct heap_caches second_caches;
static struct heap_cache second;

/* Two caches of a heap, as two threads have them. */
static void two(void)
{
    void *ptr[200];
    int good = 1;

    heap_caches_open(&second_caches, context.space, context.view);
    heap_cache_clear(&second_caches, &second);
    for (int i = 0; i < 200; i++)
        if (i % 2)
            ptr[i] = take(100);
        else
            REQUIRE(!heap_cache_alloc_slow(&context, &heap, &second_caches,
                                           &second, 100, &ptr[i]));
    for (int i = 0; i < 200; i++)
        memset(ptr[i], i, 100);
    for (int i = 0; i < 200; i++)
        good = good && *(unsigned char *)ptr[i] == i;
    tap_ok(good && second.bump && cache.bump && second.end != cache.end,
           "two caches of a heap hand out different objects");
    for (int i = 0; i < 200; i++)
        good = good &&
               !(i % 2 ? heap_cache_free_slow(&context, &heap, &second_caches,
                                              &second, ptr[i])
                       : give(ptr[i]));
    tap_ok(good, "each takes what the other one has handed out");
    flush();
    heap_cache_flush(&context, &heap, &second_caches, &second);
    tap_ok(!heap_check(&context, &heap), "the heap is sound");
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

    flush();
    used = heap.used_bytes;
    for (int i = 0; i < 300000; i++) {
        uint32_t at;

        random = random * 1664525 + 1013904223;
        at = (random >> 8) % OBJECTS;
        if (i % 50000 == 0)
            flush();
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
    flush();
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
    heap_caches_start();
    heap_caches_open(&caches, &space, context.view);
    heap_cache_clear(&caches, &cache);
    REQUIRE(!heap_init(&context, &heap, 64, NULL, 0));
    one();
    strays();
    pieces();
    two();
    random_work();
    node_close(&space);
    return tap_end();
}
