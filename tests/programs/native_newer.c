/*
 * drasync_acquire_newer(): a rank waits for what another one writes, without a
 * message of its own.
 *
 * native_newer ROUNDS [SEED] | ring, 2 ranks and more
 */
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

#define WORDS     3000 /* some pages */
#define RANKS_MAX 64

struct box {
    uint64_t number;
    uint64_t word[WORDS];
};

static unsigned chance(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static struct box *box_of(drasync_region_t region)
{
    void *box;

    OK(drasync_get_root(region, &box));
    return box;
}

static void fill(drasync_region_t region, uint64_t number)
{
    struct box *box = box_of(region);

    box->number = number;
    for (int i = 0; i < WORDS; i++)
        box->word[i] = number + (uint64_t)i;
}

static void look(drasync_region_t region, uint64_t number)
{
    const struct box *box = box_of(region);

    CHECK(box->number == number);
    for (int i = 0; i < WORDS; i += 100)
        CHECK(box->word[i] == number + (uint64_t)i);
}

/* Of rank @root, with a box that has number 0. */
static drasync_region_t make(int root)
{
    drasync_region_t region = NULL;
    void *box;

    if (check_rank == root) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, sizeof(struct box), &box));
        OK(drasync_set_root(region, box));
        fill(region, 0);
        OK(drasync_release(region));
    }
    check_share(&region, root);
    return region;
}

static void newer(drasync_region_t region, enum drasync_mode mode,
                  uint64_t *seen)
{
    uint64_t before = *seen;

    OK(drasync_acquire_newer(region, mode, seen, DRASYNC_FOREVER));
    CHECK(*seen > before);
}

/* All ranks write it in turn, and learn whose turn it is by what they READ. */
static void in_turn(int rounds)
{
    drasync_region_t region = make(0);
    const uint64_t end = (uint64_t)(check_ranks * rounds);
    uint64_t seen = 0, number = 0;

    while (number < end) {
        newer(region, DRASYNC_READ, &seen);
        number = box_of(region)->number;
        look(region, number);
        OK(drasync_release(region));
        if (number < end &&
            number % (uint64_t)check_ranks == (uint64_t)check_rank) {
            OK(drasync_acquire(region, DRASYNC_WRITE));
            look(region, number);
            fill(region, number + 1);
            OK(drasync_release(region));
        }
    }
    check_barrier();
}

/* Two ranks write it to and fro; rank 0 begins. */
static void to_and_fro(int rounds)
{
    drasync_region_t region = make(1);
    uint64_t seen = 0;

    if (check_rank == 1) {
        newer(region, DRASYNC_READ, &seen);
        OK(drasync_release(region));
    }
    check_barrier();
    for (int i = 0; i < rounds && check_rank < 2; i++) {
        newer(region, DRASYNC_WRITE, &seen);
        look(region, (uint64_t)(2 * i + check_rank));
        fill(region, (uint64_t)(2 * i + check_rank + 1));
        OK(drasync_release(region));
    }
    check_barrier();
}

/* What rank @of writes in @round of swap(). */
static uint64_t written(int of, int round, int rounds)
{
    return (uint64_t)((of + check_ranks * rounds - round) % check_ranks) +
           (uint64_t)round + 1;
}

/* Neighbours in a ring exchange what they have without a barrier: each rank has
 * two boxes, which it writes in turn.  A rank is at most a round ahead of both
 * its neighbours, so nobody writes what one of them has yet to READ. */
static void swap(int rounds)
{
    int side[2] = {(check_rank + check_ranks - 1) % check_ranks,
                   (check_rank + 1) % check_ranks};
    uint64_t seen[2][2] = {{0, 0}, {0, 0}};
    drasync_region_t box[2][RANKS_MAX];

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < check_ranks; i++)
            box[k][i] = make(i);
    for (int k = 0; k < 4; k++) {
        newer(box[k % 2][side[k / 2]], DRASYNC_READ, &seen[k % 2][k / 2]);
        OK(drasync_release(box[k % 2][side[k / 2]]));
    }
    check_barrier();
    for (int round = 0; round < rounds; round++) {
        int k = round % 2;

        OK(drasync_acquire(box[k][check_rank], DRASYNC_WRITE));
        fill(box[k][check_rank], written(check_rank, round, rounds));
        OK(drasync_release(box[k][check_rank]));
        for (int i = 0; i < 2; i++) {
            newer(box[k][side[i]], DRASYNC_READ, &seen[k][i]);
            look(box[k][side[i]], written(side[i], round, rounds));
            OK(drasync_release(box[k][side[i]]));
        }
    }
    check_barrier();
}

