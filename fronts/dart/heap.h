/*
 * heap.h - this unit's heap region: what dart_memalloc gives out, and what the
 * front itself keeps in memory that the ranks of the node share.
 *
 * A root region that the unit holds for WRITE from heap_start() to heap_stop()
 * (fronts/dart/front.h), so that its frames are the primary ones and an object's
 * place is its address less the data's base.  Thread-safe.
 */
#ifndef DRASYNC_FRONTS_DART_HEAP_H
#define DRASYNC_FRONTS_DART_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "fronts/dart/front.h"

/* An object, aligned to 16 bytes.  DART_ERR_NOMEM. */
dart_ret_t heap_take(size_t bytes, void **object_out, uint64_t *place_out);

/* It must be one, and not given back yet. */
void heap_give(void *object);

/* Where the heap's @bytes, not 0, from @place on are; NULL: not in it.  No page
 * but the first and the last is looked at. */
char *heap_at(uint64_t place, size_t bytes);

/* The heap goes, and with it what fronts/dart/memory.c still keeps of it. */
void memory_forget(void);

#endif /* DRASYNC_FRONTS_DART_HEAP_H */
