/*
 * A heap gives up extents without objects: heap_trim() of heap.h.
 *
 * Free slots lie in lists through all extents.  So the extents that go are
 * marked first, then each list loses the slots that lie in one of them, and then
 * the list of extents loses those.  What is broken in a list is found by the
 * second pass, which leaves slots out at worst: they are not used again.
 */
#include "memory/heap_extent.h"

/* True if the extent has no object and was never sealed for a send: what was
 * sent may come back with objects in it (heap_seal()). */
static bool is_empty(const struct heap *heap, const struct place *place)
{
    uint64_t end = high_water(heap, place) >> place->granule_shift;

    if (place->head->sealed_bytes)
        return false;
    if (!place->map)
        return !place->head->single_bytes;
    for (uint64_t i = place->data >> place->granule_shift; i < end; i++)
        if (place->map[i] & MAP_TAKEN)
            return false;
    return true;
}

static bool goes(const struct place *place)
{
    return place->head->flags & EXTENT_GOES;
}

/* Mark the extents without objects, or take the marks away; *marked_out of them
 * have one now. */
static int mark(const struct heap_context *context, struct heap *heap,
                bool marks, uint64_t *marked_out)
{
    struct heap_extent extent = {0};
    struct place place;
    int found;

    *marked_out = 0;
    while ((found = heap_extent_next(context, heap, &extent)) > 0) {
        if (locate(context,
                   (uint64_t)(uintptr_t)space_address(context->space,
                                                      extent.first_page),
                   &place) ||
            high_water(heap, &place) > place.bytes)
            return DRASYNC_EINTERNAL;
        place.head->flags &= (uint16_t)~EXTENT_GOES;
        if (!marks || place.start == heap->first_extent ||
            !is_empty(heap, &place))
            continue;
        place.head->flags |= EXTENT_GOES;
        ++*marked_out;
    }
    return found;
}

/* The slots of the list that begins at @link, without those in extents that go.
 * There are @most slots at most. */
static int filter_slots(const struct heap_context *context,
                        const struct heap *heap, uint64_t *link, uint64_t most)
{
    struct place place;
    unsigned class;

    for (; *link; most--) {
        uint64_t *next = view_of(context, *link);

        if (!most || free_slot(context, heap, *link, &place, &class))
            return DRASYNC_EINTERNAL;
        if (goes(&place))
            *link = *next;
        else
            link = next;
    }
    return 0;
}

/* The same of free extents for single objects. */
static int filter_singles(const struct heap_context *context, struct heap *heap)
{
    uint64_t *link = &heap->single_free, most = heap->extents;
    struct place place;

    for (; *link; most--) {
        if (!most || locate(context, *link, &place) || place.map ||
            place.start != *link || place.head->single_bytes)
            return DRASYNC_EINTERNAL;
        if (goes(&place))
            *link = place.head->next_free;
        else
            link = &place.head->next_free;
    }
    return 0;
}

static int filter_lists(const struct heap_context *context, struct heap *heap)
{
    uint64_t slots = space_page_offset(heap->pages) / GRANULE_BYTES;
    int err = filter_singles(context, heap);

    for (int bin = 0; bin < HEAP_BINS && !err; bin++)
        err = filter_slots(context, heap, &heap->bins[bin], slots);
    return err;
}

/* The walk that marked them has looked at each head. */
static void unlink_extents(const struct heap_context *context,
                           struct heap *heap,
                           void (*gone)(void *arg, uint64_t first_page),
                           void *arg)
{
    struct place last, place;
    uint64_t next;

    if (locate(context, heap->first_extent, &last))
        return;
    for (uint64_t at = last.head->next; at; at = next) {
        if (locate(context, at, &place))
            return;
        next = place.head->next;
        if (!goes(&place)) {
            last = place;
            continue;
        }
        last.head->next = next;
        if (heap->last_extent == at)
            heap->last_extent = last.start;
        if (heap->current == at)
            heap->current = heap->bump = 0;
        heap->pages -= place.bytes >> PAGE_SHIFT;
        heap->extents--;
        gone(arg, space_page(context->space, (const void *)(uintptr_t)at));
    }
}

int heap_trim(const struct heap_context *context, struct heap *heap,
              void (*gone)(void *arg, uint64_t first_page), void *arg)
{
    uint64_t marked, none;
    int err = mark(context, heap, true, &marked);

    if (!err && !marked)
        return 0;
    if (!err)
        err = filter_lists(context, heap);
    if (!err)
        unlink_extents(context, heap, gone, arg);
    else
        mark(context, heap, false, &none);
    return err;
}
