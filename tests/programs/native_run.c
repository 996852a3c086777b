/*
 * Functions that are run where a region is: what the contract of drasync_run(),
 * drasync_irun(), drasync_run_ff() says, on any number of ranks and nodes.
 */
#include <string.h>

#include "native_run.h"

static int rounds = 300; /* with --short, 40 */
static drasync_function_t f_batch, f_small, f_add, f_give, f_turn, f_grow,
    f_misbehave, f_received;

/* --- Stories -------------------------------------------------------------- */

static void refused(void)
{
    drasync_region_t region = region_of(0), gone = region_of(0);
    static char large[DRASYNC_RUN_BYTES_MAX + 1];
    drasync_function_t f, missing = NULL;
    drasync_request_t request;
    int one = 1;

    CODE(drasync_register("", give, &f), DRASYNC_EINVAL);
    CODE(drasync_register(NULL, give, &f), DRASYNC_EINVAL);
    CODE(drasync_register("x", NULL, &f), DRASYNC_EINVAL);
    CODE(drasync_register("x", give, NULL), DRASYNC_EINVAL);
    memset(large, 'x', DRASYNC_NAME_MAX + 1);
    CODE(drasync_register(large, give, &f), DRASYNC_EINVAL);
    CODE(drasync_register("give", add, &f), DRASYNC_EEXIST);
    OK(drasync_register("give", give, &f));
    CHECK(f == f_give);
    CODE(drasync_register_batch("", add_batch, &f), DRASYNC_EINVAL);
    CODE(drasync_register_batch("x", NULL, &f), DRASYNC_EINVAL);
    CODE(drasync_register_batch("x", add_batch, NULL), DRASYNC_EINVAL);
    CODE(drasync_register_batch("give", add_batch, &f), DRASYNC_EEXIST);
    CODE(drasync_register("batch", add, &f), DRASYNC_EEXIST);
    OK(drasync_register_batch("batch", add_batch, &f));
    CHECK(f == f_batch);
    CODE(drasync_run(region, f_batch, DRASYNC_WRITE, NULL, 0, large, 8),
         DRASYNC_EINVAL);
    f = f_give;
    if (check_rank != 0)
        OK(drasync_register("not on rank 0", give, &missing));
    CODE(drasync_run(region, NULL, DRASYNC_WRITE, NULL, 0, NULL, 0),
         DRASYNC_EINVAL);
    /* Another process's, a function's own address, one beside it. */
    CODE(drasync_run(region, (drasync_function_t)(void *)large, DRASYNC_WRITE,
                     NULL, 0, NULL, 0),
         DRASYNC_EINVAL);
    CODE(drasync_run_ff(region, (drasync_function_t)(uintptr_t)give,
                        DRASYNC_WRITE, NULL, 0),
         DRASYNC_EINVAL);
    CODE(drasync_run_ff(region, (drasync_function_t)((uintptr_t)f + 8),
                        DRASYNC_WRITE, NULL, 0),
         DRASYNC_EINVAL);
    CODE(drasync_run(region, f, (enum drasync_mode)3, NULL, 0, NULL, 0),
         DRASYNC_EINVAL);
    CODE(drasync_run(region, f, DRASYNC_WRITE, NULL, 4, NULL, 0),
         DRASYNC_EINVAL);
    CODE(drasync_run(region, f, DRASYNC_WRITE, &one, 4, NULL, 4),
         DRASYNC_EINVAL);
    CODE(drasync_run(region, f, DRASYNC_WRITE, large, sizeof(large), NULL, 0),
         DRASYNC_ELIMIT);
    CODE(drasync_run(region, f_turn, DRASYNC_WRITE, NULL, 0, large,
                     sizeof(large)),
         DRASYNC_ELIMIT);
    CODE(drasync_run_ff(region, f, DRASYNC_WRITE, large, sizeof(large)),
         DRASYNC_ELIMIT);
    CODE(drasync_irun(region, f, DRASYNC_WRITE, &one, 4, NULL, 0, NULL),
         DRASYNC_EINVAL);
    CODE(drasync_run(NULL, f, DRASYNC_WRITE, &one, 4, NULL, 0),
         DRASYNC_ENOREGION);
    CODE(drasync_run_ff((drasync_region_t)(void *)&one, f, DRASYNC_WRITE, &one,
                        4),
         DRASYNC_ENOREGION);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(gone));
    check_barrier();
    int err = drasync_run(gone, f, DRASYNC_WRITE, &one, 4, NULL, 0);
    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    OK(drasync_run_ff(gone, f, DRASYNC_WRITE, &one, 4));
    err = drasync_run_flush();
    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    OK(drasync_run_flush());
    OK(drasync_irun(gone, f, DRASYNC_WRITE, &one, 4, NULL, 0, &request));
    err = drasync_wait(&request, DRASYNC_FOREVER);
    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    check_barrier();
}

