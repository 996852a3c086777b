/* boot_mpi.h - the inside of struct boot; private to transport/. */
#ifndef DRASYNC_TRANSPORT_BOOT_MPI_H
#define DRASYNC_TRANSPORT_BOOT_MPI_H

#include <mpi.h>
#include <stdbool.h>

struct boot {
    MPI_Comm all, node, leaders;
    int rank, ranks;
    bool neighbours;
    int *host_of; /* [ranks]: the first rank of its host; or NULL */
};

/* Inside of MPI_Finalize, at its beginning, on all ranks. */
void boot_leave(void);

/* Does an MPI of this version hang there otherwise?  What
 * MPI_Get_library_version() says. */
bool boot_leave_needed(const char *version);

#endif /* DRASYNC_TRANSPORT_BOOT_MPI_H */
