/* The region allocator. */
#include "memory_common.h"
#include "memory_look.h"

#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/heap.h"
#include "memory/pages.h"

/* A region for tests: extents of its own, a heap, and a budget. */
struct region {
    const struct space *space;
    struct heap_context context;
    struct heap *heap;
    uint64_t pages_left;
    uint64_t asked;
};

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct region *region = arg;
    struct extent *extent;
    int err;

    (void)pages_min;
    region->asked++;
    if (pages_wanted > region->pages_left)
        return DRASYNC_ENOMEM;
    err = extent_new(region->space, pages_wanted, region, 1, &extent);
    if (err)
        return err;
    region->pages_left -= pages_wanted;
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

/* A region whose heap lies in its first page. */
static void region_open(struct region *region, const struct space *space,
                        unsigned align, ptrdiff_t view)
{
    struct heap_extent first;

    *region = (struct region){.space = space, .pages_left = UINT64_MAX};
    region->context = (struct heap_context){.space = space,
                                            .view = view,
                                            .owner = region,
                                            .more = more,
                                            .arg = region};
    REQUIRE(!more(region, 1, 1, &first));
    region->heap = (void *)((char *)space_address(space, first.first_page) +
                            view + HEAP_HEADER_OFFSET);
    REQUIRE(!heap_init(&region->context, region->heap, align, &first,
                       sizeof(struct heap)));
}

static void region_close(struct region *region)
{
    struct heap_extent extent = {0};
    uint64_t pages[256], count = 0;

    while (heap_extent_next(&region->context, region->heap, &extent) > 0) {
        REQUIRE(count < 256);
        pages[count++] = extent.first_page;
    }
    while (count--)
        REQUIRE(!extent_delete(
            region->space,
            extent_of(region->space,
                      space_address(region->space, pages[count]))));
}

static int take(struct region *region, size_t bytes, void **ptr_out)
{
    return heap_alloc(&region->context, region->heap, bytes, ptr_out);
}

static int give(struct region *region, void *ptr)
{
    return heap_free(&region->context, region->heap, ptr);
}

static void basics(const struct space *space, unsigned align)
{
    struct region region, other;
    void *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    size_t usable = 0;

    region_open(&region, space, align, 0);
    region_open(&other, space, align, 0);
    tap_ok(!take(&region, 40, &a) && !take(&region, 40, &b) && a != b &&
               (uintptr_t)a % align == 0 && (uintptr_t)b % align == 0,
           "objects are distinct and aligned");
    memset(a, 1, 40);
    memset(b, 2, 40);
    tap_ok(*(char *)a == 1 && *((char *)a + 39) == 1, "they do not overlap");
    tap_ok(!heap_usable(&region.context, region.heap, a, &usable) &&
               usable >= 40 && region.heap->used_bytes == 2 * usable,
           "their size is known from the pointer");
    tap_ok(!take(&region, 0, &c) && !take(&region, 0, &d) && c != d,
           "size 0 gives addresses of their own");
    tap_ok(usable == align ||
               give(&region, (char *)a + align) == DRASYNC_EFREED,
           "an interior pointer is no object");
    tap_ok(give(&region, (char *)a + 1) == DRASYNC_EALIGN &&
               give(&region, (char *)a + 8) == DRASYNC_EALIGN,
           "a misaligned pointer is told apart");
    tap_ok(give(&region, &usable) == DRASYNC_ENOOBJECT &&
               give(&region, NULL) == DRASYNC_ENOOBJECT &&
               give(&region, (void *)UINTPTR_MAX) == DRASYNC_ENOOBJECT &&
               give(&other, a) == DRASYNC_ENOOBJECT,
           "a pointer outside the region is told apart");
    tap_ok(give(&region, (char *)d + 1024) == DRASYNC_EFREED &&
               give(&region, (char *)region.heap - HEAP_HEADER_OFFSET) ==
                   DRASYNC_EFREED,
           "so is one where nothing was allocated");
    tap_ok(!give(&region, a) && give(&region, a) == DRASYNC_EFREED &&
               heap_usable(&region.context, region.heap, a, &usable) ==
                   DRASYNC_EFREED,
           "an object is freed once");
    tap_ok(!take(&region, 33, &d) && d == a, "and its slot used again");
    tap_ok(!give(&region, d) && !give(&region, b) && !give(&region, c) &&
               region.heap->used_bytes == align,
           "used bytes are counted");
    tap_ok(take(&region, SIZE_MAX, &a) == DRASYNC_ENOMEM &&
               take(&region, SIZE_MAX - 4096, &a) == DRASYNC_ENOMEM &&
               take(&region, (size_t)1 << 62, &a) == DRASYNC_ENOMEM &&
               take(&region, (size_t)1 << 41, &a) < 0,
           "sizes that cannot be are refused");
    tap_ok(!heap_check(&region.context, region.heap), "the heap is sound");
    region_close(&region);
    region_close(&other);
}

