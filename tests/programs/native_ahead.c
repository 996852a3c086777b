/*
 * What is asked ahead, by FORM; each rank is a node.
 *
 * free: an acquire costs no message once that has come.  told N: who is told of a
 * write by a message sees it, N times, whatever was asked ahead.  deleted: a
 * delete does not wait, nor fail.  memory: there is none for it.  sent: nor for
 * what is written while it is sent.  wrong: what the call refuses.  dies: rank 1
 * dies, and was promised a region.
 */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_ahead.h"

#define REGIONS 8

/* --- Free ----------------------------------------------------------------- */

/* Until data has come after @before. */
static void wait_data(uint64_t before)
{
    while (stats().bytes_received == before)
        ;
}

/* Acquire, look, release; without a message. */
static void take_free(drasync_region_t region, enum drasync_mode mode,
                      const int *object, int value)
{
    uint64_t sent = stats().messages_sent;

    OK(drasync_acquire(region, mode));
    CHECK(stats().messages_sent == sent);
    CHECK(object[0] == value && object[BYTES / sizeof(int) - 1] == value);
    OK(drasync_release(region));
}

static void is_free(void)
{
    int *object;
    drasync_region_t region = made(BYTES, &object);
    uint64_t used = stats().ahead_used;

    for (int i = 1; i <= 200; i++) {
        uint64_t before = stats().bytes_received;

        if (check_rank == 0)
            write_all(region, object, i);
        check_barrier();
        if (check_rank == 1) {
            OK(drasync_ahead(region, DRASYNC_READ));
            wait_data(before);
            take_free(region, DRASYNC_READ, object, i);
        }
        check_barrier();
    }
    if (check_rank == 1) {
        CHECK(stats().ahead_used == used + 200);
        OK(drasync_ahead(region, DRASYNC_WRITE));
        wait_owned(region);
        take_free(region, DRASYNC_WRITE, object, 200);
        CHECK(stats().ahead_used == used + 201);
        CHECK(stats().ahead_asked == 201 && !stats().ahead_vain_bytes);
    }
    check_end("free");
}

/* --- Told ----------------------------------------------------------------- */

