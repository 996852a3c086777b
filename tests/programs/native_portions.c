/*
 * READs of more regions than one message takes (PROTO_PORTION_FIRST): several at
 * once, again after some have changed, given up, and without memory for all of
 * it at the reader's.
 *
 * native_portions          3 ranks, each a node
 * native_portions BLOCKS   2 ranks, with DRASYNC_MEMORY=64M: so much is free
 */
#include "native_check.h"

#define CHILDREN 40
#define REGIONS  (1 + CHILDREN + CHILDREN * CHILDREN)
#define ROUNDS   8
#define BLOCK    ((size_t)1 << 20)

struct object {
    uint64_t words; /* from here on: each is `value` + its number */
    uint64_t value;
};

static drasync_region_t part[REGIONS];
static struct object *object[REGIONS];

/* From a word to three pages: of some regions more is shipped than of others,
 * and they are not all side by side. */
static uint64_t words_of(int i)
{
    return 2 + (uint64_t)(i * 7919 % 13) * 128;
}

static void fill(struct object *o, uint64_t value)
{
    uint64_t *word = (uint64_t *)o;

    o->value = value;
    for (uint64_t i = 2; i < o->words; i++)
        word[i] = value + i;
}

static void verify(const struct object *o, int i, uint64_t value)
{
    const uint64_t *word = (const uint64_t *)o;

    CHECK(o->words == words_of(i) && o->value == value);
    for (uint64_t w = 2; w < o->words; w++)
        CHECK(word[w] == value + w);
}

/* The value of region @i after @round: one in five changes in each. */
static uint64_t value_of(int i, int round)
{
    int changed = round - (round + i) % 5;

    return (uint64_t)(changed > 0 ? changed : 0) * 1000003 + (uint64_t)i;
}

static void make(void)
{
    for (int i = 0; check_rank == 0 && i < REGIONS; i++) {
        void *v;

        if (i == 0)
            OK(drasync_new_region(&part[0]));
        else
            OK(drasync_new_subregion(part[(i - 1) / CHILDREN], &part[i]));
        OK(drasync_alloc(part[i], words_of(i) * sizeof(uint64_t), &v));
        object[i] = v;
        object[i]->words = words_of(i);
        fill(object[i], value_of(i, 0));
    }
    if (check_rank == 0)
        OK(drasync_release(part[0]));
    MPI_Bcast(part, sizeof(part), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(object, sizeof(object), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void change(int round)
{
    for (int i = 0; i < REGIONS; i++) {
        if (value_of(i, round) == value_of(i, round - 1))
            continue;
        OK(drasync_acquire(part[i], DRASYNC_WRITE));
        fill(object[i], value_of(i, round));
        OK(drasync_release(part[i]));
    }
}

static void verify_all(int round)
{
    for (int i = 0; i < REGIONS; i++)
        verify(object[i], i, value_of(i, round));
}

static uint64_t received(void)
{
    struct drasync_stats stats;

    OK(drasync_get_stats(&stats));
    return stats.messages_received;
}

/* All nodes but the owner's read at once, in every round what changed. */
static void read_again(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before;

        if (check_rank == 0 && round)
            change(round);
        check_barrier();
        before = received();
        OK(drasync_acquire(part[0], DRASYNC_READ));
        verify_all(round);
        OK(drasync_release(part[0]));
        if (check_rank)
            CHECK(received() - before >= 3);
        check_barrier();
    }
}

/* Given up somewhere on the way, or never; then asked for again. */
static void give_up(void)
{
    for (int round = ROUNDS; round < 2 * ROUNDS; round++) {
        drasync_request_t request;
        int done = 0, looks = 1 << (round - ROUNDS);

        if (check_rank == 0)
            change(round);
        check_barrier();
        if (check_rank) {
            OK(drasync_iacquire(part[0], DRASYNC_READ, &request));
            for (int i = 0; i < looks && !done; i++)
                OK(drasync_test(&request, &done));
            if (done) {
                verify_all(round);
                OK(drasync_release(part[0]));
            } else {
                OK(drasync_cancel(&request));
            }
            OK(drasync_acquire(part[CHILDREN], DRASYNC_READ));
            verify(object[CHILDREN], CHILDREN, value_of(CHILDREN, round));
            OK(drasync_release(part[CHILDREN]));
            OK(drasync_acquire(part[0], DRASYNC_READ));
            verify_all(round);
            OK(drasync_release(part[0]));
        }
        check_barrier();
    }
}

/* The reader's node has room for @room blocks, and the READ needs some twelve. */
static void without_room(int room)
{
    drasync_region_t filler, spare;
    void *v;
    int err;

    if (check_rank != 1)
        return;
    OK(drasync_new_region(&filler));
    OK(drasync_new_region(&spare));
    for (int i = 0; i < room; i++) {
        OK(drasync_alloc(spare, BLOCK - 4096, &v));
        memset(v, 1, BLOCK - 4096);
    }
    while (!(err = drasync_alloc(filler, BLOCK - 4096, &v)))
        memset(v, 1, BLOCK - 4096);
    CODE(err, DRASYNC_ENOMEM);
    OK(drasync_delete(spare));
    CODE(drasync_acquire(part[0], DRASYNC_READ), DRASYNC_ENOMEM);
    CODE(drasync_release(part[0]), DRASYNC_ENOTHELD);
    /* A part that fits comes. */
    OK(drasync_acquire(part[1], DRASYNC_READ));
    for (int i = 1; i < REGIONS; i++)
        if (i == 1 || (i - 1) / CHILDREN == 1)
            verify(object[i], i, value_of(i, 0));
    OK(drasync_release(part[1]));
    OK(drasync_delete(filler));
    OK(drasync_acquire(part[0], DRASYNC_READ));
    verify_all(0);
    OK(drasync_release(part[0]));
}

int main(int argc, char **argv)
{
    int room = argc > 1 ? atoi(argv[1]) : 0;

    check_start(&argc, &argv);
    make();
    if (room) {
        without_room(room);
    } else {
        read_again();
        give_up();
    }
    return check_end("portions");
}
