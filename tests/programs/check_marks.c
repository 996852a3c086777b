/*
 * A read past an object's end, or after it was freed, under a hold: what
 * AddressSanitizer, with which a test builds this, or valgrind say of it.
 *
 *   check_marks none|past|freed
 *
 * Rank 0 makes objects, the last rank works on them, and then goes wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "drasync.h"

#define BYTES   100
#define OBJECTS 100
#define FREED   50 /* from here on */

static int rank, ranks;
static region r;
static char *objects[OBJECTS];

static void make(void)
{
    r = new_region();
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = ralloc(r, BYTES);
        memset(objects[i], i, BYTES);
    }
    for (int i = FREED; i < OBJECTS; i++)
        drasync_free(objects[i]);
    drasync_publish("objects", r);
    release_region(r);
}

/* All ranks by turns, so that each has marks of what others changed. */
static long work(int turn)
{
    size_t bytes = 40 + (size_t)turn;
    long sum = 0;
    char *more;

    acquire_region(r, WRITE);
    for (int i = 0; i < FREED; i++)
        memset(objects[i], turn, BYTES);
    more = ralloc(r, bytes);
    memset(more, turn, bytes);
    drasync_free(more);
    release_region(r);
    acquire_region(r, READ);
    for (int i = 0; i < FREED; i++)
        sum += objects[i][BYTES - 1];
    release_region(r);
    return sum;
}

static void go_wrong(const char *how)
{
    volatile char byte = 0;

    acquire_region(r, READ);
    if (!strcmp(how, "past"))
        byte = objects[3][BYTES];
    if (!strcmp(how, "freed"))
        byte = objects[FREED + 5][0];
    release_region(r);
    (void)byte;
}

int main(int argc, char **argv)
{
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        make();
    drasync_lookup("objects", DRASYNC_FOREVER, &r);
    MPI_Bcast(objects, sizeof(objects), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int turn = 0; turn < 100; turn++)
        sum += work(turn);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1)
        go_wrong(argc > 1 ? argv[1] : "");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("over%s\n", sum < 0 ? "!" : "");
    return 0;
}
