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

#endif /* DRASYNC_SHIM_COLLECTIVES_H */
