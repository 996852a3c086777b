/* boot_mpi.h - the inside of struct boot; private to transport/. */
#ifndef DRASYNC_TRANSPORT_BOOT_MPI_H
#define DRASYNC_TRANSPORT_BOOT_MPI_H

#include <mpi.h>
#include <stdbool.h>

#include "transport/boot.h"

struct boot {
    MPI_Comm all; /* MPI_COMM_NULL where there is one node */
    int rank, ranks;
    void (*meanwhile)(void);
    struct boot_places places;
};

/* Tags on `all`: the wire has 0 and the odd ones (mpi.c). */
#define BOOT_TAG 2

/* Nap until @request of MPI_@name is done; false if it failed.  @boot may be
 * NULL. */
bool boot_await(struct boot *boot, const char *name, MPI_Request *request);

/* Inside of MPI_Finalize, at its beginning, on all ranks. */
void boot_leave(void);

/* Does an MPI of this version hang there otherwise?  What
 * MPI_Get_library_version() says. */
bool boot_leave_needed(const char *version);

/* Has this host network adapters that move memory by themselves? */
bool boot_has_rdma(void);

/* at_once.c: messages of fewer bytes than that MPI sends at once, to other hosts;
 * 0: not known. */
size_t boot_at_once(void);

/* The same of a value of UCX_RNDV_THRESH. */
size_t boot_at_once_of(const char *threshold);

/* Does the launcher say that the job is on several hosts? */
bool boot_several_hosts(void);

#endif /* DRASYNC_TRANSPORT_BOOT_MPI_H */
