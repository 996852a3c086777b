/* Magazines of a heap: objects that a thread takes without asking. */
#include "memory_magazines.h"

/* The fast path knows by itself what classes there are. */
static void classes(void)
{
    bool alike = true;

    for (uint64_t more = 0; more < HEAP_MAGAZINE_GRANULES_MAX; more++) {
        struct heap_part_size size = heap_part_sizes[more];

        alike &= size.class == class_for((more + 1) << HEAP_MAGAZINE_SHIFT) &&
                 size.slot == class_bytes(size.class) >> HEAP_MAGAZINE_SHIFT;
    }
    tap_ok(alike, "sizes have the classes of the heap");
}

static void basics(const struct space *space, unsigned align)
{
    static struct region region;
    struct heap before;
    void *a, *b, *c;
    size_t usable;

    region_open(&region, space, align);
    before = *region.heap;
    REQUIRE(!take(&region, 0, 40, &a) && !take(&region, 0, 40, &b));
    tap_ok(a != b && !((uintptr_t)a % align) && !((uintptr_t)b % align),
           "objects from a magazine are distinct and aligned");
    tap_ok(!heap_usable(&region.context, region.heap, a, &usable) &&
               usable >= 40,
           "the heap knows them at once");
    tap_ok(!take(&region, 1, 40, &c) && c != a && c != b,
           "another magazine has other objects");
    tap_ok(give(&region, (char *)b + 64) == DRASYNC_EFREED,
           "what is left of a magazine is no object");
    tap_ok(!give(&region, b) && give(&region, b) == DRASYNC_EFREED,
           "an object is freed once");
    tap_ok(!give(&region, c) && !give(&region, a), "in any order");
    tap_ok(!close_window(&region, 1) && !close_window(&region, 0) &&
               region.heap->used_bytes == 0,
           "closed, the heap is as if nothing had happened");
    heap_magazine_open(region.heap, &region.magazine[0], region.free[0]);
    tap_ok(take(&region, 0, 0, &a) == DRASYNC_EINVAL &&
               take(&region, 0, HEAP_MAGAZINE_OBJECT_BYTES_MAX + 1, &a) ==
                   DRASYNC_EINVAL &&
               take(&region, 0, SIZE_MAX, &a) == DRASYNC_EINVAL &&
               take(&region, 0, SIZE_MAX - 14, &a) == DRASYNC_EINVAL,
           "sizes that are not a magazine's matter are told");
    tap_ok(!heap_check(&region.context, region.heap) &&
               region.heap->pages >= before.pages,
           "the heap is whole");
}

/* A magazine alone leaves the bump pointer where its objects end. */
static void retracts(const struct space *space)
{
    static struct region region;
    uint64_t bump;
    void *a;

    region_open(&region, space, 16);
    bump = region.heap->bump;
    REQUIRE(!take(&region, 0, 48, &a) && !take(&region, 0, 48, &a));
    tap_ok(region.heap->bump > bump + 96 && !close_window(&region, 0) &&
               region.heap->bump == bump + 96 && region.heap->used_bytes == 96,
           "what a magazine has left comes back");
    REQUIRE(!give(&region, a));
    heap_magazine_open(region.heap, &region.magazine[0], region.free[0]);
    tap_ok(!take(&region, 0, 100, &a) && !take(&region, 0, 48, &a) &&
               (uint64_t)(uintptr_t)a == bump + 48,
           "what was freed is used before the rest");
}

/* The fast path is for what the bump pointer may give: not for a size of which
 * a slot is free, nor where objects are aligned to 64. */