/* Where each rank is a node, rank 0 alone has the region. */
static void not_registered(int nodes)
{
    drasync_region_t region = region_of(0);
    drasync_function_t f;
    int one = 1;

    if (nodes == check_ranks && check_rank != 0) {
        OK(drasync_register("a batch on rank 0", add, &f));
        CODE(drasync_run(region, f, DRASYNC_WRITE, &one, 4, &one, 4),
             DRASYNC_ENOFUNCTION);
        OK(drasync_register("not on rank 0", give, &f));
        CODE(drasync_run(region, f, DRASYNC_WRITE, &one, 4, NULL, 0),
             DRASYNC_ENOFUNCTION);
        OK(drasync_run_ff(region, f, DRASYNC_WRITE, &one, 4));
        CODE(drasync_run_flush(), DRASYNC_ENOFUNCTION);
    }
    check_barrier();
}

/* What made this rank go on is in the counts that it reads. */
static void counted(int nodes)
{
    drasync_region_t region = region_of(0);
    struct drasync_stats stats;
    uint64_t before, then;

    OK(drasync_get_stats(&stats));
    before = stats.messages_received;
    MPI_Bcast(&before, sizeof(before), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (nodes == check_ranks && check_rank == 1) {
        OK(drasync_run(region, f_received, DRASYNC_READ, NULL, 0, &then,
                       sizeof(then)));
        CHECK(then > before);
    }
    check_barrier();
}

static void results(void)
{
    drasync_region_t region = region_of(check_ranks - 1);
    unsigned char from[DRASYNC_RUN_BYTES_MAX], to[sizeof(from)];
    static const size_t sizes[] = {0, 1, 7, 8, 100, 4095, 4096};
    int numbers[] = {0, 3, -5, 9};

    for (int i = 0; i < 4; i++)
        CODE(drasync_run(region, f_give, DRASYNC_READ, &numbers[i], 4, NULL, 0),
             numbers[i]);
    wait_for_result(region, f_give, DRASYNC_EAGAIN);
    for (int i = 0; i < 4; i++)
        OK(drasync_run_ff(region, f_give, DRASYNC_WRITE, &numbers[i], 4));
    CODE(drasync_run_flush(), 3);
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)(i * 7 + (size_t)check_rank);
    for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes); n++) {
        memset(to, 1, sizeof(to));
        OK(drasync_run(region, f_turn, DRASYNC_READ, from, sizes[n], to,
                       sizes[n]));
        for (size_t i = 0; i < sizes[n]; i++)
            CHECK(to[i] == from[sizes[n] - 1 - i]);
        CHECK(sizes[n] == sizeof(to) || to[sizes[n]] == 1);
    }
    check_barrier();
}

