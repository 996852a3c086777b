/* A region's heap: bump allocation and free lists: see heap.h. */
#include "memory/heap.h"

#include "memory/heap_extent.h"

#include <string.h>

/* How many free slots of a bin with several classes are looked at. */
#define BIN_SEARCH_MAX 8

void slot_push(const struct heap_context *context, struct heap *heap,
               const struct place *place, uint64_t offset, unsigned class)
{
    unsigned bin = bin_for(class);

    *map_code(place, offset) = (uint8_t)(class + 1);
    *(uint64_t *)view_of(context, place->start + offset) = heap->bins[bin];
    heap->bins[bin] = place->start + offset;
}

int free_slot(const struct heap_context *context, const struct heap *heap,
              uint64_t address, struct place *place, unsigned *class_out)
{
    uint64_t offset;
    unsigned code;

    if (locate(context, address, place) || !place->map)
        return DRASYNC_EINTERNAL;
    offset = address - place->start;
    if (offset % GRANULE_BYTES || offset < place->data)
        return DRASYNC_EINTERNAL;
    code = *map_code(place, offset);
    if (!code || code > CLASSES || high_water(heap, place) > place->bytes ||
        class_bytes(code - 1) > place->bytes - offset)
        return DRASYNC_EINTERNAL;
    *class_out = code - 1;
    return 0;
}

void hand_out(struct heap *heap, const struct place *place, uint64_t address,
              unsigned class, void **ptr_out)
{
    *map_code(place, address - place->start) =
        (uint8_t)((class + 1) | MAP_TAKEN);
    heap->used_bytes += class_bytes(class);
    *ptr_out = (void *)(uintptr_t)address;
}

/* Take a free slot; DRASYNC_EAGAIN if there is none that fits. */
static int take_free(const struct heap_context *context, struct heap *heap,
                     unsigned class, void **ptr_out)
{
    uint64_t *link = &heap->bins[bin_for(class)];
    unsigned exact = class < BIN_EXACT_CLASSES, found;
    struct place place;
    int tries, err;

    for (tries = 0; *link && tries < BIN_SEARCH_MAX; tries++) {
        uint64_t address = *link;
        uint64_t *next = view_of(context, address);

        err = free_slot(context, heap, address, &place, &found);
        if (err || (exact && found != class))
            return DRASYNC_EINTERNAL;
        /* The next larger class will do: it wastes no more than its own. */
        if (found == class || (!exact && found == class + 1)) {
            *link = *next;
            hand_out(heap, &place, address, found, ptr_out);
            return 0;
        }
        link = next;
    }
    return DRASYNC_EAGAIN;
}

/* Write the map for a new slot.  Bytes beyond it mean nothing yet, so a whole
 * word may be written where there is room. */
static void map_new_slot(const struct place *place, uint64_t offset,
                         unsigned class, uint64_t slot_bytes)
{
    uint64_t granule = offset >> place->granule_shift;
    uint64_t count = slot_bytes >> place->granule_shift;
    uint64_t code = (class + 1) | MAP_TAKEN;

    if (count <= 8 && granule + 8 <= place->bytes >> place->granule_shift) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        code <<= 56;
#endif
        memcpy(place->map + granule, &code, 8);
        return;
    }
    place->map[granule] = (uint8_t)code;
    memset(place->map + granule + 1, 0, count - 1);
}

/*
 * Cut @count slots off the current extent, or as many as there is room for:
 * *made_out.  DRASYNC_EAGAIN: there is room for none.
 */
static int take_new(const struct heap_context *context, struct heap *heap,
                    unsigned class, size_t count, void **ptrs_out,
                    size_t *made_out)
{
    uint64_t slot_bytes = class_bytes(class), offset;
    struct place place;

    if (!heap->current)
        return DRASYNC_EAGAIN;
    if (locate(context, heap->current, &place) || !place.map)
        return DRASYNC_EINTERNAL;
    offset = heap->bump - place.start;
    if (heap->current != place.start || offset < place.data ||
        offset > place.bytes || offset % GRANULE_BYTES)
        return DRASYNC_EINTERNAL;
    if (slot_bytes > place.bytes - offset)
        return DRASYNC_EAGAIN;
    if (count > 1 && count > (place.bytes - offset) / slot_bytes)
        count = (place.bytes - offset) / slot_bytes;
    for (size_t i = 0; i < count; i++, offset += slot_bytes) {
        map_new_slot(&place, offset, class, slot_bytes);
        ptrs_out[i] = (void *)(uintptr_t)(place.start + offset);
    }
    heap->bump += count * slot_bytes;
    heap->used_bytes += count * slot_bytes;
    *made_out = count;
    return 0;
}

/* Sizes as slots must have them: at least a granule, and aligned. */
static uint64_t rounded(const struct heap *heap, size_t size_bytes)
{
    uint64_t align = heap->align_bytes == 64 ? 64 : GRANULE_BYTES;

    return size_bytes ? round_to(size_bytes, align) : align;
}

/* How much @count objects need, as a hint: cut to what an extent may have. */
static uint64_t hint_bytes(uint64_t each_bytes, size_t count)
{
    return count < HEAP_EXTENT_BYTES_MAX / each_bytes ? count * each_bytes
                                                      : HEAP_EXTENT_BYTES_MAX;
}

/* When an object was freed only a slot's end can be looked at (heap_checked.h). */
static uint64_t single_min(const struct heap *heap)
{
    return heap->magic == HEAP_MAGIC_CHECKED ? SINGLE_BYTES_ALWAYS
                                             : SINGLE_BYTES_MIN;
}

