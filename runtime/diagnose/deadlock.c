/* Rings of waits: see deadlock.h. */
#include "runtime/diagnose/deadlock.h"

#include <stdlib.h>

#include "drasync.h"
#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/report.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* A longer ring is left to who watches the clock. */
#define RING_MAX 64

/* Does @rank stand still until somebody else gives it a region? */
static bool stands(const struct facts_rank *rank)
{
    const struct waiting_seen *seen = &rank->wait.seen;

    return rank->rank >= 0 && !rank->several && rank->waits == 1 &&
           seen->what == WAITING_REGION && !seen->timed && rank->wait.asked.at;
}

/* A way round, from this rank's wait @number on. */
struct chase {
    uint64_t number;
    bool places; /* look where holds were taken, and calls made */
    struct report_link *links;
    size_t count;
    size_t looked; /* ranks looked at, in all */
    uint8_t *seen; /* by rank */
};

/* Ranks that are looked at for one ring. */
#define LOOKED_MAX 256

static bool leads_back(struct chase *c, const struct facts_rank *rank);

/* Who is known to the protocol as @as keeps the last link's rank from getting on:
 * a rank, or what a rank saves by a number of its own (native_rank_new()). */
static bool leads_on(struct chase *c, int32_t as)
{
    int32_t next = as < runtime.ranks ? as : as % runtime.ranks;
    struct facts_rank rank;

    c->links[c->count - 1].next = next;
    if (next != runtime.rank &&
        (next < 0 || c->seen[next] || c->looked >= LOOKED_MAX))
        return false;
    return !ask_rank(next, &rank) && (as == next || rank.wait.seen.as == as) &&
           leads_back(c, &rank);
}

/* It needs messages: is one of them not sent yet? */
static bool needs_message(struct chase *c, const struct report_link *link)
{
    for (uint32_t i = 0; i < link->mpi.inside.needs; i++) {
        const struct waiting_need *need = &link->mpi.inside.need[i];
        struct facts_mpi peer;

        if (ask_mpi(need->peer, link->rank, need->tag, false, &peer) ||
            peer.rank < 0 || peer.unsure || peer.sent >= need->count)
            continue;
        c->links[c->count - 1].need = *need;
        if (leads_on(c, need->peer))
            return true;
    }
    return false;
}

/* It waits in a collective call for @rank, which has not come to it. */
static bool needs_call(struct chase *c, const struct report_link *link,
                       int32_t rank)
{
    struct facts_mpi peer;

    return rank != link->rank && !ask_mpi(rank, 0, 0, false, &peer) &&
           peer.rank >= 0 && !peer.unsure &&
           peer.collectives < link->mpi.inside.collective && leads_on(c, rank);
}

static bool needs_calls(struct chase *c, const struct report_link *link)
{
    if (!link->mpi.inside.collective)
        return false;
    c->links[c->count - 1].need = (struct waiting_need){.count = 0};
    if (link->mpi.inside.root >= 0)
        return needs_call(c, link, link->mpi.inside.root);
    /* This rank is the one that most likely has not. */
    if (needs_call(c, link, runtime.rank))
        return true;
    for (int32_t r = 0; r < runtime.ranks && c->looked < LOOKED_MAX; r++)
        if (!c->seen[r] && needs_call(c, link, r))
            return true;
    return false;
}

/* Is @rank inside MPI, for ever as long as others stand still? */
static bool inside_mpi(struct chase *c, const struct facts_rank *rank)
{
    struct report_link *link = &c->links[c->count];

    if (!(runtime.options.check & OPTIONS_CHECK_DEADLOCK) || rank->rank < 0 ||
        rank->several || rank->waits)
        return false;
    if (ask_mpi(rank->rank, 0, 0, c->places, &link->mpi) ||
        link->mpi.rank < 0 || link->mpi.unsure || !link->mpi.inside.call)
        return false;
    link->rank = rank->rank;
    c->count++;
    if (needs_message(c, link) || needs_calls(c, link))
        return true;
    c->count--;
    return false;
}