/* Runs of all forms of all ranks on one region, in order for each. */
static void order(void)
{
    drasync_region_t region = region_of(0);
    struct add a = {.rank = (uint64_t)check_rank};
    drasync_request_t requests[3];
    uint64_t answers[3], before = 0;

    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < 3; n++) {
            a.number++;
            OK(drasync_run_ff(region, f_add, DRASYNC_WRITE, &a, sizeof(a)));
        }
        for (int n = 0; n < 3; n++) {
            a.number++;
            OK(drasync_irun(region, f_add, DRASYNC_WRITE, &a, sizeof(a),
                            &answers[n], sizeof(answers[n]), &requests[n]));
        }
        for (int n = 2; n >= 0; n--)
            OK(drasync_wait(&requests[n], DRASYNC_FOREVER));
        for (int n = 0; n < 3; n++) {
            CHECK(answers[n] > before);
            before = answers[n];
        }
        a.number++;
        OK(drasync_run(region, f_add, DRASYNC_WRITE, &a, sizeof(a), &answers[0],
                       sizeof(answers[0])));
        CHECK(answers[0] > before);
        before = answers[0];
    }
    OK(drasync_run_flush());
    check_barrier();
    CHECK(sum_of(region) == (uint64_t)(rounds * 7 * check_ranks));
    check_barrier();
}

/* Functions of many arguments: collected, asked for and alone, in one order with
 * those of one argument. */
static void batches(void)
{
    drasync_region_t region = region_of(0), small = region_of(check_ranks - 1);
    struct add a = {.rank = (uint64_t)check_rank};
    const unsigned char three[] = {1, 0, 2};
    drasync_request_t request;

    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < 20; n++) {
            a.number++;
            OK(drasync_run_ff(region, n == 7 ? f_add : f_batch, DRASYNC_WRITE,
                              &a, sizeof(a)));
            OK(drasync_run_ff(small, f_small, DRASYNC_WRITE, three,
                              sizeof(three)));
        }
        a.number++;
        OK(drasync_irun(region, f_batch, DRASYNC_WRITE, &a, sizeof(a), NULL, 0,
                        &request));
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        a.number++;
        OK(drasync_run(region, f_batch, DRASYNC_WRITE, &a, sizeof(a), NULL, 0));
    }
    OK(drasync_run_flush());
    CODE(drasync_run(small, f_small, DRASYNC_READ, NULL, 0, NULL, 0), 1);
    /* The engine sends what has waited for a while, so at times they are two. */
    for (int tries = 1, all = 0; all != 5; tries++) {
        for (int n = 0; n < 5; n++)
            OK(drasync_run_ff(small, f_small, DRASYNC_READ, NULL, 0));
        all = drasync_run_flush();
        CHECK(all >= 1 && all <= 5 && tries < 1000);
    }
    /* More than one group of a stream can be of. */
    for (int n = 0; n < 70000; n++)
        OK(drasync_run_ff(small, f_small, DRASYNC_READ, NULL, 0));
    CHECK(drasync_run_flush() >= 1);
    check_barrier();
    CHECK(sum_of(region) == (uint64_t)(rounds * 22 * check_ranks));
    CHECK(sum_of(small) == (uint64_t)(rounds * 20 * 3 * check_ranks));
    check_barrier();
}

