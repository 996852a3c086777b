/*
 * A region comes to a node again and again, to be read or written: what comes
 * goes to where the older version lay, so that nothing has to be mapped; unless
 * somebody there still reads that.
 *
 * Pages of regions that lie side by side travel in one piece, but no other
 * region's between them.
 *
 * native_inplace       4 ranks on 2 nodes of 2
 */
#include <stdbool.h>

#include "native_check.h"

#define PARTS  20
#define ROUNDS 12

static drasync_region_t top;
static uint64_t *word[PARTS];

/* Where in the data file this process sees @at. */
static unsigned long long place_of(const void *at)
{
    unsigned long long from, to, offset;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");

    CHECK(maps);
    while (fgets(line, sizeof(line), maps))
        if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 &&
            (uintptr_t)at >= from && (uintptr_t)at < to) {
            fclose(maps);
            return offset + ((uintptr_t)at - from);
        }
    check_fail(__FILE__, __LINE__, "an object is mapped");
    return 0;
}

static void make(void)
{
    for (int i = 0; check_rank == 0 && i < PARTS; i++) {
        drasync_region_t r;
        void *v;

        if (i == 0)
            OK(drasync_new_region(&top));
        else
            OK(drasync_new_subregion(top, &r));
        OK(drasync_alloc(i ? r : top, 3000, &v));
        word[i] = v;
        *word[i] = 0;
    }
    if (check_rank == 0)
        OK(drasync_release(top));
    MPI_Bcast(&top, sizeof(top), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(word, sizeof(word), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void write_all(uint64_t was)
{
    OK(drasync_acquire(top, DRASYNC_WRITE));
    for (int i = 0; i < PARTS; i++) {
        CHECK(*word[i] == was);
        ++*word[i];
    }
    OK(drasync_release(top));
}

static void verify(uint64_t value)
{
    for (int i = 0; i < PARTS; i++)
        CHECK(*word[i] == value);
}

static void read_all(uint64_t value)
{
    OK(drasync_acquire(top, DRASYNC_READ));
    verify(value);
    OK(drasync_release(top));
}

/* Has any part another place than before?  Remember where all are. */
static bool elsewhere(unsigned long long place[PARTS])
{
    bool other = false;

    for (int i = 0; i < PARTS; i++) {
        unsigned long long now = place_of(word[i]);

        other |= now != place[i];
        place[i] = now;
    }
    return other;
}

/*
 * @moves: the right to write goes to and fro; else rank 0 writes, 2 reads.  A
 * node that has not seen yet that the older version has left it completely puts
 * what comes elsewhere; on a busy machine that happens now and then.
 */
static void in_place(uint64_t *value, bool moves)
{
    unsigned long long place[PARTS] = {0};
    int changes = 0;

    for (int round = 0; round < ROUNDS; round++) {
        bool turn = moves && round % 2;

        if (check_rank == (turn ? 2 : 0))
            write_all(*value);
        ++*value;
        check_barrier();
        if (check_rank == 2)
            read_all(*value);
        if (check_rank == 2 && elsewhere(place) && round)
            changes++;
        check_barrier();
    }
    CHECK(changes <= ROUNDS / 3);
}

/* Rank 3 reads on, while 2, on its node, gets what is newer. */
static void not_where_it_is_read(uint64_t *value, bool moves)
{
    uint64_t old = *value;

    if (check_rank == 3) {
        OK(drasync_acquire(top, DRASYNC_READ));
        verify(old);
    }
    check_barrier();
    for (int round = 0; round < 3; round++) {
        if (check_rank == 0)
            write_all(*value);
        ++*value;
        check_barrier();
        if (check_rank == 2 && moves)
            write_all(*value);
        *value += moves;
        if (check_rank == 2)
            read_all(*value);
        if (check_rank == 3)
            verify(old);
        check_barrier();
    }
    if (check_rank == 3) {
        OK(drasync_release(top));
        read_all(*value);
    }
    check_barrier();
}

/* Of a page's object: with the largest there is nothing left in it. */
#define LEAST_BYTES  2500
#define STEP_BYTES   16
#define SIDE_BY_SIDE 64
#define OTHER_EACH   7

struct beside {
    drasync_region_t top;
    struct {
        drasync_region_t other; /* made between this one and the next */
        unsigned char *object, *of_other;
    } part[SIDE_BY_SIDE];
};

static size_t bytes_of(int i)
{
    return (size_t)(LEAST_BYTES + i * STEP_BYTES);
}

static void fill(const struct beside *b, int round)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++)
        memset(b->part[i].object, i + round, bytes_of(i));
}

static void filled(const struct beside *b, int round)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++)
        for (size_t at = 0; at < bytes_of(i); at++)
            CHECK(b->part[i].object[at] == (unsigned char)(i + round));
}

/* Those in between, which this rank holds. */
static void others(const struct beside *b, int value, bool write)
{
    for (int i = 0; i < SIDE_BY_SIDE; i += OTHER_EACH) {
        unsigned char *object = b->part[i].of_other;

        for (int at = 0; at < LEAST_BYTES; at++)
            CHECK(write || object[at] == value);
        if (write)
            memset(object, value, LEAST_BYTES);
    }
}

static void make_beside(struct beside *b)
{
    OK(drasync_new_region(&b->top));
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        drasync_region_t r;
        void *v;

        OK(drasync_new_subregion(b->top, &r));
        OK(drasync_alloc(r, bytes_of(i), &v));
        b->part[i].object = v;
        if (i % OTHER_EACH)
            continue;
        OK(drasync_new_region(&b->part[i].other));
        OK(drasync_alloc(b->part[i].other, LEAST_BYTES, &v));
        b->part[i].of_other = v;
        OK(drasync_release(b->part[i].other));
    }
    fill(b, 0);
    OK(drasync_release(b->top));
}

/* Rank 2, on the other node, takes all parts to and fro, and writes in what
 * lies between them. */
static void side_by_side(void)
{
    static struct beside b;

    if (check_rank == 0)
        make_beside(&b);
    MPI_Bcast(&b, sizeof(b), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; check_rank == 2 && i < SIDE_BY_SIDE; i += OTHER_EACH)
        OK(drasync_acquire(b.part[i].other, DRASYNC_WRITE));
    if (check_rank == 2)
        others(&b, 0xa5, true);
    for (int round = 0; round < 6; round++) {
        bool turn = round % 2;

        if (check_rank == (turn ? 0 : 2)) {
            OK(drasync_acquire(b.top, DRASYNC_WRITE));
            filled(&b, round);
            fill(&b, round + 1);
            OK(drasync_release(b.top));
        }
        check_barrier();
        if (check_rank == (turn ? 2 : 0)) {
            OK(drasync_acquire(b.top, DRASYNC_READ));
            filled(&b, round + 1);
            OK(drasync_release(b.top));
        }
        if (check_rank == 2)
            others(&b, 0xa5, false);
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(b.top));
    for (int i = 0; check_rank == 2 && i < SIDE_BY_SIDE; i += OTHER_EACH)
        OK(drasync_delete(b.part[i].other));
    check_barrier();
}

int main(int argc, char **argv)
{
    uint64_t value = 0;

    check_start(&argc, &argv);
    CHECK(check_ranks == 4);
    make();
    for (int i = 0; i < 2; i++) {
        in_place(&value, false);
        not_where_it_is_read(&value, false);
        in_place(&value, true);
        not_where_it_is_read(&value, true);
    }
    if (check_rank == 0)
        OK(drasync_delete(top));
    side_by_side();
    return check_end("inplace");
}
