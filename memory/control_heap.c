/* The control heap: size classes over granules of the control file. */
#include "drasync.h"
#include "memory/control.h"
#include "memory/dump.h"
#include "memory/limit.h"
#include "memory/shared.h"

#include <assert.h>
#include <string.h>

/* In the class map: this granule continues a slab; otherwise class + 1. */
#define CONTINUED 255

/* A slab of small slots is one granule; above this, a slab is one slot. */
#define SMALL_SLOT_BYTES_MAX 16384

/* Free slots of this size or more keep only the page with their link. */
#define PUNCHED_SLOT_BYTES_MIN ((uint64_t)131072)

#define FREE_TAG UINT64_C(0xf4ee5107f4ee5107)

/* What a free slot begins with. */
struct control_slot {
    struct control_slot *next;
    uint64_t tag; /* FREE_TAG ^ the slot's address */
};

/* 64, 128, 192, 256, 384, 512, 768, 1024 ... */
static unsigned class_for(uint64_t bytes)
{
    unsigned power;

    if (bytes <= 192)
        return bytes <= 64 ? 0 : bytes <= 128 ? 1 : 2;
    power = 63 - (unsigned)__builtin_clzll(bytes - 1);
    return 2 + 2 * (power - 7) + (bytes > (uint64_t)3 << (power - 1));
}

static uint64_t class_slot_bytes(unsigned class)
{
    if (class < 3)
        return 64 * ((uint64_t) class + 1);
    return class % 2 ? (uint64_t)128 << ((class - 1) / 2)
                     : (uint64_t)192 << ((class - 2) / 2);
}

static char *heap_base(const struct space *space)
{
    return space->control + shared_of(space)->layout.heap_offset;
}

static uint8_t *class_entry(const struct space *space, uint64_t granule)
{
    return table_at(space, &shared_of(space)->layout.class_map, granule);
}

int control_heap_create(const struct space *space)
{
    struct control_heap *heap = &shared_of(space)->heap;
    _Atomic uint32_t *poison = control_poison_flag(space);
    unsigned i;
    int err;

    err = lock_init(&heap->growth, LOCK_RANK_CONTROL_GROWTH, poison);
    for (i = 0; i < CONTROL_CLASSES && !err; i++) {
        assert(class_for(class_slot_bytes(i)) == i);
        heap->classes[i].slot_bytes = class_slot_bytes(i);
        err =
            lock_init(&heap->classes[i].lock, LOCK_RANK_CONTROL_CLASS, poison);
    }
    return err;
}

/* A new slab for @class, whose lock is held. */
static int add_slab(const struct space *space, struct control_class *class,
                    unsigned index)
{
    struct shared *shared = shared_of(space);
    struct control_heap *heap = &shared->heap;
    uint64_t bytes = class->slot_bytes, at, count, i;
    int err;

    if (bytes <= SMALL_SLOT_BYTES_MAX)
        bytes = CONTROL_GRANULE_BYTES;
    count = (bytes + CONTROL_GRANULE_BYTES - 1) / CONTROL_GRANULE_BYTES;
    err = lock_take(&heap->growth);
    if (err)
        return err;
    at = atomic_load(&heap->granules);
    if (count > shared->layout.class_map.entries - at) {
        err = DRASYNC_ENOMEM;
        goto unlock;
    }
    err = table_reserve(space, &shared->layout.class_map, at, count);
    if (err)
        goto unlock;
    err = shared_reserve(
        space, shared->layout.heap_offset + at * CONTROL_GRANULE_BYTES,
        count * CONTROL_GRANULE_BYTES);
    if (err)
        goto unlock;
    *class_entry(space, at) = (uint8_t)(index + 1);
    for (i = 1; i < count; i++)
        *class_entry(space, at + i) = CONTINUED;
    dump_cover_control(space,
                       shared->layout.heap_offset + at * CONTROL_GRANULE_BYTES,
                       count * CONTROL_GRANULE_BYTES);
    atomic_store(&heap->granules, at + count);
    class->bump = heap_base(space) + at * CONTROL_GRANULE_BYTES;
    class->bump_end =
        class->bump + bytes / class->slot_bytes * class->slot_bytes;

unlock:
    lock_give(&heap->growth);
    return err;
}

