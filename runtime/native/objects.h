/*
 * objects.h - objects with red zones, in checked mode: if native.objects.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_OBJECTS_H
#define DRASYNC_RUNTIME_NATIVE_OBJECTS_H

#include "runtime/native/state.h"

/* What a call found wrong, to be told without locks. */
struct native_found {
    struct native_found *next;
    struct check_region region;
    enum check_when when;
    struct heap_who who; /* called */
    struct heap_faults faults;
};

/* For a call of this thread, before locks; NULL: no memory. */
struct native_found *native_objects_begin(enum check_when when);
/* Tell what was found, and free it; no lock held.  @found may be NULL. */
void native_objects_end(struct native_found *found);

/* Under the lock of the tree of @region, which is held for WRITE; as the calls
 * of heap.h. */
int native_objects_alloc(struct native_found *found,
                         const struct heap_context *context,
                         const struct proto_region *region, size_t size_bytes,
                         void **ptr_out);
int native_objects_free(struct native_found *found,
                        const struct heap_context *context,
                        const struct proto_region *region, void *ptr);
int native_objects_usable(const struct heap_context *context,
                          const struct native_header *header,
                          const struct proto_region *region, const void *ptr,
                          size_t *bytes_out);

/* How much of a region that is held is objects'; what was freed and waits is
 * not. */
uint64_t native_objects_used(const struct proto_region *region);

/* Under the lock of its tree: this process holds @region for @mode now, 0: it does
 * not; AddressSanitizer and valgrind are told (memory/marks.h). */
void native_objects_mark(const struct proto_region *region, int mode);

/* Under the lock of its tree, before a WRITE hold of @top ends: look at all
 * objects that it covers. */
struct native_found *native_objects_look(const struct proto_region *top,
                                         enum check_when when);

#endif /* DRASYNC_RUNTIME_NATIVE_OBJECTS_H */
