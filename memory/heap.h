/*
 * heap.h - the region allocator.
 *
 * A heap is a plain structure of fixed size, without pointers that mean
 * something in one process only, and a list of extents.  It may lie in its
 * region's first page (and travel with it) or in control memory.  Objects are
 * cut by a bump pointer and reused through free lists by size class; a byte for
 * each granule (as much as objects are aligned to), at the head of each extent,
 * says which objects there are, so free needs only the pointer and tells misuse
 * apart.
 *
 * Metadata in extents (heads, maps, links in free slots) is read and written at
 * address + `view`: 0 for what this process has mapped at the addresses,
 * space_window_view() for the primary frames whatever is mapped.
 *
 * Nothing in the heap or in its extents is trusted: each address that is
 * followed or written to lies in an extent whose owner is the context's
 * (extents.h), so a program that overwrites the metadata, or a peer that sends
 * nonsense, can spoil that region's data and nothing else.
 *
 * Callers guarantee: one call at a time per heap (the region's WRITE hold or
 * lock), the same context each time, extents of the heap stay entered in the
 * page map with context.owner as owner, and the heap structure itself is at a
 * place that this process may write.  Different heaps do not disturb each
 * other.  No call makes a system call unless it needs a new extent.
 */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include "memory/space.h"

#include <stddef.h>
#include <stdint.h>

/* Where the caller's own bytes begin in an extent (heap_init). */
#define HEAP_HEADER_OFFSET 64

/* The most bytes of its own that a caller may put there. */
#define HEAP_HEADER_BYTES_MAX 2048

/* New extents stop growing at this size. */
#define HEAP_EXTENT_BYTES_MAX ((uint64_t)4 << 30)

/* The largest object. */
#define HEAP_OBJECT_BYTES_MAX ((uint64_t)1 << 42)

/* Extents of one heap. */
#define HEAP_EXTENTS_MAX ((uint64_t)1 << 24)

#define HEAP_BINS 35

struct heap_extent {
    uint64_t first_page;
    uint64_t pages;
    uint64_t index; /* used by heap_extent_next() only */
};

struct heap {
    uint32_t magic;
    uint32_t align_bytes;
    uint64_t used_bytes; /* slots given out */
    uint64_t pages;      /* of all extents */
    uint64_t extents;
    uint64_t first_extent; /* addresses; 0: none */
    uint64_t last_extent;
    uint64_t current;     /* the extent that is being cut up */
    uint64_t bump;        /* where in it */
    uint64_t single_free; /* free extents that hold one object each */
    uint64_t bins[HEAP_BINS];
};

_Static_assert(sizeof(struct heap) <= 512, "a heap fits 512 bytes");

/*
 * Called when a heap needs an extent: at least @pages_min, better
 * @pages_wanted, entered in the page map with the context's owner.  After
 * DRASYNC_ENOMEM or DRASYNC_ENOSPACE it is asked once more with @pages_wanted
 * equal to @pages_min, so it may look at @pages_wanted alone.  Other errors are
 * handed on to the caller of the heap.
 */
typedef int heap_more_fn(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                         struct heap_extent *extent_out);

struct heap_context {
    const struct space *space;
    ptrdiff_t view;
    void *owner;
    heap_more_fn *more; /* NULL: the heap cannot grow (DRASYNC_ENOMEM) */
    void *arg;
    uint64_t pages_expected; /* that the heap will need in all: it grows to so
                                many at once; 0: unknown */
};

/*
 * Make an empty heap with objects aligned to @align_bytes (16 or 64).  @first,
 * if not NULL, becomes its first extent, in which @header_bytes from
 * HEAP_HEADER_OFFSET on are the caller's; @heap may lie there.
 *   DRASYNC_EINVAL  alignment, or an extent too small for the header
 */
int heap_init(const struct heap_context *context, struct heap *heap,
              unsigned align_bytes, const struct heap_extent *first,
              size_t header_bytes);

/*
 * Is this a heap that heap_init() made, as far as a look at it tells?  For one
 * that came from elsewhere.  0 or DRASYNC_EINTERNAL.
 */
int heap_check(const struct heap_context *context, const struct heap *heap);

/*
 * An object of @size_bytes; 0 gives an object of its own all the same.
 *   DRASYNC_ENOMEM     also for sizes above HEAP_OBJECT_BYTES_MAX
 *   DRASYNC_ELIMIT     HEAP_EXTENTS_MAX
 *   DRASYNC_EINTERNAL  the metadata is broken
 *   and what context.more gives
 */
int heap_alloc(const struct heap_context *context, struct heap *heap,
               size_t size_bytes, void **ptr_out);

/* @count objects of one size, or none.  Errors as heap_alloc(). */
int heap_alloc_many(const struct heap_context *context, struct heap *heap,
                    size_t size_bytes, size_t count, void **ptrs_out);

/*
 * Free an object.
 *   DRASYNC_ENOOBJECT  not in this heap's extents
 *   DRASYNC_EALIGN     not a multiple of the alignment
 *   DRASYNC_EFREED     no object begins there, or it is free
 *   DRASYNC_EINTERNAL  the metadata is broken
 */
int heap_free(const struct heap_context *context, struct heap *heap, void *ptr);

/* How many bytes the object at @ptr may use.  Errors as heap_free(). */
int heap_usable(const struct heap_context *context, const struct heap *heap,
                const void *ptr, size_t *bytes_out);

/*
 * Change the size of an object where it is.  Returns 0 if that could be done
 * (the object is as it was, apart from its size), DRASYNC_EAGAIN if it must
 * move, or as heap_free().
 */
int heap_resize(const struct heap_context *context, struct heap *heap,
                void *ptr, size_t size_bytes);

/*
 * From now on nothing below the high-water marks is handed out again: the
 * heap's extents were sent somewhere, and may come back.  Frees there still
 * count and are checked.  Cost: one step per extent.
 */
int heap_seal(const struct heap_context *context, struct heap *heap);

/*
 * How many bytes from its start an extent is in use, at most: what must be
 * copied for all objects and the metadata.  Never more than the extent has.
 * DRASYNC_ENOOBJECT: not this heap's.
 */
int heap_high_water(const struct heap_context *context, const struct heap *heap,
                    uint64_t first_page, uint64_t *bytes_out);

/*
 * How many bytes from its start the objects of an extent begin, behind the
 * metadata.  DRASYNC_ENOOBJECT: not the context's.
 */
int heap_data_begin(const struct heap_context *context, uint64_t first_page,
                    uint64_t *bytes_out);

/*
 * Take the extents without objects out of the heap, but for the first one:
 * @gone is called for each, which is the caller's then.  Looks at the map of
 * every extent and at every free slot.  No magazine or cache of the heap is
 * open.  0, or DRASYNC_EINTERNAL with no extent gone.
 */
int heap_trim(const struct heap_context *context, struct heap *heap,
              void (*gone)(void *arg, uint64_t first_page), void *arg);

/*
 * Walk the heap's extents: start with *extent all 0.  Returns 1 with the next
 * one, 0 at the end, or DRASYNC_EINTERNAL.
 */
int heap_extent_next(const struct heap_context *context,
                     const struct heap *heap, struct heap_extent *extent);

#endif
