/* The words of a heap's objects, in pieces: see heap_words.h. */
#include "memory/heap_words.h"

#include "memory/heap_note.h"
#include "memory/marks.h"

/* Is there an object in @slot? */
static bool find_object(const struct heap_checked *c,
                        const struct heap_slot *slot, struct heap_object *out)
{
    struct heap_note *note;
    bool live;

    if (!slot->taken || slot->address == *c->queue ||
        slot->bytes <= sizeof(*note))
        return false;
    note = heap_note_of(c, slot);
    if (c->marks)
        marks_open(note, sizeof(*note));
    live = heap_note_whole(c, slot, note) && note->state == HEAP_NOTE_LIVE;
    *out = (struct heap_object){slot->address, note->bytes, note->made};
    heap_note_mark(c, slot);
    return live;
}

/* Go on in the slot where @words is.  True: that is done. */
static bool look_at(const struct heap_checked *c, const struct heap_slot *slot,
                    struct heap_words *words, int64_t *left,
                    heap_words_fn *look, void *arg)
{
    struct heap_object object;
    uint64_t count;

    *left -= HEAP_WORDS_SLOT;
    if (!find_object(c, slot, &object))
        return true;
    for (;;) {
        count = words->at < object.bytes
                    ? (object.bytes - words->at) / sizeof(uint64_t)
                    : 0;
        if (!count)
            return true;
        /* Some in each call, however little that may cost. */
        if (*left <= -HEAP_WORDS_SLOT)
            return false;
        if (count > HEAP_WORDS_AT_ONCE)
            count = HEAP_WORDS_AT_ONCE;
        *left -= (int64_t)(count + look(arg, &object, words->at, count));
        words->at += count * sizeof(uint64_t);
    }
}

/* The slot at @offset; false: only a granule, of none. */
static bool slot_at(const struct place *place, uint64_t offset,
                    struct heap_slot *out)
{
    unsigned code;

    *out = (struct heap_slot){.address = place->start + offset,
                              .place = *place,
                              .taken = true};
    if (!place->map) {
        out->bytes = place->head->single_bytes;
        return out->bytes && out->bytes <= place->bytes - offset;
    }
    code = *map_code(place, offset);
    out->taken = code & MAP_TAKEN;
    code &= ~MAP_TAKEN;
    if (!code || code > CLASSES)
        return false;
    out->bytes = class_bytes(code - 1);
    return out->bytes <= place->bytes - offset;
}

/* Go on in the extent where @words is.  True: that is done. */
static bool look_in(const struct heap_checked *c, const struct place *place,
                    struct heap_words *words, int64_t *left,
                    heap_words_fn *look, void *arg)
{
    uint64_t end =
        place->map ? high_water(c->heap, place) : place->data + 1; /* once */
    struct heap_slot slot;

    if (end > place->bytes)
        return true;
    while (words->offset < end) {
        if (*left <= 0)
            return false;
        if (!slot_at(place, words->offset, &slot)) {
            --*left;
            slot.bytes = UINT64_C(1) << (place->map ? place->granule_shift : 0);
        } else if (!look_at(c, &slot, words, left, look, arg)) {
            return false;
        }
        words->at = 0;
        words->offset += slot.bytes;
    }
    return true;
}

bool heap_words_look(const struct heap_checked *c, struct heap_words *words,
                     int64_t *left, heap_words_fn *look, void *arg)
{
    struct place place = {0};
    uint64_t start;

    if (c->heap->magic != HEAP_MAGIC_CHECKED)
        return false;
    do {
        if (!words->offset &&
            heap_extent_next(c->context, c->heap, &words->extent) <= 0)
            return false;
        start = (uint64_t)(uintptr_t)space_address(c->context->space,
                                                   words->extent.first_page);
        if (locate(c->context, start, &place) || place.start != start)
            return false;
        if (!words->offset)
            words->offset = place.data;
        if (!look_in(c, &place, words, left, look, arg))
            return true;
        words->offset = 0;
    } while (*left > 0);
    return true;
}