static bool waits_for_region(struct chase *c, const struct facts_rank *rank)
{
    struct report_link *link = &c->links[c->count];

    *link = (struct report_link){.wait = rank->wait, .rank = rank->rank};
    if (ask_about_wait(&rank->wait, c->places, &link->region) ||
        link->region.status != FACTS_BLOCKED)
        return false;
    c->count++;
    if (leads_on(c, link->region.blocker.rank))
        return true;
    c->count--;
    return false;
}

/* Does @rank stand still, and is that in the end this thread's doing? */
static bool leads_back(struct chase *c, const struct facts_rank *rank)
{
    if (rank->rank < 0)
        return false;
    if (c->count && rank->rank == runtime.rank)
        return stands(rank) && rank->wait.seen.number == c->number;
    if (c->count == RING_MAX)
        return false;
    c->seen[rank->rank] = 1;
    c->looked++;
    return stands(rank) ? waits_for_region(c, rank) : inside_mpi(c, rank);
}

/* The ring that this rank's wait @number is in, at @links, with the holds' places if
 * @places; how many they are, or 0: there is none. */
static size_t follow(uint64_t number, bool places, struct report_link *links)
{
    struct chase c = {
        .number = number,
        .places = places,
        .links = links,
        .seen = calloc((size_t)runtime.ranks, 1),
    };
    struct facts_rank rank;
    bool found = c.seen && !ask_rank(runtime.rank, &rank) && stands(&rank) &&
                 leads_back(&c, &rank);

    free(c.seen);
    return found ? c.count : 0;
}

static bool same(const struct report_link *a, const struct report_link *b,
                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].rank != b[i].rank || a[i].next != b[i].next ||
            a[i].wait.seen.number != b[i].wait.seen.number ||
            a[i].mpi.inside.number != b[i].mpi.inside.number)
            return false;
    return true;
}

/* A one-to-one function that mixes all bits: of SplitMix64. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A sum, as each finder begins with its own link. */
uint64_t deadlock_number(const struct report_link *links, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        bool inside = links[i].mpi.inside.call != 0;
        uint64_t wait =
            inside ? links[i].mpi.inside.number : links[i].wait.seen.number;

        sum += mixed(mixed(wait << 1 | inside) + (uint64_t)links[i].rank);
    }
    return sum ? sum : 1;
}

/* Is the first of them the youngest?  Of two of one age, the higher rank. */
static bool first_is_youngest(const struct report_link *links, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!links[i].mpi.inside.call &&
            (links[i].wait.age_us < links[0].wait.age_us ||
             (links[i].wait.age_us == links[0].wait.age_us &&
              links[i].wait.seen.rank > links[0].wait.seen.rank)))
            return false;
    return true;
}

static int act(const struct report_link *links, size_t count, bool late)
{
    bool ends = runtime.options.deadlock == RUNTIME_DEADLOCK_END;

    if (!first_is_youngest(links, count) && !(late && ends))
        return 0;
    if (!ends) {
        if (!ask_claim_deadlock(deadlock_number(links, count)))
            return 0; /* another acquire fails */
        if (ask_claim(0, ASK_WHY_STALL))
            report_deadlock(links, count);
        return DRASYNC_EDEADLK;
    }
    if (!ask_claim(0, ASK_WHY_END))
        return 0; /* who may is about to end the job */
    report_deadlock(links, count);
    runtime_end_job();
}

int deadlock_look(const struct waiting *w, bool late)
{
    uint64_t number = w->slot->seen.number;
    struct report_link *links = calloc(2 * (RING_MAX + 1), sizeof(*links));
    struct report_link *again = links ? links + RING_MAX + 1 : NULL;
    size_t count = links ? follow(number, false, links) : 0;
    int err = 0;

    if (count && follow(number, true, again) == count &&
        same(links, again, count))
        err = act(again, count, late);
    free(links);
    return err;
}