/* The part of a large slot that has no frames while it is free. */
static uint64_t punched_offset(const struct space *space, const void *slot)
{
    return (uint64_t)((const char *)slot - space->control) + PAGE_BYTES;
}

static int take_free(const struct space *space, struct control_class *class,
                     void **ptr_out)
{
    struct control_slot *slot = class->free;
    int err;

    assert(slot->tag == (FREE_TAG ^ (uintptr_t)slot));
    if (class->slot_bytes >= PUNCHED_SLOT_BYTES_MIN) {
        err = shared_reserve(space, punched_offset(space, slot),
                             class->slot_bytes - PAGE_BYTES);
        if (err)
            return err;
    }
    class->free = slot->next;
    slot->next = NULL;
    slot->tag = 0;
    *ptr_out = slot;
    return 0;
}

/* *used_out: so many of its first bytes may be other than 0. */
static int alloc(const struct space *space, size_t size_bytes, void **ptr_out,
                 uint64_t *used_out)
{
    unsigned index;
    struct control_class *class;
    int err;

    if (size_bytes > CONTROL_OBJECT_BYTES_MAX)
        return DRASYNC_ENOMEM;
    index = class_for(size_bytes);
    class = &shared_of(space)->heap.classes[index];
    err = lock_take(&class->lock);
    if (err)
        return err;
    if (class->free) {
        err = take_free(space, class, ptr_out);
        if (err)
            goto unlock;
        *used_out = class->slot_bytes >= PUNCHED_SLOT_BYTES_MIN
                        ? PAGE_BYTES
                        : class->slot_bytes;
    } else {
        if (class->bump == class->bump_end) {
            err = add_slab(space, class, index);
            if (err)
                goto unlock;
        }
        *ptr_out = class->bump;
        class->bump += class->slot_bytes;
        *used_out = 0;
    }
    class->objects++;

unlock:
    lock_give(&class->lock);
    return err;
}

int control_alloc(const struct space *space, size_t size_bytes, void **ptr_out)
{
    uint64_t used;

    return alloc(space, size_bytes, ptr_out, &used);
}

int control_alloc_zero(const struct space *space, size_t size_bytes,
                       void **ptr_out)
{
    uint64_t used;
    int err = alloc(space, size_bytes, ptr_out, &used);

    /* What nobody has written is not touched: large tables stay thin. */
    if (!err)
        memset(*ptr_out, 0, size_bytes < used ? size_bytes : used);
    return err;
}

/* The class of the slot that begins at @ptr, or NULL. */
static struct control_class *class_of(const struct space *space,
                                      const void *ptr)
{
    struct control_heap *heap = &shared_of(space)->heap;
    uint64_t offset = (uint64_t)((const char *)ptr - heap_base(space));
    uint64_t granule = offset / CONTROL_GRANULE_BYTES;
    unsigned entry;

    if (granule >= atomic_load_explicit(&heap->granules, memory_order_acquire))
        return NULL;
    entry = *class_entry(space, granule);
    if (!entry || entry == CONTINUED ||
        offset % CONTROL_GRANULE_BYTES % heap->classes[entry - 1].slot_bytes)
        return NULL;
    return &heap->classes[entry - 1];
}

void control_free(const struct space *space, void *ptr)
{
    struct control_class *class;
    struct control_slot *slot = ptr;

    if (!ptr)
        return;
    class = class_of(space, ptr);
    assert(class && "control_free of what control_alloc did not give");
    assert(slot->tag != (FREE_TAG ^ (uintptr_t)slot) && "freed twice");
    if (lock_take(&class->lock))
        return; /* poisoned: the job ends, nothing is allocated again */
    if (class->slot_bytes >= PUNCHED_SLOT_BYTES_MIN)
        shared_unreserve(space, punched_offset(space, slot),
                         class->slot_bytes - PAGE_BYTES);
    slot->next = class->free;
    slot->tag = FREE_TAG ^ (uintptr_t)slot;
    class->free = slot;
    class->objects--;
    lock_give(&class->lock);
}

size_t control_usable_bytes(const struct space *space, const void *ptr)
{
    const struct control_class *class = class_of(space, ptr);

    return class ? class->slot_bytes : 0;
}

int control_plausible(const struct space *space, const void *ptr,
                      size_t size_bytes)
{
    const struct control_class *class = class_of(space, ptr);

    return class && class->slot_bytes >= size_bytes;
}
