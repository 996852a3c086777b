/*
 * Two threads of a worker receive from the same other one, and from two others, the
 * same region: each version comes once, and whole.
 * Usage: myrmics_receivers, with 3 workers
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

#define SENDS 2000
#define BYTES 200000 /* more than are copied where frames can be mapped */

static rid_t region;
static char *object;

static void *receive_half(void *from)
{
    for (int i = 0; i < SENDS / 2; i++)
        sys_recv(0, *(const int *)from);
    return NULL;
}

/* From the workers @a and @b at a time. */
static void receive(int a, int b)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, receive_half, &a));
    receive_half(&b);
    CHECK(!pthread_join(thread, NULL));
}

static void fill(char value, int sends, int to)
{
    for (int i = 0; i < sends; i++) {
        memset(object, value, BYTES);
        sys_send(region, to);
    }
}

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    CHECK(workers == 3);
    if (me == 1) {
        region = sys_ralloc(0, 0);
        object = sys_alloc(BYTES, region);
        fill(1, 1, 2);
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Bcast(&object, sizeof(object), MPI_BYTE, 1, MPI_COMM_WORLD);
    if (me == 2)
        sys_recv(region, 1);
    /* Of one worker, then of both at a time. */
    if (me == 1)
        fill(1, SENDS, 0);
    if (me == 0)
        receive(1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me > 0)
        fill((char)me, SENDS / 2, 0);
    if (me == 0) {
        receive(1, 2);
        for (int i = 0; i < BYTES; i++)
            CHECK(object[i] == 1 || object[i] == 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* What it sees is what it has. */
    if (me == 0) {
        memset(object, 9, BYTES);
        sys_send(region, 1);
    }
    if (me == 1) {
        sys_recv(region, 0);
        for (int i = 0; i < BYTES; i++)
            CHECK(object[i] == 9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("ok %d workers\n", workers);
    MPI_Finalize();
    return 0;
}
