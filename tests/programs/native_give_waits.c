/*
 * A rank is given a region that it waits for:
 *
 *   native_give_waits acquire MODE  by a request, while others want it too; MODE is
 *                                   1 for READ, 2 for WRITE
 *   native_give_waits newer         by an acquire of what is newer
 *   native_give_waits run [part]    by a function that runs on it, or a part of it
 *
 * It gets what it waits for, and then the gift.
 */
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

#define ROUNDS 200

enum { TAG = 7 };

static uint32_t state;

/* Some time below @us. */
static void pass(uint32_t us)
{
    double until;

    state = state * 1664525 + 1013904223;
    until = MPI_Wtime() + 1e-6 * (double)(state >> 8 & 0xffff) / 0xffff * us;
    while (MPI_Wtime() < until)
        ;
}

static drasync_region_t shared_region(void)
{
    drasync_region_t region = NULL;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    return region;
}

static void take_it(drasync_region_t region)
{
    drasync_region_t taken;

    OK(drasync_take(0, TAG, DRASYNC_FOREVER, &taken, NULL));
    CHECK(taken == region);
    OK(drasync_release(taken));
}

static void ask(drasync_region_t region, enum drasync_mode mode)
{
    drasync_request_t request;

    pass(400);
    OK(drasync_iacquire(region, mode, &request));
    OK(drasync_wait(&request, DRASYNC_FOREVER));
    OK(drasync_release(region));
    take_it(region);
}

static void others(drasync_region_t region)
{
    pass(600);
    OK(drasync_acquire(region, check_rank % 2 ? DRASYNC_READ : DRASYNC_WRITE));
    pass(50);
    OK(drasync_release(region));
}

static void crossing(enum drasync_mode mode)
{
    drasync_region_t region = shared_region();

    state = (uint32_t)check_rank;
    for (int i = 0; i < ROUNDS; i++) {
        if (check_rank == 0)
            OK(drasync_acquire(region, DRASYNC_WRITE));
        check_barrier();
        if (check_rank == 0) {
            pass(400);
            OK(drasync_give(region, 1, TAG));
        } else if (check_rank == 1) {
            ask(region, mode);
        } else {
            others(region);
        }
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(region));
}

/* When rank 1 has begun to wait, or in most runs. */
static void give_soon(drasync_region_t region)
{
    usleep(200000);
    OK(drasync_give(region, 1, TAG));
}

static void newer(void)
{
    struct {
        drasync_region_t region;
        uint64_t version;
    } first = {0};

    if (check_rank == 0) {
        OK(drasync_new_region(&first.region));
        OK(drasync_get_version(first.region, &first.version));
        OK(drasync_release(first.region));
        OK(drasync_acquire(first.region, DRASYNC_WRITE));
    }
    MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (check_rank == 0) {
        give_soon(first.region);
    } else if (check_rank == 1) {
        OK(drasync_acquire_newer(first.region, DRASYNC_READ, &first.version,
                                 DRASYNC_FOREVER));
        OK(drasync_release(first.region));
        take_it(first.region);
    }
}

static int nothing(drasync_region_t region, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)region, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 0;
}

/* On the region, or on a part, of which rank 1 has the handle only. */
static void running(bool in_part)
{
    drasync_region_t region = shared_region(), on = region;
    drasync_function_t function;

    OK(drasync_register("nothing", nothing, &function));
    if (in_part && check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        OK(drasync_new_subregion(region, &on));
        OK(drasync_release(region));
    }
    check_share(&on, 0);
    for (int posts = 0; posts < 2; posts++) {
        if (check_rank == 0)
            OK(drasync_acquire(region, DRASYNC_WRITE));
        check_barrier();
        if (check_rank == 0) {
            give_soon(region);
        } else if (check_rank == 1) {
            if (posts)
                OK(drasync_run_ff(on, function, DRASYNC_WRITE, NULL, 0));
            else
                OK(drasync_run(on, function, DRASYNC_WRITE, NULL, 0, NULL, 0));
            OK(drasync_run_flush());
            take_it(region);
        }
        check_barrier();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    check_start(&argc, &argv);
    if (!strcmp(how, "newer"))
        newer();
    else if (!strcmp(how, "run"))
        running(argc > 2);
    else
        crossing(argc > 2 ? (enum drasync_mode)atoi(argv[2]) : DRASYNC_WRITE);
    return check_end("give waits");
}