/* Regions move while runs of all ranks are on their way. */
static void moving(void)
{
    enum { REGIONS = 8 };
    drasync_region_t regions[REGIONS];
    struct add a[REGIONS];
    int done;

    for (int r = 0; r < REGIONS; r++) {
        regions[r] = region_of(r % check_ranks);
        a[r] = (struct add){.rank = (uint64_t)check_rank};
    }
    for (int i = 0; i < rounds; i++) {
        int r = (i * 5 + check_rank) % REGIONS;

        a[r].number++;
        OK(drasync_run_ff(regions[r], f_add, DRASYNC_WRITE, &a[r],
                          sizeof(a[r])));
        if (i % 7 == check_rank) {
            OK(drasync_acquire(regions[r], DRASYNC_WRITE));
            counter_of(regions[r])->sum += 1000000;
            OK(drasync_release(regions[r]));
        }
        if (i % 11 == 3) {
            drasync_request_t request;
            uint64_t answer;

            a[r].number++;
            OK(drasync_irun(regions[r], f_add, DRASYNC_WRITE, &a[r],
                            sizeof(a[r]), &answer, sizeof(answer), &request));
            for (done = 0; !done;)
                OK(drasync_test(&request, &done));
        }
        if (i % 50 == 49)
            OK(drasync_run_flush());
    }
    OK(drasync_run_flush());
    check_barrier();
    for (int r = 0; r < REGIONS; r++) {
        uint64_t wanted = 0, all = 0, mine = a[r].number;

        MPI_Allreduce(&mine, &wanted, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        all = sum_of(regions[r]) % 1000000;
        CHECK(all == wanted);
    }
    check_barrier();
}

/* Many regions, a run or a large one for each. */
static void many(void)
{
    enum { REGIONS = 3000 };
    static drasync_region_t regions[REGIONS];
    static char large[4096];
    drasync_region_t one = region_of(0);
    struct add a = {.rank = (uint64_t)check_rank};
    uint64_t sum = 0;
    void *p;

    for (int r = 0; r < REGIONS; r++)
        if (r % check_ranks == check_rank) {
            OK(drasync_new_region(&regions[r]));
            OK(drasync_alloc(regions[r], sizeof(struct counter), &p));
            memset(p, 0, sizeof(struct counter));
            OK(drasync_set_root(regions[r], p));
            OK(drasync_release(regions[r]));
        }
    MPI_Allreduce(MPI_IN_PLACE, regions, REGIONS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int n = 0; n < 2; n++) {
        a.number++;
        for (int r = 0; r < REGIONS; r++)
            OK(drasync_run_ff(regions[r], f_add, DRASYNC_WRITE, &a, sizeof(a)));
    }
    for (int i = 0; i < 1000; i++)
        OK(drasync_run_ff(one, f_turn, DRASYNC_READ, large, 0));
    for (uint64_t i = 0; i < 5000; i++)
        OK(drasync_run_ff(one, f_grow, DRASYNC_WRITE, &i, sizeof(i)));
    OK(drasync_run_flush());
    check_barrier();
    for (int r = check_rank; r < REGIONS; r += check_ranks)
        sum += sum_of(regions[r]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (uint64_t)(2 * REGIONS * check_ranks));
    OK(drasync_acquire(one, DRASYNC_READ));
    sum = 0;
    for (struct item *i = counter_of(one)->items; i; i = i->next, sum++)
        CHECK(i->value % 2 == 0);
    CHECK(sum == (uint64_t)(2500 * check_ranks));
    OK(drasync_release(one));
    check_barrier();
}

/* Runs wait for whoever holds the region, READ holds see none of them, and the
 * owner's process is not stopped by one that waits. */
static void held(void)
{
    drasync_region_t region = region_of(0), other = region_of(0);
    struct add a = {.rank = (uint64_t)check_rank, .number = 1};
    drasync_request_t request;
    uint64_t answer;
    int done;

    if (check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        check_barrier();
        counter_of(region)->sum += 1000;
        check_barrier(); /* the others' runs of `other` are done */
        OK(drasync_release(region));
        check_barrier();
        OK(drasync_acquire(other, DRASYNC_READ));
        answer = counter_of(other)->sum;
        CHECK(answer == (uint64_t)check_ranks - 1);
        check_barrier();
        check_barrier(); /* the others have begun */
        CHECK(counter_of(other)->sum == answer);
        OK(drasync_release(other));
    } else {
        check_barrier();
        OK(drasync_irun(region, f_add, DRASYNC_WRITE, &a, sizeof(a), &answer,
                        sizeof(answer), &request));
        OK(drasync_test(&request, &done));
        OK(drasync_run(other, f_add, DRASYNC_WRITE, &a, sizeof(a), NULL, 0));
        check_barrier();
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        CHECK(answer > 1000);
        check_barrier();
        check_barrier();
        a.number++;
        OK(drasync_irun(other, f_add, DRASYNC_WRITE, &a, sizeof(a), &answer,
                        sizeof(answer), &request));
        OK(drasync_test(&request, &done));
        check_barrier();
        if (!done)
            OK(drasync_wait(&request, DRASYNC_FOREVER));
    }
    check_barrier();
    CHECK(sum_of(other) == (uint64_t)(2 * (check_ranks - 1)));
    check_barrier();
    /* A request may be given up; its run is done all the same. */
    if (check_rank != 0) {
        a.number++;
        OK(drasync_irun(other, f_add, DRASYNC_WRITE, &a, sizeof(a), &answer,
                        sizeof(answer), &request));
        OK(drasync_cancel(&request));
        OK(drasync_run_flush());
    }
    check_barrier();
    CHECK(sum_of(other) == (uint64_t)(3 * (check_ranks - 1)));
    check_barrier();
}

/* Readers of other ranks keep what they see; the region is copied for the run. */
static void beside_readers(void)
{
    drasync_region_t region = region_of(0);
    struct add a = {.rank = (uint64_t)check_rank, .number = 1};
    void *p;

    if (check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        OK(drasync_alloc(region, (size_t)8 << 20, &p));
        memset(p, 1, (size_t)8 << 20);
        OK(drasync_release(region));
    }
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_acquire(region, DRASYNC_READ));
        CHECK(counter_of(region)->sum == 0);
    }
    check_barrier();
    if (check_rank == check_ranks - 1 && check_ranks > 2)
        OK(drasync_run(region, f_add, DRASYNC_WRITE, &a, sizeof(a), NULL, 0));
    check_barrier();
    if (check_rank == 1) {
        CHECK(counter_of(region)->sum == 0);
        OK(drasync_release(region));
    }
    check_barrier();
    CHECK(sum_of(region) == (check_ranks > 2));
    check_barrier();
}

