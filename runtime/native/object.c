/*
 * Objects in regions.
 *
 * A region's heap lies in its first page and travels with its data; the extents
 * it grows by are cut without a lock, because that may take a message or a
 * system call, and handed to the heap when it is asked again.
 */
#include <stdatomic.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/native/frames.h"
#include "runtime/native/magazine.h"
#include "runtime/native/map.h"
#include "runtime/native/objects.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* A call on a region's heap, and what it was short of. */
struct heap_call {
    struct heap_context context;
    struct native_memory *memory;
    struct native_frames *frames;
    struct proto_region *region;
    struct native_found *found; /* native.objects */
    struct extent *ready;       /* cut for this heap; NULL: none */
    uint64_t want_min, want;
};

static uint64_t first_of(const struct extent *e)
{
    return atomic_load_explicit(&e->first_page, memory_order_relaxed);
}

static uint64_t pages_of(const struct extent *e)
{
    return atomic_load_explicit(&e->pages, memory_order_relaxed);
}

/* heap.h's `more`: the extent that is ready, or remember what is wanted. */
static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct heap_call *call = arg;
    struct extent *e = call->ready;
    int err;

    if (!e || pages_of(e) < pages_min) {
        call->want_min = pages_min;
        call->want = pages_wanted;
        return DRASYNC_EAGAIN;
    }
    err = native_frames_grow(call->frames, e);
    if (err)
        return err;
    native_memory_append(call->memory, e);
    call->ready = NULL;
    extent_out->first_page = first_of(e);
    extent_out->pages = pages_of(e);
    return 0;
}

int native_header_make(struct native_memory *memory)
{
    struct extent *e = memory->first;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};
    const struct heap_extent first = {.first_page = first_of(e),
                                      .pages = pages_of(e)};
    struct native_header *header = native_header_of(
        (uint64_t)(uintptr_t)space_address(&runtime.space, first.first_page));
    uint64_t used = 0;
    /* Myrmics programs count on 64. */
    unsigned align_bytes =
        runtime.options.myrmics == RUNTIME_MYRMICS_MOVE ? 64 : 16;
    int err = heap_init(&context, &header->heap, align_bytes, &first,
                        sizeof(struct native_header));

    if (!err)
        err = heap_high_water(&context, &header->heap, first.first_page, &used);
    if (err)
        return err;
    header->root = NULL;
    header->objects = 0;
    if (native.objects)
        heap_checked_begin(&header->heap);
    e->user[EXTENT_USED_BYTES] = used;
    return 0;
}

/* Under the tree's lock: may this rank change @region's data?  Fills @call. */
static int call_begin(struct heap_call *call, uint64_t address,
                      struct proto_region *region)
{
    struct proto_copy *copy;

    if (!region)
        return native_unknown(address);
    if (proto_held(region, native_rank()) != DRASYNC_WRITE)
        return DRASYNC_ENOTHELD;
    copy = proto_newest(region);
    if (!copy || !copy->frames || !region->memory)
        return DRASYNC_EINTERNAL;
    if (call->memory && call->memory != region->memory)
        return DRASYNC_ENOREGION;
    call->region = region;
    call->memory = region->memory;
    call->memory->touched = true;
    call->frames = copy->frames;
    native_frames_loosen(call->frames);
    call->context =
        (struct heap_context){.space = &runtime.space,
                              .owner = call->memory,
                              .more = more,
                              .arg = call,
                              .pages_expected = native_magazine_usual_pages()};
    return 0;
}

/* How much of @e matters, after a change of the heap: less where a large object
 * was freed. */
static void used(const struct heap_call *call, uint64_t address,
                 struct extent *e)
{
    uint64_t bytes = 0;

    if (e && !heap_high_water(&call->context, &native_header_of(address)->heap,
                              first_of(e), &bytes))
        e->user[EXTENT_USED_BYTES] = bytes;
}

/* The same of those that a heap changes as it grows: of the one that it cut
 * until now, at @current, what was left is cut up, and the last one is new. */
static void used_grown(const struct heap_call *call, uint64_t address,
                       uint64_t current)
{
    used(call, address,
         extent_of(&runtime.space, (const void *)(uintptr_t)current));
    used(call, address, call->memory->last);
}

static int take(struct heap_call *call, uint64_t address, bool opens,
                size_t size_bytes, void **ptr_out)
{
    int err;

    if (call->found)
        return native_objects_alloc(call->found, &call->context, call->region,
                                    size_bytes, ptr_out);
    err = native_magazine_take(&call->context, address, call->memory, opens,
                               size_bytes, ptr_out);
    return err != DRASYNC_EINVAL
               ? err
               : heap_alloc(&call->context, &native_header_of(address)->heap,
                            size_bytes, ptr_out);
}

/* @opens: the call may open a magazine.  Without that, and without an extent to
 * add, a lease of the region goes on. */
