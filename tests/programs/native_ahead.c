/*
 * What is asked ahead, by FORM; each rank is a node.
 *
 * free: an acquire costs no message once that has come.  told N: who is told of a
 * write by a message sees it, N times, whatever was asked ahead.  deleted: a
 * delete does not wait, nor fail.  memory: there is none for it.  wrong: what the
 * call refuses.  dies: rank 1 dies, and was promised a region.
 *
 * phases MODE: a program that iterates; but for the first iteration and a phase no
 * acquire of MODE (1: READ, 2: WRITE) waits.  unphased: what drasync_phase()
 * refuses.  auto MODE: the same without a call, in a loop.  chance: without an
 * order.
 */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

#define BYTES   ((size_t)256 << 10)
#define REGIONS 8

static struct drasync_stats stats(void)
{
    struct drasync_stats s;

    OK(drasync_get_stats(&s));
    return s;
}

/* A region of rank 0 with @bytes in it, released; *object_out is there. */
static drasync_region_t made(size_t bytes, int **object_out)
{
    struct {
        drasync_region_t region;
        void *object;
    } shared = {0};

    if (check_rank == 0) {
        OK(drasync_new_region(&shared.region));
        OK(drasync_alloc(shared.region, bytes, &shared.object));
        memset(shared.object, 0, bytes);
        OK(drasync_release(shared.region));
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    *object_out = shared.object;
    return shared.region;
}

/* --- Free ----------------------------------------------------------------- */

/* Until data has come after @before. */
static void wait_data(uint64_t before)
{
    while (stats().bytes_received == before)
        ;
}

static void wait_owned(drasync_region_t region)
{
    struct drasync_info info = {0};

    while (!info.owned_here)
        OK(drasync_get_info(region, &info));
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

static void write_all(drasync_region_t region, int *object, int value)
{
    OK(drasync_acquire(region, DRASYNC_WRITE));
    for (size_t i = 0; i < BYTES / sizeof(int); i++)
        object[i] = value;
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

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(random_state >> 33) % limit;
}

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

/* --- Phases --------------------------------------------------------------- */

enum { PHASES = 3, EACH = 4, STEPS = 20 * PHASES };

static bool learns(void)
{
    const char *ahead = getenv("DRASYNC_AHEAD");

    return ahead && strcmp(ahead, "off") != 0;
}

/* What one phase of rank 1 acquires. */
struct phase {
    drasync_region_t region[EACH];
    int *object[EACH];
};

/* Until all that the phase just begun asked for is here, after @before. */
static void wait_phase(const struct phase *next, enum drasync_mode mode,
                       uint64_t before)
{
    for (int i = 0; i < EACH && mode == DRASYNC_WRITE; i++)
        wait_owned(next->region[i]);
    while (stats().bytes_received < before + EACH * BYTES)
        ;
}

static void take_phase(const struct phase *now, enum drasync_mode mode,
                       int value)
{
    for (int i = 0; i < EACH; i++) {
        const int *object = now->object[i];

        OK(drasync_acquire(now->region[i], mode));
        CHECK(object[0] == value && object[BYTES / sizeof(int) - 1] == value);
        OK(drasync_release(now->region[i]));
    }
}

/* Rank 1, in step @i: what it acquires was written in the step before, what it
 * is to acquire next in this one. */
static void step(const struct phase *phase, enum drasync_mode mode, int i)
{
    const struct phase *now = &phase[i % PHASES];
    const struct phase *next = &phase[(i + 1) % PHASES];
    uint64_t before = stats().bytes_received;
    uint64_t waited = stats().acquires_waited;

    if (i % PHASES == 0)
        OK(drasync_iteration());
    OK(drasync_phase(i % PHASES));
    if (learns() && i > PHASES)
        wait_phase(next, mode, before);
    take_phase(now, mode, i);
    if (learns() && i == PHASES)
        wait_phase(next, mode, before + EACH * BYTES);
    waited = stats().acquires_waited - waited;
    CHECK(waited == (learns() && i > PHASES ? 0 : EACH));
}

/* For so long who waited for a region keeps it from hints (keep.h). */
static void spend_credit(void)
{
    double until = MPI_Wtime() + 0.01;

    while (MPI_Wtime() < until)
        ;
}

static void phases(enum drasync_mode mode)
{
    struct phase phase[PHASES];

    for (int i = 0; i < PHASES * EACH; i++)
        phase[i / EACH].region[i % EACH] =
            made(BYTES, &phase[i / EACH].object[i % EACH]);
    for (int i = 0; i < STEPS; i++) {
        const struct phase *next = &phase[(i + 1) % PHASES];

        for (int j = 0; j < EACH && check_rank == 0; j++)
            write_all(next->region[j], next->object[j], i + 1);
        if (mode == DRASYNC_WRITE)
            spend_credit();
        check_barrier();
        if (check_rank == 1)
            step(phase, mode, i);
        check_barrier();
    }
    /* All but what the last step asked for. */
    if (check_rank == 1 && learns()) {
        CHECK(stats().ahead_asked == EACH * (STEPS - PHASES));
        CHECK(stats().ahead_used == EACH * (STEPS - PHASES - 1));
        CHECK(stats().ahead_vain_bytes == 0);
    }
    check_end("phases");
}

static void unphased(void)
{
    CODE(drasync_phase(0), DRASYNC_EPHASE);
    CODE(drasync_phase(-1), DRASYNC_EINVAL);
    CODE(drasync_phase(DRASYNC_PHASES_MAX), DRASYNC_ELIMIT);
    OK(drasync_iteration());
    CODE(drasync_phase(-1), DRASYNC_EINVAL);
    CODE(drasync_phase(DRASYNC_PHASES_MAX), DRASYNC_ELIMIT);
    OK(drasync_phase(DRASYNC_PHASES_MAX - 1));
    OK(drasync_phase(0));
    OK(drasync_iteration());
    OK(drasync_iteration());
    check_end("unphased");
    CODE(drasync_iteration(), DRASYNC_ENOTREADY);
    CODE(drasync_phase(0), DRASYNC_ENOTREADY);
}

/* --- Auto ----------------------------------------------------------------- */

enum { LOOP = 8, ROUNDS = 20, LEARNED = 5 };

/* Until the next acquire, after @acquired of them, needs no message, if that was
 * asked ahead; @start: before all of them. */
static void wait_next(drasync_region_t next, enum drasync_mode mode,
                      uint64_t acquired, const struct drasync_stats *start)
{
    uint64_t asked = stats().ahead_asked - start->ahead_asked;

    if (asked + stats().acquires_waited - start->acquires_waited <= acquired)
        return;
    if (mode == DRASYNC_WRITE)
        wait_owned(next);
    /* What comes with a region beside its data is less than one more, in all. */
    while (stats().bytes_received - start->bytes_received <
           (acquired + 1) * BYTES)
        ;
}

/* Rank 1 acquires the regions in turn; which it does not say. */
static void by_itself(enum drasync_mode mode)
{
    drasync_region_t region[LOOP];
    struct drasync_stats start, learned = {0};
    int *object[LOOP];

    for (int i = 0; i < LOOP; i++)
        region[i] = made(BYTES, &object[i]);
    start = stats();
    for (int i = 0; i < ROUNDS * LOOP; i++) {
        const int at = i % LOOP, value = 1 + i / LOOP;

        for (int j = 0; j < LOOP && at == 0 && check_rank == 0; j++)
            write_all(region[j], object[j], value);
        if (at == 0 && mode == DRASYNC_WRITE)
            spend_credit();
        check_barrier();
        if (i == LEARNED * LOOP)
            learned = stats();
        if (check_rank == 1) {
            wait_next(region[at], mode, (uint64_t)i, &start);
            OK(drasync_acquire(region[at], mode));
            CHECK(object[at][0] == value);
            CHECK(object[at][BYTES / sizeof(int) - 1] == value);
            OK(drasync_release(region[at]));
        }
        check_barrier();
    }
    if (check_rank == 1) {
        uint64_t waited = stats().acquires_waited - learned.acquires_waited;
        /* The token of the first of a round is here in the round before. */
        uint64_t rounds = mode == DRASYNC_WRITE ? ROUNDS - LEARNED : 0;
        uint64_t used = stats().ahead_used - learned.ahead_used;
        uint64_t asked = stats().ahead_asked - learned.ahead_asked;

        CHECK(waited == rounds);
        CHECK(used == (ROUNDS - LEARNED) * LOOP - rounds);
        CHECK(asked == used);
        CHECK(stats().ahead_vain_bytes == 0);
    }
    check_end("auto");
}

/* Rank 1 acquires regions in random order: hardly one of them is asked ahead. */
static void by_chance(void)
{
    enum { MANY = 16, TIMES = 100 };
    drasync_region_t region[MANY];
    int *object[MANY];

    random_state = 1;
    for (int i = 0; i < MANY; i++)
        region[i] = made(sizeof(int), &object[i]);
    for (int i = 0; i < TIMES; i++) {
        for (int j = 0; j < MANY && check_rank == 0; j++) {
            OK(drasync_acquire(region[j], DRASYNC_WRITE));
            *object[j] = i;
            OK(drasync_release(region[j]));
        }
        check_barrier();
        for (int j = 0; j < MANY && check_rank == 1; j++) {
            int at = (int)below(MANY);

            OK(drasync_acquire(region[at], DRASYNC_READ));
            CHECK(*object[at] == i);
            OK(drasync_release(region[at]));
        }
        check_barrier();
    }
    if (check_rank == 1)
        CHECK(stats().ahead_asked * 20 <= MANY * TIMES);
    check_end("chance");
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
    else if (!strcmp(form, "phases"))
        phases(argc > 2 ? (enum drasync_mode)atoi(argv[2]) : DRASYNC_READ);
    else if (!strcmp(form, "auto"))
        by_itself(argc > 2 ? (enum drasync_mode)atoi(argv[2]) : DRASYNC_READ);
    else if (!strcmp(form, "chance"))
        by_chance();
    else if (!strcmp(form, "unphased"))
        unphased();
    else if (!strcmp(form, "deleted"))
        deleted();
    else if (!strcmp(form, "memory"))
        memory();
    else if (!strcmp(form, "wrong"))
        wrong();
    else if (!strcmp(form, "dies"))
        dies();
    else
        is_free();
    return 0;
}
