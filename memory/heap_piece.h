/*
 * heap_piece.h - pieces of extents that one thread each makes objects of.
 * Private to memory/.
 *
 * A piece is cut off the heap's current extent: the bump pointer goes over it,
 * so high-water marks count it, and its map is cleared.  Its thread has its own
 * bump pointer there, and writes the piece's map, which nobody else does: other
 * threads may free and resize its objects as soon as they are there.  Pieces
 * end where pages do, so that the maps of two threads' objects are seldom in one
 * cache line.  What is in use of a piece its thread counts in used_bytes.
 *
 * All calls are calls on the heap (heap.h).
 */
#ifndef MEMORY_HEAP_PIECE_H
#define MEMORY_HEAP_PIECE_H

#include "memory/heap_extent.h"

/* How much a piece is: a quarter of what the heap has, within these bounds.
 * Threads that share a heap waste no more than that. */
#define HEAP_PIECE_BYTES_MIN ((uint64_t)4096)
#define HEAP_PIECE_BYTES_MAX ((uint64_t)262144)

/* The current extent, with room for @slot_bytes behind the bump pointer; made if
 * need be.  DRASYNC_EINTERNAL, or as heap_alloc(). */
int heap_piece_place(const struct heap_context *context, struct heap *heap,
                     uint64_t slot_bytes, struct place *place);

/* How long a piece should be that begins at the bump pointer, in @place, and
 * has room for @slot_bytes. */
uint64_t heap_piece_bytes(const struct heap *heap, const struct place *place,
                          uint64_t slot_bytes);

/* Cut @bytes off at @place; the address where they begin. */
uint64_t heap_piece_cut(struct heap *heap, const struct place *place,
                        uint64_t bytes);

/* What is left of a piece, [bump, end), is the heap's again.  0 or
 * DRASYNC_EINTERNAL. */
int heap_piece_back(const struct heap_context *context, struct heap *heap,
                    uint64_t bump, uint64_t end);

#endif