static void many(const struct space *space)
{
    static void *ptrs[5000], *again;
    struct region region;
    uint64_t used, i, good = 1;

    region_open(&region, space, 64, 0);
    tap_ok(!heap_alloc_many(&region.context, region.heap, 100, 5000, ptrs),
           "many objects at once");
    for (i = 0; i < 5000; i++)
        memset(ptrs[i], (int)i, 100);
    for (i = 0; i < 5000; i++)
        good = good && *(unsigned char *)ptrs[i] == (i & 255) &&
               ((unsigned char *)ptrs[i])[99] == (i & 255);
    tap_ok(good && region.heap->extents == 2, "in one extent, intact");
    used = region.heap->used_bytes;
    region.pages_left = 0;
    tap_ok(heap_alloc_many(&region.context, region.heap, 2000, 5000, ptrs) ==
                   DRASYNC_ENOMEM &&
               region.heap->used_bytes == used,
           "if memory runs out in the middle none is allocated");
    tap_ok(!heap_alloc_many(&region.context, region.heap, 100, 0, ptrs) &&
               heap_alloc_many(&region.context, region.heap, SIZE_MAX, 2,
                               ptrs) == DRASYNC_ENOMEM &&
               heap_alloc_many(&region.context, region.heap, 1 << 20, SIZE_MAX,
                               ptrs) == DRASYNC_ENOMEM,
           "none is fine; overflow is not");
    for (i = 0; !take(&region, 16, &again); i++)
        ;
    tap_ok(i > 0 && !heap_check(&region.context, region.heap),
           "single objects go on until the last page is full");
    region_close(&region);
}

static void large(const struct space *space)
{
    struct region region;
    void *a, *b, *c;
    size_t usable;
    uint64_t bytes, extents;

    region_open(&region, space, 16, 0);
    tap_ok(!take(&region, 5 * MIB, &a) && region.heap->pages < 1290,
           "a large object gets an extent that fits");
    memset(a, 3, 5 * MIB);
    tap_ok(!heap_usable(&region.context, region.heap, a, &usable) &&
               usable == 5 * MIB && !heap_check(&region.context, region.heap),
           "and has the size asked for");
    tap_ok(!heap_high_water(&region.context, region.heap, space_page(space, a),
                            &bytes) &&
               bytes == 5 * MIB + HEAP_HEADER_OFFSET,
           "its high-water mark is its end");
    tap_ok(!heap_data_begin(&region.context, space_page(space, a), &bytes) &&
               (char *)space_address(space, space_page(space, a)) + bytes ==
                   (char *)a,
           "objects begin behind the metadata");
    tap_ok(give(&region, (char *)a + 4096) == DRASYNC_EFREED &&
               give(&region, (char *)a + 4097) == DRASYNC_EALIGN,
           "pointers into it are no objects");
    tap_ok(!heap_resize(&region.context, region.heap, a, 4 * MIB) &&
               heap_resize(&region.context, region.heap, a, 6 * MIB) ==
                   DRASYNC_EAGAIN &&
               heap_resize(&region.context, region.heap, a, MIB) ==
                   DRASYNC_EAGAIN &&
               heap_resize(&region.context, region.heap, a, SIZE_MAX) ==
                   DRASYNC_EAGAIN,
           "it shrinks in place by less than half, and does not grow");
    extents = region.heap->extents;
    tap_ok(!give(&region, a) && give(&region, a) == DRASYNC_EFREED &&
               !take(&region, 5 * MIB - 100, &b) && a == b &&
               region.heap->extents == extents,
           "freed, its extent is used again");
    tap_ok(!take(&region, 300000, &a) && !take(&region, 300000, &c) &&
               !give(&region, a) && !take(&region, 290000, &b) && a == b,
           "medium objects share extents");
    REQUIRE(!take(&region, 5 * MIB, &a));
    while (region.heap->pages < 6 * 1280)
        REQUIRE(!take(&region, 5 * MIB, &b));
    region.pages_left = 0;
    tap_ok(!give(&region, a) && !take(&region, 5 * MIB, &b) && a == b,
           "an extent of its own is used again in a heap that grew since");
    region_close(&region);
}

