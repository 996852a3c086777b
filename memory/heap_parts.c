/* What a thread's magazines know of extents: finding it, and forgetting it. */
#include "memory/heap_parts.h"

#include <string.h>

#define DOUBLING(bytes) \
    bytes / 4 * 5, bytes / 4 * 6, bytes / 4 * 7, bytes / 4 * 8

const uint16_t heap_part_bytes[HEAP_PART_CLASSES] = {
    16,
    32,
    48,
    64,
    80,
    96,
    112,
    128,
    DOUBLING(128),
    DOUBLING(256),
    DOUBLING(512),
    DOUBLING(1024),
    DOUBLING(2048),
    DOUBLING(4096),
    DOUBLING(8192),
    DOUBLING(16384),
};

#define ONE(class, slot) \
    {                    \
        class, slot      \
    }
#define TWO(class, slot)  ONE(class, slot), ONE(class, slot)
#define FOUR(class, slot) TWO(class, slot), TWO(class, slot)
#define ALL(class, slot)  FOUR(class, slot), FOUR(class, slot)

/* Four classes to a doubling: class_for(), class_bytes(). */
const struct heap_part_size heap_part_sizes[HEAP_PART_SIZES] = {
    ONE(0, 1),    ONE(1, 2),   ONE(2, 3),    ONE(3, 4),    ONE(4, 5),
    ONE(5, 6),    ONE(6, 7),   ONE(7, 8),    TWO(8, 10),   TWO(9, 12),
    TWO(10, 14),  TWO(11, 16), FOUR(12, 20), FOUR(13, 24), FOUR(14, 28),
    FOUR(15, 32), ALL(16, 40), ALL(17, 48),  ALL(18, 56),  ALL(19, 64),
};

void heap_parts_open(struct heap_parts *parts, const struct space *space,
                     unsigned block_shift)
{
    parts->block_shift = block_shift;
    parts->space = space;
    for (unsigned i = 0; i < HEAP_PARTS; i++)
        parts->part[i].number = i;
}

void heap_parts_widen(struct heap_parts *parts, unsigned block_shift)
{
    parts->block_shift = block_shift;
    memset(parts->met, 0, sizeof(parts->met));
}

static struct heap_part *part_of(struct heap_parts *parts,
                                 const struct extent *extent)
{
    return &parts->part[heap_parts_number(extent)];
}

static void set_met(struct heap_parts *parts, const void *ptr,
                    const struct heap_part *part)
{
    parts->met[(uintptr_t)ptr >> parts->block_shift & (HEAP_PARTS_BLOCKS - 1)] =
        (uint8_t)part->number;
}

int heap_parts_meet(struct heap_parts *parts, const void *ptr)
{
    const struct extent *extent = extent_of(parts->space, ptr);
    struct heap_part *part = part_of(parts, extent);

    if (!extent || parts->extent[part->number] != extent)
        return 0;
    set_met(parts, ptr, part);
    return 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Look at the extent that has @ptr.  DRASYNC_EAGAIN: none with slots. */
static int look(const struct heap_context *context, const struct heap *heap,
                const void *ptr, unsigned shift, struct heap_part *part)
{
    struct place place;
    uint64_t begin, used;

    if (locate(context, (uint64_t)(uintptr_t)ptr, &place) || !place.map ||
        place.granule_shift != shift)
        return DRASYNC_EAGAIN;
    begin = place.head->sealed_bytes;
    begin = round_to(begin > place.data ? begin : place.data,
                     (uint64_t)1 << GRANULE_SHIFT_WIDE);
    used = high_water(heap, &place);
    if (used > place.bytes || begin > used)
        return DRASYNC_EAGAIN;
    part->begin = place.start + begin;
    part->end = place.start + place.bytes;
    part->map = map_code(&place, begin);
    part->granules = (used - begin) >> shift;
    part->sure = 0;
    if (place.bytes - begin >= class_bytes(BIN_EXACT_CLASSES - 1))
        part->sure = least(
            part->granules,
            1 + ((place.bytes - begin - class_bytes(BIN_EXACT_CLASSES - 1)) >>
                 shift));
    return 0;
}

const struct heap_part *heap_parts_learn(const struct heap_context *context,
                                         const struct heap *heap,
                                         struct heap_parts *parts,
                                         void *magazine, uint64_t key,
                                         unsigned shift, const void *ptr)
{
    const struct extent *extent = extent_of(context->space, ptr);
    struct heap_part *part = part_of(parts, extent);

    if (!extent)
        return NULL;
    if (parts->extent[part->number] != extent || part->magazine != magazine ||
        part->key != key || !heap_part_in(part, ptr, shift)) {
        part->granules = part->sure = 0;
        if (look(context, heap, ptr, shift, part))
            return NULL;
        parts->extent[part->number] = extent;
        part->magazine = magazine;
        part->key = key;
        if (!heap_part_in(part, ptr, shift))
            return NULL;
    }
    set_met(parts, ptr, part);
    return part;
}

void heap_parts_forget(struct heap_parts *parts, const void *magazine,
                       uint64_t numbers)
{
    for (; numbers; numbers &= numbers - 1) {
        struct heap_part *part = &parts->part[__builtin_ctzll(numbers)];

        if (part->magazine == magazine)
            part->granules = part->sure = 0;
    }
}
