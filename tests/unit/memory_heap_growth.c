/* Which extents heaps ask for: where their pages lie. */
#include "memory_common.h"

#include "memory/extents.h"
#include "memory/heap.h"

#define HEAPS        4
#define EXPECTED     20        /* pages of another heap */
#define OBJECTS      (1 << 18) /* of each heap */
#define OBJECT_BYTES 64
#define BATCH        256
#define ARRAY_BYTES  52000
#define CHOSEN_PAGES 16  /* fewer are what a batch needs */
#define SETS         256 /* of a TLB: by the page's number */

struct grower {
    const struct space *space;
    struct heap heap;
    struct heap_context context;
    int uneven; /* extents that are no powers of two */
};

static struct grower growers[HEAPS];

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct grower *grower = arg;
    struct extent *extent;

    (void)pages_min;
    if (pages_wanted >= CHOSEN_PAGES && (pages_wanted & (pages_wanted - 1)))
        grower->uneven++;
    REQUIRE(!extent_new(grower->space, pages_wanted, grower, 1, &extent));
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

static void open_grower(struct grower *grower, const struct space *space,
                        uint64_t pages_expected)
{
    *grower = (struct grower){.space = space};
    grower->context = (struct heap_context){.space = space,
                                            .owner = grower,
                                            .more = more,
                                            .arg = grower,
                                            .pages_expected = pages_expected};
    REQUIRE(!heap_init(&grower->context, &grower->heap, 64, NULL, 0));
}

/* The sets in which each page with objects of @grower is. */
static void count_pages(const struct grower *grower, unsigned *sets)
{
    struct heap_extent extent = {0};

    while (heap_extent_next(&grower->context, &grower->heap, &extent) > 0) {
        uint64_t data, end;

        REQUIRE(!heap_data_begin(&grower->context, extent.first_page, &data));
        REQUIRE(!heap_high_water(&grower->context, &grower->heap,
                                 extent.first_page, &end));
        for (uint64_t at = data; at < end; at += PAGE_BYTES)
            sets[(extent.first_page + (at >> PAGE_SHIFT)) % SETS]++;
    }
}

/* A heap that is expected to need EXPECTED pages. */
static void check_expected(const struct space *space)
{
    struct grower *grower = &growers[0];
    void *ptr;

    open_grower(grower, space, EXPECTED);
    REQUIRE(!heap_alloc(&grower->context, &grower->heap, OBJECT_BYTES, &ptr));
    tap_ok(grower->heap.extents == 1 && grower->heap.pages >= EXPECTED &&
               grower->heap.pages < 2 * EXPECTED && !grower->uneven,
           "a heap grows at once to what it is expected to need");
    while (grower->heap.extents == 1)
        REQUIRE(
            !heap_alloc(&grower->context, &grower->heap, OBJECT_BYTES, &ptr));
    tap_ok(grower->heap.pages >= 2 * EXPECTED,
           "and doubles when it needs more");
}

/* An array of 52,000 bytes, alone and behind small objects of a heap that is
 * expected to have room for it. */
static void check_alone(const struct space *space)
{
    struct grower *grower = &growers[0];
    const uint64_t pages = space_pages_for(ARRAY_BYTES + 64);
    uint64_t before;
    size_t usable;
    void *array, *small;

    open_grower(grower, space, 0);
    REQUIRE(!heap_alloc(&grower->context, &grower->heap, ARRAY_BYTES, &array));
    REQUIRE(!heap_usable(&grower->context, &grower->heap, array, &usable));
    tap_ok(grower->heap.pages == pages && usable >= ARRAY_BYTES &&
               usable - ARRAY_BYTES < 64,
           "an array that is large for its heap has an extent that fits");
    REQUIRE(!heap_free(&grower->context, &grower->heap, array));
    REQUIRE(!heap_alloc(&grower->context, &grower->heap, ARRAY_BYTES, &small));
    tap_ok(small == array && grower->heap.pages == pages,
           "which is used again");

    open_grower(grower, space, EXPECTED);
    REQUIRE(!heap_alloc(&grower->context, &grower->heap, OBJECT_BYTES, &small));
    before = grower->heap.pages;
    REQUIRE(!heap_alloc(&grower->context, &grower->heap, ARRAY_BYTES, &array));
    tap_ok(grower->heap.pages == before && grower->heap.extents == 1,
           "but where there is room it goes there");
}

int main(void)
{
    unsigned sets[SETS] = {0}, most = 0, all = 0;
    int uneven = 0, few = 1, little = 1;
    void *ptrs[BATCH];
    struct space space;

    node_open(&space, 4 * GIB, 0, 1, 0);
    for (int i = 0; i < HEAPS; i++)
        open_grower(&growers[i], &space, 0);
    for (int n = 0; n < OBJECTS; n += BATCH)
        for (int i = 0; i < HEAPS; i++)
            REQUIRE(!heap_alloc_many(&growers[i].context, &growers[i].heap,
                                     OBJECT_BYTES, BATCH, ptrs));
    for (int i = 0; i < HEAPS; i++) {
        const struct heap *heap = &growers[i].heap;

        uneven += growers[i].uneven;
        few = few && heap->extents < 30;
        little =
            little && (heap->pages << PAGE_SHIFT) < heap->used_bytes / 2 * 3;
        count_pages(&growers[i], sets);
    }
    for (int s = 0; s < SETS; s++) {
        all += sets[s];
        if (most < sets[s])
            most = sets[s];
    }
    tap_ok(!uneven, "an extent of a size that the heap chooses is a power of "
                    "two");
    tap_ok(few, "they are few");
    tap_ok(little, "and at most a third of a heap's pages is not used yet");
    tap_ok(most * SETS <= all + all / 4,
           "objects of several heaps are spread evenly over the sets of a TLB");
    check_expected(&space);
    check_alone(&space);
    node_close(&space);
    return tap_end();
}