static void resize(const struct space *space)
{
    struct region region;
    void *a;

    region_open(&region, space, 16, 0);
    REQUIRE(!take(&region, 200, &a));
    tap_ok(!heap_resize(&region.context, region.heap, a, 224) &&
               !heap_resize(&region.context, region.heap, a, 120) &&
               heap_resize(&region.context, region.heap, a, 225) ==
                   DRASYNC_EAGAIN &&
               heap_resize(&region.context, region.heap, a, 16) ==
                   DRASYNC_EAGAIN &&
               heap_resize(&region.context, region.heap, a, 0) ==
                   DRASYNC_EAGAIN,
           "objects change their size in place within a slot");
    tap_ok(heap_resize(&region.context, region.heap, (char *)a + 4, 20) ==
                   DRASYNC_EALIGN &&
               !give(&region, a) &&
               heap_resize(&region.context, region.heap, a, 20) ==
                   DRASYNC_EFREED,
           "what is no object is refused");
    region_close(&region);
}

static void sealing(const struct space *space)
{
    struct region region;
    void *a = NULL, *b = NULL, *c = NULL, *d = NULL, *big = NULL;
    uint64_t mark;
    size_t i;
    int fresh = 1;

    region_open(&region, space, 16, space_window_view(space));
    REQUIRE(!take(&region, 64, &a) && !take(&region, 64, &b) &&
            !take(&region, MIB, &big) && !give(&region, a));
    tap_ok(!heap_high_water(&region.context, region.heap, space_page(space, a),
                            &mark) &&
               (uintptr_t)b + 64 - (uintptr_t)a / PAGE_BYTES * PAGE_BYTES ==
                   mark,
           "the high-water mark is where the last object ends");
    tap_ok(!heap_seal(&region.context, region.heap), "a heap is sealed");
    for (i = 0; i < 10000; i++) {
        REQUIRE(!take(&region, 64, &c));
        fresh = fresh && c != a &&
                ((uintptr_t)c > (uintptr_t)b ||
                 space_page(space, c) != space_page(space, b));
    }
    tap_ok(fresh, "free slots below the mark are not handed out");
    tap_ok(!give(&region, b) && give(&region, b) == DRASYNC_EFREED &&
               !take(&region, 64, &d) && d != b && d != a,
           "nor are those freed later, and misuse is still seen");
    tap_ok(!give(&region, d) && !take(&region, 64, &c) && c == d,
           "above the mark slots are used again");
    tap_ok(!give(&region, big) && give(&region, big) == DRASYNC_EFREED &&
               !take(&region, MIB, &c) && c != big,
           "a large object's extent is not used again either");
    tap_ok(!heap_check(&region.context, region.heap), "the heap is sound");
    region_close(&region);
}

/* Overwrite the metadata in every way, and see that only this region's extents
 * are written. */
static void corruption(const struct space *space)
{
    struct region region, guard;
    void *victim, *a, *kept[64];
    struct heap saved;
    char copy[4096], *page;
    uint32_t random = 7;
    int round, i;

    region_open(&guard, space, 16, 0);
    REQUIRE(!take(&guard, 3000, &victim));
    memset(victim, 0x5a, 3000);
    page = space_address(space, space_page(space, victim));
    memcpy(copy, page, 4096);
    for (round = 0; round < 300; round++) {
        uint64_t *words;

        region_open(&region, space, 16, 0);
        for (i = 0; i < 64; i++)
            REQUIRE(!take(&region, (size_t)i * 9, &kept[i]));
        for (i = 0; i < 64; i += 3)
            REQUIRE(!give(&region, kept[i]));
        saved = *region.heap;
        words = (void *)((char *)region.heap - HEAP_HEADER_OFFSET);
        for (i = 0; i < 3; i++) {
            uint64_t values[] = {0,
                                 UINT64_MAX,
                                 (uintptr_t)victim,
                                 (uintptr_t)space->control,
                                 (uintptr_t)&random,
                                 0x8181818181818181u,
                                 (uintptr_t)kept[random % 64] + 16,
                                 random};

            random = random * 1664525 + 1013904223;
            words[random >> 23] = values[random >> 8 & 7];
        }
        for (i = 0; i < 64; i++) {
            take(&region, (size_t)i * 9, &a);
            give(&region, kept[i]);
        }
        heap_seal(&region.context, region.heap);
        heap_check(&region.context, region.heap);
        *region.heap = saved;
        /* What of its extents is still linked does not matter here. */
    }
    tap_ok(!memcmp(copy, page, 4096), "nonsense in a heap stays in its region");
    tap_ok(!control_poisoned(space), "and the shared state is as it was");
    region_close(&guard);
}

