/*
 * Programs that hang, by their first argument; tests/bats/diagnose.bats reads what
 * is said about them.  Most go on when a file appears that the second argument
 * names.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/stuck.h"

/* Reports name them, so they are neither inlined nor cloned. */
void take(region r, int mode);
void kept(int mode);
void made(void);
void ring(int mode);
void inside(const char *how);

__attribute__((noinline)) void take(region r, int mode)
{
    acquire_region(r, mode);
    printf("rank %d took it\n", rank); /* no tail call */
}

/* Rank 0 keeps a region that all others want. */
__attribute__((noinline)) void kept(int mode)
{
    region tree = shared_region("tree", 0);

    if (rank == 0)
        take(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        take(tree, mode);
    else
        until_over();
    release_region(tree);
}

/* Rank 0 waits in MPI for rank 2, with what rank 1 waits for. */
static void received(void)
{
    region tree = shared_region("tree", 0);
    int answer;

    if (rank == 0)
        take(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        take(tree, WRITE);
    if (rank == 0)
        MPI_Recv(&answer, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < 2)
        release_region(tree);
    if (rank < 2)
        return;
    until_over();
    MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
}

/* Rank 0 keeps what rank 1 wants, and waits for what rank 2 keeps. */
static void chained(void)
{
    region a = shared_region("a", 0), b = shared_region("b", 2);

    if (rank == 0)
        take(a, WRITE);
    if (rank == 2)
        take(b, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        until_over();
    else
        take(rank == 0 ? b : a, WRITE);
    release_region(rank == 1 ? a : b);
    if (rank == 0)
        release_region(a);
}

/* A child of @tree; both have names. */
static region name_child(region tree)
{
    region child = new_subregion(tree);

    must(drasync_publish("tree", tree), "publish");
    must(drasync_publish("child", child), "publish");
    return child;
}

/* A child is held, the whole is wanted. */
static void below(void)
{
    region tree = NULL, child = NULL;

    if (rank == 0) {
        tree = new_region();
        child = name_child(tree);
        release_region(tree);
    }
    must(drasync_lookup("tree", DRASYNC_FOREVER, &tree), "lookup");
    must(drasync_lookup("child", DRASYNC_FOREVER, &child), "lookup");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        take(child, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        until_over();
    if (rank == 0)
        release_region(child);
    if (rank == 1)
        take(tree, WRITE);
}

/* A child is wanted that rank 0 has by the hold with which it made the whole. */
__attribute__((noinline)) void made(void)
{
    region tree = NULL, child = NULL;

    if (rank == 0) {
        tree = new_region();
        child = name_child(tree);
    }
    must(drasync_lookup("child", DRASYNC_FOREVER, &child), "lookup");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        until_over();
        release_region(tree);
    } else {
        take(child, WRITE);
    }
}

/* The regions of this rank's number, and of the next one's. */
static void ring_regions(region *own, region *next)
{
    char name[16];

    for (int i = 0; i < ranks; i++) {
        region r;

        snprintf(name, sizeof(name), "r%d", i);
        r = shared_region(name, i);
        if (i == rank)
            *own = r;
        if (i == (rank + 1) % ranks)
            *next = r;
    }
}

/* Each rank has the region of its number, and wants the next one's.  The last
 * asks with @mode, and says what came of it. */
__attribute__((noinline)) void ring(int mode)
{
    region own = NULL, next = NULL;
    int err;

    ring_regions(&own, &next);
    take(own, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1)
        usleep(400000); /* it closes the ring */
    err = drasync_acquire(next, rank == ranks - 1 ? (enum drasync_mode)mode
                                                  : DRASYNC_WRITE);
    printf("rank %d: %s\n", rank, drasync_errname(err));
    fflush(stdout);
    if (!err)
        release_region(next);
    release_region(own);
}

/* Such rings one after the other, each closed by all at once; who fails says so. */
static void rings(void)
{
    region own = NULL, next = NULL;
    int err;

    ring_regions(&own, &next);
    for (int i = 0; i < 8; i++) {
        acquire_region(own, WRITE);
        MPI_Barrier(MPI_COMM_WORLD);
        err = drasync_acquire(next, DRASYNC_WRITE);
        if (err)
            printf("rank %d of ring %d: %s\n", rank, i, drasync_errname(err));
        else
            release_region(next);
        release_region(own);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* No ring, though it looks like one for a while: the last asks for a limited
 * time, and gives its own back then. */
static void no_ring(void)
{
    region a = shared_region("a", 0), b = shared_region("b", 1);
    int err = 0;

    take(rank == 0 ? a : b, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        err = drasync_acquire(b, DRASYNC_WRITE);
    else
        err = drasync_acquire_timed(a, DRASYNC_WRITE, 1500000);
    printf("rank %d: %s\n", rank, drasync_errname(err));
    release_region(rank == 0 ? a : b);
}

static region handed;

/* Takes and gives back something, then what the other thread took. */
static void *helper(void *arg)
{
    region own = new_region();

    release_region(own);
    take(own, WRITE);
    release_region(own);
    sleep(2);
    release_region(handed);
    return arg;
}

/* As a ring, but another thread of rank 0 gives back what is in the way. */
static void threads(void)
{
    region a = shared_region("a", 0), b = shared_region("b", 1);
    pthread_t thread;

    handed = a;
    take(rank == 0 ? a : b, WRITE);
    if (rank == 0)
        pthread_create(&thread, NULL, helper, NULL);
    sleep(1);
    MPI_Barrier(MPI_COMM_WORLD);
    take(rank == 0 ? b : a, WRITE);
    release_region(rank == 0 ? b : a);
    if (rank == 1)
        release_region(b);
    else
        pthread_join(thread, NULL);
}

static void unnamed(void)
{
    region r;

    if (rank == 0) {
        until_over();
        r = new_region();
        must(drasync_publish("nothing", r), "publish");
        release_region(r);
    }
    if (rank == ranks - 1)
        must(drasync_lookup("nothing", DRASYNC_FOREVER, &r), "lookup");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 dies with what rank 1 wants. */
static void dies(void)
{
    region tree = shared_region("tree", 0);

    if (rank == 0)
        take(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sleep(3);
        abort();
    }
    acquire_region(tree, WRITE);
}

/* Rank 0 waits inside MPI, as @how says, for a rank that waits for what rank 0
 * has: rank 1, or of three ranks rank 2, for which rank 1 waits in MPI. */
__attribute__((noinline)) void inside(const char *how)
{
    region tree = shared_region("tree", 0);
    int from = rank + 1, value = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];

    if (rank == 0)
        take(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    /* One that has come does not make up for the next. */
    if (rank > 0)
        MPI_Send(&value, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD);
    if (rank < ranks - 1)
        MPI_Recv(&value, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == ranks - 1) {
        take(tree, WRITE);
    } else if (!strcmp(how, "mpi-recv")) {
        MPI_Recv(&value, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "mpi-wait")) {
        MPI_Irecv(&value, 1, MPI_INT, from, 7, MPI_COMM_WORLD, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "mpi-waitall")) {
        MPI_Irecv(&value, 1, MPI_INT, from, 7, MPI_COMM_WORLD, requests + 1);
        MPI_Waitall(2, requests, statuses);
    } else if (!strcmp(how, "mpi-sendrecv")) {
        MPI_Sendrecv(&rank, 1, MPI_INT, from, 9, &value, 1, MPI_INT, from, 7,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "mpi-barrier")) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(how, "mpi-bcast")) {
        MPI_Bcast(&value, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    } else if (!strcmp(how, "mpi-reduce")) {
        MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    printf("rank %d got on\n", rank);
}

/* What looks like such a ring and is none: rank 0 has what rank 1 waits for, and
 * gets a message that rank 1 sent before, or that anybody may send, or on another
 * communicator, late. */
static void no_ring_inside(const char *how)
{
    region tree = shared_region("tree", 0);
    MPI_Comm other;
    int value = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0)
        take(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (!strcmp(how, "none-sent"))
            MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        take(tree, WRITE);
    } else if (rank == 0 && !strcmp(how, "none-sent")) {
        until_over();
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0 && !strcmp(how, "none-any")) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 2, 7, other, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "none-sent") != 0) {
        until_over();
        MPI_Send(&value, 1, MPI_INT, 0, 7,
                 !strcmp(how, "none-any") ? MPI_COMM_WORLD : other);
    }
    if (rank < 2)
        release_region(tree);
    MPI_Comm_free(&other);
}

/* Rank 0 takes a region, part by part in order of creation, while rank 1 has the
 * second part and asks for the first. */
static void parts(enum drasync_mode mode)
{
    region all = shared_region("all", 0), part[2] = {NULL, NULL};
    drasync_request_t request;
    int err;

    if (rank == 0) {
        acquire_region(all, WRITE);
        part[0] = new_subregion(all);
        part[1] = new_subregion(all);
        release_region(all);
    }
    MPI_Bcast(part, sizeof(part), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1)
        acquire_region(part[1], WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        must(drasync_iacquire(all, mode, &request), "iacquire");
    MPI_Barrier(MPI_COMM_WORLD);
    err = rank == 0 ? drasync_wait(&request, DRASYNC_FOREVER)
                    : drasync_acquire(part[0], DRASYNC_WRITE);
    printf("rank %d: %s\n", rank, drasync_errname(err));
    if (!err)
        release_region(rank == 0 ? all : part[0]);
    if (rank == 1)
        release_region(part[1]);
}

static void handle(int number)
{
    (void)number;
    if (write(STDOUT_FILENO, "rank 0: handled\n", 16) != 16)
        _exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    over = argc > 2 ? argv[2] : "/";
    if (!strcmp(what, "signal-own"))
        signal(SIGUSR2, handle);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(what, "write"))
        kept(WRITE);
    else if (!strcmp(what, "read"))
        kept(READ);
    else if (!strcmp(what, "receive"))
        received();
    else if (!strcmp(what, "chain"))
        chained();
    else if (!strcmp(what, "below"))
        below();
    else if (!strcmp(what, "made"))
        made();
    else if (!strcmp(what, "ring"))
        ring(WRITE);
    else if (!strcmp(what, "ring-read"))
        ring(READ);
    else if (!strcmp(what, "rings"))
        rings();
    else if (!strcmp(what, "parts"))
        parts(DRASYNC_WRITE);
    else if (!strcmp(what, "parts-read"))
        parts(DRASYNC_READ);
    else if (!strcmp(what, "no-ring"))
        no_ring();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "name"))
        unnamed();
    else if (!strncmp(what, "mpi-", 4))
        inside(what);
    else if (!strncmp(what, "none-", 5))
        no_ring_inside(what);
    else if (!strncmp(what, "signal", 6)) {
        if (rank == 0)
            raise(SIGUSR2);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "dies"))
        dies();
    else
        return 2;
    MPI_Finalize();
    return 0;
}