/* Does the heap grow by an extent for this object alone?  One that is large for
 * the heap. */
static bool is_alone(const struct heap *heap, uint64_t bytes)
{
    return bytes > CLASS_BYTES_MAX ||
           (bytes >= single_min(heap) &&
            bytes > space_page_offset(heap->pages) / 4);
}

/* At least one object, at most @count: *made_out. */
static int alloc(const struct heap_context *context, struct heap *heap,
                 size_t size_bytes, size_t count, void **ptrs_out,
                 size_t *made_out)
{
    unsigned class;
    uint64_t bytes;
    int err;

    if (size_bytes > HEAP_OBJECT_BYTES_MAX)
        return DRASYNC_ENOMEM;
    bytes = rounded(heap, size_bytes);
    *made_out = 1;
    if (bytes >= single_min(heap)) {
        /* Which may be from a time when the heap was smaller. */
        err = single_take_free(context, heap, bytes, ptrs_out);
        if (err != DRASYNC_EAGAIN)
            return err;
        if (bytes >= SINGLE_BYTES_ALWAYS && is_alone(heap, bytes))
            return single_take_new(context, heap, bytes, ptrs_out);
    }
    class = class_for(bytes);
    if (heap->bins[bin_for(class)]) {
        err = take_free(context, heap, class, ptrs_out);
        if (err != DRASYNC_EAGAIN)
            return err;
    }
    err = take_new(context, heap, class, count, ptrs_out, made_out);
    if (err != DRASYNC_EAGAIN)
        return err;
    if (is_alone(heap, bytes))
        return single_take_new(context, heap, bytes, ptrs_out);
    err =
        heap_grow(context, heap, class_bytes(class), hint_bytes(bytes, count));
    if (err)
        return err;
    err = take_new(context, heap, class, count, ptrs_out, made_out);
    return err == DRASYNC_EAGAIN ? DRASYNC_EINTERNAL : err;
}

int heap_alloc(const struct heap_context *context, struct heap *heap,
               size_t size_bytes, void **ptr_out)
{
    size_t made;

    return alloc(context, heap, size_bytes, 1, ptr_out, &made);
}

int heap_alloc_many(const struct heap_context *context, struct heap *heap,
                    size_t size_bytes, size_t count, void **ptrs_out)
{
    size_t done = 0, made;
    int err = 0;

    while (done < count) {
        err = alloc(context, heap, size_bytes, count - done, ptrs_out + done,
                    &made);
        if (err)
            break;
        done += made;
    }
    if (!err)
        return 0;
    while (done--)
        heap_free(context, heap, ptrs_out[done]);
    return err;
}

/*
 * Find the object that begins at @ptr.  *class_out is its class; not set for an
 * object with an extent of its own (place->map NULL).
 */
static int find_object(const struct heap_context *context,
                       const struct heap *heap, const void *ptr,
                       struct place *place, unsigned *class_out)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr, offset, used;
    unsigned code;
    int err;

    err = locate(context, address, place);
    if (err)
        return err;
    if (address % (heap->align_bytes == 64 ? 64 : GRANULE_BYTES))
        return DRASYNC_EALIGN;
    offset = address - place->start;
    if (!place->map)
        return offset == place->data && place->head->single_bytes
                   ? 0
                   : DRASYNC_EFREED;
    used = high_water(heap, place);
    if (used > place->bytes)
        return DRASYNC_EINTERNAL;
    if (offset < place->data || offset >= used)
        return DRASYNC_EFREED;
    code = *map_code(place, offset);
    if (!(code & MAP_TAKEN))
        return DRASYNC_EFREED;
    code = (code & ~MAP_TAKEN) - 1;
    if (code >= CLASSES || class_bytes(code) > place->bytes - offset)
        return DRASYNC_EINTERNAL;
    *class_out = code;
    return 0;
}

int heap_free(const struct heap_context *context, struct heap *heap, void *ptr)
{
    struct place place;
    unsigned class;
    uint64_t offset;
    int err;

    err = find_object(context, heap, ptr, &place, &class);
    if (err)
        return err;
    if (!place.map)
        return single_free(heap, &place, (uint64_t)(uintptr_t)ptr);
    offset = (uint64_t)(uintptr_t)ptr - place.start;
    heap->used_bytes -= class_bytes(class);
    if (offset < place.head->sealed_bytes)
        *map_code(&place, offset) = (uint8_t)(class + 1);
    else
        slot_push(context, heap, &place, offset, class);
    return 0;
}

int heap_usable(const struct heap_context *context, const struct heap *heap,
                const void *ptr, size_t *bytes_out)
{
    struct place place;
    unsigned class;
    int err = find_object(context, heap, ptr, &place, &class);

    if (err)
        return err;
    if (place.map) {
        *bytes_out = class_bytes(class);
        return 0;
    }
    if (place.head->single_bytes > place.bytes - place.data)
        return DRASYNC_EINTERNAL;
    *bytes_out = place.head->single_bytes;
    return 0;
}

int heap_resize(const struct heap_context *context, struct heap *heap,
                void *ptr, size_t size_bytes)
{
    struct place place;
    unsigned class;
    uint64_t bytes;
    int err = find_object(context, heap, ptr, &place, &class);

    if (err)
        return err;
    if (size_bytes > HEAP_OBJECT_BYTES_MAX)
        return DRASYNC_EAGAIN;
    bytes = rounded(heap, size_bytes);
    if (!place.map)
        return single_resize(heap, &place, bytes);
    return class_for(bytes) == class || (bytes <= class_bytes(class) &&
                                         bytes > class_bytes(class) / 2)
               ? 0
               : DRASYNC_EAGAIN;
}
