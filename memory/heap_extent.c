/* The extents of a heap: getting them, sealing them, walking them. */
#include "memory/heap_extent.h"

#include <string.h>

/* Below this a heap about doubles; from here on it grows by about a quarter. */
#define DOUBLING_PAGES_MAX 256

/* How many pieces the end of a full extent is cut into, to be used later. */
#define REST_PIECES_MAX 8

/* How many free single extents are looked at. */
#define SINGLE_SEARCH_MAX 8

static unsigned granule_shift(unsigned align_bytes)
{
    return align_bytes == 64 ? GRANULE_SHIFT_WIDE : GRANULE_SHIFT;
}

/* A head for a new extent.  Its frames may hold anything. */
static int start_extent(const struct heap_context *context, struct heap *heap,
                        const struct heap_extent *extent, unsigned flags,
                        size_t header_bytes, struct place *place)
{
    void *address = space_address(context->space, extent->first_page);
    struct heap_head *head;
    struct place last = {0};

    if (!address || !extent->pages)
        return DRASYNC_EINTERNAL;
    if (heap->last_extent && locate(context, heap->last_extent, &last))
        return DRASYNC_EINTERNAL;
    head = view_of(context, (uint64_t)(uintptr_t)address);
    memset(head, 0, sizeof(*head));
    head->magic = EXTENT_MAGIC;
    if (heap->align_bytes == 64)
        flags |= EXTENT_WIDE;
    head->flags = (uint16_t)flags;
    head->header_bytes = (uint16_t)header_bytes;
    if (locate(context, (uint64_t)(uintptr_t)address, place) ||
        place->start != (uint64_t)(uintptr_t)address)
        return DRASYNC_EINTERNAL;
    head->high_water = place->data;
    if (heap->last_extent)
        last.head->next = place->start;
    else
        heap->first_extent = place->start;
    heap->last_extent = place->start;
    heap->pages += place->bytes >> PAGE_SHIFT;
    heap->extents++;
    return 0;
}

int heap_init(const struct heap_context *context, struct heap *heap,
              unsigned align_bytes, const struct heap_extent *first,
              size_t header_bytes)
{
    struct place place;
    uint64_t need;
    int err;

    if ((align_bytes != 16 && align_bytes != 64) ||
        header_bytes > HEAP_HEADER_BYTES_MAX)
        return DRASYNC_EINVAL;
    header_bytes = round_to(header_bytes, GRANULE_BYTES);
    if (first) {
        need = sizeof(struct heap_head) + header_bytes +
               (space_page_offset(first->pages) >> granule_shift(align_bytes)) +
               64;
        if (need > space_page_offset(first->pages))
            return DRASYNC_EINVAL;
    }
    memset(heap, 0, sizeof(*heap));
    heap->magic = HEAP_MAGIC;
    heap->align_bytes = align_bytes;
    if (!first)
        return 0;
    err = start_extent(context, heap, first, 0, header_bytes, &place);
    if (err)
        return err;
    heap->current = place.start;
    heap->bump = place.start + place.data;
    return 0;
}

int heap_check(const struct heap_context *context, const struct heap *heap)
{
    struct heap_extent extent = {0};
    struct place place;
    uint64_t pages = 0;
    int found;

    if ((heap->magic != HEAP_MAGIC && heap->magic != HEAP_MAGIC_CHECKED) ||
        (heap->align_bytes != 16 && heap->align_bytes != 64))
        return DRASYNC_EINTERNAL;
    while ((found = heap_extent_next(context, heap, &extent)) > 0) {
        pages += extent.pages;
        if (locate(context,
                   (uint64_t)(uintptr_t)space_address(context->space,
                                                      extent.first_page),
                   &place) ||
            high_water(heap, &place) > place.bytes)
            return DRASYNC_EINTERNAL;
    }
    if (found || pages != heap->pages || extent.index != heap->extents)
        return DRASYNC_EINTERNAL;
    return 0;
}

uint64_t cut_rest(const struct heap_context *context, struct heap *heap,
                  const struct place *place, uint64_t offset, uint64_t end)
{
    for (int pieces = 0; pieces < REST_PIECES_MAX; pieces++) {
        uint64_t rest = end - offset;
        unsigned class;

        if (rest < heap->align_bytes)
            break;
        class = rest >= CLASS_BYTES_MAX ? CLASSES - 1 : class_for(rest);
        while (class_bytes(class) > rest ||
               class_bytes(class) % heap->align_bytes)
            class --;
        memset(map_code(place, offset), 0,
               class_bytes(class) >> place->granule_shift);
        slot_push(context, heap, place, offset, class);
        offset += class_bytes(class);
    }
    return offset;
}