static void fast_path(const struct space *space)
{
    static struct region region;
    struct heap_magazine *magazine = &region.magazine[0];
    void *freed, *other;

    region_open(&region, space, 16);
    REQUIRE(!take(&region, 0, 48, &freed) && !take(&region, 0, 32, &other));
    tap_ok(heap_magazine_alloc(magazine, 48) &&
               heap_magazine_alloc(magazine, 33) &&
               heap_magazine_alloc(magazine, 1) &&
               heap_magazine_alloc(magazine, HEAP_MAGAZINE_OBJECT_BYTES_MAX) &&
               !heap_magazine_alloc(magazine,
                                    HEAP_MAGAZINE_OBJECT_BYTES_MAX + 1) &&
               !heap_magazine_alloc(magazine, 0) &&
               !heap_magazine_alloc(magazine, SIZE_MAX),
           "the fast path has objects of 1 byte to 1 KiB");
    REQUIRE(!give(&region, freed));
    heap_magazine_freed(magazine);
    tap_ok(!heap_magazine_alloc(magazine, 48) &&
               !heap_magazine_alloc(magazine, 16),
           "none while it is not known what was freed");
    REQUIRE(!take(&region, 0, 16, &other));
    tap_ok(!heap_magazine_alloc(magazine, 48) &&
               !heap_magazine_alloc_any(magazine, 48) &&
               heap_magazine_alloc(magazine, 16) &&
               heap_magazine_alloc(magazine, 64),
           "then all but of the size that was");
    tap_ok(!take(&region, 0, 48, &other) && other == freed,
           "which comes from its slot");
    REQUIRE(!close_window(&region, 0) &&
            !heap_check(&region.context, region.heap));
    region_open(&region, space, 64);
    REQUIRE(!take(&region, 0, 48, &freed));
    tap_ok(!heap_magazine_alloc(magazine, 48) &&
               (other = heap_magazine_alloc_any(magazine, 65)) &&
               !((uintptr_t)other % 64) &&
               !heap_magazine_alloc_any(magazine, 1025) &&
               !heap_magazine_alloc_any(magazine, 0),
           "none where objects are aligned to 64");
}

/* What is used, as the heap and its magazines know it. */
static uint64_t used_bytes(const struct region *region)
{
    uint64_t bytes = region->heap->used_bytes;

    for (int i = 0; i < WINDOWS; i++)
        bytes += (uint64_t)heap_magazine_uncounted(&region->magazine[i]);
    return bytes;
}

/* What a magazine's thread frees is what it gets next, whoever made it. */
static void stacks(const struct space *space, unsigned align)
{
    static struct region region;
    const uint64_t slot_bytes = align == 64 ? 64 : 48;
    void *object[300], *again;
    size_t usable;
    int good = 1;

    region_open(&region, space, align);
    for (int i = 0; i < 300; i++)
        REQUIRE(!take(&region, i < 4 ? 0 : i % 2, 48, &object[i]));
    tap_ok(used_bytes(&region) == 300 * slot_bytes,
           "heap and magazines know what is used");
    tap_ok(!stack(&region, 0, object[0]) && !give_to(&region, 0, object[0]) &&
               stack(&region, 0, object[2]) && stack(&region, 0, object[1]),
           "once an extent is known, objects are freed without the heap");
    tap_ok(!stack(&region, 0, object[1]) &&
               give_to(&region, 0, object[1]) == DRASYNC_EFREED &&
               give(&region, object[1]) == DRASYNC_EFREED &&
               heap_usable(&region.context, region.heap, object[1], &usable) ==
                   DRASYNC_EFREED,
           "an object that is on a stack is free");
    tap_ok(!stack(&region, 0, (char *)object[3] + 8) &&
               give_to(&region, 0, (char *)object[3] + 8) == DRASYNC_EALIGN &&
               !stack(&region, 0, (char *)object[3] + 4096 * 1024),
           "what is none is told as ever");
    tap_ok(used_bytes(&region) == 297 * slot_bytes, "each free counts");
    tap_ok(!take(&region, 0, 48, &again) && again == object[1] &&
               !take(&region, 0, 48, &again) && again == object[2] &&
               !take(&region, 0, 48, &again) && again == object[0],
           "the last one that was freed comes first");
    for (int i = 0; i < 300; i++)
        good = good && !give_to(&region, i % 3, object[i]);
    tap_ok(good && used_bytes(&region) == 0,
           "more than a stack has room for go to the heap");
    for (int i = 0; i < 300; i++)
        good = good && !take(&region, 2, 48, &object[i]);
    for (int i = 0; i < 300; i++)
        good = good && !give_to(&region, 1, object[i]);
    for (int i = 0; i < WINDOWS; i++)
        good = good && !close_window(&region, i);
    tap_ok(good && !heap_check(&region.context, region.heap) &&
               region.heap->used_bytes == 0 && used_bytes(&region) == 0,
           "closed, magazines have none");
    tap_ok(!stack(&region, 1, object[0]), "and know none");
    for (int i = 0; i < 3; i++)
        REQUIRE(!take(&region, 0, 48, &object[i]));
    heap_magazine_open(region.heap, &region.magazine[1], region.free[1]);
    tap_ok(!give_to(&region, 1, object[0]) && !give_to(&region, 1, object[1]) &&
               heap_magazine_alloc_any(&region.magazine[1], 48) == object[1] &&
               heap_magazine_alloc_any(&region.magazine[1], 48) == object[0] &&
               !heap_magazine_alloc(&region.magazine[1], 48) &&
               !heap_magazine_alloc_any(&region.magazine[1], 48) &&
               !take(&region, 1, 48, &again) && again != object[2],
           "a magazine that was only freed into has no piece to bump in");
}

