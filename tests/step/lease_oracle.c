/* lease_oracle.c - see lease_oracle.h. */
#include "lease_oracle.h"

#include <stdint.h>
#include <string.h>

#include "native_world.h"

#define HOLDS_MAX  96
#define WRITES_MAX 128
#define NEVER      UINT32_MAX

/* GIVING: it may be over already. */
enum state { ENDED, ASKING, HELD, GIVING };

static struct hold {
    enum state state;
    int rank, region;
    enum drasync_mode mode;
    uint32_t base; /* what was given back before is seen */
    /* What other ranks, or others of this one, did that concerns it while it was
     * asked for. */
    bool met, met_own;
    bool wrote; /* its rank could write what it sees */
    int saw[WORLD_REGIONS];
} holds[HOLDS_MAX];

/* The n-th write of a region: who did it, and when its hold began and had ended to
 * be given back.  The 0th was before all. */
static struct write {
    int rank;
    uint32_t gives, gave;
} writes[WORLD_REGIONS][WRITES_MAX];

static int holds_count, written[WORLD_REGIONS];
static int parents[WORLD_REGIONS], regions, threads_of[WORLD_RANKS];
static uint32_t now;

void oracle_begin(const int *parent, int count, const int *threads)
{
    memset(writes, 0, sizeof(writes));
    memset(written, 0, sizeof(written));
    holds_count = 0;
    now = 1;
    regions = count;
    memcpy(parents, parent, (size_t)count * sizeof(parents[0]));
    memcpy(threads_of, threads, sizeof(threads_of));
}

bool oracle_covers(int above, int region)
{
    while (region > above)
        region = parents[region];
    return region == above;
}

static bool related(const struct hold *a, const struct hold *b)
{
    return oracle_covers(a->region, b->region) ||
           oracle_covers(b->region, a->region);
}

/* --- Acquires ------------------------------------------------------------- */

static void meet(struct hold *h, const struct hold *other)
{
    if (h->rank == other->rank)
        h->met_own = true;
    else
        h->met = true;
}

int oracle_asks(int rank, int region, enum drasync_mode mode)
{
    struct hold *h = &holds[holds_count];

    STEP_CHECK(holds_count < HOLDS_MAX);
    *h = (struct hold){.state = ASKING,
                       .rank = rank,
                       .region = region,
                       .mode = mode,
                       .base = ++now};
    memset(h->saw, -1, sizeof(h->saw));
    for (struct hold *o = holds; o < h; o++) {
        if (o->state == ENDED || !related(o, h))
            continue;
        meet(h, o);
        if (o->state == ASKING)
            meet(o, h);
        /* It may see what that sees. */
        if (o->rank == rank && oracle_covers(o->region, region) &&
            o->base < h->base)
            h->base = o->base;
    }
    return holds_count++;
}

/* What the holds of @h's rank make of it, if nobody else has anything. */
static int expected(const struct hold *h)
{
    bool reads = false, below = false;

    for (const struct hold *o = holds; o < holds + holds_count; o++) {
        if (o == h || o->state != HELD || o->rank != h->rank || !related(o, h))
            continue;
        if (!oracle_covers(o->region, h->region))
            below = true;
        else if (o->mode == DRASYNC_WRITE)
            return 0;
        else
            reads = true;
    }
    if (reads)
        return h->mode == DRASYNC_WRITE ? DRASYNC_EUPGRADE : 0;
    return below ? DRASYNC_EORDER : 0;
}

bool oracle_met(int hold, bool several)
{
    const struct hold *h = &holds[hold];

    return h->met || (h->met_own && (several || threads_of[h->rank] > 1));
}

/* @several: others of its rank may be decided before or after. */
static bool may_be(const struct hold *h, int err, bool waits, bool several)
{
    switch (err) {
    case 0:
        return several || !expected(h);
    case DRASYNC_EAGAIN:
        return !waits &&
               (several ? h->met || h->met_own : h->met && !expected(h));
    case DRASYNC_EUPGRADE:
        return h->mode == DRASYNC_WRITE &&
               (several ? h->met_own : expected(h) == err);
    case DRASYNC_EORDER:
        return several ? h->met_own : expected(h) == err;
    default:
        return false;
    }
}