static int heap_step(struct heap_call *call, uint64_t address, bool opens,
                     size_t size_bytes, void **ptr_out)
{
    struct native_tree tree;
    uint64_t extents, current;
    int err =
        native_lock_for(opens || call->ready ? NATIVE_FOR_ALL : NATIVE_FOR_DATA,
                        address, &tree);

    if (err)
        return err;
    err = call_begin(call, address, tree.region);
    if (!err) {
        extents = call->memory->extents;
        current = native_header_of(address)->heap.current;
        err = take(call, address, opens, size_bytes, ptr_out);
        if (call->memory->extents != extents) {
            used_grown(call, address, current);
            proto_layout_changed(tree.region);
        }
        if (!err)
            used(call, address, extent_of(&runtime.space, *ptr_out));
    }
    native_unlock(&tree);
    return err;
}

/* Cut what the heap was short of; no lock held. */
static int heap_more(struct heap_call *call)
{
    if (call->ready) {
        extent_delete(&runtime.space, call->ready);
        call->ready = NULL;
    }
    return native_extent_new(call->memory, call->want_min, call->want,
                             &call->ready);
}

/* With DRASYNC_CHECK=objects a call has a place for what it finds. */
static int begin_checked(struct heap_call *call, enum check_when when)
{
    if (native.objects)
        call->found = native_objects_begin(when);
    return native.objects && !call->found ? DRASYNC_ENOMEM : 0;
}

/* What a heap calls an internal error is, nearly always, what the program wrote
 * over it.  Told once. */
static int told(int err, uint64_t address)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;

    if (err == DRASYNC_EINTERNAL && !atomic_flag_test_and_set(&once))
        runtime_say(
            "region %p: its heap was overwritten, most likely by a write %s",
            (void *)(uintptr_t)address,
            native.objects ? "in front of its first object, as by a pointer "
                             "that is too low or by the region's handle"
                           : "outside of an object; DRASYNC_CHECK=objects "
                             "finds most such writes");
    return err;
}

int native_alloc(drasync_region_t region, size_t size_bytes, void **ptr_out)
{
    struct heap_call call = {0};
    void *ptr = NULL;
    bool opens;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    if (begin_checked(&call, CHECK_AT_ALLOC))
        return DRASYNC_ENOMEM;
    opens = native_magazine_prepare((uint64_t)(uintptr_t)region);
    for (;;) {
        call.want = 0;
        err = heap_step(&call, (uint64_t)(uintptr_t)region, opens, size_bytes,
                        &ptr);
        if (err != DRASYNC_EAGAIN || call.want == 0)
            break;
        err = heap_more(&call);
        if (err)
            break;
    }
    if (call.ready)
        extent_delete(&runtime.space, call.ready);
    native_objects_end(call.found);
    if (err)
        return told(err, (uint64_t)(uintptr_t)region);
    runtime_count(native.self, RUNTIME_COUNT_ALLOCATIONS, 1);
    *ptr_out = ptr;
    return 0;
}

/* Is @memory that of the record at @region?  Read without a lock, as it was at some
 * time. */
__attribute__((no_sanitize("thread"))) static bool
is_memory_of(const struct proto_region *region,
             const struct native_memory *memory)
{
    return *(void *const volatile *)&region->memory == memory;
}

/* The address of the region whose page @ptr is in, as this node knows; 0. */
static uint64_t address_of(const void *ptr)
{
    struct native_memory *memory;
    struct proto_region *region;
    struct extent_copy copy;
    uint64_t address;

    if (extent_find(&runtime.space, ptr, &copy) ||
        copy.owner == (void *)native.shared)
        return 0;
    /* Others than us have extents too; ours are told by their records. */
    memory = copy.owner;
    address = atomic_load(&memory->address);
    region = address ? native_find(address) : NULL;
    return region && is_memory_of(region, memory) ? address : 0;
}

int native_region_of(const void *ptr, drasync_region_t *region_out)
{
    uint64_t address = address_of(ptr);

    if (!address)
        return DRASYNC_ENOREGION;
    *region_out = (drasync_region_t)(uintptr_t)address;
    return 0;
}

/* Does one extent of the region at @address have all of it? */
static bool in_extent(uint64_t address, const void *ptr, uint64_t bytes)
{
    const struct extent *e = extent_of(&runtime.space, ptr);
    uint64_t end;

    if (!e || address_of(ptr) != address)
        return false;
    end = (uint64_t)(uintptr_t)space_address(&runtime.space, first_of(e)) +
          (pages_of(e) << PAGE_SHIFT);
    return bytes <= end - (uint64_t)(uintptr_t)ptr;
}

int native_place(const void *ptr, uint64_t bytes, uint64_t *offset_out)
{
    uint64_t address = address_of(ptr);
    struct native_tree tree;
    int err;

    if (!address)
        return DRASYNC_ENOREGION;
    err = native_lock_for(NATIVE_FOR_DATA, address, &tree);
    if (err)
        return err;
    if (!tree.region)
        err = native_unknown(address);
    else if (proto_held(tree.region, native_rank()) != DRASYNC_WRITE)
        err = DRASYNC_ENOTHELD;
    else if (!in_extent(address, ptr, bytes) ||
             !native_mapped(ptr, bytes, offset_out))
        err = DRASYNC_EINVAL;
    native_unlock(&tree);
    return err;
}

