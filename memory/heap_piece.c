/* Pieces are cut off the current extent, and come back: see heap_piece.h. */
#include "memory/heap_piece.h"

#include <string.h>

int heap_piece_place(const struct heap_context *context, struct heap *heap,
                     uint64_t slot_bytes, struct place *place)
{
    uint64_t offset;
    int tries, err;

    for (tries = 0; tries < 2; tries++) {
        if (heap->current) {
            if (locate(context, heap->current, place) || !place->map)
                return DRASYNC_EINTERNAL;
            offset = heap->bump - place->start;
            if (heap->current != place->start || offset < place->data ||
                offset > place->bytes || offset % heap->align_bytes)
                return DRASYNC_EINTERNAL;
            if (slot_bytes <= place->bytes - offset)
                return 0;
        }
        err = heap_grow(context, heap, slot_bytes, 0);
        if (err)
            return err;
    }
    return DRASYNC_EINTERNAL;
}

uint64_t heap_piece_bytes(const struct heap *heap, const struct place *place,
                          uint64_t slot_bytes)
{
    uint64_t offset = heap->bump - place->start;
    uint64_t piece = space_page_offset(heap->pages) / 4;

    piece &= ~(PAGE_BYTES - 1);
    if (piece < HEAP_PIECE_BYTES_MIN)
        piece = HEAP_PIECE_BYTES_MIN;
    if (piece > HEAP_PIECE_BYTES_MAX)
        piece = HEAP_PIECE_BYTES_MAX;
    /* To the next multiple: pieces then end where pages do. */
    piece = ((offset + piece) & ~(PAGE_BYTES - 1)) - offset;
    if (piece < slot_bytes)
        piece += PAGE_BYTES;
    return piece < place->bytes - offset ? piece : place->bytes - offset;
}

uint64_t heap_piece_cut(struct heap *heap, const struct place *place,
                        uint64_t bytes)
{
    uint64_t begin = heap->bump;

    memset(map_code(place, begin - place->start), 0,
           bytes >> place->granule_shift);
    heap->bump += bytes;
    return begin;
}

int heap_piece_back(const struct heap_context *context, struct heap *heap,
                    uint64_t bump, uint64_t end)
{
    struct place place;

    if (bump == end)
        return 0;
    if (locate(context, bump, &place) || !place.map ||
        end - place.start > place.bytes)
        return DRASYNC_EINTERNAL;
    if (heap->current == place.start && heap->bump == end)
        heap->bump = bump;
    else
        cut_rest(context, heap, &place, bump - place.start, end - place.start);
    return 0;
}
