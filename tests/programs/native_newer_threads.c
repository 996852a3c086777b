/*
 * What is newer, where threads of a rank have the region: as WRITE, it is refused
 * while another thread READs, and may be asked for again.
 *
 * native_newer_threads ROUNDS
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "native_check.h"

struct box {
    int number;
};

static struct {
    drasync_region_t region;
    uint64_t version; /* of its maker's hold */
} shared;

static int number(void)
{
    void *v;

    OK(drasync_get_root(shared.region, &v));
    return ((struct box *)v)->number;
}

static void write_number(int what)
{
    void *v;

    OK(drasync_acquire(shared.region, DRASYNC_WRITE));
    OK(drasync_get_root(shared.region, &v));
    ((struct box *)v)->number = what;
    OK(drasync_release(shared.region));
}

static void make(void)
{
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&shared.region));
        OK(drasync_alloc(shared.region, sizeof(struct box), &v));
        ((struct box *)v)->number = 0;
        OK(drasync_set_root(shared.region, v));
        OK(drasync_get_version(shared.region, &shared.version));
        OK(drasync_release(shared.region));
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* --- One after the other --------------------------------------------------- */

static atomic_int turn;

static void await(int what)
{
    while (atomic_load(&turn) < what)
        sched_yield();
}

/* The other thread: it READs from the 1st to the 2nd turn. */
static void *reads(void *arg)
{
    (void)arg;
    OK(drasync_acquire(shared.region, DRASYNC_READ));
    CHECK(number() == 0);
    atomic_store(&turn, 1);
    await(2);
    CHECK(number() == 0);
    OK(drasync_release(shared.region));
    atomic_store(&turn, 3);
    return NULL;
}

/* Refused, and nothing has changed: for READ, and as drasync_acquire() for
 * WRITE. */
static void refused(void)
{
    uint64_t seen = shared.version;

    CODE(drasync_acquire_newer(shared.region, DRASYNC_READ, &seen,
                               DRASYNC_FOREVER),
         DRASYNC_ENESTED);
    CODE(drasync_acquire_newer(shared.region, DRASYNC_WRITE, &seen,
                               DRASYNC_FOREVER),
         DRASYNC_ENESTED);
    CODE(drasync_acquire_newer(shared.region, DRASYNC_READ, &seen, 0),
         DRASYNC_ENESTED);
    CODE(drasync_acquire(shared.region, DRASYNC_WRITE), DRASYNC_EUPGRADE);
    CHECK(seen == shared.version);
}

/* Rank 0 writes while the other rank's thread READs. */
static void one_after_the_other(void)
{
    const int who = check_ranks - 1;
    uint64_t seen = shared.version;
    pthread_t thread;

    if (check_rank == who) {
        CHECK(!pthread_create(&thread, NULL, reads, NULL));
        await(1);
        refused();
    }
    check_barrier();
    if (check_rank == 0 && who)
        write_number(1);
    check_barrier();
    if (check_rank == who) {
        refused();
        atomic_store(&turn, 2);
        await(3);
        if (!who)
            write_number(1);
        OK(drasync_acquire_newer(shared.region, DRASYNC_READ, &seen,
                                 DRASYNC_FOREVER));
        CHECK(number() == 1 && seen > shared.version);
        /* This thread's own hold. */
        CODE(drasync_acquire_newer(shared.region, DRASYNC_READ, &seen,
                                   DRASYNC_FOREVER),
             DRASYNC_ENESTED);
        OK(drasync_release(shared.region));
        CODE(drasync_release(shared.region), DRASYNC_ENOTHELD);
        CHECK(!pthread_join(thread, NULL));
    }
    check_barrier();
}

/* --- At once --------------------------------------------------------------- */

static atomic_bool over;

static void *polls(void *arg)
{
    (void)arg;
    for (int last = 0; !atomic_load(&over);) {
        OK(drasync_acquire(shared.region, DRASYNC_READ));
        CHECK(number() >= last);
        last = number();
        OK(drasync_release(shared.region));
        sched_yield();
    }
    return NULL;
}

/* Until rank 0 has written @rounds: each version is newer than the one before. */
static void follow(int rounds)
{
    uint64_t seen = shared.version, before = seen;

    for (int last = 0; last < rounds;) {
        int err = drasync_acquire_newer(shared.region, DRASYNC_READ, &seen,
                                        DRASYNC_FOREVER);

        if (err == DRASYNC_ENESTED) {
            CHECK(seen == before);
            sched_yield();
            continue;
        }
        OK(err);
        CHECK(seen > before && number() >= last);
        before = seen;
        last = number();
        OK(drasync_release(shared.region));
    }
}

static void at_once(int rounds)
{
    pthread_t thread;

    if (check_rank == 0)
        for (int i = 2; i <= rounds; i++)
            write_number(i);
    if (check_rank) {
        CHECK(!pthread_create(&thread, NULL, polls, NULL));
        follow(rounds);
        atomic_store(&over, true);
        CHECK(!pthread_join(thread, NULL));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    check_start_threads(&argc, &argv);
    make();
    one_after_the_other();
    at_once(rounds);
    if (check_rank == 0)
        OK(drasync_delete(shared.region));
    check_barrier();
    return check_end("newer_threads");
}