bool oracle_answered(int hold, int err, bool waits, bool several)
{
    struct hold *h = &holds[hold];

    if (!may_be(h, err, waits, several || threads_of[h->rank] > 1))
        step_fail("rank %d asked for region %d, mode %d, and got %d, not %d",
                  h->rank, h->region, (int)h->mode, err, expected(h));
    h->state = err ? ENDED : HELD;
    ++now;
    for (const struct hold *o = holds; !err && o < holds + holds_count; o++)
        if (o->state == HELD && o->rank != h->rank && related(o, h) &&
            o->mode == DRASYNC_WRITE && h->mode == DRASYNC_WRITE)
            step_fail("ranks %d and %d write regions %d and %d at once",
                      o->rank, h->rank, o->region, h->region);
    return !err;
}

void oracle_cancelled(int hold)
{
    holds[hold].state = ENDED;
    ++now;
}

/* --- Releases ------------------------------------------------------------- */

/* Does another hold of @h's rank cover @region for WRITE, @or_gives or was one
 * given back? */
static bool writes_on(const struct hold *h, int region, bool or_gives)
{
    for (const struct hold *o = holds; o < holds + holds_count; o++)
        if (o != h && o->rank == h->rank && o->mode == DRASYNC_WRITE &&
            (o->state == HELD || (or_gives && o->state == GIVING)) &&
            oracle_covers(o->region, region))
            return true;
    return false;
}

void oracle_gives(int hold)
{
    struct hold *h = &holds[hold];

    h->state = GIVING;
    ++now;
    for (int r = 0; r < regions && h->mode == DRASYNC_WRITE; r++) {
        if (!oracle_covers(h->region, r) || writes_on(h, r, false))
            continue;
        for (int i = 1; i <= written[r]; i++)
            if (writes[r][i].gives == NEVER && writes[r][i].rank == h->rank)
                writes[r][i].gives = now;
    }
}

void oracle_gave(int hold)
{
    struct hold *h = &holds[hold];

    h->state = ENDED;
    ++now;
    for (int r = 0; r < regions && h->mode == DRASYNC_WRITE; r++) {
        if (!oracle_covers(h->region, r) || writes_on(h, r, true))
            continue;
        for (int i = 1; i <= written[r]; i++)
            if (writes[r][i].gives != NEVER && writes[r][i].gave == NEVER &&
                writes[r][i].rank == h->rank)
                writes[r][i].gave = now;
    }
}

/* --- Data ----------------------------------------------------------------- */

void oracle_wrote(int hold, int region)
{
    int n = ++written[region];

    STEP_CHECK(n < WRITES_MAX);
    writes[region][n] = (struct write){holds[hold].rank, NEVER, NEVER};
}

void oracle_saw(int hold, int region, int value)
{
    struct hold *h = &holds[hold];
    const struct write *w = &writes[region][value];
    bool last = value == written[region];

    if (value < 0 || value > written[region])
        step_fail("region %d has %d, of %d writes", region, value,
                  written[region]);
    if (value && w->rank != h->rank && w->gives == NEVER)
        step_fail("rank %d sees what rank %d is writing in region %d", h->rank,
                  w->rank, region);
    if (!last && w[1].gave < h->base)
        step_fail("rank %d sees write %d of region %d, not a later one that "
                  "had ended when it asked",
                  h->rank, value, region);
    if ((h->mode == DRASYNC_WRITE || writes_on(h, region, false))) {
        h->wrote = true;
        if (!last)
            step_fail("rank %d, which writes region %d, sees write %d, not the "
                      "last one, %d",
                      h->rank, region, value, written[region]);
    } else if (h->saw[region] >= 0 && h->saw[region] != value && !h->wrote &&
               threads_of[h->rank] == 1) {
        step_fail("rank %d sees write %d of region %d, after %d, in one hold",
                  h->rank, value, region, h->saw[region]);
    }
    h->saw[region] = value;
}

void oracle_saw_all(int hold)
{
    const struct hold *h = &holds[hold];
    uint32_t from = 0, to = NEVER;

    if (h->wrote || threads_of[h->rank] > 1)
        return;
    for (int r = 0; r < regions; r++) {
        const struct write *w;

        if (!oracle_covers(h->region, r))
            continue;
        w = &writes[r][h->saw[r]];
        if (w->gives > from)
            from = w->gives;
        if (h->saw[r] < written[r] && w[1].gave < to)
            to = w[1].gave;
    }
    if (from > to)
        step_fail("what rank %d sees below region %d was never true at once",
                  h->rank, h->region);
}
