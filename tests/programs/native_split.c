/*
 * A writer goes on in a copy, as another rank reads the region.  While its thread
 * makes that copy the reader ends, and a second thread of the writer writes: that
 * must not be lost, whichever of the two copies it finds.
 */
#include <pthread.h>
#include <time.h>

#include "native_check.h"

enum { ROUNDS = 10, BYTES = 64 << 20 };

static drasync_region_t shared;
static int *object;

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};

    nanosleep(&time, NULL);
}

static void *first_main(void *unused)
{
    (void)unused;
    OK(drasync_acquire(shared, DRASYNC_WRITE));
    object[BYTES / sizeof(int) - 1]++;
    OK(drasync_release(shared));
    return NULL;
}

/* Rank 0, once another one reads. */
static void write_by_two(void)
{
    pthread_t first;

    CHECK(!pthread_create(&first, NULL, first_main, NULL));
    pause_ms(4); /* it copies, and the reader ends */
    OK(drasync_acquire(shared, DRASYNC_WRITE));
    object[0]++;
    OK(drasync_release(shared));
    CHECK(!pthread_join(first, NULL));
}

int main(int argc, char **argv)
{
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
            write_by_two();
        if (check_rank == 1) {
            CHECK(object[0] == round);
            pause_ms(2); /* the first writer has begun */
            OK(drasync_release(shared));
        }
        check_barrier();
        OK(drasync_acquire(shared, DRASYNC_READ));
        CHECK(object[0] == round + 1);
        CHECK(object[BYTES / sizeof(int) - 1] == round + 1);
        OK(drasync_release(shared));
        check_barrier();
    }
    return check_end("split");
}
