/*
 * native_overlap ROUNDS SEED: ranks that ask for regions above and below each
 * other at once, by requests that wait together, and give some up.  Whatever is
 * granted is as if they had asked for one after the other: what a rank sees of a
 * region does not change while it has any hold of it, unless it writes itself.
 */
#include <sched.h>

#include "native_pair.h"

/* 0 is the root; 1 and 2 are below it, 3 below 1. */
enum { REGIONS = 4, REQUESTS = 4 };

static const int parent_of[REGIONS] = {-1, 0, 0, 1};
static drasync_region_t regions[REGIONS];
static struct pair *pair[REGIONS];
static uint32_t dice;

struct asked {
    drasync_request_t request;
    int region;
    enum drasync_mode mode;
    int held;
};

static int throw(int sides)
{
    dice = dice * 1664525u + 1013904223u;
    return (int)((dice >> 8) % (uint32_t)sides);
}

static void make(void)
{
    void *v;

    for (int i = 0; check_rank == 0 && i < REGIONS; i++) {
        if (i)
            OK(drasync_new_subregion(regions[parent_of[i]], &regions[i]));
        else
            OK(drasync_new_region(&regions[i]));
        OK(drasync_alloc(regions[i], sizeof(struct pair), &v));
        memset(v, 0, sizeof(struct pair));
        pair[i] = v;
    }
    if (check_rank == 0)
        OK(drasync_release(regions[0]));
    for (int i = 0; i < REGIONS; i++) {
        check_share(&regions[i], 0);
        check_share(&pair[i], 0);
    }
}

static int below(int r, int top)
{
    for (; r >= 0; r = parent_of[r])
        if (r == top)
            return 1;
    return 0;
}

/* The strongest hold of @r that this rank has; 0: none. */
static int held(const struct asked *asked, int count, int r)
{
    int mode = 0;

    for (int i = 0; i < count; i++)
        if (asked[i].held && below(r, asked[i].region) &&
            (int)asked[i].mode > mode)
            mode = (int)asked[i].mode;
    return mode;
}

/* What was granted; the rest is given up after a while, as two ranks may wait
 * for each other. */
static void decide(struct asked *asked)
{
    int err = drasync_wait(&asked->request, (uint64_t) throw(2000));

    if (err == DRASYNC_EAGAIN) {
        OK(drasync_cancel(&asked->request));
        return;
    }
    CHECK(!err || err == DRASYNC_EORDER || err == DRASYNC_EUPGRADE);
    asked->held = !err;
}

static void ask(struct asked *asked)
{
    int err;

    *asked = (struct asked){.region = throw(REGIONS),
                            .mode = throw(2) ? DRASYNC_READ : DRASYNC_WRITE};
    err =
        drasync_iacquire(regions[asked->region], asked->mode, &asked->request);
    if (!err && throw(3) == 0)
        decide(asked);
    CHECK(!err || err == DRASYNC_EORDER || err == DRASYNC_EUPGRADE);
}

static void same(const struct asked *asked, int count, const uint64_t *seen)
{
    for (int r = 0; r < REGIONS; r++)
        if (held(asked, count, r))
            CHECK(pair[r]->first == seen[r] && pair[r]->second == seen[r]);
}

static void same_for_a_while(const struct asked *asked, int count,
                             const uint64_t *seen)
{
    for (int i = throw(50); i > 0; i--) {
        same(asked, count, seen);
        sched_yield();
    }
}

static uint64_t one_round(void)
{
    struct asked asked[REQUESTS];
    int count = 1 + throw(REQUESTS);
    uint64_t seen[REGIONS], got = 0;

    for (int i = 0; i < count; i++)
        ask(&asked[i]);
    for (int i = 0; i < count; i++)
        if (asked[i].request)
            decide(&asked[i]);
    for (int r = 0; r < REGIONS; r++) {
        if (held(asked, count, r) == DRASYNC_WRITE)
            change(pair[r]);
        if (held(asked, count, r))
            seen[r] = pair[r]->first;
    }
    same_for_a_while(asked, count, seen);
    for (int i = count - 1; i >= 0; i--) {
        if (!asked[i].held)
            continue;
        got++;
        OK(drasync_release(regions[asked[i].region]));
        asked[i].held = 0;
        same_for_a_while(asked, count, seen);
    }
    return got;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t got = 0;

    check_start(&argc, &argv);
    dice =
        (argc > 2 ? (uint32_t)atoi(argv[2]) : 1) * 101u + (uint32_t)check_rank;
    make();
    check_barrier();
    for (int i = 0; i < rounds; i++)
        got += one_round();
    CHECK(got > 0);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_acquire(regions[0], DRASYNC_WRITE));
    if (check_rank == 0)
        OK(drasync_delete(regions[0]));
    return check_end("overlap");
}
