/*
 * A writer goes on in a copy, as another rank reads the region.  While its thread
 * makes that copy the reader ends, and a second thread of the writer writes: that
 * must not be lost, whichever of the two copies it finds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "native_check.h"

enum { ROUNDS = 10, BYTES = 64 << 20 };

static drasync_region_t shared;
static int *object;
static _Atomic bool first_has_it;

static void *first_main(void *unused)
{
    (void)unused;
    OK(drasync_acquire(shared, DRASYNC_WRITE));
    atomic_store(&first_has_it, true);
    object[BYTES / sizeof(int) - 1]++;
    OK(drasync_release(shared));
    return NULL;
}

/* Until this rank was granted WRITE, and so copies. */
static void wait_copying(void)
{
    struct drasync_info info = {0};

    while (!info.held_write && !atomic_load(&first_has_it))
        OK(drasync_get_info(shared, &info));
}

/* Rank 0, while rank 1 reads; how often the second thread wrote. */
static int write_by_two(void)
{
    pthread_t first;
    int writes = 0;

    atomic_store(&first_has_it, false);
    CHECK(!pthread_create(&first, NULL, first_main, NULL));
    wait_copying();
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    do {
        OK(drasync_acquire(shared, DRASYNC_WRITE));
        object[0]++;
        writes++;
        OK(drasync_release(shared));
    } while (!atomic_load(&first_has_it));
    CHECK(!pthread_join(first, NULL));
    return writes;
}

static void read_until_told(int value)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(object[0] == value);
    OK(drasync_release(shared));
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int value = 0;

    check_start_threads(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&shared));
        OK(drasync_alloc(shared, BYTES, (void **)&object));
        memset(object, 0, BYTES);
        OK(drasync_release(shared));
    }
    check_share(&shared, 0);
    check_share(&object, 0);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank == 1)
            OK(drasync_acquire(shared, DRASYNC_READ));
        check_barrier();
        if (check_rank == 0)
            value += write_by_two();
        if (check_rank == 1)
            read_until_told(value);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        OK(drasync_acquire(shared, DRASYNC_READ));
        CHECK(object[0] == value);
        CHECK(object[BYTES / sizeof(int) - 1] == round + 1);
        OK(drasync_release(shared));
        check_barrier();
    }
    return check_end("split");
}
