/*
 * collectives.h - MPI's blocking calls of all ranks of a communicator, for those
 * who pass them on.
 */
#ifndef DRASYNC_SHIM_COLLECTIVES_H
#define DRASYNC_SHIM_COLLECTIVES_H

#include <mpi.h>

/* X(name, its nonblocking form, (enum counts_whom, root), its parameters, the
 * arguments): names in the last three are the parameters'. */
#define MPI_COLLECTIVES(X)                                                     \
    X(MPI_Barrier, MPI_Ibarrier, (COUNTS_ALL, 0), (MPI_Comm comm), (comm))     \
    X(MPI_Bcast, MPI_Ibcast, (COUNTS_FROM_ROOT, root),                         \
      (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),   \
      (buffer, count, type, root, comm))                                       \
    X(MPI_Reduce, MPI_Ireduce, (COUNTS_TO_ROOT, root),                         \
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,     \
       int root, MPI_Comm comm),                                               \
      (in, out, count, type, op, root, comm))                                  \
    X(MPI_Allreduce, MPI_Iallreduce, (COUNTS_ALL, 0),                          \
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,     \
       MPI_Comm comm),                                                         \
      (in, out, count, type, op, comm))                                        \
    X(MPI_Gather, MPI_Igather, (COUNTS_TO_ROOT, root),                         \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       int out_count, MPI_Datatype out_type, int root, MPI_Comm comm),         \
      (in, in_count, in_type, out, out_count, out_type, root, comm))           \
    X(MPI_Gatherv, MPI_Igatherv, (COUNTS_TO_ROOT, root),                       \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       const int out_counts[], const int displacements[],                      \
       MPI_Datatype out_type, int root, MPI_Comm comm),                        \
      (in, in_count, in_type, out, out_counts, displacements, out_type, root,  \
       comm))                                                                  \
    X(MPI_Scatter, MPI_Iscatter, (COUNTS_FROM_ROOT, root),                     \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       int out_count, MPI_Datatype out_type, int root, MPI_Comm comm),         \
      (in, in_count, in_type, out, out_count, out_type, root, comm))           \
    X(MPI_Scatterv, MPI_Iscatterv, (COUNTS_FROM_ROOT, root),                   \
      (const void *in, const int in_counts[], const int displacements[],       \
       MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type,  \
       int root, MPI_Comm comm),                                               \
      (in, in_counts, displacements, in_type, out, out_count, out_type, root,  \
       comm))                                                                  \
    X(MPI_Allgather, MPI_Iallgather, (COUNTS_ALL, 0),                          \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       int out_count, MPI_Datatype out_type, MPI_Comm comm),                   \
      (in, in_count, in_type, out, out_count, out_type, comm))                 \
    X(MPI_Allgatherv, MPI_Iallgatherv, (COUNTS_ALL, 0),                        \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       const int out_counts[], const int displacements[],                      \
       MPI_Datatype out_type, MPI_Comm comm),                                  \
      (in, in_count, in_type, out, out_counts, displacements, out_type, comm)) \
    X(MPI_Alltoall, MPI_Ialltoall, (COUNTS_ALL, 0),                            \
      (const void *in, int in_count, MPI_Datatype in_type, void *out,          \
       int out_count, MPI_Datatype out_type, MPI_Comm comm),                   \
      (in, in_count, in_type, out, out_count, out_type, comm))                 \
    X(MPI_Alltoallv, MPI_Ialltoallv, (COUNTS_NOBODY, 0),                       \
      (const void *in, const int in_counts[], const int in_displacements[],    \
       MPI_Datatype in_type, void *out, const int out_counts[],                \
       const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm),   \
      (in, in_counts, in_displacements, in_type, out, out_counts,              \
       out_displacements, out_type, comm))                                     \
    X(MPI_Scan, MPI_Iscan, (COUNTS_NOBODY, 0),                                 \
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,     \
       MPI_Comm comm),                                                         \
      (in, out, count, type, op, comm))

#define MPI_COLLECTIVES_LARGE(X)

/* The same of many elements, which meet those: X(name, its nonblocking form, its
 * parameters, the arguments). */
#if MPI_VERSION >= 4
#undef MPI_COLLECTIVES_LARGE
#define MPI_COLLECTIVES_LARGE(X)                                               \
    X(MPI_Bcast_c, MPI_Ibcast_c,                                               \
      (void *buffer, MPI_Count count, MPI_Datatype type, int root,             \
       MPI_Comm comm),                                                         \
      (buffer, count, type, root, comm))                                       \
    X(MPI_Reduce_c, MPI_Ireduce_c,                                             \
      (const void *in, void *out, MPI_Count count, MPI_Datatype type,          \
       MPI_Op op, int root, MPI_Comm comm),                                    \
      (in, out, count, type, op, root, comm))                                  \
    X(MPI_Allreduce_c, MPI_Iallreduce_c,                                       \
      (const void *in, void *out, MPI_Count count, MPI_Datatype type,          \
       MPI_Op op, MPI_Comm comm),                                              \
      (in, out, count, type, op, comm))                                        \
    X(MPI_Gather_c, MPI_Igather_c,                                             \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm),   \
      (in, in_count, in_type, out, out_count, out_type, root, comm))           \
    X(MPI_Gatherv_c, MPI_Igatherv_c,                                           \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       const MPI_Count out_counts[], const MPI_Aint displacements[],           \
       MPI_Datatype out_type, int root, MPI_Comm comm),                        \
      (in, in_count, in_type, out, out_counts, displacements, out_type, root,  \
       comm))                                                                  \
    X(MPI_Scatter_c, MPI_Iscatter_c,                                           \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm),   \
      (in, in_count, in_type, out, out_count, out_type, root, comm))           \
    X(MPI_Scatterv_c, MPI_Iscatterv_c,                                         \
      (const void *in, const MPI_Count in_counts[],                            \
       const MPI_Aint displacements[], MPI_Datatype in_type, void *out,        \
       MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm),   \
      (in, in_counts, displacements, in_type, out, out_count, out_type, root,  \
       comm))                                                                  \
    X(MPI_Allgather_c, MPI_Iallgather_c,                                       \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm),             \
      (in, in_count, in_type, out, out_count, out_type, comm))                 \
    X(MPI_Allgatherv_c, MPI_Iallgatherv_c,                                     \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       const MPI_Count out_counts[], const MPI_Aint displacements[],           \
       MPI_Datatype out_type, MPI_Comm comm),                                  \
      (in, in_count, in_type, out, out_counts, displacements, out_type, comm)) \
    X(MPI_Alltoall_c, MPI_Ialltoall_c,                                         \
      (const void *in, MPI_Count in_count, MPI_Datatype in_type, void *out,    \
       MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm),             \
      (in, in_count, in_type, out, out_count, out_type, comm))                 \
    X(MPI_Alltoallv_c, MPI_Ialltoallv_c,                                       \
      (const void *in, const MPI_Count in_counts[],                            \
       const MPI_Aint in_displacements[], MPI_Datatype in_type, void *out,     \
       const MPI_Count out_counts[], const MPI_Aint out_displacements[],       \
       MPI_Datatype out_type, MPI_Comm comm),                                  \
      (in, in_counts, in_displacements, in_type, out, out_counts,              \
       out_displacements, out_type, comm))                                     \
    X(MPI_Scan_c, MPI_Iscan_c,                                                 \
      (const void *in, void *out, MPI_Count count, MPI_Datatype type,          \
       MPI_Op op, MPI_Comm comm),                                              \
      (in, out, count, type, op, comm))
#endif

#endif /* DRASYNC_SHIM_COLLECTIVES_H */
