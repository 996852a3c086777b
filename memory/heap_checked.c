/* Red zones and quarantine of a heap's objects: see heap_checked.h. */
#include "memory/heap_checked.h"

#include "memory/heap_note.h"
#include "memory/marks.h"

#include <string.h>

/* An object of its own in the heap: the ends of the queue. */
struct queue {
    uint64_t oldest, newest; /* 0: none */
    uint64_t count, bytes;
};

_Static_assert(sizeof(struct queue) == 32, "a slot has room for it");

static bool is_checked(const struct heap_checked *c)
{
    return c->heap->magic == HEAP_MAGIC_CHECKED;
}

/* --- The queue ------------------------------------------------------------ */

/* NULL: there is none, or its slot is no more what it was. */
static struct queue *queue_of(const struct heap_checked *c)
{
    size_t bytes;

    if (!*c->queue ||
        heap_usable(c->context, c->heap, (void *)(uintptr_t)*c->queue, &bytes))
        return NULL;
    return view_of(c->context, *c->queue);
}

uint64_t heap_checked_used(const struct heap_checked *c)
{
    const struct queue *queue = is_checked(c) ? queue_of(c) : NULL;
    uint64_t used = c->heap->used_bytes, waiting;
    size_t own = 0;

    if (!queue ||
        heap_usable(c->context, c->heap, (void *)(uintptr_t)*c->queue, &own))
        return used;
    /* What a program may have written over. */
    waiting = queue->bytes + own;
    return waiting < used ? used - waiting : 0;
}

static int queue_make(const struct heap_checked *c)
{
    void *made;
    int err;

    if (queue_of(c))
        return 0;
    err = heap_alloc(c->context, c->heap, sizeof(struct queue), &made);
    if (err)
        return err;
    *c->queue = (uint64_t)(uintptr_t)made;
    memset(queue_of(c), 0, sizeof(struct queue));
    return 0;
}

/* The freed object at @address, which the queue leads to. */
static struct heap_note *queued(const struct heap_checked *c, uint64_t address,
                                struct heap_slot *slot)
{
    struct heap_note *note;

    if (!address || heap_note_slot(c, (void *)(uintptr_t)address, slot) ||
        !slot->taken)
        return NULL;
    note = heap_note_of(c, slot);
    return heap_note_whole(c, slot, note) && note->state == HEAP_NOTE_FREED
               ? note
               : NULL;
}

/* The slot of that address is what it is from now on. */
static void mark_at(const struct heap_checked *c, uint64_t address)
{
    struct heap_slot slot;

    if (c->marks && !heap_note_slot(c, (void *)(uintptr_t)address, &slot))
        heap_note_mark(c, &slot);
}

static bool is_full(const struct heap_checked *c, const struct queue *queue)
{
    uint64_t bytes = c->heap->used_bytes / 8;

    if (bytes < HEAP_QUARANTINE_BYTES)
        bytes = HEAP_QUARANTINE_BYTES;
    return queue->count > HEAP_QUARANTINE_OBJECTS || queue->bytes > bytes;
}

/* The oldest leaves.  False: the queue was overwritten, and begins anew. */
static bool leave(const struct heap_checked *c, struct queue *queue)
{
    struct heap_slot slot;
    struct heap_note *note = queued(c, queue->oldest, &slot);
    uint64_t next;

    if (!note) {
        memset(queue, 0, sizeof(*queue));
        return false;
    }
    next = note->next;
    heap_note_look_freed(c, &slot, note, 0);
    note->next = 0;
    heap_note_seal(c, &slot, note);
    queue->count--;
    queue->bytes -= slot.bytes;
    queue->oldest = next;
    if (!next)
        queue->newest = 0;
    heap_free(c->context, c->heap, (void *)(uintptr_t)slot.address);
    mark_at(c, slot.address);
    return true;
}

static void enter(const struct heap_checked *c, struct queue *queue,
                  const struct heap_slot *slot)
{
    struct heap_slot before;
    struct heap_note *last = queued(c, queue->newest, &before);

    if (last) {
        last->next = slot->address;
        heap_note_seal(c, &before, last);
        heap_note_mark(c, &before);
    } else {
        memset(queue, 0, sizeof(*queue));
        queue->oldest = slot->address;
    }
    queue->newest = slot->address;
    queue->count++;
    queue->bytes += slot->bytes;
    /* The newest waits in any case. */
    while (queue->count > 1 && is_full(c, queue) && leave(c, queue))
        ;
}