/* All objects of a size that @magazine has left: how many, and the last. */
static unsigned empty(struct heap_magazine *magazine, size_t bytes, char **last)
{
    unsigned count = 0;
    char *ptr;

    while ((ptr = heap_magazine_alloc(magazine, bytes)) ||
           (ptr = heap_magazine_alloc_any(magazine, bytes))) {
        *last = ptr;
        count++;
    }
    return count;
}

/* After the magazine is set back, is there nothing where @count objects
 * were? */
static int none_left(struct region *region, unsigned count)
{
    struct heap_magazine *magazine = &region->magazine[0];
    char *object[48];
    size_t usable;

    REQUIRE(count <= 48);
    for (unsigned i = 0; i < count; i++)
        REQUIRE((object[i] = heap_magazine_alloc_any(magazine, 16)) != NULL);
    heap_magazine_rewind(magazine);
    for (unsigned i = 0; i < count; i++)
        if (heap_usable(&region->context, region->heap, object[i], &usable) !=
            DRASYNC_EFREED)
            return 0;
    return 1;
}

/* An object that is too large for the stacks has the part learned; what the fast
 * path frees then is on them all the same. */
static void large_first(const struct space *space, unsigned align)
{
    static struct region region;
    struct heap before;
    void *large, *small, *same;
    bool empty = true;

    region_open(&region, space, align);
    REQUIRE(!heap_alloc(&region.context, region.heap, 2000, &large));
    before = *region.heap;
    REQUIRE(!heap_alloc(&region.context, region.heap, 40, &small));
    REQUIRE(!give_to(&region, 0, large));
    tap_ok(stack(&region, 0, small),
           "after a large object, a small one is freed at once");
    REQUIRE(!close_window(&region, 0));
    for (unsigned class = 0; class < HEAP_MAGAZINE_CLASSES; class ++)
        empty = empty && !region.free[0][class].count;
    tap_ok(empty, "a closed magazine has nothing on its stacks");
    REQUIRE(!heap_alloc(&region.context, region.heap, 40, &same));
    tap_ok(same == small && !give(&region, same) &&
               !heap_alloc(&region.context, region.heap, 2000, &same) &&
               region.heap->used_bytes == before.used_bytes,
           "and the heap has both");
}

/* The fast path asks of the last objects of an extent whether they end there: the
 * map is memory that users may write. */
static void extent_end(const struct space *space)
{
    static struct region region;
    struct heap_magazine_free *free = &region.free[0][class_for(48)];
    void *first, *last = NULL, *next;
    uint8_t *code;

    region_open(&region, space, 16);
    REQUIRE(!take(&region, 0, 48, &first));
    next = first;
    while ((uintptr_t)next / PAGE_BYTES == (uintptr_t)first / PAGE_BYTES) {
        last = next;
        REQUIRE(!take(&region, 0, 48, &next));
    }
    REQUIRE(!give_to(&region, 0, first));
    tap_ok(stack(&region, 0, last) && !stack(&region, 0, last),
           "the last object of an extent is freed at once, and once");
    code = free->code[free->count - 1];
    *code = HEAP_MAGAZINE_CLASSES | MAP_TAKEN;
    tap_ok(!stack(&region, 0, last),
           "not one that the map says ends behind the extent");
    *code = (uint8_t)(class_for(48) + 1);
    tap_ok(!close_window(&region, 0) &&
               !heap_check(&region.context, region.heap),
           "the heap has it then");
}

static void set_back(const struct space *space, unsigned align)
{
    static struct region region;
    struct heap_magazine *magazine = &region.magazine[0];
    char *last = NULL, *again = NULL;
    unsigned count, count_small;
    size_t usable;
    int err;

    region_open(&region, space, align);
    REQUIRE(!heap_magazine_all(&region.context, region.heap, magazine));
    magazine->free = region.free[0];
    count = empty(magazine, 48, &last);
    REQUIRE(!heap_usable(&region.context, region.heap, last, &usable));
    heap_magazine_rewind(magazine);
    err = heap_usable(&region.context, region.heap, last, &usable);
    for (count_small = 0; count_small <= 48; count_small++)
        if (err != DRASYNC_EFREED || !none_left(&region, count_small))
            break;
    tap_ok(count_small == 49, "a magazine that is set back has no objects");
    tap_ok(count > 10 && empty(magazine, 48, &again) == count && again == last,
           "the same ones come again");
}

