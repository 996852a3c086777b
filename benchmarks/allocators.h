/*
 * allocators.h - what people would use instead of a region for many objects that
 * die together: malloc(), a heap of mimalloc (mi_heap_destroy), an arena of
 * jemalloc with a cache of its own (arena.N.reset).
 *
 * The libraries are preloaded by the job that measures them, since each takes
 * over malloc(), which the others and we shall not have from it.
 */
#ifndef BENCHMARKS_ALLOCATORS_H
#define BENCHMARKS_ALLOCATORS_H

#include "benchmarks/common.h"
#include "benchmarks/objects.h"

enum allocator { ALLOCATOR_MALLOC, ALLOCATOR_MIMALLOC, ALLOCATOR_JEMALLOC };

/* As rivals of a row, in that order. */
#define ALLOCATORS 3
extern const char *const allocator_names[ALLOCATORS];

/*
 * Make ready what --side asks for, and nothing where it asks for no allocator:
 * starts this program anew with the library preloaded, so it comes right after
 * bench_begin() and before MPI.  Skips the rival if it is not installed.
 */
void allocator_start(const struct bench *b, char **argv);

/* @count objects, each written, in a chain; NULL: no memory. */
struct object *allocator_fill(enum allocator which, size_t count);

/* Give back what allocator_fill() made: all at once, but for malloc(). */
void allocator_clear(enum allocator which, struct object *last);

#endif
