/*
 * Subregions come and go below roots that all ranks read: what Barnes-Hut does
 * every step with its trees.  Each rank, in each round:
 *
 *   WRITE its own root, make a subtree with data below it, release;
 *   READ the roots of all others, in all ways there are, and check every word;
 *   WRITE its own root, delete the subtree, while others still ask for it.
 *
 * A root says which subtree belongs to it, so what a reader sees must be whole
 * and of one round: the cut of a READ.  A delete may be refused while somebody
 * reads (DRASYNC_EBUSY), and must be possible when nobody does.
 *
 * native_churn [ROUNDS [SEED]]
 */
#include "native_check.h"

#include <sched.h>

#define PARTS     3
#define WORDS_MAX 5000
#define RANKS_MAX 64

/* The data of a part: a region of the subtree. */
struct part {
    uint64_t rank, round, words;
    uint64_t word[];
};

/* The data of a root.  parts is 0 where the subtree is gone. */
struct root {
    uint64_t rank, round, parts;
    drasync_region_t region[PARTS];
};

static drasync_region_t roots[RANKS_MAX];
static uint64_t random_state, busy, gone, refused;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % limit;
}

static uint64_t word_of(uint64_t rank, uint64_t round, uint64_t i)
{
    return (rank << 56 | round << 32 | i) * UINT64_C(0x9E3779B97F4A7C15);
}

static struct root *root_of(int rank)
{
    void *v;

    OK(drasync_get_root(roots[rank], &v));
    return v;
}

/* --- Writing -------------------------------------------------------------- */

static drasync_region_t make_part(drasync_region_t parent, uint64_t round)
{
    uint64_t words = 1 + random_below(random_below(4) ? 200 : WORDS_MAX);
    drasync_region_t r;
    struct part *part;
    void *v;

    OK(drasync_new_subregion(parent, &r));
    OK(drasync_alloc(r, sizeof(*part) + words * sizeof(uint64_t), &v));
    part = v;
    part->rank = (uint64_t)check_rank;
    part->round = round;
    part->words = words;
    for (uint64_t i = 0; i < words; i++)
        part->word[i] = word_of(part->rank, round, i);
    OK(drasync_set_root(r, part));
    return r;
}

static void make_subtree(uint64_t round)
{
    drasync_region_t own = roots[check_rank];
    struct root *root;
    uint64_t parts = 1 + random_below(PARTS);

    OK(drasync_acquire(own, DRASYNC_WRITE));
    root = root_of(check_rank);
    CHECK(root->parts == 0);
    for (uint64_t i = 0; i < parts; i++)
        root->region[i] =
            make_part(i && random_below(2) ? root->region[i - 1] : own, round);
    root->parts = parts;
    root->round = round;
    OK(drasync_release(own));
}

/*
 * The parts below the own root go.  Readers of older versions are in the way
 * until they release; while the root is held no new ones come, and where it is
 * let go now and then they may.
 */