/* Cut what is left of the current extent into free slots. */
static int use_rest(const struct heap_context *context, struct heap *heap)
{
    struct place place;
    uint64_t offset;

    if (!heap->current)
        return 0;
    if (locate(context, heap->current, &place) || !place.map)
        return DRASYNC_EINTERNAL;
    offset = heap->bump - place.start;
    if (heap->current != place.start || offset < place.data ||
        offset > place.bytes || offset % heap->align_bytes)
        return DRASYNC_EINTERNAL;
    place.head->high_water =
        cut_rest(context, heap, &place, offset, place.bytes);
    heap->current = 0;
    heap->bump = 0;
    return 0;
}

static int ask_for(const struct heap_context *context, struct heap *heap,
                   uint64_t least, uint64_t wanted, struct heap_extent *extent)
{
    int err;

    if (!context->more)
        return DRASYNC_ENOMEM;
    if (heap->extents >= HEAP_EXTENTS_MAX)
        return DRASYNC_ELIMIT;
    memset(extent, 0, sizeof(*extent));
    err = context->more(context->arg, least, wanted, extent);
    if ((err == DRASYNC_ENOMEM || err == DRASYNC_ENOSPACE) && wanted > least)
        err = context->more(context->arg, least, least, extent);
    if (!err && extent->pages < least)
        err = DRASYNC_EINTERNAL;
    return err;
}

/* Pages of an extent that has @bytes for slots. */
static uint64_t pages_with_map(const struct heap *heap, uint64_t bytes)
{
    uint64_t net =
        PAGE_BYTES - (PAGE_BYTES >> granule_shift(heap->align_bytes));

    return (bytes + sizeof(struct heap_head) + 64 + net - 1) / net;
}

/* The power of two that is near; 0 for 0. */
static uint64_t power_near(uint64_t count)
{
    return count ? (uint64_t)1 << (63 - __builtin_clzll(count + count / 2)) : 0;
}

/*
 * Extents are powers of two where the heap chooses.  Runs of pages begin at
 * multiples of those (pages.h), and what a shorter one leaves out is, in each,
 * the same end of them: then some sets of the processor's TLB have up to three
 * times as many of the pages as others, and a walk of Barnes-Hut's trees takes
 * some hundredths longer.
 */
int heap_grow(const struct heap_context *context, struct heap *heap,
              uint64_t slot_bytes, uint64_t hint_bytes)
{
    uint64_t least = pages_with_map(heap, slot_bytes);
    uint64_t wanted = pages_with_map(heap, hint_bytes);
    uint64_t growth = heap->pages / 4;
    struct heap_extent extent;
    struct place place;
    int err;

    if (heap->pages < DOUBLING_PAGES_MAX)
        growth = heap->pages;
    growth = power_near(growth);
    while (heap->pages + growth < context->pages_expected)
        growth = growth ? 2 * growth : 1;
    if (wanted < growth)
        wanted = growth;
    if (wanted > HEAP_EXTENT_BYTES_MAX >> PAGE_SHIFT)
        wanted = HEAP_EXTENT_BYTES_MAX >> PAGE_SHIFT;
    if (wanted < least)
        wanted = least;
    err = ask_for(context, heap, least, wanted, &extent);
    if (err)
        return err;
    err = use_rest(context, heap);
    if (err)
        return err;
    err = start_extent(context, heap, &extent, 0, 0, &place);
    if (err)
        return err;
    heap->current = place.start;
    heap->bump = place.start + place.data;
    return 0;
}

/* Take a free single extent that has room, but not twice as much as needed. */
static int reuse_single(const struct heap_context *context, struct heap *heap,
                        uint64_t bytes, struct place *place)
{
    uint64_t *link = &heap->single_free;
    int tries;

    for (tries = 0; *link && tries < SINGLE_SEARCH_MAX; tries++) {
        uint64_t room;

        if (locate(context, *link, place) || place->map ||
            place->start != *link || place->head->single_bytes)
            return DRASYNC_EINTERNAL;
        room = place->bytes - place->data;
        if (room >= bytes && room / 2 <= bytes) {
            *link = place->head->next_free;
            place->head->next_free = 0;
            return 0;
        }
        link = &place->head->next_free;
    }
    return DRASYNC_EAGAIN;
}

