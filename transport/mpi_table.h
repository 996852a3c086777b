/*
 * mpi_table.h - the entry points of MPI that we use, found with dlsym.
 *
 * Nothing of ours is linked to MPI, because our libraries are also loaded into
 * processes that have none.  Private to transport/.
 */
#ifndef DRASYNC_TRANSPORT_MPI_TABLE_H
#define DRASYNC_TRANSPORT_MPI_TABLE_H

#include <mpi.h>
#include <stdbool.h>

#define MPI_TABLE(X)       \
    X(Abort)               \
    X(Cancel)              \
    X(Comm_create_keyval)  \
    X(Comm_free)           \
    X(Comm_idup)           \
    X(Comm_rank)           \
    X(Comm_set_attr)       \
    X(Comm_set_errhandler) \
    X(Comm_size)           \
    X(Error_string)        \
    X(Finalize)            \
    X(Finalized)           \
    X(Get_count)           \
    X(Get_library_version) \
    X(Iallgather)          \
    X(Ibarrier)            \
    X(Init_thread)         \
    X(Initialized)         \
    X(Irecv)               \
    X(Isend)               \
    X(Query_thread)        \
    X(Request_get_status)  \
    X(Test)                \
    X(Wait)

struct mpi_table {
#define MPI_TABLE_FIELD(name) __typeof__(&PMPI_##name) name;
    MPI_TABLE(MPI_TABLE_FIELD)
#undef MPI_TABLE_FIELD
};

/* Filled by boot_find(). */
extern struct mpi_table mpi;

/*
 * The result of a call, as in boot_failed("Bcast", mpi.Bcast(...)): true, and
 * remembered for boot_failure(), if it failed.
 */
bool boot_failed(const char *name, int result);

#endif /* DRASYNC_TRANSPORT_MPI_TABLE_H */
