/*
 * native_nomem RANK N: 2 ranks, each a node; a tree goes to and fro, is shared,
 * changed, asked for in vain and deleted, while request N for memory of RANK, on
 * whatever thread, is refused; then N + 1, and so on, until there is none.
 *
 * A call says DRASYNC_ENOMEM and changes nothing: the same with memory works.
 * What cannot be undone ends the job, with its reason; "refusing N" was printed
 * last then.
 */
#include "native_check.h"

#include "failing.h"

#define PARTS  20
#define BLOCKS 6
#define BLOCK  ((size_t)300 << 10)

static drasync_region_t part[1 + PARTS];
static uint64_t *object[1 + PARTS];
static uint64_t *block[BLOCKS];
static uint64_t value;

/* With or without? */
static bool ok(const char *what, int err)
{
    if (err == DRASYNC_EPEER) {
        fprintf(stderr, "rank %d: %s: the job ends\n", check_rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (err && err != DRASYNC_ENOMEM)
        check_code(__FILE__, __LINE__, what, err, DRASYNC_ENOMEM);
    return !err;
}

#define TRY(call)  ok(#call, call)
#define MUST(call) CHECK(TRY(call))

static void fill(void)
{
    for (int i = 0; i <= PARTS; i++)
        *object[i] = value + (uint64_t)i;
    for (int i = 0; i < BLOCKS; i++)
        for (size_t at = 0; at < BLOCK / sizeof(uint64_t); at += 512)
            block[i][at] = value + at;
}

static void verify(void)
{
    for (int i = 0; i <= PARTS; i++)
        CHECK(*object[i] == value + (uint64_t)i);
    for (int i = 0; i < BLOCKS; i++)
        for (size_t at = 0; at < BLOCK / sizeof(uint64_t); at += 512)
            CHECK(block[i][at] == value + at);
}

static void make(void)
{
    void *v;

    for (int i = 0; check_rank == 0 && i <= PARTS; i++) {
        if (i == 0)
            OK(drasync_new_region(&part[0]));
        else
            OK(drasync_new_subregion(part[(i - 1) / 4], &part[i]));
        OK(drasync_alloc(part[i], 3 * 4096, &v));
        object[i] = v;
    }
    for (int i = 0; check_rank == 0 && i < BLOCKS; i++) {
        OK(drasync_alloc(part[PARTS], BLOCK, &v));
        block[i] = v;
    }
    value = 1;
    if (check_rank == 0) {
        fill();
        OK(drasync_release(part[0]));
    }
    MPI_Bcast(part, sizeof(part), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(object, sizeof(object), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(block, sizeof(block), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* One rank reads, the other has nothing to do. */
static void read_by(int rank)
{
    if (check_rank == rank && TRY(drasync_acquire(part[0], DRASYNC_READ))) {
        verify();
        MUST(drasync_release(part[0]));
    }
    check_barrier();
}

/* One changes it, or some of it; the other one is told whether it could. */
static void write_by(int rank, int top)
{
    uint64_t now = value;

    if (check_rank == rank && TRY(drasync_acquire(part[top], DRASYNC_WRITE))) {
        if (top == 0) {
            value = ++now;
            fill();
        } else {
            object[top][1]++; /* so that its page differs */
        }
        MUST(drasync_release(part[top]));
    }
    MPI_Bcast(&now, 1, MPI_UINT64_T, rank, MPI_COMM_WORLD);
    value = now;
}

/* Asked for while the other one holds it, and given up. */
static void give_up(void)
{
    drasync_request_t request;
    bool held;
    int done = 0;

    held = check_rank == 0 && TRY(drasync_acquire(part[0], DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 1 &&
        TRY(drasync_iacquire(part[0], DRASYNC_WRITE, &request))) {
        bool had = TRY(drasync_test(&request, &done));

        CHECK((request == NULL) == (done != 0));
        if (had && done)
            MUST(drasync_release(part[0]));
        if (!done)
            MUST(drasync_cancel(&request));
    }
    if (check_rank == 1) {
        int err = drasync_acquire_timed(part[0], DRASYNC_READ, 1000);

        if (err != DRASYNC_EAGAIN && ok("timed", err))
            MUST(drasync_release(part[0]));
    }
    check_barrier();
    if (held)
        MUST(drasync_release(part[0]));
    check_barrier();
}

/* What a rank does by itself. */
static void alone(void)
{
    drasync_region_t own, below;
    void *v;

    if (!TRY(drasync_new_region(&own)))
        return;
    if (TRY(drasync_new_subregion(own, &below)))
        TRY(drasync_alloc(below, BLOCK, &v));
    if (TRY(drasync_alloc(own, 100, &v)))
        TRY(drasync_publish("own", own));
    while (!TRY(drasync_delete(own)))
        continue;
}

/* Request @n of @rank is refused; was there one? */
static int round_without(int rank, long n)
{
    int reached;

    make();
    if (check_rank == rank) {
        printf("refusing %ld\n", n);
        fflush(stdout);
    }
    check_barrier();
    if (check_rank == rank)
        failing_arm_all(n);
    read_by(1);
    write_by(0, 3);
    read_by(1);
    write_by(1, 0);
    read_by(0);
    write_by(0, 0);
    give_up();
    if (check_rank == rank)
        alone();
    reached = failing_disarm_all();
    MPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    /* With memory. */
    MUST(drasync_acquire(part[0], DRASYNC_READ));
    verify();
    MUST(drasync_release(part[0]));
    check_barrier();
    if (check_rank == 1)
        MUST(drasync_delete(part[0]));
    check_barrier();
    return reached;
}

int main(int argc, char **argv)
{
    int rank = argc > 1 ? atoi(argv[1]) : 0;
    long n = argc > 2 ? atol(argv[2]) : 1;

    check_start(&argc, &argv);
    CHECK(check_ranks == 2);
    failing_begin();
    while (round_without(rank, n))
        n++;
    return check_end("nomem");
}
