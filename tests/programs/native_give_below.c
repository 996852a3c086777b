/*
 * A rank is given a part of a region, does not take it, and wants the region:
 *
 *   native_give_below gifts       as it was given that before, and reads it then:
 *                                 both gifts are taken, in their order
 *   native_give_below HOW MODE    by a call: acquire, try, wait (it waits when the
 *                                 part is given), newer, run; MODE is 1 for READ,
 *                                 2 for WRITE
 *   native_give_below between MODE
 *                                 by a request, and takes the part before it waits
 *                                 for that
 *   native_give_below save FILE   into that file; the part is there before, or (late)
 *   native_give_below late FILE   is given while that waits
 *   native_give_below races       by a run, or one whose end is waited for later, as
 *                                 the gift comes: many times
 *   native_give_below own         while it holds another part itself, which is
 *                                 DRASYNC_EORDER, and leaves the gift as it is
 *
 * Rank 0 gives, rank 1 is given.
 */
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

enum { TAG = 7, RACES = 500 };

static drasync_region_t top, part, beside;

/* Rank 0 makes them, and holds none. */
static void make(void)
{
    if (check_rank == 0) {
        OK(drasync_new_region(&top));
        OK(drasync_new_subregion(top, &part));
        OK(drasync_new_subregion(top, &beside));
        OK(drasync_release(top));
    }
    check_share(&top, 0);
    check_share(&part, 0);
    check_share(&beside, 0);
}

/* So that rank 1 has it now, or as soon as its data is there. */
static void give(drasync_region_t region)
{
    if (check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        OK(drasync_give(region, 1, TAG));
    }
    check_barrier();
}

static void take(drasync_region_t region)
{
    struct drasync_gift gift;
    drasync_region_t taken;

    OK(drasync_take(DRASYNC_ANY, DRASYNC_ANY, DRASYNC_FOREVER, &taken, &gift));
    CHECK(taken == region);
    CHECK(gift.from == 0 && gift.tag == TAG);
}

/* Which rank 0 takes between the gifts: on every node it is free. */
static void gifts(void)
{
    drasync_request_t request;

    if (check_rank == 0)
        OK(drasync_acquire(top, DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_iacquire(top, DRASYNC_READ, &request));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_give(top, 1, TAG));
    } else {
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(top));
    }
    check_barrier();
    give(part);
    if (check_rank == 1) {
        take(top);
        take(part);
        OK(drasync_release(part));
        OK(drasync_release(top));
    }
}

static int nothing(drasync_region_t region, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)region, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 0;
}

/* Rank 0 holds what is beside until rank 1 waits, or in most runs. */
static void waiting(enum drasync_mode mode, const char *path)
{
    drasync_request_t request;

    if (check_rank == 0) {
        OK(drasync_acquire(part, DRASYNC_WRITE));
        OK(drasync_acquire(beside, DRASYNC_WRITE));
    }
    check_barrier();
    if (check_rank == 0) {
        usleep(100000);
        OK(drasync_give(part, 1, TAG));
        usleep(100000);
        OK(drasync_release(beside));
    } else if (path) {
        OK(drasync_save(top, path));
        take(part);
        OK(drasync_release(part));
    } else {
        OK(drasync_iacquire(top, mode, &request));
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(top));
        take(part);
        OK(drasync_release(part));
    }
}

static void between(enum drasync_mode mode)
{
    drasync_request_t request;

    if (check_rank == 0)
        OK(drasync_acquire(part, DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_iacquire(top, mode, &request));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_give(part, 1, TAG));
    } else if (mode == DRASYNC_WRITE) {
        take(part);
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(part));
        OK(drasync_release(top));
    } else {
        drasync_region_t refused = NULL;

        CODE(drasync_take(0, TAG, DRASYNC_FOREVER, &refused, NULL),
             DRASYNC_EUPGRADE);
        CHECK(refused == part);
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(top));
        take(part);
        OK(drasync_release(part));
    }
}

static void calling(const char *how, enum drasync_mode mode)
{
    drasync_function_t function;
    bool runs = !strcmp(how, "run");
    uint64_t version = 0;

    OK(drasync_register("nothing", nothing, &function));
    give(part);
    if (check_rank == 0)
        return;
    if (runs)
        OK(drasync_run(top, function, mode, NULL, 0, NULL, 0));
    else if (!strcmp(how, "try"))
        while (drasync_try_acquire(top, mode))
            ;
    else if (!strcmp(how, "newer"))
        OK(drasync_acquire_newer(top, mode, &version, DRASYNC_FOREVER));
    else
        OK(drasync_acquire(top, mode));
    if (!runs)
        OK(drasync_release(top));
    take(part);
    OK(drasync_release(part));
}

static void races(void)
{
    drasync_function_t function;

    OK(drasync_register("nothing", nothing, &function));
    check_barrier();
    for (int i = 0; i < RACES; i++) {
        if (check_rank == 0) {
            OK(drasync_acquire(part, DRASYNC_WRITE));
            OK(drasync_give(part, 1, TAG));
        } else {
            if (i % 2) {
                OK(drasync_run(top, function, DRASYNC_WRITE, NULL, 0, NULL, 0));
            } else {
                OK(drasync_run_ff(top, function, DRASYNC_WRITE, NULL, 0));
                OK(drasync_run_flush());
            }
            take(part);
            OK(drasync_release(part));
        }
    }
}

static void saving(const char *path)
{
    give(part);
    if (check_rank == 0)
        return;
    OK(drasync_save(top, path));
    take(part);
    OK(drasync_release(part));
}

static void own(void)
{
    if (check_rank == 1)
        OK(drasync_acquire(beside, DRASYNC_READ));
    give(part);
    if (check_rank == 1)
        CODE(drasync_acquire(top, DRASYNC_READ), DRASYNC_EORDER);
    check_barrier();
    if (check_rank == 0)
        CODE(drasync_try_acquire(part, DRASYNC_WRITE), DRASYNC_EAGAIN);
    check_barrier();
    if (check_rank == 1) {
        take(part);
        OK(drasync_release(part));
        OK(drasync_release(beside));
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    enum drasync_mode mode =
        argc > 2 ? (enum drasync_mode)atoi(argv[2]) : DRASYNC_WRITE;

    check_start(&argc, &argv);
    make();
    if (!strcmp(how, "gifts"))
        gifts();
    else if (!strcmp(how, "own"))
        own();
    else if (!strcmp(how, "wait"))
        waiting(mode, NULL);
    else if (!strcmp(how, "late"))
        waiting(mode, argv[2]);
    else if (!strcmp(how, "between"))
        between(mode);
    else if (!strcmp(how, "races"))
        races();
    else if (!strcmp(how, "save"))
        saving(argv[2]);
    else
        calling(how, mode);
    check_barrier();
    /* Nothing of it is left with anybody. */
    if (check_rank == 0) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_delete(top));
    }
    return check_end("give below");
}
