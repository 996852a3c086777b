/*
 * A rank is given a part of a region, does not take it, and wants the region:
 *
 *   native_give_below gifts       as it was given that before, and reads it then:
 *                                 both gifts are taken, in their order
 *   native_give_below HOW         by a call: acquire, newer, run
 *   native_give_below save FILE   into that file
 *   native_give_below two         while another rank wants it too, and it was given
 *                                 two parts
 *   native_give_below past        another part, too, with another tag; that comes first
 *                                 while somebody holds the one before it
 *   native_give_below own         while it holds another part itself, which is
 *                                 DRASYNC_EORDER, and leaves the gift as it is
 *
 * Rank 0 gives, rank 1 is given.
 */
#include <stdbool.h>

#include "native_check.h"

enum { TAG = 7 };

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

/* Rank 1 waits for the region when it is given it. */
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

static void calling(const char *how, const char *path)
{
    drasync_function_t function;
    uint64_t version = 0;

    OK(drasync_register("nothing", nothing, &function));
    give(part);
    if (check_rank == 0)
        return;
    if (!strcmp(how, "run"))
        OK(drasync_run(top, function, DRASYNC_WRITE, NULL, 0, NULL, 0));
    else if (!strcmp(how, "save"))
        OK(drasync_save(top, path));
    else if (!strcmp(how, "newer"))
        OK(drasync_acquire_newer(top, DRASYNC_READ, &version, DRASYNC_FOREVER));
    else
        OK(drasync_acquire(top, DRASYNC_WRITE));
    if (!strcmp(how, "newer") || !strcmp(how, "acquire"))
        OK(drasync_release(top));
    take(part);
    OK(drasync_release(part));
}

static void two(void)
{
    give(part);
    if (check_rank == 1) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_release(top));
    }
    check_barrier();
    give(beside);
    OK(drasync_acquire(top, DRASYNC_WRITE));
    OK(drasync_release(top));
    if (check_rank == 1) {
        take(part);
        take(beside);
        OK(drasync_release(beside));
        OK(drasync_release(part));
    }
}

/* With @kept rank 0 has the first one again. */
static void give_both(bool kept)
{
    if (check_rank == 0) {
        OK(drasync_acquire(part, DRASYNC_WRITE));
        OK(drasync_give(part, 1, TAG));
        if (kept)
            OK(drasync_acquire(part, DRASYNC_WRITE));
        OK(drasync_acquire(beside, DRASYNC_WRITE));
        OK(drasync_give(beside, 1, TAG + 1));
    }
    check_barrier();
}

static void take_other(void)
{
    drasync_region_t taken;

    OK(drasync_take(0, DRASYNC_ANY, DRASYNC_FOREVER, &taken, NULL));
    CHECK(taken == beside);
    OK(drasync_release(beside));
}

static void past(void)
{
    drasync_region_t refused = NULL;

    give_both(true);
    if (check_rank == 1)
        take_other();
    check_barrier();
    if (check_rank == 0)
        OK(drasync_release(part));
    if (check_rank == 1) {
        take(part);
        OK(drasync_release(part));
        OK(drasync_acquire(part, DRASYNC_READ));
    }
    check_barrier();
    give_both(false);
    if (check_rank == 1) {
        take_other();
        CODE(drasync_take(0, DRASYNC_ANY, DRASYNC_FOREVER, &refused, NULL),
             DRASYNC_EUPGRADE);
        CHECK(refused == part);
        OK(drasync_release(part));
        take(part);
        OK(drasync_release(part));
    }
}

static void own(void)
{
    if (check_rank == 1)
        OK(drasync_acquire(beside, DRASYNC_READ));
    give(part);
    if (check_rank == 1) {
        CODE(drasync_acquire(top, DRASYNC_READ), DRASYNC_EORDER);
        take(part);
    }
    check_barrier();
    if (check_rank == 0)
        CODE(drasync_try_acquire(part, DRASYNC_WRITE), DRASYNC_EAGAIN);
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_release(part));
        OK(drasync_release(beside));
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    check_start(&argc, &argv);
    make();
    if (!strcmp(how, "gifts"))
        gifts();
    else if (!strcmp(how, "two"))
        two();
    else if (!strcmp(how, "past"))
        past();
    else if (!strcmp(how, "own"))
        own();
    else
        calling(how, argc > 2 ? argv[2] : NULL);
    check_barrier();
    /* Nothing of it is left with anybody. */
    if (check_rank == 0) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_delete(top));
    }
    return check_end("give below");
}
