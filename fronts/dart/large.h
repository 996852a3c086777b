/*
 * large.h - MPI's calls with counts beyond 32 bits, where MPI has them (since
 * its version 4); elsewhere a count that does not fit an int is refused.
 */
#ifndef DRASYNC_FRONTS_DART_LARGE_H
#define DRASYNC_FRONTS_DART_LARGE_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION >= 4
typedef MPI_Count large_count;
typedef MPI_Aint large_offset;
/* An array of size_t whose values are below LARGE_COUNT_MAX is one of these. */
_Static_assert(sizeof(large_count) == sizeof(size_t) &&
                   sizeof(large_offset) == sizeof(size_t),
               "arrays of counts are passed on");
#define LARGE_ARRAYS    1
#define LARGE(call)     call##_c
#define LARGE_COUNT_MAX ((size_t)PTRDIFF_MAX)
#else
typedef int large_count;
typedef int large_offset;
#define LARGE_ARRAYS    0
#define LARGE(call)     call
#define LARGE_COUNT_MAX ((size_t)INT_MAX)
#endif

#endif /* DRASYNC_FRONTS_DART_LARGE_H */
