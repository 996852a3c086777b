/* protocol_deaths.c - random programs of ranks on one node, some of which die.
 * protocol_deaths [FROM [TO]]: these seeds. */
#include "tests/unit/protocol_node.h"

#define SEEDS   3000
#define STEPS   150
#define RANKS   4
#define REGIONS 6

/* What a rank has, and what it waits for. */
struct rank {
    bool dead, waits;
    struct proto_op *op;
    struct proto_region *asked;
    enum drasync_mode mode;
    struct {
        struct proto_region *region;
        enum drasync_mode mode;
    } held[STEPS];
    int count;
};

static struct rank ranks[RANKS];
static uint64_t addresses[REGIONS]; /* 0: deleted */
static void *before[REGIONS + 1];   /* a WRITE hold: the frames of each */
static char frames[1 << 16];        /* each address is another one */
static uint32_t frames_count, lost_count, back_count;
static uint64_t random_state;

static uint32_t any(uint32_t below)
{
    random_state =
        random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static bool is_below(const struct proto_region *r,
                     const struct proto_region *top)
{
    while (r && r != top)
        r = r->parent;
    return r != NULL;
}

/* Will it go back? */
static bool is_kept(const struct proto_region *r)
{
    return r->previous.next != &r->previous;
}

static bool writes(const struct rank *rank, const struct proto_region *r)
{
    for (int i = 0; i < rank->count; i++)
        if (rank->held[i].mode == DRASYNC_WRITE &&
            is_below(r, rank->held[i].region))
            return true;
    return false;
}

/* @covered: by WRITE, as the protocol has it.  That may be a READ hold which could
 * not be weaker (docs/protocol.md), and what was there before it counts. */
static void hold(struct rank *rank, struct proto_region *r,
                 enum drasync_mode mode, bool covered)
{
    struct proto_region *x;
    for (x = r; mode == DRASYNC_WRITE && !covered && x; x = proto_next(r, x)) {
        CHECK(is_kept(x) == x->recovers);
        before[x->address] = x->recovers ? proto_newest(x)->frames : NULL;
    }
    rank->held[rank->count].region = r;
    rank->held[rank->count++].mode = mode;
}

/* As runtime/native/split.c does; a rank may die before. */
static void split(int id, struct proto_region *top)
{
    struct proto_effects more = {.grow = realloc};
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_copy *copy = proto_newest(r);
        if (!copy->pins && !copy->sends)
            continue;
        proto_effects_clear(&more);
        CHECK(proto_split(&node, id, r,
                          &frames[frames_count++ % sizeof(frames)],
                          &more) == 0);
    }
    proto_effects_free(&more, free);
}

/* Whoever was answered by the last step. */
static void answer(void)
{
    for (size_t i = 0; i < out.count; i++) {
        const struct proto_effect e = out.effect[i];
        struct rank *rank = e.waiter;
        if (e.kind != PROTO_GRANTED && e.kind != PROTO_FAILED)
            continue;
        CHECK(rank >= ranks && rank < ranks + RANKS && rank->waits);
        CHECK(!rank->dead);
        rank->waits = false;
        CHECK(e.kind == PROTO_GRANTED || e.error == DRASYNC_ELOST ||
              e.error == DRASYNC_EDELETED);
        if (e.kind != PROTO_GRANTED)
            continue;
        CHECK(!rank->asked->losses);
        hold(rank, rank->asked, rank->mode, false);
        if (e.split)
            split((int)(rank - ranks), rank->asked);
    }
}

/* A root with a chain below it, and siblings. */
static void make(void)
{
    struct proto_region *r[REGIONS];
    r[0] = root_of(0, 1);
    for (uint32_t i = 1; i < REGIONS; i++)
        r[i] = child_of(0, r[any(i)], i + 1);
    for (uint32_t i = 0; i < REGIONS; i++)
        proto_newest(r[i])->frames = &frames[frames_count++ % sizeof(frames)];
    for (uint64_t i = 0; i < REGIONS; i++)
        addresses[i] = i + 1;
    if (any(2))
        proto_set_recovery(r[any(REGIONS)], true);
    CHECK(release(0, r[0]) == 0);
}

static struct proto_region *some_region(void)
{
    uint64_t address = addresses[any(REGIONS)];
    return address ? table[address] : NULL;
}