/* --- Calls ---------------------------------------------------------------- */

void heap_checked_begin(struct heap *heap)
{
    heap->magic = HEAP_MAGIC_CHECKED;
}

void heap_checked_end(struct heap *heap)
{
    if (heap->magic == HEAP_MAGIC_CHECKED)
        heap->magic = HEAP_MAGIC;
}

/* What a slot needs behind an object. */
static uint64_t behind(size_t size_bytes)
{
    uint64_t zone = size_bytes / 8;

    if (zone < HEAP_ZONE_MIN)
        zone = HEAP_ZONE_MIN;
    return sizeof(struct heap_note) +
           (zone < HEAP_ZONE_MAX ? zone : HEAP_ZONE_MAX);
}

int heap_checked_alloc(const struct heap_checked *c, size_t size_bytes,
                       void **ptr_out)
{
    struct heap_slot slot;
    struct heap_note *note;
    void *ptr;
    int err;

    if (!is_checked(c) || size_bytes > HEAP_OBJECT_BYTES_MAX)
        return heap_alloc(c->context, c->heap, size_bytes, ptr_out);
    err = queue_make(c);
    if (!err)
        err = heap_alloc(c->context, c->heap, size_bytes + behind(size_bytes),
                         &ptr);
    if (!err)
        err = heap_note_slot(c, ptr, &slot);
    if (err)
        return err;
    note = heap_note_of(c, &slot);
    /* A freed slot has its link in the first word.  Where there are no slots a
     * note of before may lie anywhere. */
    if (slot.place.map && heap_note_whole(c, &slot, note) &&
        note->state == HEAP_NOTE_FREED)
        heap_note_look_freed(c, &slot, note, sizeof(uint64_t));
    *note = (struct heap_note){
        .state = HEAP_NOTE_LIVE,
        .bytes = size_bytes,
        .made = c->who,
        .freed = {.rank = -1},
    };
    heap_note_seal(c, &slot, note);
    heap_note_fill(c, &slot, size_bytes, HEAP_ZONE_BYTE);
    heap_note_mark(c, &slot);
    *ptr_out = ptr;
    return 0;
}

int heap_checked_alloc_many(const struct heap_checked *c, size_t size_bytes,
                            size_t count, void **ptrs_out)
{
    size_t done = 0;
    int err = 0;

    if (!is_checked(c))
        return heap_alloc_many(c->context, c->heap, size_bytes, count,
                               ptrs_out);
    while (done < count && !err) {
        err = heap_checked_alloc(c, size_bytes, ptrs_out + done);
        done += !err;
    }
    while (err && done--)
        heap_free(c->context, c->heap, ptrs_out[done]);
    return err;
}

static void free_twice(const struct heap_checked *c,
                       const struct heap_slot *slot,
                       const struct heap_note *note)
{
    struct heap_fault fault = {.wrong = HEAP_FREED_TWICE};

    if (heap_note_whole(c, slot, note) && note->state == HEAP_NOTE_FREED)
        heap_note_fault(c, slot, note, &fault);
}

int heap_checked_free(const struct heap_checked *c, void *ptr)
{
    struct queue *queue;
    struct heap_slot slot;
    struct heap_note *note;
    int err;

    if (!is_checked(c))
        return heap_free(c->context, c->heap, ptr);
    err = heap_note_slot(c, ptr, &slot);
    if (err)
        return err;
    queue = queue_of(c);
    if (!queue || slot.address == *c->queue || slot.bytes <= sizeof(*note))
        return DRASYNC_EFREED;
    note = heap_note_of(c, &slot);
    if (!slot.taken ||
        (heap_note_whole(c, &slot, note) && note->state == HEAP_NOTE_FREED)) {
        free_twice(c, &slot, note);
        heap_note_mark(c, &slot);
        return DRASYNC_EFREED;
    }
    if (!heap_note_whole(c, &slot, note))
        heap_note_mend(c, &slot, note);
    else
        heap_note_look_live(c, &slot, note);
    note->state = HEAP_NOTE_FREED;
    note->freed = c->who;
    heap_note_seal(c, &slot, note);
    if (slot.bytes > HEAP_QUARANTINE_EACH)
        return heap_free(c->context, c->heap, ptr);
    heap_note_fill(c, &slot, 0, HEAP_FREED_BYTE);
    enter(c, queue, &slot);
    mark_at(c, slot.address);
    return 0;
}

