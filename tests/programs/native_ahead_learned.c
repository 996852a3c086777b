/*
 * What is asked ahead without naming regions, by FORM; each rank is a node.
 *
 * phases MODE: a program that iterates; but for the first iteration and a phase no
 * acquire of MODE (1: READ, 2: WRITE) waits.  unphased: what drasync_phase()
 * refuses.  auto: what is READ each time it was written comes by itself; unread:
 * until nobody READs it; again: what is READ again and again unwritten needs no
 * message; chance: without an order.
 */
#include <stdbool.h>

#include "native_ahead.h"

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

/* No longer than this does who waited for a region keep it from hints, which are
 * not sent again (NATIVE_KEEP_US_MAX in keep.h). */
static void spend_credit(void)
{
    double until = MPI_Wtime() + 0.021;

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

/* --- Without a call -------------------------------------------------------- */

/* A region is subscribed to when so many READs have brought another version. */
enum { LOOP = 8, ROUNDS = 20, SEEN = 2 };

/* Rank 1 READs regions that rank 0 writes before; the data comes by itself. */
static void by_itself(void)
{
    drasync_region_t region[LOOP];
    struct drasync_stats start, learned = {0};
    int *object[LOOP];

    for (int i = 0; i < LOOP; i++)
        region[i] = made(BYTES, &object[i]);
    start = stats();
    for (int i = 0; i < ROUNDS * LOOP; i++) {
        const int at = i % LOOP, value = 1 + i / LOOP;
        const uint64_t bytes = (uint64_t)(i + 1) * BYTES;

        for (int j = 0; j < LOOP && at == 0 && check_rank == 0; j++)
            write_all(region[j], object[j], value);
        check_barrier();
        if (i == SEEN * LOOP)
            learned = stats();
        if (check_rank == 1) {
            /* What comes with a region beside its data is less than one more, in
             * all. */
            while (i >= SEEN * LOOP &&
                   stats().bytes_received - start.bytes_received < bytes)
                ;
            OK(drasync_acquire(region[at], DRASYNC_READ));
            CHECK(object[at][0] == value);
            CHECK(object[at][BYTES / sizeof(int) - 1] == value);
            OK(drasync_release(region[at]));
        }
        check_barrier();
    }
    if (check_rank == 1) {
        /* A few may wait a moment, for data that is just coming: bytes do not say
         * of which region they are.  Without subscriptions all would wait. */
        CHECK(stats().acquires_waited - learned.acquires_waited <=
              (ROUNDS - SEEN) * LOOP / 8);
        CHECK(stats().ahead_used == (ROUNDS - SEEN) * LOOP);
        CHECK(stats().ahead_asked == (ROUNDS - SEEN + 1) * LOOP);
        CHECK(stats().ahead_vain_bytes == 0);
    }
    check_end("auto");
}

static void read_one(drasync_region_t region, const int *object, int value)
{
    OK(drasync_acquire(region, DRASYNC_READ));
    CHECK(object[0] == value && object[BYTES / sizeof(int) - 1] == value);
    OK(drasync_release(region));
}

/* Rank 1 READs a region some times, and no more: rank 0 does not go on sending. */
static void unread(void)
{
    enum { TIMES = 100, READS = 4 };
    int *object;
    drasync_region_t region = made(BYTES, &object);

    for (int i = 1; i <= TIMES; i++) {
        if (check_rank == 0)
            write_all(region, object, i);
        check_barrier();
        if (check_rank == 1 && i <= READS)
            read_one(region, object, i);
        check_barrier();
    }
    OK(drasync_acquire(region, DRASYNC_READ));
    CHECK(object[0] == TIMES);
    OK(drasync_release(region));
    if (check_rank == 1) {
        CHECK(stats().ahead_asked == READS - SEEN + 1);
        CHECK(stats().ahead_used == READS - SEEN);
        CHECK(stats().ahead_vain_bytes <= BYTES + 2 * 4096);
    }
    check_end("unread");
}

/* Rank 1 READs what nobody writes meanwhile, until it need not ask. */
static void read_on(drasync_region_t region, const int *object, int value)
{
    uint64_t waited;
    int turns = 0;

    do {
        waited = stats().acquires_waited;
        for (int i = 0; i < 1000; i++)
            read_one(region, object, value);
        CHECK(++turns <= 100);
    } while (stats().acquires_waited != waited);
}

/* Rank 1 READs it often, then once after each time that rank 0 wrote it, and
 * often again: each time it sees what was written last. */
static void again(void)
{
    enum { TIMES = 20, EACH_WAY = 5 };
    int *object;
    drasync_region_t region = made(BYTES, &object);

    for (int i = 1; i <= TIMES; i++) {
        if (check_rank == 0)
            write_all(region, object, i);
        check_barrier();
        if (check_rank == 1 && i / EACH_WAY % 2 == 0)
            read_on(region, object, i);
        else if (check_rank == 1)
            read_one(region, object, i);
        check_barrier();
    }
    check_end("again");
}

/* Rank 1 READs some of what rank 0 writes, in random order: little comes in
 * vain. */
static void by_chance(void)
{
    enum { MANY = 16, TIMES = 200 };
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
    /* Each subscription that came to nothing makes the next one of its region
     * wait for twice as many READs. */
    if (check_rank == 1)
        CHECK((stats().ahead_asked - stats().ahead_used) * 20 <= MANY * TIMES);
    check_end("chance");
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "phases";
    enum drasync_mode mode =
        argc > 2 ? (enum drasync_mode)atoi(argv[2]) : DRASYNC_READ;

    check_start(&argc, &argv);
    if (!strcmp(form, "auto"))
        by_itself();
    else if (!strcmp(form, "unread"))
        unread();
    else if (!strcmp(form, "again"))
        again();
    else if (!strcmp(form, "chance"))
        by_chance();
    else if (!strcmp(form, "unphased"))
        unphased();
    else
        phases(mode);
    return 0;
}