/* Nobody waits for who waits, and time passes. */
static void limits(void)
{
    drasync_region_t region = make(0);
    uint64_t seen = 0, before;

    CHECK(drasync_get_version(region, &before) == DRASYNC_ENOTHELD ||
          drasync_get_version(region, &before) == DRASYNC_ENOREGION);
    newer(region, DRASYNC_READ, &seen);
    CHECK(drasync_acquire_newer(region, DRASYNC_READ, &seen, 0) ==
          DRASYNC_ENESTED);
    CODE(drasync_get_version(region, NULL), DRASYNC_EINVAL);
    OK(drasync_get_version(region, &before));
    CHECK(before == seen);
    OK(drasync_release(region));
    for (int i = 0; i < 20; i++)
        CHECK(drasync_acquire_newer(region, DRASYNC_READ, &seen,
                                    (uint64_t)(i % 3) * 1000) ==
              DRASYNC_EAGAIN);
    CHECK(drasync_acquire_newer(region, DRASYNC_WRITE, &seen, 1000) ==
          DRASYNC_EAGAIN);
    CHECK(seen == before);
    CHECK(drasync_acquire_newer(region, DRASYNC_READ, NULL, 0) ==
          DRASYNC_EINVAL);
    CHECK(drasync_acquire_newer(region, (enum drasync_mode)7, &seen, 0) ==
          DRASYNC_EINVAL);
    check_barrier();
    /* All but the last wait, who may write at once. */
    if (check_rank == check_ranks - 1) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        fill(region, 5);
        OK(drasync_release(region));
    } else {
        newer(region, DRASYNC_READ, &seen);
        look(region, 5);
        OK(drasync_release(region));
    }
    check_barrier();
    /* It is deleted while they wait. */
    if (check_rank) {
        int err;

        while (!(err = drasync_acquire_newer(region, DRASYNC_READ, &seen,
                                             DRASYNC_FOREVER)))
            OK(drasync_release(region)); /* what it had not seen yet */
        CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
    } else {
        while (drasync_delete(region) == DRASYNC_EBUSY)
            ;
    }
    check_barrier();
}

/* Rank 0 deletes what it has had since it made it, and nobody else ever had: who
 * waits for what is newer than what it was told is told that as well. */
static void deleted_unseen(int rounds, enum drasync_mode mode)
{
    struct {
        drasync_region_t region;
        uint64_t version;
    } unseen = {0};

    for (int i = 0; i < rounds; i++) {
        if (check_rank == 0) {
            OK(drasync_new_region(&unseen.region));
            OK(drasync_get_version(unseen.region, &unseen.version));
        }
        MPI_Bcast(&unseen, sizeof(unseen), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (check_rank == 0) {
            usleep((useconds_t)(i % 3) * 300);
            OK(drasync_delete(unseen.region));
        } else {
            int err = drasync_acquire_newer(unseen.region, mode,
                                            &unseen.version, DRASYNC_FOREVER);

            CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
        }
        check_barrier();
    }
}

/* Rank 0 tells the version that it is about to write, before it releases; others
 * wait with that, and are granted what comes after it. */
static void told(int rounds, enum drasync_mode mode)
{
    drasync_region_t region = make(0);
    uint64_t version, number;

    for (int i = 1; i <= rounds; i++) {
        if (check_rank == 0) {
            OK(drasync_acquire(region, DRASYNC_WRITE));
            fill(region, (uint64_t)(10 * i));
            OK(drasync_get_version(region, &version));
        }
        MPI_Bcast(&version, sizeof(version), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (check_rank == 0) {
            OK(drasync_release(region));
            check_barrier(); /* one of them has asked at least */
            OK(drasync_acquire(region, DRASYNC_WRITE));
            fill(region, (uint64_t)(10 * i + 1));
            OK(drasync_release(region));
        } else {
            CODE(drasync_acquire_newer(region, mode, &version,
                                       (uint64_t)(i % 3) * 500),
                 DRASYNC_EAGAIN);
            check_barrier();
            newer(region, mode, &version);
            number = box_of(region)->number;
            CHECK(number == (uint64_t)(10 * i + 1));
            OK(drasync_release(region));
        }
        check_barrier();
    }
    /* No region has had that. */
    version = UINT64_MAX / 2;
    CODE(drasync_acquire_newer(region, mode, &version, DRASYNC_FOREVER),
         DRASYNC_EINVAL);
    check_barrier();
}

/* A region with subregions: a WRITE of what is above makes a newer version, one
 * of what is below does not; and what comes is one cut of all. */
static void subtree(int rounds)
{
    drasync_region_t top = make(0), part = NULL;
    uint64_t seen = 0, of_part = 0, last = 0;
    void *box;

    if (check_rank == 0) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_new_subregion(top, &part));
        OK(drasync_alloc(part, sizeof(struct box), &box));
        OK(drasync_set_root(part, box));
        fill(part, 0);
        OK(drasync_release(top));
    }
    check_share(&part, 0);
    newer(top, DRASYNC_READ, &seen);
    OK(drasync_release(top));
    newer(part, DRASYNC_READ, &of_part);
    OK(drasync_release(part));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(part, DRASYNC_WRITE));
        OK(drasync_release(part));
    }
    check_barrier();
    CHECK(drasync_acquire_newer(top, DRASYNC_READ, &seen, 0) == DRASYNC_EAGAIN);
    check_barrier();
    for (int i = 1; i <= rounds && check_rank == 0; i++) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        fill(top, (uint64_t)i);
        fill(part, (uint64_t)i);
        OK(drasync_release(top));
    }
    while (check_rank && last < (uint64_t)rounds) {
        drasync_region_t which = check_rank % 2 ? top : part;

        newer(which, DRASYNC_READ, check_rank % 2 ? &seen : &of_part);
        CHECK(box_of(which)->number >= last);
        last = box_of(which)->number;
        look(part, last);
        OK(drasync_release(which));
    }
    check_barrier();
}

