/*
 * Holds that ranks of a node pass to each other without steps: whatever else
 * comes in between, each hold is had by one rank at a time, and all is counted.
 *
 * native_leases [SEED]       all stories
 * native_leases free|held|waiting
 *                          the last rank dies after it gave a hold back, while
 *                          it has it, or while it waits for it
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "native_pair.h"

#define ROUNDS 2000

/* --- One rank ------------------------------------------------------------- */

/* Everything that is counted or told is as if each hold were a step. */
static void told(void)
{
    struct drasync_stats before, after;
    struct drasync_info a, b, c;
    drasync_region_t r;
    void *v;

    OK(drasync_new_region(&r));
    OK(drasync_get_stats(&before));
    OK(drasync_release(r));
    OK(drasync_acquire(r, DRASYNC_WRITE));
    OK(drasync_get_info(r, &a));
    CHECK(a.held_write == 1);
    OK(drasync_release(r));
    OK(drasync_acquire(r, DRASYNC_WRITE));
    OK(drasync_release(r));
    OK(drasync_get_info(r, &b));
    CHECK(b.held_write == 0 && b.version > a.version);
    CODE(drasync_acquire(NULL, DRASYNC_WRITE), DRASYNC_ENOREGION);
    CODE(drasync_try_acquire(NULL, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_get_root(NULL, &v), DRASYNC_ENOREGION);
    CODE(drasync_release(NULL), DRASYNC_ENOREGION);
    for (int i = 0; i < ROUNDS; i++) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_release(r));
        if (i % 100 == 0)
            CODE(drasync_release(r), DRASYNC_ENOTHELD);
    }
    for (int i = 0; i < ROUNDS; i++) {
        OK(drasync_acquire(r, i % 50 ? DRASYNC_READ : DRASYNC_WRITE));
        OK(drasync_release(r));
    }
    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_info(r, &c));
    CHECK(c.held_read == 1 && !c.held_write);
    CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_EUPGRADE);
    OK(drasync_release(r));
    OK(drasync_get_stats(&after));
    CHECK(after.acquires - before.acquires == 2 * ROUNDS + 3);
    CHECK(after.releases - before.releases == 2 * ROUNDS + 4);
    OK(drasync_delete(r));
    if (check_ranks == 1)
        CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_ENOREGION);
}

/* Holds nest, of both modes, and of a region and what is above it. */
static void nested(void)
{
    drasync_region_t top, below;
    void *v;

    OK(drasync_new_region(&top));
    OK(drasync_new_subregion(top, &below));
    OK(drasync_release(top));
    for (int i = 0; i < 20; i++) {
        enum drasync_mode mode = i % 2 ? DRASYNC_READ : DRASYNC_WRITE;

        for (int n = 0; n < 4; n++) {
            OK(drasync_acquire(below, mode));
            OK(drasync_get_root(below, &v));
            if (i % 3)
                OK(drasync_acquire(below, DRASYNC_READ));
            CODE(drasync_acquire(top, mode), DRASYNC_EORDER);
            if (i % 3)
                OK(drasync_release(below));
            OK(drasync_release(below));
        }
        OK(drasync_acquire(top, mode));
        OK(drasync_acquire(below, mode));
        OK(drasync_release(below));
        CODE(drasync_release(below), DRASYNC_ENOTHELD);
        OK(drasync_get_root(below, &v));
        OK(drasync_release(top));
        CODE(drasync_get_root(below, &v), DRASYNC_ENOTHELD);
        CODE(drasync_set_root(top, NULL), DRASYNC_ENOTHELD);
        CODE(drasync_alloc(below, 8, &v), DRASYNC_ENOTHELD);
        /* What is above has been given back, and may not be had again yet. */
        OK(drasync_acquire(top, mode));
        OK(drasync_acquire(below, mode));
        OK(drasync_release(top));
        CODE(drasync_acquire(top, mode), DRASYNC_EORDER);
        OK(drasync_release(below));
    }
    OK(drasync_delete(top));
}

/* More regions than holds that can be left, or than a thread remembers. */
static void many_regions(void)
{
    enum { MANY = 2000 };
    static drasync_region_t r[MANY];

    for (int i = 0; i < MANY; i++) {
        OK(drasync_new_region(&r[i]));
        OK(drasync_release(r[i]));
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < MANY; i++) {
            enum drasync_mode mode =
                (i + round) % 3 ? DRASYNC_WRITE : DRASYNC_READ;

            OK(drasync_acquire(r[i], mode));
            OK(drasync_release(r[i]));
            OK(drasync_acquire(r[i], mode));
            OK(drasync_release(r[i]));
        }
    for (int i = 0; i < MANY; i++)
        OK(drasync_delete(r[i]));
}

/* --- Threads -------------------------------------------------------------- */