/* A subregion under a hold of its parent, and the parent of one. */
static void subregions(void)
{
    drasync_region_t top = region_of(0), below = NULL;
    struct add a = {.rank = (uint64_t)check_rank, .number = 1};
    void *p;

    if (check_rank == 0) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_new_subregion(top, &below));
        OK(drasync_alloc(below, sizeof(struct counter), &p));
        memset(p, 0, sizeof(struct counter));
        OK(drasync_set_root(below, p));
        OK(drasync_release(top));
    }
    check_share(&below, 0);
    OK(drasync_run_ff(below, f_add, DRASYNC_WRITE, &a, sizeof(a)));
    OK(drasync_run_ff(top, f_add, DRASYNC_WRITE, &a, sizeof(a)));
    a.number++;
    OK(drasync_run(below, f_add, DRASYNC_WRITE, &a, sizeof(a), NULL, 0));
    OK(drasync_run_flush());
    check_barrier();
    CHECK(sum_of(below) == (uint64_t)(2 * check_ranks));
    CHECK(sum_of(top) == (uint64_t)check_ranks);
    check_barrier();
}

static void forbidden(void)
{
    drasync_region_t region = region_of(0), other = region_of(0);

    if (check_rank == check_ranks - 1)
        CODE(drasync_run(region, f_misbehave, DRASYNC_WRITE, &other,
                         sizeof(other), NULL, 0),
             7);
    check_barrier();
}

int main(int argc, char **argv)
{
    struct drasync_stats stats;
    struct add a = {.number = 1};
    drasync_function_t unused;
    drasync_region_t left;

    if (argc > 1 && !strcmp(argv[1], "--short"))
        rounds = 40;
    OK(drasync_register("add", add, &f_add));
    check_start(&argc, &argv);
    OK(drasync_register("give", give, &f_give));
    OK(drasync_register_batch("batch", add_batch, &f_batch));
    OK(drasync_register_batch("small", add_small, &f_small));
    if (check_rank == 0)
        OK(drasync_register_batch("a batch on rank 0", add_batch, &unused));
    OK(drasync_register("turn", turn, &f_turn));
    OK(drasync_register("grow", grow, &f_grow));
    OK(drasync_register("misbehave", misbehave, &f_misbehave));
    OK(drasync_register("received", received, &f_received));
    check_barrier();
    OK(drasync_get_stats(&stats));
    counted(stats.nodes);
    refused();
    not_registered(stats.nodes);
    results();
    order();
    batches();
    moving();
    many();
    held();
    beside_readers();
    subregions();
    if (argc > 1 && !strcmp(argv[1], "--forbidden"))
        forbidden();
    /* Left for MPI_Finalize. */
    left = region_of(0);
    a.rank = (uint64_t)check_rank;
    OK(drasync_run_ff(left, f_add, DRASYNC_WRITE, &a, sizeof(a)));
    return check_end("run");
}