static void delete_subtree(void)
{
    drasync_region_t own = roots[check_rank];
    struct root *root;

    OK(drasync_acquire(own, DRASYNC_WRITE));
    root = root_of(check_rank);
    while (root->parts > 0) {
        int err = drasync_delete(root->region[root->parts - 1]);

        if (err == DRASYNC_EBUSY) {
            busy++;
            sched_yield();
            if (random_below(8))
                continue;
            OK(drasync_release(own));
            OK(drasync_acquire(own, DRASYNC_WRITE));
            root = root_of(check_rank);
            continue;
        }
        /* A part goes with the one above it. */
        CHECK(!err || err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
        root->parts--;
    }
    OK(drasync_release(own));
}

/* --- Reading -------------------------------------------------------------- */

/* A part that is held, alone or with its root: all words, of one round. */
static void check_part(drasync_region_t r, uint64_t rank, uint64_t round)
{
    const struct part *part;
    void *v;

    OK(drasync_get_root(r, &v));
    part = v;
    CHECK(part->rank == rank);
    CHECK(!round || part->round == round);
    CHECK(part->words > 0 && part->words <= WORDS_MAX);
    for (uint64_t i = 0; i < part->words; i++)
        CHECK(part->word[i] == word_of(rank, part->round, i));
}

/* A hold, taken in one of the ways there are; false: not now. */
static int try_read(drasync_region_t r)
{
    drasync_request_t request;
    int done, err;

    switch (random_below(6)) {
    case 0:
        return drasync_acquire(r, DRASYNC_READ);
    case 1:
        return drasync_acquire_timed(r, DRASYNC_READ, random_below(300));
    case 2:
        err = drasync_iacquire(r, DRASYNC_READ, &request);
        if (err)
            return err;
        err = drasync_test(&request, &done);
        if (done)
            return err;
        if (random_below(2))
            return drasync_wait(&request, DRASYNC_FOREVER);
        OK(drasync_cancel(&request));
        return DRASYNC_EAGAIN;
    default:
        return drasync_try_acquire(r, DRASYNC_READ);
    }
}

/* Read @rank's root until it has the subtree of @round. */
static void read_root(int rank, uint64_t round)
{
    drasync_region_t r = roots[rank], below;
    uint64_t parts = 0, seen = 0;
    struct root *root;
    int err;

    while (seen < round || !parts) {
        err = try_read(r);
        if (err == DRASYNC_EAGAIN) {
            refused++;
            sched_yield();
            continue;
        }
        OK(err);
        root = root_of(rank);
        CHECK(root->rank == (uint64_t)rank);
        CHECK(root->round >= seen && root->round <= round);
        seen = root->round;
        parts = root->parts;
        for (uint64_t i = 0; i < parts; i++)
            check_part(root->region[i], (uint64_t)rank, seen);
        below = parts ? root->region[random_below(parts)] : r;
        /* A hold below, which outlives the one above: what *root was has no
         * meaning any more. */
        if (random_below(2)) {
            OK(drasync_acquire(below, DRASYNC_READ));
            OK(drasync_release(r));
            r == below ? (void)0 : check_part(below, (uint64_t)rank, seen);
            OK(drasync_release(below));
        } else {
            OK(drasync_release(r));
        }
    }
}

/* Ask for a part of another's subtree by itself, which may go meanwhile. */
static void read_part(drasync_region_t part, int rank)
{
    int err = try_read(part);

    if (err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION) {
        gone++;
        return;
    }
    if (err == DRASYNC_EAGAIN)
        return;
    OK(err);
    /* Its address may be another region's by now. */
    struct drasync_info info;
    OK(drasync_get_info(part, &info));
    if (info.parent == roots[rank])
        check_part(part, (uint64_t)rank, 0);
    OK(drasync_release(part));
}

static void one_round(uint64_t round)
{
    drasync_region_t some = NULL;
    int other = (check_rank + 1) % check_ranks;

    make_subtree(round);
    for (int i = 1; i < check_ranks; i++)
        read_root((check_rank + i) % check_ranks, round);
    if (check_ranks > 1) {
        struct root *root;

        OK(drasync_acquire(roots[other], DRASYNC_READ));
        root = root_of(other);
        some = root->parts ? root->region[0] : NULL;
        OK(drasync_release(roots[other]));
    }
    check_barrier();
    /* While this deletes, the others ask for what is deleted. */
    if (round % 2 == (uint64_t)check_rank % 2 && some)
        read_part(some, other);
    delete_subtree();
}

static void make_roots(void)
{
    drasync_region_t r;
    struct root *root;
    void *v;

    OK(drasync_new_region(&r));
    OK(drasync_alloc(r, sizeof(*root), &v));
    root = v;
    memset(root, 0, sizeof(*root));
    root->rank = (uint64_t)check_rank;
    OK(drasync_set_root(r, root));
    OK(drasync_release(r));
    roots[check_rank] = r;
    for (int i = 0; i < check_ranks; i++)
        check_share(&roots[i], i);
}

int main(int argc, char **argv)
{
    uint64_t rounds, seed;
    struct drasync_stats stats;

    check_start(&argc, &argv);
    CHECK(check_ranks <= RANKS_MAX);
    rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    random_state = (seed * 1000003 + (uint64_t)check_rank + 1) *
                   UINT64_C(0x9E3779B97F4A7C15);
    make_roots();
    for (uint64_t round = 1; round <= rounds; round++)
        one_round(round);
    check_barrier();
    OK(drasync_delete(roots[check_rank]));
    check_barrier();
    OK(drasync_get_stats(&stats));
    CHECK(stats.nodes > 1 || stats.regions == 0);
    if (getenv("CHURN_COUNTS"))
        fprintf(stderr, "rank %d: busy %llu gone %llu refused %llu\n",
                check_rank, (unsigned long long)busy, (unsigned long long)gone,
                (unsigned long long)refused);
    return check_end("churn");
}
