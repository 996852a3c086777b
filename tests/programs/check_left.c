/*
 * Something that is left at the end: what checked mode says of it is compared
 * with golden text.
 *
 *   check_left WHAT     see tests/bats/check.bats
 *
 * Rank 0 makes a region; the last rank leaves holds of it, rank 0 what else.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))

/* The last call of a function leaves its frame. */
#define KEEP __asm__ volatile("")

static const char *what;
static int rank, ranks;
static region top;

static int is(const char *name)
{
    return !strcmp(what, name);
}

NOINLINE static void take(void)
{
    acquire_region(top, READ);
    KEEP;
}

NOINLINE static void give(region r)
{
    release_region(r);
    KEEP;
}

NOINLINE static void make(void)
{
    top = new_region();
    drasync_publish("the numbers", top);
    give(top);
    KEEP;
}

NOINLINE static void forget(void)
{
    give(new_region());
    KEEP;
}

/* One of two holds, and two regions; or nothing. */
NOINLINE static void leave(void)
{
    take();
    take();
    give(top);
    if (is("tidy")) {
        give(top);
        acquire_region(top, WRITE);
        delete_region(top);
        return;
    }
    for (volatile int i = 0; i < 2; i = i + 1)
        forget();
    KEEP;
}

/* More holds of one region than have a note of their place. */
NOINLINE static void leave_many(void)
{
    for (volatile int i = 0; i < 6; i = i + 1)
        take();
    KEEP;
}

#define FIVE(what) what what what what what

/* Regions, each made in a place of its own, the last one twice. */
NOINLINE static void leave_places(void)
{
    FIVE(FIVE(release_region(new_region()); KEEP;))
    for (volatile int i = 0; i < 2; i = i + 1)
        forget();
}

/* Holds of two regions, by two places in turns. */
NOINLINE static void leave_turns(void)
{
    region other = new_region();

    give(other);
    for (volatile int i = 0; i < 2; i = i + 1) {
        acquire_region(i ? other : top, READ);
        acquire_region(i ? other : top, READ);
    }
    KEEP;
}

/* The last rank never releases what rank 0 deletes, when that lets it. */
static void forget_for_ever(void)
{
    if (rank == ranks - 1)
        take();
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank == 0 && drasync_delete(top) == DRASYNC_EBUSY)
        usleep(1000);
}

static int nothing(drasync_region_t region, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)region;
    (void)arg;
    (void)arg_bytes;
    (void)answer;
    (void)answer_bytes;
    return 0;
}

NOINLINE static void run_and_forget(void)
{
    drasync_request_t request;
    drasync_function_t function;

    drasync_register("nothing", nothing, &function);
    drasync_irun(top, function, DRASYNC_WRITE, NULL, 0, NULL, 0, &request);
    KEEP;
}

/* Nobody waits for the second. */
NOINLINE static void ask_and_forget(void)
{
    drasync_request_t request, ended;

    drasync_iacquire(top, DRASYNC_READ, &ended);
    drasync_iacquire(top, DRASYNC_READ, &request);
    drasync_wait(&ended, DRASYNC_FOREVER);
    give(top);
    KEEP;
}

/* Nobody takes it. */
static void give_away(void)
{
    drasync_region_t region;

    drasync_new_region(&region);
    drasync_give(region, 1, 7);
}

/* Referred to for ever, with what is below; and one beside it. */
NOINLINE static void leave_managed(void)
{
    drasync_region_t region, below;

    drasync_new_region(&region);
    drasync_new_subregion(region, &below);
    drasync_manage(region);
    give(region);
    forget();
    KEEP;
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        make();
    drasync_lookup("the numbers", DRASYNC_FOREVER, &top);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is("requests") && rank == 0) {
        run_and_forget();
        ask_and_forget();
    }
    if (is("given") && rank == 0)
        give_away();
    if (is("many"))
        leave_many();
    if (is("places"))
        leave_places();
    if (is("turns"))
        leave_turns();
    if (is("managed") && rank == ranks - 1)
        leave_managed();
    if (rank == ranks - 1 && (is("leaks") || is("tidy")))
        leave();
    MPI_Barrier(MPI_COMM_WORLD);
    if (is("forgotten"))
        forget_for_ever();
    MPI_Finalize();
    if (rank == 0)
        printf("over\n");
    return 0;
}