static void do_acquire(int id)
{
    struct rank *rank = &ranks[id];
    struct proto_region *r = some_region();
    enum drasync_mode mode = any(2) ? DRASYNC_READ : DRASYNC_WRITE;
    bool nowait = any(3) == 0;
    /* In one order, so that no ring forms. */
    for (int i = 0; r && !nowait && i < rank->count; i++)
        nowait = rank->held[i].region->address > r->address;
    if (!r)
        return;
    bool lost = r->losses > 0, covered = proto_held(r, id) == DRASYNC_WRITE;
    proto_effects_clear(&out);
    int err = proto_acquire(&node, id, r, 0, mode, nowait, rank, &grant,
                            &rank->op, &out);
    rank->asked = r;
    rank->mode = mode;
    if (err == PROTO_WAIT) {
        rank->waits = true;
        bool refused =
            nowait && out.count == 1 && out.effect[0].kind == PROTO_FAILED;
        if (refused)
            rank->waits = false;
        else
            answer();
        return;
    }
    CHECK(err == 0 || err == DRASYNC_EUPGRADE || err == DRASYNC_EORDER ||
          err == DRASYNC_EAGAIN || (err == DRASYNC_ELOST && lost));
    if (err)
        return;
    hold(rank, r, mode, covered);
    if (grant.split && any(4))
        split(id, r);
}

static void do_release(int id)
{
    struct rank *rank = &ranks[id];
    if (!rank->count)
        return;
    int i = (int)any((uint32_t)rank->count);
    CHECK(release_for(id, rank->held[i].region, rank->held[i].mode) == 0);
    rank->held[i] = rank->held[--rank->count];
    answer();
}

static void do_die(int id)
{
    struct rank *rank = &ranks[id];
    void *kept[REGIONS + 1] = {NULL};
    bool lost[REGIONS + 1] = {false};
    for (uint64_t i = 1; i <= REGIONS; i++) {
        const struct proto_region *r = table[i];
        bool held = proto_held(r, id) == DRASYNC_WRITE;
        CHECK(held || !writes(rank, r));
        kept[i] = held && is_kept(r) ? before[i] : NULL;
        lost[i] = r->lost || (held && !kept[i]);
        back_count += kept[i] != NULL;
        lost_count += lost[i];
    }
    rank->dead = true;
    rank->waits = false;
    rank->count = 0;
    proto_effects_clear(&out);
    proto_rank_died(&node, id, INT32_MAX, table[1], &out);
    for (uint64_t i = 1; i <= REGIONS; i++) {
        const struct proto_region *r = table[i];
        CHECK(proto_held(r, id) == 0 && !proto_held_below(r, id));
        CHECK(r->lost == lost[i]);
        CHECK(!kept[i] || proto_newest(r)->frames == kept[i]);
    }
    answer();
}

/* All end in order; then nothing is left but what was lost, and that goes. */
static void finish(void)
{
    struct proto_region *a = table[1];
    for (int id = 0; id < RANKS; id++)
        while (!ranks[id].dead && (ranks[id].count || ranks[id].waits)) {
            bool waited = ranks[id].waits;
            for (int other = 0; other < RANKS; other++)
                do_release(other);
            CHECK(!waited || !ranks[id].waits || a->busy || a->reads);
        }
    CHECK(!a->busy && !a->reads && !a->waiting && !a->pinned);
    uint32_t lost = 0;
    for (struct proto_region *r = a; r; r = proto_next(a, r)) {
        lost += r->lost;
        CHECK(r->previous.next == &r->previous && !r->fresh);
    }
    CHECK(lost == a->losses);
    CHECK(acquire(RANKS, a, DRASYNC_WRITE) == (lost ? DRASYNC_ELOST : 0));
    CHECK(delete (RANKS, a) == 0 && objects == 0);
}

static void run(uint64_t seed)
{
    int alive = RANKS;
    random_state = seed;
    memset(ranks, 0, sizeof(ranks));
    make();
    for (int step = 0; step < STEPS; step++) {
        int id = (int)any(RANKS);
        uint32_t what = any(40);
        if (ranks[id].dead)
            continue;
        if (what == 0 && alive > 1) {
            do_die(id);
            alive--;
        } else if (ranks[id].waits) {
            continue;
        } else if (what < 20) {
            do_acquire(id);
        } else {
            do_release(id);
        }
    }
    finish();
}

int main(int argc, char **argv)
{
    uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t to = argc > 2   ? strtoull(argv[2], NULL, 0)
                  : argc > 1 ? from
                             : SEEDS;
    node_begin();
    for (uint64_t seed = from; seed <= to; seed++)
        run(seed);
    /* Both happen, or this tries nothing. */
    CHECK(argc > 1 || (lost_count > SEEDS / 10 && back_count > SEEDS / 10));
    return 0;
}