static void *hand_out_single(struct heap *heap, const struct place *place,
                             uint64_t bytes)
{
    place->head->single_bytes = bytes;
    place->head->high_water = place->data + bytes;
    heap->used_bytes += bytes;
    return (void *)(uintptr_t)(place->start + place->data);
}

int single_take_free(const struct heap_context *context, struct heap *heap,
                     uint64_t bytes, void **ptr_out)
{
    struct place place;
    int err = reuse_single(context, heap, bytes, &place);

    if (!err)
        *ptr_out = hand_out_single(heap, &place, bytes);
    return err;
}

int single_take_new(const struct heap_context *context, struct heap *heap,
                    uint64_t bytes, void **ptr_out)
{
    uint64_t pages = space_pages_for(bytes + sizeof(struct heap_head));
    struct heap_extent extent;
    struct place place;
    int err = ask_for(context, heap, pages, pages, &extent);

    if (err)
        return err;
    err = start_extent(context, heap, &extent, EXTENT_SINGLE, 0, &place);
    if (!err)
        *ptr_out = hand_out_single(heap, &place, bytes);
    return err;
}

int single_free(struct heap *heap, const struct place *place, uint64_t address)
{
    if (place->head->single_bytes > place->bytes - place->data)
        return DRASYNC_EINTERNAL;
    heap->used_bytes -= place->head->single_bytes;
    place->head->single_bytes = 0;
    if (address - place->start < place->head->sealed_bytes)
        return 0;
    place->head->high_water = place->data;
    place->head->next_free = heap->single_free;
    heap->single_free = place->start;
    return 0;
}

int single_resize(struct heap *heap, const struct place *place, uint64_t bytes)
{
    uint64_t room = place->bytes - place->data;

    if (place->head->single_bytes > room)
        return DRASYNC_EINTERNAL;
    if (bytes > room || bytes < room / 2)
        return DRASYNC_EAGAIN;
    heap->used_bytes += bytes - place->head->single_bytes;
    place->head->single_bytes = bytes;
    place->head->high_water = place->data + bytes;
    return 0;
}

int heap_seal(const struct heap_context *context, struct heap *heap)
{
    struct heap_extent extent = {0};
    struct place place;
    int found;

    while ((found = heap_extent_next(context, heap, &extent)) > 0) {
        uint64_t used;

        if (locate(context,
                   (uint64_t)(uintptr_t)space_address(context->space,
                                                      extent.first_page),
                   &place))
            return DRASYNC_EINTERNAL;
        used = high_water(heap, &place);
        if (used > place.bytes)
            return DRASYNC_EINTERNAL;
        if (used > place.head->sealed_bytes)
            place.head->sealed_bytes = used;
    }
    if (found)
        return found;
    memset(heap->bins, 0, sizeof(heap->bins));
    heap->single_free = 0;
    return 0;
}

int heap_high_water(const struct heap_context *context, const struct heap *heap,
                    uint64_t first_page, uint64_t *bytes_out)
{
    void *address = space_address(context->space, first_page);
    struct place place;
    uint64_t used;

    if (locate(context, (uint64_t)(uintptr_t)address, &place) ||
        place.start != (uint64_t)(uintptr_t)address)
        return DRASYNC_ENOOBJECT;
    used = high_water(heap, &place);
    /* A broken mark costs time, not safety: all of it is copied. */
    *bytes_out = used < place.data || used > place.bytes ? place.bytes : used;
    return 0;
}

int heap_extent_next(const struct heap_context *context,
                     const struct heap *heap, struct heap_extent *extent)
{
    uint64_t address = heap->first_extent;
    struct place place;

    if (extent->pages) {
        uint64_t before = (uint64_t)(uintptr_t)space_address(
            context->space, extent->first_page);

        if (locate(context, before, &place) || place.start != before)
            return DRASYNC_EINTERNAL;
        address = place.head->next;
    }
    if (!address)
        return 0;
    if (extent->index >= heap->extents || extent->index >= HEAP_EXTENTS_MAX ||
        locate(context, address, &place) || place.start != address)
        return DRASYNC_EINTERNAL;
    extent->first_page =
        space_page(context->space, (const void *)(uintptr_t)place.start);
    extent->pages = place.bytes >> PAGE_SHIFT;
    extent->index++;
    return 1;
}

int heap_data_begin(const struct heap_context *context, uint64_t first_page,
                    uint64_t *bytes_out)
{
    struct place place;
    void *address = space_address(context->space, first_page);
    int err = locate(context, (uint64_t)(uintptr_t)address, &place);

    if (!err)
        *bytes_out = place.data;
    return err;
}