static void random_work(const struct space *space, ptrdiff_t view)
{
    enum { OBJECTS = 4000 };
    static struct {
        unsigned char *ptr;
        size_t bytes;
    } object[OBJECTS];
    struct region region;
    uint32_t random = 1;
    int i, good = 1;

    memset(object, 0, sizeof(object));
    region_open(&region, space, 16, view);
    for (i = 0; i < 200000; i++) {
        uint32_t at;

        random = random * 1664525 + 1013904223;
        at = random % OBJECTS;
        if (object[at].ptr) {
            unsigned char mark = (unsigned char)at;

            good = good && object[at].ptr[0] == mark &&
                   object[at].ptr[object[at].bytes - 1] == mark &&
                   !give(&region, object[at].ptr);
            object[at].ptr = NULL;
        } else {
            void *ptr;

            object[at].bytes = (random >> 12) % (i % 100 ? 500 : 300000) + 1;
            REQUIRE(!take(&region, object[at].bytes, &ptr));
            object[at].ptr = ptr;
            object[at].ptr[0] = (unsigned char)at;
            object[at].ptr[object[at].bytes - 1] = (unsigned char)at;
        }
    }
    tap_ok(good, "random objects keep their contents");
    for (i = 0; i < OBJECTS; i++)
        if (object[i].ptr)
            good = good && !give(&region, object[i].ptr);
    tap_ok(good && !region.heap->used_bytes && region.heap->extents < 40 &&
               !heap_check(&region.context, region.heap),
           "all can be freed, and the extents are few");
    region_close(&region);
}

static int in_process(const struct space *space, int index)
{
    struct region *region;
    void *memory, **list = NULL, *ptr;
    int i;

    if (control_alloc(space, sizeof(*region), &memory))
        return 1;
    region = memory;
    region_open(region, space, 16, 0);
    for (i = 0; i < 100000; i++) {
        if (take(region, 48 + (size_t)index * 16, &ptr))
            return 1;
        *(void **)ptr = list;
        list = ptr;
    }
    for (i = 0; list; i++) {
        ptr = *list;
        if (give(region, list))
            return 1;
        list = ptr;
    }
    if (i != 100000 || region->heap->used_bytes)
        return 1;
    region_close(region);
    control_free(space, memory);
    return 0;
}

static void small_heaps(const struct space *space)
{
    enum { HEAPS = 3000 };
    static struct region regions[HEAPS];
    void *ptr;
    int i, good = 1;

    for (i = 0; i < HEAPS; i++) {
        region_open(&regions[i], space, 16, 0);
        good = good && !take(&regions[i], 1000, &ptr) &&
               !take(&regions[i], 1000, &ptr) && regions[i].asked == 1;
    }
    tap_ok(good, "thousands of heaps of one page each");
    for (i = 0; i < HEAPS; i++)
        region_close(&regions[i]);
}

#ifdef __SANITIZE_THREAD__
#define HUGE_SKIPPED 1
#else
#define HUGE_SKIPPED 0
#endif

/* For a region of 100 GiB: its addresses, but not the memory of it. */
static int more_addresses(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                          struct heap_extent *extent_out)
{
    struct region *region = arg;
    struct extent *extent;
    uint64_t first, head = 64;

    (void)pages_min;
    REQUIRE(!pages_take(region->space, pages_wanted, PAGES_ADDRESSES, &first));
    REQUIRE(!frames_reserve(region->space, space_page_offset(first),
                            space_page_offset(head)));
    REQUIRE(
        !extent_insert(region->space, first, pages_wanted, region, 1, &extent));
    extent_out->first_page = first;
    extent_out->pages = pages_wanted;
    return 0;
}

static void huge(void)
{
    struct space space;
    struct region region;
    void *first, *last, *ptr;
    uint64_t i;

    if (HUGE_SKIPPED) {
        tap_skip("a heap of 100 GiB", "ThreadSanitizer has no room for it");
        return;
    }
    node_open(&space, 512 * GIB, 0, 1, 0);
    region_open(&region, &space, 16, 0);
    region.context.more = more_addresses;
    REQUIRE(!take(&region, 70 * GIB, &first));
    tap_ok(!take(&region, 5 * GIB, &last) && last != first,
           "objects of many GiB");
    for (i = 0; i < 25; i++)
        REQUIRE(!take(&region, GIB, &ptr));
    tap_ok(!take(&region, 16, &ptr) && region.heap->extents < 60 &&
               region.heap->used_bytes >= 100 * GIB,
           "a heap of 100 GiB has few extents");
    tap_ok(!give(&region, first) && !give(&region, last) &&
               !heap_check(&region.context, region.heap),
           "and is sound");
    node_close(&space);
}

int main(void)
{
    struct space space;

    node_open(&space, 4 * GIB, 0, 1, 0);
    basics(&space, 16);
    basics(&space, 64);
    many(&space);
    large(&space);
    resize(&space);
    sealing(&space);
    random_work(&space, 0);
    random_work(&space, space_window_view(&space));
    small_heaps(&space);
    tap_ok(in_processes(&space, 4, in_process),
           "four processes use four heaps at once");
    corruption(&space);
    node_close(&space);
    huge();
    return tap_end();
}