/* Writers by chance; readers and others see every count grow, and the last. */
static void crowd(int rounds, unsigned seed)
{
    enum { REGIONS = 3 };
    const uint64_t all = (uint64_t)rounds * (uint64_t)check_ranks;
    drasync_region_t region[REGIONS];
    uint64_t seen[REGIONS] = {0}, last[REGIONS] = {0}, sum = 0;
    unsigned state = seed * 7919 + (unsigned)check_rank;

    for (int i = 0; i < REGIONS; i++)
        region[i] = make(i % check_ranks);
    for (int i = 0; i < rounds; i++) {
        int k = (int)(chance(&state) % REGIONS);
        bool mine = chance(&state) % 2;
        enum drasync_mode mode = mine ? DRASYNC_WRITE : DRASYNC_READ;

        if (chance(&state) % 2)
            seen[k] = 0;
        if (!drasync_acquire_newer(region[k], mode, &seen[k],
                                   chance(&state) % 300)) {
            CHECK(box_of(region[k])->number >= last[k]);
            last[k] = box_of(region[k])->number;
            OK(drasync_release(region[k]));
        }
        OK(drasync_acquire(region[k], DRASYNC_WRITE));
        look(region[k], box_of(region[k])->number);
        fill(region[k], box_of(region[k])->number + 1);
        OK(drasync_release(region[k]));
    }
    /* Whoever writes last wakes those who wait for the end. */
    while (sum < all) {
        sum = 0;
        for (int i = 0; i < REGIONS; i++) {
            if (!drasync_acquire_newer(region[i], DRASYNC_READ, &seen[i],
                                       100)) {
                last[i] = box_of(region[i])->number;
                OK(drasync_release(region[i]));
            }
            sum += last[i];
        }
    }
    CHECK(sum == all);
    check_barrier();
}

/* Two ranks that each have what the other asks for, of any version: one is told,
 * with DRASYNC_DEADLOCK=error, and nothing is left of what it asked. */
static void ring(void)
{
    drasync_region_t own[2] = {make(0), make(1)};
    drasync_region_t other = own[1 - check_rank % 2];
    uint64_t seen = 0;
    int err;

    if (check_rank < 2) {
        OK(drasync_acquire(own[check_rank], DRASYNC_WRITE));
        MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - check_rank, 0, NULL, 0, MPI_BYTE,
                     1 - check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        err =
            drasync_acquire_newer(other, DRASYNC_WRITE, &seen, DRASYNC_FOREVER);
        CHECK(!err || (err == DRASYNC_EDEADLK && !seen));
        OK(drasync_release(own[check_rank]));
        if (!err)
            OK(drasync_release(other));
        printf("rank %d: %s\n", check_rank, drasync_errname(err));
    }
    check_barrier();
    CODE(drasync_release(own[check_rank % 2]), DRASYNC_ENOTHELD);
    if (check_rank < 2)
        CODE(drasync_release(other), DRASYNC_ENOTHELD);
    check_barrier();
    if (check_rank < 2)
        OK(drasync_delete(own[check_rank]));
    check_barrier();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    check_start(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "ring")) {
        ring();
        return check_end("newer");
    }
    in_turn(rounds);
    to_and_fro(rounds);
    swap(rounds);
    limits();
    told(rounds, DRASYNC_READ);
    deleted_unseen(rounds, DRASYNC_READ);
    deleted_unseen(rounds, DRASYNC_WRITE);
    if (check_ranks == 2)
        told(rounds, DRASYNC_WRITE);
    subtree(rounds);
    crowd(rounds, seed);
    return check_end("newer");
}
