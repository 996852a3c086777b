/*
 * A rank runs functions on a region that it holds itself: what was collected
 * before it acquired that, or after; what is under way then, and what the engine
 * sends because it has waited.  They run under the hold, as a second acquire
 * would be granted, also between nodes; a part held below is DRASYNC_EORDER.
 *
 * The last rank does all; rank 0 makes the regions.
 */
#include <unistd.h>

#include "native_check.h"

#define BLOCK 4096

static drasync_function_t count;

static int do_count(drasync_region_t region, const void *arg, size_t arg_bytes,
                    void *answer, size_t answer_bytes)
{
    void *number;
    int err = drasync_get_root(region, &number);

    (void)arg;
    (void)arg_bytes;
    if (!err)
        ++*(long *)number;
    if (!err && answer_bytes)
        memcpy(answer, number, sizeof(long));
    return err;
}

static drasync_region_t make(void)
{
    drasync_region_t region;
    void *v;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(long), &v));
    *(long *)v = 0;
    OK(drasync_set_root(region, v));
    return region;
}

static void run_ff(drasync_region_t region, size_t bytes)
{
    static char arg[BLOCK];

    OK(drasync_run_ff(region, count, DRASYNC_WRITE, arg, bytes));
}

static void expect(drasync_region_t region, long number)
{
    long got = 0;

    OK(drasync_run(region, count, DRASYNC_WRITE, NULL, 0, &got, sizeof(got)));
    if (got != number + 1)
        fprintf(stderr, "%ld, not %ld\n", got, number + 1);
    CHECK(got == number + 1);
}

/* What the engine does with what has waited is over by then. */
static void wait_long(void)
{
    usleep(20000);
}

static void before(drasync_region_t r, enum drasync_mode mode)
{
    for (int i = 0; i < 20; i++)
        run_ff(r, BLOCK);
    if (mode == DRASYNC_READ)
        OK(drasync_run_flush());
    OK(drasync_acquire(r, mode));
    for (int i = 0; i < 1000 && mode == DRASYNC_WRITE; i++)
        run_ff(r, BLOCK);
    if (mode == DRASYNC_WRITE)
        expect(r, 1020);
    OK(drasync_release(r));
    OK(drasync_run_flush());
    expect(r, mode == DRASYNC_WRITE ? 1021 : 20);
}

static void meanwhile(drasync_region_t r)
{
    drasync_request_t request;
    long got = 0;

    OK(drasync_acquire(r, DRASYNC_WRITE));
    run_ff(r, 8);
    wait_long();
    run_ff(r, 16);
    OK(drasync_irun(r, count, DRASYNC_WRITE, NULL, 0, &got, sizeof(got),
                    &request));
    wait_long();
    run_ff(r, 8);
    OK(drasync_wait(&request, DRASYNC_FOREVER));
    CHECK(got == 3);
    wait_long();
    OK(drasync_run_flush());
    OK(drasync_release(r));
    expect(r, 4);
}

/* Between acquires that others want. */
static void to_and_fro(drasync_region_t r, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        run_ff(r, 8);
        if (i % 3)
            run_ff(r, 24);
        OK(drasync_acquire(r, DRASYNC_WRITE));
        run_ff(r, 8);
        OK(drasync_run_flush());
        OK(drasync_release(r));
    }
}

static void part(drasync_region_t r)
{
    drasync_region_t below;

    OK(drasync_acquire(r, DRASYNC_WRITE));
    OK(drasync_new_subregion(r, &below));
    OK(drasync_release(r));
    OK(drasync_acquire(below, DRASYNC_WRITE));
    CODE(drasync_run(r, count, DRASYNC_WRITE, NULL, 0, NULL, 0),
         DRASYNC_EORDER);
    OK(drasync_release(below));
    OK(drasync_run(r, count, DRASYNC_WRITE, NULL, 0, NULL, 0));
}

int main(int argc, char **argv)
{
    enum { KINDS = 5, ROUNDS = 100 };
    drasync_region_t r[KINDS];
    long total = 0;

    check_start(&argc, &argv);
    OK(drasync_register("count", do_count, &count));
    for (int i = 0; i < KINDS; i++) {
        if (check_rank == 0)
            r[i] = make();
        if (check_rank == 0)
            OK(drasync_release(r[i]));
        check_share(&r[i], 0);
    }
    if (check_rank == check_ranks - 1) {
        before(r[0], DRASYNC_WRITE);
        before(r[1], DRASYNC_READ);
        meanwhile(r[2]);
        part(r[3]);
    }
    check_barrier();
    to_and_fro(r[4], ROUNDS);
    check_barrier();
    for (int i = 0; i < ROUNDS; i++)
        total += 2 + (i % 3 > 0);
    if (check_rank == 0)
        expect(r[4], total * check_ranks);
    check_barrier();
    return check_end("run held");
}
