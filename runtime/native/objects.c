/*
 * Checked mode: objects with red zones (memory/heap_checked.h).
 *
 * What a call finds under the lock of a tree is kept until that has been given
 * back: a report asks other ranks where an object was allocated.
 */
#include <stdlib.h>

#include "memory/marks.h"
#include "runtime/native/objects.h"
#include "runtime/native/running.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

struct native_found *native_objects_begin(enum check_when when)
{
    struct native_found *found = calloc(1, sizeof(*found));

    if (found) {
        found->when = when;
        found->who = check_who();
    }
    return found;
}

static struct heap_checked checked_of(struct native_found *found,
                                      const struct heap_context *context,
                                      const struct proto_region *region)
{
    struct native_header *header = native_header_of(region->address);

    found->region.address = region->address;
    found->region.incarnation = region->incarnation;
    return (struct heap_checked){
        .context = context,
        .heap = &header->heap,
        .queue = &header->objects,
        .life = region->incarnation,
        .who = found->who,
        .faults = &found->faults,
        .marks = marks_wanted(),
    };
}

int native_objects_alloc(struct native_found *found,
                         const struct heap_context *context,
                         const struct proto_region *region, size_t size_bytes,
                         void **ptr_out)
{
    const struct heap_checked checked = checked_of(found, context, region);

    return heap_checked_alloc(&checked, size_bytes, ptr_out);
}

int native_objects_free(struct native_found *found,
                        const struct heap_context *context,
                        const struct proto_region *region, void *ptr)
{
    const struct heap_checked checked = checked_of(found, context, region);

    return heap_checked_free(&checked, ptr);
}

int native_objects_usable(const struct heap_context *context,
                          const struct native_header *header,
                          const struct proto_region *region, const void *ptr,
                          size_t *bytes_out)
{
    const struct heap_checked checked = {
        .context = context,
        /* It reads. */
        .heap = (struct heap *)(uintptr_t)&header->heap,
        .life = region->incarnation,
        .marks = !context->view && marks_wanted(),
    };

    return heap_checked_usable(&checked, ptr, bytes_out);
}

uint64_t native_objects_used(const struct proto_region *region)
{
    struct native_header *header = native_header_of(region->address);
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = region->memory};
    const struct heap_checked checked = {
        .context = &context,
        .heap = &header->heap,
        .queue = &header->objects,
    };

    return heap_checked_used(&checked);
}

static struct native_found *look_at(const struct proto_region *region,
                                    enum check_when when)
{
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = region->memory};
    struct native_found *found = native_objects_begin(when);
    struct heap_checked checked;

    if (!found)
        return NULL;
    checked = checked_of(found, &context, region);
    checked.points_out = check_pointers(when);
    heap_checked_walk(&checked);
    if (found->faults.count)
        return found;
    free(found);
    return NULL;
}

struct native_found *native_objects_look(const struct proto_region *top,
                                         enum check_when when)
{
    struct native_found *list = NULL, *found;
    struct proto_region *r = NULL;

    while ((r = proto_next(top, r))) {
        if (!r->memory || proto_held(r, native_rank()) != DRASYNC_WRITE)
            continue;
        found = look_at(r, when);
        if (!found)
            continue;
        found->next = list;
        list = found;
    }
    return list;
}

void native_objects_end(struct native_found *found)
{
    while (found) {
        struct native_found *next = found->next;

        if (found->faults.count)
            check_objects(&found->faults, &found->region, found->when,
                          found->who, !native_running.server);
        free(found);
        found = next;
    }
}

void native_objects_mark(const struct proto_region *region, int mode)
{
    const struct native_memory *memory = region->memory;
    struct native_header *header = native_header_of(region->address);
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = region->memory};
    const struct heap_checked checked = {
        .context = &context,
        .heap = &header->heap,
        .queue = &header->objects,
        .life = region->incarnation,
        .marks = true,
    };
    const struct extent *e;

    if (!native.objects || !marks_wanted())
        return;
    for (e = memory ? memory->first : NULL; e; e = e->next)
        marks_open(space_address(&runtime.space, e->first_page),
                   e->pages << PAGE_SHIFT);
    if (memory && mode)
        heap_checked_mark(&checked);
}