int heap_checked_usable(const struct heap_checked *c, const void *ptr,
                        size_t *bytes_out)
{
    const struct heap_note *note;
    struct heap_slot slot;
    int err;

    if (!is_checked(c))
        return heap_usable(c->context, c->heap, ptr, bytes_out);
    err = heap_note_slot(c, ptr, &slot);
    if (err)
        return err;
    if (!slot.taken || slot.bytes <= sizeof(*note))
        return DRASYNC_EFREED;
    note = heap_note_of(c, &slot);
    if (!heap_note_whole(c, &slot, note))
        *bytes_out = slot.bytes - sizeof(*note);
    else if (note->state == HEAP_NOTE_FREED)
        return DRASYNC_EFREED;
    else
        *bytes_out = note->bytes;
    heap_note_mark(c, &slot);
    return 0;
}

/* --- All of them ---------------------------------------------------------- */

static void look_at(const struct heap_checked *c, const struct heap_slot *slot)
{
    struct heap_note *note = heap_note_of(c, slot);
    bool whole = slot->bytes > sizeof(*note) && heap_note_whole(c, slot, note);

    if (slot->address == *c->queue || slot->bytes <= sizeof(*note))
        return;
    if (slot->taken && !whole)
        heap_note_mend(c, slot, note);
    else if (slot->taken && note->state == HEAP_NOTE_LIVE) {
        heap_note_look_live(c, slot, note);
        heap_note_look_words(c, slot, note);
    } else if (whole && note->state == HEAP_NOTE_FREED)
        heap_note_look_freed(c, slot, note, slot->taken ? 0 : sizeof(uint64_t));
}

static void look(const struct heap_checked *c, const struct heap_slot *slot)
{
    if (c->faults && c->marks)
        marks_open((void *)(uintptr_t)slot->address, slot->bytes);
    if (c->faults)
        look_at(c, slot);
    if (slot->address != *c->queue)
        heap_note_mark(c, slot);
}

static int walk_slots(const struct heap_checked *c, const struct place *place)
{
    uint64_t offset = place->data, end = high_water(c->heap, place);

    if (end > place->bytes)
        return DRASYNC_EINTERNAL;
    while (offset < end) {
        struct heap_slot slot = {.address = place->start + offset,
                                 .place = *place};
        unsigned code = *map_code(place, offset);

        if (!code) { /* the rest of what a magazine had, say */
            offset += (uint64_t)1 << place->granule_shift;
            continue;
        }
        slot.taken = code & MAP_TAKEN;
        code &= ~MAP_TAKEN;
        if (!code || code > CLASSES || class_bytes(code - 1) > end - offset)
            return DRASYNC_EINTERNAL;
        slot.bytes = class_bytes(code - 1);
        look(c, &slot);
        offset += slot.bytes;
    }
    return 0;
}

static int walk_single(const struct heap_checked *c, const struct place *place)
{
    struct heap_slot slot = {
        .address = place->start + place->data,
        .bytes = place->head->single_bytes,
        .place = *place,
        .taken = true,
    };

    if (slot.bytes > place->bytes - place->data)
        return DRASYNC_EINTERNAL;
    if (slot.bytes)
        look(c, &slot);
    return 0;
}

int heap_checked_walk(const struct heap_checked *c)
{
    struct heap_extent extent = {0};
    struct place place;
    int found, err = 0;

    if (!is_checked(c))
        return 0;
    while (!err &&
           (found = heap_extent_next(c->context, c->heap, &extent)) > 0) {
        void *first = space_address(c->context->space, extent.first_page);

        if (locate(c->context, (uint64_t)(uintptr_t)first, &place))
            return DRASYNC_EINTERNAL;
        err = place.map ? walk_slots(c, &place) : walk_single(c, &place);
    }
    return err ? err : found;
}

int heap_checked_mark(const struct heap_checked *c)
{
    struct heap_checked marked = *c;

    marked.faults = NULL;
    return heap_checked_walk(&marked);
}
