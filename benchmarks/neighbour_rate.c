/*
 * neighbour_rate - the neighbour message rate by MPI alone, for
 * scripts/mpich-refcount: rank 0 has as many threads as there are other ranks,
 * each with one of those for its peer, and a tag of its own.  10 iterations of
 * warm-up and 10,000 of 12 receives and 12 sends of 0 bytes, all non-blocking,
 * then MPI_Waitall.  Prints millions of messages a second that rank 0 sends.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define POSTED     12
#define WARM_UP    10
#define ITERATIONS 10000

static MPI_Comm comm;
static MPI_Datatype type;

static void iterations(int peer, int tag, int count)
{
    MPI_Request request[2 * POSTED];

    for (int n = 0; n < count; n++) {
        for (int i = 0; i < POSTED; i++)
            MPI_Irecv(NULL, 0, type, peer, tag, comm, &request[i]);
        for (int i = 0; i < POSTED; i++)
            MPI_Isend(NULL, 0, type, peer, tag, comm, &request[POSTED + i]);
        MPI_Waitall(2 * POSTED, request, MPI_STATUSES_IGNORE);
    }
}

static void *thread_of(void *arg)
{
    int peer = (int)(long)arg;

    iterations(peer, peer, ITERATIONS);
    return NULL;
}

static double rate(int rank, int threads)
{
    pthread_t *thread = malloc((size_t)threads * sizeof(*thread));
    double begin;

    if (!thread)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank)
        iterations(0, rank, WARM_UP);
    else
        for (int i = 1; i <= threads; i++)
            iterations(i, i, WARM_UP);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    if (rank)
        iterations(0, rank, ITERATIONS);
    for (long i = 1; !rank && i <= threads; i++)
        if (pthread_create(&thread[i - 1], NULL, thread_of, (void *)i))
            MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; !rank && i < threads; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return threads * (double)ITERATIONS * POSTED / (MPI_Wtime() - begin) * 1e-6;
}

int main(int argc, char **argv)
{
    int level, rank, ranks;
    double predefined, derived;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (level < MPI_THREAD_MULTIPLE || ranks < 2) {
        fprintf(stderr, "neighbour_rate: MPI_THREAD_MULTIPLE and 2 ranks or "
                        "more are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    comm = MPI_COMM_WORLD;
    type = MPI_INT;
    predefined = rate(rank, ranks - 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(1, 1, 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    derived = rate(rank, ranks - 1);
    if (!rank)
        printf("threads=%d predefined=%.4g derived=%.4g unit=M/s\n", ranks - 1,
               predefined, derived);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
