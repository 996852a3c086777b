/*
 * Checked mode: objects with red zones (memory/heap_checked.h).
 *
 * A worker's heap lies in its own frames, where others that free its objects
 * look too: what a worker writes behind an object in a copy that it received is
 * not seen.
 */
#include <stdlib.h>

#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/state.h"

struct heap_who replica_who(void)
{
    return replica_objects() ? check_who() : (struct heap_who){.rank = -1};
}

void replica_objects_begin(struct replica_heap *heap)
{
    heap->objects = 0;
    if (replica_objects())
        heap_checked_begin(&heap->heap);
}

/* For what a call finds; NULL: no memory. */
static struct replica_found *found_new(const struct replica_heap *heap,
                                       enum check_when when,
                                       struct heap_who who)
{
    struct replica_found *found = calloc(1, sizeof(*found));

    if (found) {
        found->when = when;
        found->who = who;
        found->region.rid = heap->region->rid;
    }
    return found;
}

static struct heap_checked checked_of(struct replica_heap *heap,
                                      const struct heap_context *context,
                                      struct replica_found *found)
{
    return (struct heap_checked){
        .context = context,
        .heap = &heap->heap,
        .queue = &heap->objects,
        .life = heap->region->entry.incarnation,
        .who = found ? found->who : (struct heap_who){.rank = -1},
        .faults = found ? &found->faults : NULL,
    };
}

int replica_objects_alloc(struct replica_heap *heap, size_t size_bytes,
                          size_t count, void **ptrs_out,
                          struct replica_found **found)
{
    const struct heap_context context = replica_heap_context(heap);
    struct heap_checked checked;

    *found = found_new(heap, CHECK_AT_ALLOC, check_who());
    if (!*found)
        return DRASYNC_ENOMEM;
    checked = checked_of(heap, &context, *found);
    return heap_checked_alloc_many(&checked, size_bytes, count, ptrs_out);
}

int replica_objects_free(struct replica_heap *heap,
                         const struct heap_context *context, void *ptr,
                         struct heap_who who, struct replica_found **found)
{
    struct heap_checked checked;

    if (!replica_objects())
        return heap_free(context, &heap->heap, ptr);
    *found = found_new(heap, CHECK_AT_FREE, who);
    if (!*found)
        return DRASYNC_ENOMEM;
    checked = checked_of(heap, context, *found);
    return heap_checked_free(&checked, ptr);
}

int replica_objects_usable(struct replica_heap *heap,
                           const struct heap_context *context, const void *ptr,
                           size_t *bytes_out)
{
    const struct heap_checked checked = checked_of(heap, context, NULL);

    return heap_checked_usable(&checked, ptr, bytes_out);
}

static int look_at(struct replica_heap *heap, struct replica_found *found)
{
    const struct heap_context context = replica_heap_own(heap);
    struct heap_checked checked = checked_of(heap, &context, found);
    int err = lock_take(&heap->lock);

    if (err)
        return err;
    checked.points_out = check_pointers(found->when);
    err = heap_checked_walk(&checked);
    lock_give(&heap->lock);
    return err;
}

void replica_objects_look(uint32_t rid, enum check_when when)
{
    const struct heap_who who = check_who();
    struct replica_found *found = NULL;
    struct replica_entry *entry;
    struct replica_region *top;

    if (replica_open(rid, &top))
        return;
    for (entry = &top->entry; entry && !(found && found->faults.count);
         entry = replica_next(&top->entry, entry)) {
        struct replica_heap *heap =
            replica_region_of(entry)->local[runtime.local].heap;

        if (entry->state != REPLICA_LIVE || !heap)
            continue;
        free(found);
        found = found_new(heap, when, who);
        if (found)
            look_at(heap, found);
    }
    replica_unlock();
    replica_objects_tell(found, true);
}

void replica_objects_tell(struct replica_found *found, bool may_ask)
{
    if (found && found->faults.count)
        check_objects(&found->faults, &found->region, found->when, found->who,
                      may_ask);
    free(found);
}
