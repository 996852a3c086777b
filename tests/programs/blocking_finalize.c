/*
 * blocking_finalize - a thread waits in MPI_Recv() while another one ends DRASync
 * (drasync_finalize()), and then sends what the first one waits for.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "drasync.h"

enum { ASK, QUIT };

#define ASKS 10

static int rank;

/* Adds up what this rank sends itself, until QUIT. */
static void *serve(void *arg)
{
    int *sum = arg, value;
    MPI_Status status;

    do {
        MPI_Recv(&value, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        *sum += value;
    } while (status.MPI_TAG != QUIT);
    return NULL;
}

int main(int argc, char **argv)
{
    int level, sum = 0, one = 1, err;
    pthread_t server;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE ||
        pthread_create(&server, NULL, serve, &sum)) {
        fprintf(stderr, "no thread that may call MPI\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < ASKS; i++)
        MPI_Ssend(&one, 1, MPI_INT, rank, ASK, MPI_COMM_WORLD);
    err = drasync_finalize();
    MPI_Send(&one, 1, MPI_INT, rank, QUIT, MPI_COMM_WORLD);
    pthread_join(server, NULL);
    MPI_Finalize();
    if (err || sum != ASKS + 1) {
        fprintf(stderr, "rank %d: %s, %d of %d\n", rank, drasync_strerror(err),
                sum, ASKS + 1);
        return 1;
    }
    if (rank == 0)
        printf("blocking_finalize ok\n");
    return 0;
}
