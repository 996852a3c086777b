/* check.h - for programs that end at the first error of DRASync's. */
#ifndef PROGRAMS_COMMON_CHECK_H
#define PROGRAMS_COMMON_CHECK_H

#include <mpi.h>
#include <stdio.h>

#include "drasync.h"

static inline void check(int err)
{
    if (!err)
        return;
    fprintf(stderr, "%s\n", drasync_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif /* PROGRAMS_COMMON_CHECK_H */