/* Each tells the next of what it saw and wrote, before its release or after. */
static void pass(const drasync_region_t *region, int *const *object, int n)
{
    static int least[REGIONS], told[REGIONS], heard[REGIONS]; /* to be seen */
    int to = (check_rank + 1) % check_ranks;
    int from = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Request request;

    for (int i = 0; i < n; i++) {
        int at = (int)below(REGIONS), *value = object[at];
        bool write = below(3) == 0, early = below(2);

        if (below(2))
            OK(drasync_ahead(region[below(REGIONS)],
                             below(4) ? DRASYNC_READ : DRASYNC_WRITE));
        if (below(2))
            OK(drasync_ahead(region[at], write ? DRASYNC_WRITE : DRASYNC_READ));
        if (i > 0)
            MPI_Recv(heard, REGIONS, MPI_INT, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int j = 0; j < REGIONS; j++)
            if (least[j] < heard[j])
                least[j] = heard[j];
        OK(drasync_acquire(region[at], write ? DRASYNC_WRITE : DRASYNC_READ));
        CHECK(value[0] >= least[at] && value[0] == value[1000]);
        if (write)
            value[1000] = ++value[0];
        least[at] = value[0];
        if (!early)
            OK(drasync_release(region[at]));
        if (i > 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        memcpy(told, least, sizeof(told));
        MPI_Isend(told, REGIONS, MPI_INT, to, 0, MPI_COMM_WORLD, &request);
        if (early)
            OK(drasync_release(region[at]));
    }
    MPI_Recv(heard, REGIONS, MPI_INT, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void told(int n)
{
    drasync_region_t region[REGIONS];
    int *object[REGIONS];

    random_state = (uint64_t)check_rank + 1;
    for (int i = 0; i < REGIONS; i++)
        region[i] = made(2000 * sizeof(int), &object[i]);
    pass(region, object, n);
    check_end("told");
}

/* --- Deleted -------------------------------------------------------------- */

static void deleted(void)
{
    for (int i = 0; i < 300; i++) {
        int *object, err = 0;
        drasync_region_t region = made(i % 3 ? 64 : BYTES, &object);

        if (check_rank > 0) {
            if (i % 2)
                err =
                    drasync_ahead(region, i % 5 ? DRASYNC_READ : DRASYNC_WRITE);
            CHECK(!err || err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
            if (i % 7 == 0)
                check_barrier();
            err = drasync_ahead(region, DRASYNC_READ);
            CHECK(!err || err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
        } else {
            if (i % 7 == 0)
                check_barrier();
            OK(drasync_delete(region));
        }
        check_barrier();
        err = drasync_acquire(region, DRASYNC_READ);
        CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
        check_barrier();
    }
    check_end("deleted");
}

/* --- Memory --------------------------------------------------------------- */

static void memory(void)
{
    enum { MANY = 40 }; /* of 256 KiB, half of which has room */
    drasync_region_t region[MANY];
    int *object[MANY];
    int last = BYTES / sizeof(int) - 1;

    /* Each rank makes a part, as a node has no room for all. */
    for (int i = 0; i < MANY; i++) {
        int from = i % check_ranks;

        if (check_rank == from) {
            OK(drasync_new_region(&region[i]));
            OK(drasync_alloc(region[i], BYTES, (void **)&object[i]));
            object[i][0] = object[i][last] = i;
            OK(drasync_release(region[i]));
        }
        check_share(&region[i], from);
        check_share(&object[i], from);
    }
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++)
            OK(drasync_ahead(region[i], DRASYNC_READ));
        for (int i = MANY; i-- > 0;) {
            OK(drasync_acquire(region[i], DRASYNC_READ));
            CHECK(object[i][0] >= i && object[i][0] == object[i][last]);
            OK(drasync_release(region[i]));
        }
        check_barrier();
        for (int i = check_rank; i < MANY; i += check_ranks) {
            OK(drasync_ahead(region[i], DRASYNC_WRITE));
            OK(drasync_acquire(region[i], DRASYNC_WRITE));
            object[i][0] = ++object[i][last];
            OK(drasync_release(region[i]));
        }
        check_barrier();
    }
    check_end("memory");
}

/* Rank 0 has no room for a second copy: it writes while the first one is on its
 * way to those who ask ahead. */
static void sent(void)
{
    const size_t bytes = (size_t)7 << 20;
    int *object, over = 0;
    drasync_region_t region = made(bytes, &object);

    /* Where no data is promised ahead, none is sent. */
    for (int i = 0;
         check_rank == 0 && i < 1000000 && stats().bytes_sent < 100 * bytes;
         i++) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        object[0]++;
        OK(drasync_release(region));
    }
    for (int rank = 1; check_rank == 0 && rank < check_ranks; rank++)
        MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
    while (check_rank && !over) {
        OK(drasync_ahead(region, DRASYNC_READ));
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
    }
    if (check_rank)
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_barrier();
    check_end("sent");
}

/* --- Wrong ---------------------------------------------------------------- */

static void wrong(void)
{
    int *object, local, err;
    drasync_region_t region = made(64, &object);

    CODE(drasync_ahead(region, (enum drasync_mode)0), DRASYNC_EINVAL);
    CODE(drasync_ahead(region, (enum drasync_mode)3), DRASYNC_EINVAL);
    CODE(drasync_ahead(NULL, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_ahead((drasync_region_t)&local, DRASYNC_READ),
         DRASYNC_ENOREGION);
    CODE(drasync_ahead((drasync_region_t)object, DRASYNC_WRITE),
         DRASYNC_ENOREGION);
    /* It is held by this rank, twice, and asked ahead in both modes. */
    for (int mode = DRASYNC_READ; mode <= DRASYNC_WRITE; mode++) {
        OK(drasync_ahead(region, (enum drasync_mode)mode));
        OK(drasync_acquire(region, (enum drasync_mode)mode));
        OK(drasync_acquire(region, DRASYNC_READ));
        OK(drasync_ahead(region, DRASYNC_READ));
        OK(drasync_ahead(region, DRASYNC_WRITE));
        OK(drasync_release(region));
        OK(drasync_release(region));
        CODE(drasync_release(region), DRASYNC_ENOTHELD);
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
    check_barrier();
    err = drasync_ahead(region, DRASYNC_READ);
    CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION || !err);
    /* Its maker knows, unless it does not look. */
    if (check_rank == 0 && getenv("DRASYNC_AHEAD") &&
        strcmp(getenv("DRASYNC_AHEAD"), "off"))
        CHECK(err);
    check_end("wrong");
}

/* --- Dies ----------------------------------------------------------------- */

static void dies(void)
{
    int *object, err = 0;
    drasync_region_t region = made(BYTES, &object);
    uint64_t before = stats().bytes_received;

    if (check_rank == 1) {
        OK(drasync_ahead(region, DRASYNC_READ));
        wait_data(before);
        MPI_Send(&err, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    MPI_Recv(&err, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!err) {
        err = drasync_acquire(region, DRASYNC_WRITE);
        if (!err)
            err = drasync_release(region);
    }
    printf("rank 0: %s\n", drasync_errname(err));
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "free";

    check_start(&argc, &argv);
    if (!strcmp(form, "told"))
        told(argc > 2 ? atoi(argv[2]) : 1000);
    else if (!strcmp(form, "deleted"))
        deleted();
    else if (!strcmp(form, "memory"))
        memory();
    else if (!strcmp(form, "sent"))
        sent();
    else if (!strcmp(form, "wrong"))
        wrong();
    else if (!strcmp(form, "dies"))
        dies();
    else
        is_free();
    return 0;
}