/* Lock the tree of @ptr's region for a change, which is for @what. */
static int object_lock(struct heap_call *call, enum native_for what,
                       const void *ptr, uint64_t *address_out,
                       struct native_tree *tree)
{
    uint64_t address = address_of(ptr);
    int err;

    if (!address)
        return DRASYNC_ENOOBJECT;
    err = native_lock_for(what, address, tree);
    if (err)
        return err;
    err = call_begin(call, address, tree->region);
    if (!err && address_of(ptr) != address)
        err = DRASYNC_ENOOBJECT;
    if (err) {
        native_unlock(tree);
        return err == DRASYNC_ENOREGION ? DRASYNC_ENOOBJECT : err;
    }
    *address_out = address;
    return 0;
}

int native_free(void *ptr)
{
    struct heap_call call = {0};
    struct native_tree tree;
    uint64_t address = address_of(ptr);
    bool opens = native_magazine_prepare(address);
    int err = begin_checked(&call, CHECK_AT_FREE);

    if (err)
        return err;
    err = object_lock(&call, opens ? NATIVE_FOR_ALL : NATIVE_FOR_DATA, ptr,
                      &address, &tree);
    if (err)
        goto end;
    limit_reserve_enter();
    err = call.found
              ? native_objects_free(call.found, &call.context, call.region, ptr)
              : native_magazine_give(&call.context, address, call.memory, opens,
                                     ptr);
    limit_reserve_leave();
    if (!err)
        used(&call, address, extent_of(&runtime.space, ptr));
    native_unlock(&tree);
end:
    native_objects_end(call.found);
    if (!err)
        runtime_count(native.self, RUNTIME_COUNT_FREES, 1);
    return told(err, address);
}

static int usable(const struct heap_call *call, uint64_t address,
                  const void *ptr, size_t *bytes_out)
{
    const struct native_header *header = native_header_of(address);

    return native.objects
               ? native_objects_usable(&call->context, header, call->region,
                                       ptr, bytes_out)
               : heap_usable(&call->context, &header->heap, ptr, bytes_out);
}

int native_realloc(void *ptr, size_t size_bytes, drasync_region_t region,
                   void **ptr_out)
{
    struct heap_call call = {0};
    struct native_tree tree;
    uint64_t address;
    size_t old_bytes;
    void *moved;
    int err = object_lock(&call, NATIVE_FOR_DATA, ptr, &address, &tree);

    if (err)
        return err;
    err = usable(&call, address, ptr, &old_bytes);
    if (!region)
        region = (drasync_region_t)(uintptr_t)address;
    /* With red zones it moves, so that the old one is not used. */
    if (!err && (uint64_t)(uintptr_t)region == address && !native.objects) {
        err = heap_resize(&call.context, &native_header_of(address)->heap, ptr,
                          size_bytes);
        if (!err) {
            used(&call, address, extent_of(&runtime.space, ptr));
            *ptr_out = ptr;
        }
        if (err != DRASYNC_EAGAIN) {
            native_unlock(&tree);
            return err;
        }
        err = 0;
    }
    native_unlock(&tree);
    /* Who frees it is told more. */
    if (err == DRASYNC_EFREED && native.objects)
        return native_free(ptr);
    if (err)
        return err;
    moved = native_magazine_alloc_any(region, size_bytes);
    if (!moved)
        err = native_alloc(region, size_bytes, &moved);
    if (err)
        return err;
    memcpy(moved, ptr, old_bytes < size_bytes ? old_bytes : size_bytes);
    if (!native_magazine_free_any(ptr))
        err = native_free(ptr);
    if (err)
        native_free(moved);
    else
        *ptr_out = moved;
    return err;
}

/* Threads of the rank may do both at a time. */
static void *root_of(uint64_t address)
{
    return __atomic_load_n(&native_header_of(address)->root, __ATOMIC_ACQUIRE);
}

static void set_root(uint64_t address, void *ptr)
{
    __atomic_store_n(&native_header_of(address)->root, ptr, __ATOMIC_RELEASE);
}

int native_set_root(drasync_region_t region, void *ptr)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct heap_call call = {0};
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock_for(NATIVE_FOR_DATA, address, &tree);
    if (err)
        return err;
    err = call_begin(&call, address, tree.region);
    if (!err)
        set_root(address, ptr);
    native_unlock(&tree);
    return err;
}

int native_get_root(drasync_region_t region, void **ptr_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_tree tree;
    int err;

    if (native_lease_held(address)) {
        *ptr_out = root_of(address);
        return 0;
    }
    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock_for(NATIVE_FOR_DATA, address, &tree);
    if (err)
        return err;
    if (!tree.region)
        err = native_unknown(address);
    else if (!proto_held(tree.region, native_rank()))
        err = DRASYNC_ENOTHELD;
    else
        *ptr_out = root_of(address);
    native_unlock(&tree);
    return err;
}
