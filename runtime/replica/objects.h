/*
 * objects.h - objects of workers' heaps, with red zones where they are checked.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_OBJECTS_H
#define DRASYNC_RUNTIME_REPLICA_OBJECTS_H

#include "runtime/replica/state.h"

/* --- object.c: objects ---------------------------------------------------- */

/*
 * How to use a heap of this node; of this worker, also when it is not open yet;
 * and one of this node for somebody of another.  That one's calls come after
 * what the worker did with its objects, but it was the program's own messages
 * that saw to it, of which ThreadSanitizer knows nothing: so not at the same
 * addresses.
 */
struct heap_context replica_heap_context(struct replica_heap *heap);
struct heap_context replica_heap_own(struct replica_heap *heap);
struct heap_context replica_heap_elsewhere(struct replica_heap *heap);

/* Free an object of this node's for @who; as heap_free(), or DRASYNC_EDELETED:
 * its region is gone, and so is the object. */
int replica_heap_free(struct replica_heap *heap, void *ptr,
                      struct heap_who who);

/* --- objects.c: objects with red zones, if replica_objects() --------------- */

/* What is wrong with objects of a heap, to be told when that is given back. */
struct replica_found {
    enum check_when when;
    struct heap_who who; /* calls */
    struct check_region region;
    struct heap_faults faults;
};

static inline bool replica_objects(void)
{
    return runtime.options.check & OPTIONS_CHECK_NOTES;
}

/* The calling thread; of no interest if nothing is checked. */
struct heap_who replica_who(void);

/* After heap_init(). */
void replica_objects_begin(struct replica_heap *heap);

/* In the heap, as the calls of heap.h; NULL in *@found: nothing was. */
int replica_objects_alloc(struct replica_heap *heap, size_t size_bytes,
                          size_t count, void **ptrs_out,
                          struct replica_found **found);
int replica_objects_free(struct replica_heap *heap,
                         const struct heap_context *context, void *ptr,
                         struct heap_who who, struct replica_found **found);
int replica_objects_usable(struct replica_heap *heap,
                           const struct heap_context *context, const void *ptr,
                           size_t *bytes_out);

/* No lock held: look at this worker's objects in @region and below. */
void replica_objects_look(uint32_t region, enum check_when when);

/* Out of the heap: tell, and free it.  @may_ask: check_objects(). */
void replica_objects_tell(struct replica_found *found, bool may_ask);

#endif /* DRASYNC_RUNTIME_REPLICA_OBJECTS_H */