struct work {
    drasync_region_t region;
    struct pair *pair;
    _Atomic int other; /* 1: has the hold, 2: has given it back */
};

static void *second_hold(void *arg)
{
    struct work *w = arg;

    OK(drasync_acquire(w->region, DRASYNC_WRITE));
    atomic_store(&w->other, 1);
    OK(drasync_release(w->region));
    atomic_store(&w->other, 2);
    return NULL;
}

/* A thread gets what another one of its rank has, whoever waits. */
static void shared_by_threads(struct work *w)
{
    pthread_t thread;

    for (int i = 0; i < 20; i++) {
        many(w->region, w->pair, 20);
        OK(drasync_acquire(w->region, DRASYNC_WRITE));
        atomic_store(&w->other, 0);
        CHECK(!pthread_create(&thread, NULL, second_hold, w));
        while (!atomic_load(&w->other))
            ;
        CHECK(!pthread_join(thread, NULL));
        change(w->pair);
        OK(drasync_release(w->region));
    }
}

static void *run_many(void *arg)
{
    struct work *w = arg;

    for (int i = 0; i < ROUNDS / 4; i++) {
        OK(drasync_acquire(w->region, DRASYNC_WRITE));
        OK(drasync_release(w->region));
    }
    return NULL;
}

static void by_threads(void)
{
    drasync_region_t r = shared_region(NULL);
    struct work w = {.region = r, .pair = known_pair(r)};
    pthread_t thread[2];

    check_barrier();
    shared_by_threads(&w);
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, run_many, &w));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(thread[i], NULL));
    check_barrier();
    OK(drasync_acquire(r, DRASYNC_READ));
    CHECK(w.pair->first == 420u * (unsigned)check_ranks);
    OK(drasync_release(r));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

static void *come_and_go(void *arg)
{
    drasync_region_t r;

    (void)arg;
    for (int i = 0; i < 3; i++) {
        OK(drasync_new_region(&r));
        OK(drasync_release(r));
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_delete(r));
    }
    return NULL;
}

/* What a thread keeps goes with it. */
static void threads_end(void)
{
    pthread_t thread;

    for (int i = 0; i < 100; i++) {
        CHECK(!pthread_create(&thread, NULL, come_and_go, NULL));
        CHECK(!pthread_join(thread, NULL));
    }
}

/* --- Several ranks -------------------------------------------------------- */

static uint32_t dice;

static uint32_t throw(uint32_t sides)
{
    dice = dice * 1664525u + 1013904223u;
    return (dice >> 8) % sides;
}

/* Take @r for WRITE in some way. */
static void take(drasync_region_t r)
{
    drasync_request_t request;
    int err;

    switch (throw(6)) {
    case 0:
        do
            err = drasync_try_acquire(r, DRASYNC_WRITE);
        while (err == DRASYNC_EAGAIN);
        OK(err);
        break;
    case 1:
        do
            err = drasync_acquire_timed(r, DRASYNC_WRITE, 1 + throw(50));
        while (err == DRASYNC_EAGAIN);
        OK(err);
        break;
    case 2:
        OK(drasync_iacquire(r, DRASYNC_WRITE, &request));
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        break;
    default:
        OK(drasync_acquire(r, DRASYNC_WRITE));
    }
}

static void look(drasync_region_t r, const struct pair *p, uint64_t *seen)
{
    OK(drasync_acquire(r, DRASYNC_READ));
    CHECK(p->first == p->second && p->first >= *seen);
    *seen = p->first;
    CHECK(pair_of(r) == p);
    OK(drasync_release(r));
}

static void disturb(drasync_region_t r, drasync_region_t below,
                    const struct pair *p, uint64_t *seen)
{
    struct drasync_info info;
    void *v;

    switch (throw(12)) {
    case 0:
        OK(drasync_get_info(r, &info));
        CHECK(!info.held_write && !info.held_read);
        break;
    case 1:
        OK(drasync_acquire(below, DRASYNC_WRITE));
        OK(drasync_alloc(below, 32, &v));
        OK(drasync_release(below));
        break;
    case 2:
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_alloc(r, 40, &v));
        OK(drasync_free(v));
        CHECK(pair_of(r) == p);
        OK(drasync_set_root(r, (void *)(uintptr_t)p));
        OK(drasync_release(r));
        break;
    case 3:
        CODE(drasync_release(r), DRASYNC_ENOTHELD);
        break;
    case 4:
    case 5:
        for (int i = 0; i < 5; i++)
            look(r, p, seen);
        break;
    default:
        break;
    }
}

