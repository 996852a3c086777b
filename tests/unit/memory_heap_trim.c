/* Heaps that give up extents without objects. */
#include "memory_common.h"

#include "memory/extents.h"
#include "memory/heap.h"

#define OBJECTS 20000
#define ROUNDS  60

struct region {
    const struct space *space;
    struct heap_context context;
    struct heap *heap;
    uint64_t extents;
};

struct object {
    void *ptr;
    size_t bytes;
    unsigned char value;
};

static struct object objects[OBJECTS];

static uint64_t random_one(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 8;
}

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct region *region = arg;
    struct extent *extent;

    (void)pages_min;
    REQUIRE(!extent_new(region->space, pages_wanted, region, 1, &extent));
    region->extents++;
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

static void gone(void *arg, uint64_t first_page)
{
    struct region *region = arg;
    struct extent *extent =
        extent_of(region->space, space_address(region->space, first_page));

    REQUIRE(extent && !extent_delete(region->space, extent));
    region->extents--;
}

static void region_open(struct region *region, const struct space *space,
                        unsigned align)
{
    struct heap_extent first;

    *region = (struct region){.space = space};
    region->context = (struct heap_context){.space = space,
                                            .view = space_window_view(space),
                                            .owner = region,
                                            .more = more,
                                            .arg = region};
    REQUIRE(!more(region, 1, 1, &first));
    region->heap = (void *)((char *)space_address(space, first.first_page) +
                            region->context.view + HEAP_HEADER_OFFSET);
    REQUIRE(!heap_init(&region->context, region->heap, align, &first,
                       sizeof(struct heap)));
}

static int trim(struct region *region)
{
    return heap_trim(&region->context, region->heap, gone, region);
}

static bool whole(const struct region *region)
{
    return !heap_check(&region->context, region->heap) &&
           region->heap->extents == region->extents;
}

static void make(struct region *region, struct object *object, size_t bytes)
{
    REQUIRE(!heap_alloc(&region->context, region->heap, bytes, &object->ptr));
    object->bytes = bytes;
    object->value = (unsigned char)random_one();
    memset(object->ptr, object->value, bytes);
}

static bool intact(const struct object *object)
{
    const unsigned char *bytes = object->ptr;

    return !object->bytes || (bytes[0] == object->value &&
                              bytes[object->bytes - 1] == object->value);
}

static void end(struct region *region, struct object *object)
{
    REQUIRE(intact(object));
    REQUIRE(!heap_free(&region->context, region->heap, object->ptr));
    object->ptr = NULL;
}

/* Mostly small ones, some with extents of their own. */
static size_t some_bytes(void)
{
    return random_one() % 500 ? random_one() % 2000 : random_one() % 3000000;
}

/* Objects come and go at random, more or fewer of them by turns. */
static void random_ones(const struct space *space, unsigned align)
{
    struct region region;
    bool ok = true;
    uint64_t most = 0;

    memset(objects, 0, sizeof(objects));
    region_open(&region, space, align);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned live = round % 3 == 0 ? 100 : round % 3 == 1 ? 60 : 2;

        for (int i = 0; i < OBJECTS; i++) {
            bool lives = random_one() % 100 < live;

            if (lives && !objects[i].ptr)
                make(&region, &objects[i], some_bytes());
            else if (!lives && objects[i].ptr)
                end(&region, &objects[i]);
        }
        most = region.extents > most ? region.extents : most;
        ok = ok && !trim(&region) && whole(&region);
        for (int i = 0; i < OBJECTS; i++)
            ok = ok && (!objects[i].ptr || intact(&objects[i]));
    }
    tap_ok(ok && most > 10, "objects stay as they are when extents go");
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].ptr)
            end(&region, &objects[i]);
    tap_ok(!trim(&region) && whole(&region) && region.extents == 1 &&
               region.heap->used_bytes == 0,
           "of a heap without objects the first extent is left");
    make(&region, &objects[0], 100);
    make(&region, &objects[1], 5000000);
    tap_ok(whole(&region) && region.extents > 1, "and it may grow again");
    end(&region, &objects[0]);
    end(&region, &objects[1]);
    REQUIRE(!trim(&region) && region.extents == 1);
}

static void refused(const struct space *space)
{
    struct region region;
    struct object kept;
    uint64_t extents;
    void *ptrs[2000];

    region_open(&region, space, 16);
    for (int i = 0; i < 2000; i++)
        REQUIRE(!heap_alloc(&region.context, region.heap, 64, &ptrs[i]));
    make(&region, &kept, 300000);
    for (int i = 0; i < 2000; i++)
        REQUIRE(!heap_free(&region.context, region.heap, ptrs[i]));
    extents = region.extents;
    /* The last one that was freed is the first of its list. */
    *(uint64_t *)((char *)ptrs[1999] + region.context.view) = 12345;
    tap_ok(extents > 2 && trim(&region) == DRASYNC_EINTERNAL &&
               region.extents == extents && whole(&region),
           "with a list that a program wrote over, no extent goes");
    tap_ok(intact(&kept) && trim(&region) == DRASYNC_EINTERNAL,
           "and nothing else is touched");

    region_open(&region, space, 16);
    for (int i = 0; i < 2000; i++)
        REQUIRE(!heap_alloc(&region.context, region.heap, 64, &ptrs[i]));
    REQUIRE(!heap_seal(&region.context, region.heap));
    for (int i = 0; i < 2000; i++)
        REQUIRE(!heap_free(&region.context, region.heap, ptrs[i]));
    extents = region.extents;
    tap_ok(!trim(&region) && region.extents == extents,
           "nor one that may come back from where it was sent");
}

int main(void)
{
    struct space space;

    node_open(&space, 4 * GIB, 0, 1, 0);
    random_ones(&space, 16);
    random_ones(&space, 64);
    refused(&space);
    node_close(&space);
    return tap_end();
}