static void runs_out(const struct space *space)
{
    static struct region region;
    uint64_t used;
    void *a;
    int err;

    region_open(&region, space, 16);
    region.pages_left = 0;
    while (!(err = take(&region, 0, 64, &a)))
        ;
    used = region.heap->used_bytes;
    tap_ok(err == DRASYNC_ENOMEM && take(&region, 0, 64, &a) == err &&
               region.heap->used_bytes == used,
           "running out of memory changes nothing");
    region.pages_left = UINT64_MAX;
    tap_ok(!take(&region, 0, 64, &a) && !take(&region, 0, 64, &a),
           "and is over when there is more");
    tap_ok(!close_window(&region, 0) &&
               !heap_check(&region.context, region.heap),
           "the heap is whole then");
}

/* An object, filled with its number. */
struct object {
    unsigned char *ptr;
    size_t bytes;
};

static int intact(const struct object *object, size_t number)
{
    for (size_t i = 0; i < object->bytes; i++)
        if (object->ptr[i] != (unsigned char)number)
            return 0;
    return 1;
}

static void random_calls(const struct space *space, unsigned align)
{
    static struct region region;
    static struct object objects[OBJECTS];
    uint64_t random = align, used = 0;
    int good = 1;
    size_t slot, usable;

    region_open(&region, space, align);
    memset(objects, 0, sizeof(objects));
    for (int i = 0; i < 300000 && good; i++) {
        struct object *o;

        random = random * UINT64_C(6364136223846793005) + 1;
        slot = random >> 33;
        o = &objects[slot % OBJECTS];
        if (slot % 5000 == 4999) {
            int w = (int)(random >> 40) % WINDOWS;

            good = !close_window(&region, w) &&
                   !heap_check(&region.context, region.heap);
            heap_magazine_open(region.heap, &region.magazine[w],
                               region.free[w]);
        } else if (o->ptr) {
            good =
                intact(o, (size_t)(o - objects)) &&
                !(random >> 45 & 3
                      ? give_to(&region, (int)(random >> 47) % WINDOWS, o->ptr)
                      : give(&region, o->ptr));
            o->ptr = NULL;
            if (random >> 60 & 1)
                heap_magazine_freed(&region.magazine[random >> 61 & 1]);
        } else {
            void *ptr;

            o->bytes = (random >> 12) % (random >> 63 ? 1000 : 100) + 1;
            good =
                !take(&region, (int)(random >> 40) % WINDOWS, o->bytes, &ptr) &&
                !((uintptr_t)ptr % align);
            o->ptr = ptr;
            if (good)
                memset(ptr, (int)(unsigned char)(o - objects), o->bytes);
        }
    }
    tap_ok(good, "random calls with three magazines find objects intact");
    for (int w = 0; w < WINDOWS; w++)
        good = good && !close_window(&region, w);
    for (slot = 0; slot < OBJECTS && good; slot++)
        if (objects[slot].ptr) {
            good = intact(&objects[slot], slot) &&
                   !heap_usable(&region.context, region.heap, objects[slot].ptr,
                                &usable) &&
                   usable >= objects[slot].bytes;
            used += usable;
        }
    tap_ok(good && region.heap->used_bytes == used,
           "what is used is counted exactly");
    /* Three magazines' stacks may keep 400 pages of it. */
    tap_ok(region.heap->pages < 2400, "memory that was freed is used again");
}

int main(void)
{
    struct space space;

    classes();
    node_open(&space, 64 * MIB, 0, 1, 0);
    basics(&space, 16);
    basics(&space, 64);
    retracts(&space);
    fast_path(&space);
    stacks(&space, 16);
    stacks(&space, 64);
    large_first(&space, 16);
    large_first(&space, 64);
    extent_end(&space);
    set_back(&space, 16);
    set_back(&space, 64);
    runs_out(&space);
    random_calls(&space, 16);
    random_calls(&space, 64);
    node_close(&space);
    return tap_end();
}