/* All ranks fight for a region, in all ways there are. */
static void fight(uint32_t seed, int quiet)
{
    drasync_region_t below = NULL, r = shared_region(&below);
    struct pair *p = known_pair(r);
    uint64_t seen = 0;
    int err;

    dice = seed * 77u + (uint32_t)check_rank;
    check_barrier();
    for (int i = 0; i < ROUNDS; i++) {
        if (!quiet)
            disturb(r, below, p, &seen);
        take(r);
        change(p);
        OK(drasync_release(r));
        if (quiet && throw(20) == 0)
            look(r, p, &seen);
    }
    check_barrier();
    look(r, p, &seen);
    CHECK(seen == (uint64_t)check_ranks * ROUNDS);
    check_barrier();
    if (check_rank == check_ranks - 1)
        OK(drasync_delete(r));
    check_barrier();
    err = drasync_acquire(r, DRASYNC_WRITE);
    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    check_barrier();
}

/* Who waits only so long for another rank is told, and gets it later. */
static void in_time(void)
{
    drasync_region_t r = shared_region(NULL);
    struct pair *p = known_pair(r);

    for (int i = 0; i < 10; i++) {
        check_barrier();
        many(r, p, 200);
        check_barrier();
        if (check_rank == 0)
            OK(drasync_acquire(r, DRASYNC_WRITE));
        check_barrier();
        if (check_rank) {
            CODE(drasync_try_acquire(r, DRASYNC_WRITE), DRASYNC_EAGAIN);
            CODE(drasync_acquire_timed(r, DRASYNC_WRITE, 3000), DRASYNC_EAGAIN);
        }
        check_barrier();
        if (check_rank == 0)
            OK(drasync_release(r));
        OK(drasync_acquire_timed(r, DRASYNC_WRITE, 60000000));
        change(p);
        OK(drasync_release(r));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

/* Two ranks hand a region on; the others only want it now and then: when the
 * first one lets them know that it has had it many times since. */
static void third(void)
{
    drasync_region_t r = shared_region(NULL);
    struct pair *p = known_pair(r);
    uint64_t seen = 0;

    check_barrier();
    for (int i = 0; i < 20; i++) {
        if (check_rank < 2)
            many(r, p, ROUNDS);
        for (int to = 2; check_rank == 0 && to < check_ranks; to++)
            MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        if (check_rank >= 2) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            many(r, p, 1);
        }
    }
    check_barrier();
    look(r, p, &seen);
    CHECK(seen == (uint64_t)(check_ranks < 2
                                 ? 20 * ROUNDS
                                 : 40 * ROUNDS + 20 * (check_ranks - 2)));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

/* --- Death ---------------------------------------------------------------- */

static void killed(const char *when)
{
    drasync_region_t r = shared_region(NULL);
    struct pair *p = known_pair(r);
    int last = check_rank == check_ranks - 1, err;

    check_barrier();
    many(r, p, ROUNDS);
    check_barrier();
    if (!strcmp(when, "held") && last)
        OK(drasync_acquire(r, DRASYNC_WRITE));
    if (!strcmp(when, "waiting") && check_rank == 0)
        OK(drasync_acquire(r, DRASYNC_WRITE));
    check_barrier();
    if (last) {
        if (!strcmp(when, "waiting"))
            CODE(drasync_acquire_timed(r, DRASYNC_WRITE, 3000), DRASYNC_EAGAIN);
        raise(SIGKILL);
    }
    /* What it had given back can be had; who waits finds out in time. */
    if (!strcmp(when, "free"))
        many_until_told(r, p, ROUNDS);
    if (!strcmp(when, "held"))
        err = drasync_acquire(r, DRASYNC_WRITE);
    else
        err = drasync_lookup("nobody gives this name", DRASYNC_FOREVER, &r);
    if (!strcmp(when, "waiting"))
        CHECK(drasync_release(r) == DRASYNC_EPEER);
    printf("rank %d: %s\n", check_rank, drasync_errname(err));
    fflush(stdout);
}

/* What rank 0 frees in a region that it took back without a step is free for the
 * next to come. */
static void freed(void)
{
    uint64_t used = 0;
    void *v[4] = {0};
    drasync_region_t r = NULL;
    struct drasync_info info;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, 48, &v[0]));
        OK(drasync_get_info(r, &info));
        used = info.used_bytes;
        for (int i = 1; i < 4; i++)
            OK(drasync_alloc(r, 48, &v[i]));
        OK(drasync_release(r));
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_release(r));
        OK(drasync_acquire(r, DRASYNC_WRITE));
        for (int i = 1; i < 4; i++)
            OK(drasync_free(v[i]));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    MPI_Bcast(&used, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (check_rank == check_ranks - 1) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_info(r, &info));
        CHECK(info.used_bytes == used);
        OK(drasync_delete(r));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "1";
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    if (strchr("fhw", what[0])) {
        killed(what);
        return 1;
    }
    told();
    nested();
    many_regions();
    threads_end();
    by_threads();
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t seed = (uint32_t)atoi(what) + round;

        fight(seed, 0);
        fight(seed, 1);
    }
    in_time();
    third();
    freed();
    return check_end("fast");
}
