/*
 * Programs whose ranks wait for newer versions, by their first argument;
 * tests/bats/diagnose_newer.bats reads what is said about them.  Those of "newer"
 * go on when a file appears that the second argument names.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/programs/stuck.h"

/* Reports name it, so it is neither inlined nor cloned. */
void standstill(const char *how);
void standstill_any(const char *how);

static void *late_send(void *arg)
{
    until_over();
    MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
    return arg;
}

/* Another thread of the rank lets it go on. */
static void late_receive(void)
{
    pthread_t thread;
    int value;

    pthread_create(&thread, NULL, late_send, NULL);
    MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* The last rank waits for what rank 0 writes in the end; until then that holds it,
 * if @holds, or is inside MPI, if @receives. */
static void not_written(int holds, int receives)
{
    region tree = shared_region("tree", 0);
    uint64_t seen = 0;

    if (rank == ranks - 1) {
        must(drasync_acquire_newer(tree, DRASYNC_READ, &seen, DRASYNC_FOREVER),
             "acquire");
        release_region(tree);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && holds)
        acquire_region(tree, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && receives)
        late_receive();
    if (rank == 0) {
        until_over();
        if (!holds)
            acquire_region(tree, WRITE);
        release_region(tree);
    }
    if (rank == ranks - 1) {
        must(drasync_acquire_newer(tree, DRASYNC_READ, &seen, DRASYNC_FOREVER),
             "acquire");
        release_region(tree);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* It writes the region at @arg, in a while. */
static void *late_write(void *arg)
{
    sleep(2);
    acquire_region(arg, WRITE);
    release_region(arg);
    return NULL;
}

static int slow(drasync_region_t r, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes)
{
    (void)r, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    sleep(2);
    return 0;
}

static int nothing(drasync_region_t r, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)r, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 0;
}

static pthread_t writer;
static drasync_function_t slow_function, nothing_function;

/* What rank 0 does instead of waiting for a newer version of @next, or before:
 * true if it has done all. */
static bool instead(const char *how, region own, region next, region last)
{
    int value;

    if (!strcmp(how, "held"))
        acquire_region(own, WRITE);
    else if (!strcmp(how, "thread"))
        pthread_create(&writer, NULL, late_write, next);
    else if (!strcmp(how, "run"))
        must(drasync_run_ff(last, slow_function, DRASYNC_WRITE, NULL, 0),
             "run");
    else if (!strcmp(how, "recv"))
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return !strcmp(how, "finalize");
}

/* One of each rank. */
static void regions(region of[])
{
    char name[16];

    for (int i = 0; i < ranks; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        of[i] = shared_region(name, i);
    }
}

/* Functions run on all regions, which is over here: they are what they were. */
static void ran(region of[])
{
    for (int i = 0; i < ranks; i++)
        must(drasync_run_ff(of[i], nothing_function, DRASYNC_READ, NULL, 0),
             "run");
    must(drasync_run_flush(), "flush");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank waits until another one writes the region of the next rank, and then
 * writes its own; but for rank 0, as @how says. */
__attribute__((noinline)) void standstill(const char *how)
{
    region of[16], next;
    uint64_t seen = 0;
    int err;

    regions(of);
    next = of[(rank + 1) % ranks];
    if (!strcmp(how, "run"))
        must(drasync_register("slow", slow, &slow_function), "register");
    if (!strcmp(how, "ran"))
        must(drasync_register("nothing", nothing, &nothing_function),
             "register");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "ran"))
        ran(of);
    must(drasync_acquire_newer(next, DRASYNC_READ, &seen, DRASYNC_FOREVER),
         "acquire");
    release_region(next);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && instead(how, of[0], next, of[ranks - 1]))
        return;
    if (rank == ranks - 1)
        usleep(400000); /* it is the youngest */
    if (rank == ranks - 1 && !strcmp(how, "held"))
        err = drasync_acquire(of[0], DRASYNC_WRITE);
    else
        err = drasync_acquire_newer(
            next, DRASYNC_READ, &seen,
            rank == 0 && !strcmp(how, "timed") ? 2000000 : DRASYNC_FOREVER);
    printf("rank %d: %s\n", rank, drasync_errname(err));
    fflush(stdout);
    if (!err)
        release_region(next);
    if (rank > 0 || strcmp(how, "held") != 0)
        acquire_region(of[rank], WRITE);
    release_region(of[rank]);
    if (rank == 0 && !strcmp(how, "thread"))
        pthread_join(writer, NULL);
}

/* Each rank waits until any other one writes its region, and then writes its own;
 * with "-thread" rank 0 has a thread that does so in the end. */
__attribute__((noinline)) void standstill_any(const char *how)
{
    const bool thread = rank == 0 && !strcmp(how, "-thread");
    drasync_request_t request[16] = {NULL};
    uint64_t seen[16] = {0};
    region of[16];
    int index, err;

    regions(of);
    for (int i = 0; i < ranks; i++)
        if (i != rank) {
            must(drasync_acquire_newer(of[i], DRASYNC_READ, &seen[i],
                                       DRASYNC_FOREVER),
                 "acquire");
            release_region(of[i]);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    if (thread)
        pthread_create(&writer, NULL, late_write, of[0]);
    if (rank == ranks - 1)
        usleep(400000); /* it is the youngest */
    for (int i = 0; i < ranks; i++)
        if (i != rank)
            must(drasync_iacquire_newer(of[i], DRASYNC_READ, &seen[i],
                                        &request[i]),
                 "ask");
    err = drasync_wait_any(ranks, request, DRASYNC_FOREVER, &index);
    printf("rank %d: %s\n", rank, drasync_errname(err));
    fflush(stdout);
    if (!err)
        release_region(of[index]);
    for (int i = 0; i < ranks; i++)
        if (request[i])
            must(drasync_cancel(&request[i]), "cancel");
    acquire_region(of[rank], WRITE);
    release_region(of[rank]);
    if (thread)
        pthread_join(writer, NULL);
}

/* The same again and again, all at once; who fails says so. */
static void standstills(void)
{
    region of[16], next;
    uint64_t seen;
    int err;

    regions(of);
    next = of[(rank + 1) % ranks];
    for (int i = 0; i < 8; i++) {
        seen = 0;
        must(drasync_acquire_newer(next, DRASYNC_READ, &seen, DRASYNC_FOREVER),
             "acquire");
        release_region(next);
        MPI_Barrier(MPI_COMM_WORLD);
        err = drasync_acquire_newer(next, DRASYNC_READ, &seen, DRASYNC_FOREVER);
        if (err)
            printf("rank %d, time %d: %s\n", rank, i, drasync_errname(err));
        else
            release_region(next);
        acquire_region(of[rank], WRITE);
        release_region(of[rank]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;

    over = argc > 2 ? argv[2] : "/";
    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "newer-receive") ? MPI_THREAD_SINGLE
                                                  : MPI_THREAD_MULTIPLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(what, "all-at-once"))
        standstills();
    else if (!strncmp(what, "all-any", 7))
        standstill_any(what + 7);
    else if (!strncmp(what, "all-", 4))
        standstill(what + 4);
    else if (!strncmp(what, "newer", 5))
        not_written(!strcmp(what + 5, "-held"), !strcmp(what + 5, "-receive"));
    else
        return 2;
    MPI_Finalize();
    return 0;
}
