/* Notes at the ends of slots, and the patterns before them: see heap_note.h. */
#include "memory/heap_note.h"

#include "memory/marks.h"

#include <string.h>

/* --- Notes ---------------------------------------------------------------- */

static uint64_t sum_of(const struct heap_checked *c, uint64_t address,
                       const struct heap_note *note)
{
    uint64_t words[6], sum = address ^ c->life;

    memcpy(words, note, sizeof(words));
    for (int i = 1; i < 6; i++) {
        sum = (sum ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    return sum;
}

struct heap_note *heap_note_of(const struct heap_checked *c,
                               const struct heap_slot *slot)
{
    return (struct heap_note *)((char *)view_of(c->context, slot->address) +
                                slot->bytes - sizeof(struct heap_note));
}

void heap_note_seal(const struct heap_checked *c, const struct heap_slot *slot,
                    struct heap_note *note)
{
    note->check = sum_of(c, slot->address, note);
}

/* Is what the note of @slot says of its object true? */
bool heap_note_whole(const struct heap_checked *c, const struct heap_slot *slot,
                     const struct heap_note *note)
{
    return slot->bytes >= sizeof(*note) &&
           note->check == sum_of(c, slot->address, note) &&
           note->bytes <= slot->bytes - sizeof(*note);
}

/* --- Slots ---------------------------------------------------------------- */

/* A slot that is free begins at slot->address: how long is it? */
static bool free_bytes(const struct heap_checked *c, struct heap_slot *slot)
{
    uint64_t offset = slot->address - slot->place.start, used;
    unsigned code;

    if (!slot->place.map)
        return false;
    used = high_water(c->heap, &slot->place);
    if (used > slot->place.bytes || offset < slot->place.data || offset >= used)
        return false;
    code = *map_code(&slot->place, offset);
    if (!code || code > CLASSES ||
        class_bytes(code - 1) > slot->place.bytes - offset)
        return false;
    slot->bytes = class_bytes(code - 1);
    return true;
}

/* The slot that begins at @ptr, taken or free. */
int heap_note_slot(const struct heap_checked *c, const void *ptr,
                   struct heap_slot *slot)
{
    size_t bytes = 0;
    int err = heap_usable(c->context, c->heap, ptr, &bytes), found;

    *slot =
        (struct heap_slot){.address = (uint64_t)(uintptr_t)ptr, .bytes = bytes};
    if (err && err != DRASYNC_EFREED)
        return err;
    found = locate(c->context, slot->address, &slot->place);
    if (found)
        return found;
    slot->taken = !err;
    if (!slot->taken && !free_bytes(c, slot))
        return DRASYNC_EFREED;
    if (c->marks)
        marks_open((void *)(uintptr_t)slot->address, slot->bytes);
    return 0;
}

/* --- Patterns ------------------------------------------------------------- */

void heap_note_fill(const struct heap_checked *c, const struct heap_slot *slot,
                    uint64_t from, int byte)
{
    memset((char *)view_of(c->context, slot->address) + from, byte,
           slot->bytes - sizeof(struct heap_note) - from);
}

/* Are all bytes of @slot from @from up to its note @byte?  If not, which of them
 * are the first and the last that are not. */
static bool is_filled(const struct heap_checked *c,
                      const struct heap_slot *slot, uint64_t from, int byte,
                      struct heap_fault *fault)
{
    const uint8_t *at = view_of(c->context, slot->address);
    uint64_t end = slot->bytes - sizeof(struct heap_note);

    if (from >= end ||
        (at[from] == byte && !memcmp(at + from, at + from + 1, end - from - 1)))
        return true;
    while (at[from] == byte)
        from++;
    while (at[end - 1] == byte)
        end--;
    fault->first = from;
    fault->last = end - 1;
    return false;
}

static void add(const struct heap_checked *c, const struct heap_fault *fault)
{
    struct heap_faults *faults = c->faults;

    if (faults->count < HEAP_FAULTS_MAX)
        faults->fault[faults->count] = *fault;
    faults->count++;
}

void heap_note_fault(const struct heap_checked *c, const struct heap_slot *slot,
                     const struct heap_note *note, struct heap_fault *fault)
{
    fault->noted = true;
    fault->object = slot->address;
    fault->bytes = note->bytes;
    fault->made = note->made;
    fault->freed = note->freed;
    add(c, fault);
}

/* The object that begins where @slot ends, if one does: who wrote in front of
 * its start has written there. */
static void look_behind(const struct heap_checked *c,
                        const struct heap_slot *slot, struct heap_fault *fault)
{
    void *end = (char *)(uintptr_t)slot->address + slot->bytes;
    const struct heap_note *note;
    struct heap_slot next;

    if (heap_note_slot(c, end, &next))
        return;
    note = heap_note_of(c, &next);
    if (next.taken && next.bytes > sizeof(*note) &&
        heap_note_whole(c, &next, note) && note->state == HEAP_NOTE_LIVE) {
        fault->behind = next.address;
        fault->behind_bytes = note->bytes;
        fault->behind_made = note->made;
    }
    heap_note_mark(c, &next);
}

/* The note of a taken slot is not whole: report it, and make one anew. */
void heap_note_mend(const struct heap_checked *c, const struct heap_slot *slot,
                    struct heap_note *note)
{
    const struct heap_who unknown = {.rank = -1};
    struct heap_fault fault = {
        .wrong = HEAP_WRITTEN_PAST,
        .object = slot->address,
        .bytes = slot->bytes - sizeof(*note),
        .made = unknown,
        .freed = unknown,
    };

    look_behind(c, slot, &fault);
    add(c, &fault);
    *note = (struct heap_note){
        .state = HEAP_NOTE_LIVE,
        .bytes = fault.bytes,
        .made = unknown,
        .freed = unknown,
    };
    heap_note_seal(c, slot, note);
}

/* An object that is there. */
void heap_note_look_live(const struct heap_checked *c,
                         const struct heap_slot *slot,
                         const struct heap_note *note)
{
    struct heap_fault fault = {.wrong = HEAP_WRITTEN_PAST};

    if (is_filled(c, slot, note->bytes, HEAP_ZONE_BYTE, &fault))
        return;
    heap_note_fault(c, slot, note, &fault);
    heap_note_fill(c, slot, note->bytes, HEAP_ZONE_BYTE);
}

/* One that was freed, of which the heap may have the first @from bytes. */
void heap_note_look_freed(const struct heap_checked *c,
                          const struct heap_slot *slot,
                          const struct heap_note *note, uint64_t from)
{
    struct heap_fault fault = {.wrong = HEAP_WRITTEN_FREED};

    if (is_filled(c, slot, from, HEAP_FREED_BYTE, &fault))
        return;
    heap_note_fault(c, slot, note, &fault);
    heap_note_fill(c, slot, from, HEAP_FREED_BYTE);
}

void heap_note_look_words(const struct heap_checked *c,
                          const struct heap_slot *slot,
                          const struct heap_note *note)
{
    const char *bytes = view_of(c->context, slot->address);
    struct heap_fault fault = {.wrong = HEAP_POINTS_OUT};
    uint64_t word;

    if (!c->points_out)
        return;
    for (uint64_t at = 0; at + sizeof(word) <= note->bytes;
         at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        if (!c->points_out(word))
            continue;
        fault.first = at;
        fault.last = at + sizeof(word) - 1;
        fault.address = word;
        heap_note_fault(c, slot, note, &fault);
        return;
    }
}

/* --- Marks ---------------------------------------------------------------- */

/* Of a slot that the heap has: what it writes there itself. */
#define LINK_BYTES 16

void heap_note_mark(const struct heap_checked *c, const struct heap_slot *slot)
{
    const struct heap_note *note;
    uint64_t from = 0;

    if (!c->marks || slot->bytes <= sizeof(*note))
        return;
    note = heap_note_of(c, slot);
    if (!heap_note_whole(c, slot, note))
        return;
    if (note->state == HEAP_NOTE_LIVE && slot->taken)
        from = note->bytes;
    else if (!slot->taken)
        from = LINK_BYTES;
    marks_close((void *)(uintptr_t)(slot->address + from), slot->bytes - from);
}
