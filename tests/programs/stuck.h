/*
 * Of stuck.c and stuck_newer.c, programs that hang: what ranks share, and until
 * when they do.
 */
#ifndef DRASYNC_TESTS_PROGRAMS_STUCK_H
#define DRASYNC_TESTS_PROGRAMS_STUCK_H

#include <drasync.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, ranks;
static const char *over; /* a file; they go on once it is there */

/* A program's arguments, WHAT and that file; MPI is up afterwards.  WHAT. */
static inline const char *started(int *argc, char ***argv)
{
    const char *what = *argc > 1 ? (*argv)[1] : "";

    over = *argc > 2 ? (*argv)[2] : "/";
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return what;
}

static void until_over(void)
{
    while (access(over, F_OK))
        usleep(20000);
}

static void must(int err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, drasync_errname(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The region that rank @maker makes and names; nobody holds it then. */
static region shared_region(const char *name, int maker)
{
    region r = NULL;

    if (rank == maker) {
        r = new_region();
        must(drasync_publish(name, r), "publish");
        release_region(r);
    }
    must(drasync_lookup(name, DRASYNC_FOREVER, &r), "lookup");
    MPI_Barrier(MPI_COMM_WORLD);
    return r;
}

#endif /* DRASYNC_TESTS_PROGRAMS_STUCK_H */
