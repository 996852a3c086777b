/* Jobs all of whose ranks wait: see standstill.h. */
#include "runtime/diagnose/standstill.h"

#include <stdlib.h>

#include "drasync.h"
#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/deadlock.h"
#include "runtime/diagnose/report.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* In a larger job the report of what lasts says that no rank computes. */
#define RANKS_MAX 256

/* What is looked at, by rank. */
struct still {
    struct facts_doing *before, *after;
    struct report_link *links;
};

/* The node of a rank that did not stand still when this process looked last: it is
 * asked first, so that a job that only waits for one rank asks little. */
static _Atomic int busy_node;

static bool in_region_wait(const struct facts_doing *d)
{
    return d->waits == 1 && !d->timed &&
           (d->what == WAITING_REGION || d->what == WAITING_NEWER ||
            d->what == WAITING_ANY);
}

static bool in_mpi(const struct facts_doing *d)
{
    return !d->waits && d->mpi_call && facts_in_program(d->state) &&
           runtime.options.check & OPTIONS_CHECK_DEADLOCK;
}

/* It may stand still, as far as can be told without looking at regions. */
static bool may_stand(const struct facts_doing *d)
{
    return !d->others && !d->runs &&
           (in_region_wait(d) || in_mpi(d) ||
            (!d->waits && facts_in_finalize(d->state)));
}

/* The ranks of @node into @out; false: one of them does not stand still. */
static bool look_at_node(int node, struct facts_doing *out)
{
    struct facts_doing *got = malloc(ASK_DOING_MAX * sizeof(*got));
    size_t first = 0, count = ASK_DOING_MAX;
    bool still = got != NULL;

    for (; still && count == ASK_DOING_MAX; first += count) {
        still = !ask_doing(node, first, true, got, &count);
        for (size_t i = 0; i < count && still; i++) {
            still = may_stand(&got[i]);
            if (got[i].rank >= 0 && got[i].rank < runtime.ranks)
                out[got[i].rank] = got[i];
        }
    }
    free(got);
    return still;
}

static bool look_at_ranks(struct facts_doing *out)
{
    int first = atomic_load_explicit(&busy_node, memory_order_relaxed);

    for (int r = 0; r < runtime.ranks; r++)
        out[r].rank = -1;
    if (!look_at_node(first, out))
        return false;
    for (int node = 0; node < runtime.nodes; node++)
        if (node != first && !look_at_node(node, out)) {
            atomic_store_explicit(&busy_node, node, memory_order_relaxed);
            return false;
        }
    for (int r = 0; r < runtime.ranks; r++)
        if (out[r].rank != r)
            return false;
    return true;
}

/* A rank of the job holds what @link waits for, and is not only about to. */
static bool is_held(const struct report_link *link)
{
    const struct native_look_blocker *b = &link->region.blocker;

    return link->region.status == FACTS_BLOCKED && !b->asks && b->rank >= 0 &&
           b->rank < runtime.ranks && b->rank != link->rank;
}

/* @wait, of @link's rank, is not for one of several. */
static bool one_stands(struct report_link *link, const struct facts_wait *wait)
{
    if (!wait->asked.at || wait->seen.what == WAITING_RUN)
        return false;
    link->wait = *wait;
    if (ask_about_wait(wait, false, &link->region) ||
        link->region.status == FACTS_UNKNOWN || link->region.left)
        return false;
    if (wait->seen.what == WAITING_NEWER &&
        link->region.version == wait->seen.version)
        return true;
    return is_held(link);
}

/* Each of the requests that @wait is for; the first last, which is shown. */
static bool several_stand(struct report_link *link,
                          const struct facts_wait *wait)
{
    struct facts_rank rank;

    if (wait->seen.requests > WAITING_REQUESTS)
        return false;
    for (uint32_t i = wait->seen.requests; i-- > 0;)
        if (ask_request(link->rank, i, &rank) || rank.rank < 0 ||
            rank.wait.seen.number != wait->seen.number ||
            !one_stands(link, &rank.wait))
            return false;
    link->wait = *wait;
    return true;
}

static bool region_stands(struct report_link *link,
                          const struct facts_doing *doing)
{
    struct facts_rank rank;

    if (ask_rank(link->rank, &rank) || rank.rank < 0 ||
        rank.wait.seen.number != doing->number)
        return false;
    return rank.wait.seen.what == WAITING_ANY ? several_stand(link, &rank.wait)
                                              : one_stands(link, &rank.wait);
}

/* Rank @peer has not sent the message that @link needs, or come to its call. */
static bool lacks(struct report_link *link, int32_t peer,
                  const struct waiting_need *need)
{
    struct facts_mpi mpi;

    if (ask_mpi(peer, link->rank, need->tag, false, &mpi) || mpi.rank < 0 ||
        mpi.unsure ||
        (need->count ? mpi.sent >= need->count
                     : mpi.collectives >= link->mpi.inside.collective))
        return false;
    link->need = *need;
    link->next = peer;
    return true;
}

static bool mpi_stands(struct report_link *link,
                       const struct facts_doing *doing)
{
    const struct waiting_inside *inside = &link->mpi.inside;
    const struct waiting_need none = {.count = 0};

    if (ask_mpi(link->rank, 0, 0, true, &link->mpi) || link->mpi.rank < 0 ||
        link->mpi.unsure || !inside->call || inside->number != doing->number)
        return false;
    for (uint32_t i = 0; i < inside->needs; i++)
        if (inside->need[i].count &&
            lacks(link, inside->need[i].peer, &inside->need[i]))
            return true;
    if (!inside->collective)
        return false;
    if (inside->root >= 0)
        return inside->root != link->rank && lacks(link, inside->root, &none);
    for (int32_t r = 0; r < runtime.ranks; r++)
        if (r != link->rank && lacks(link, r, &none))
            return true;
    return false;
}

static bool looks_the_same(const struct still *s)
{
    for (int r = 0; r < runtime.ranks; r++)
        if (s->before[r].number != s->after[r].number ||
            s->before[r].waits != s->after[r].waits ||
            s->before[r].mpi_call != s->after[r].mpi_call)
            return false;
    return true;
}

/* Rings of waits for holds, and for MPI, are deadlock_look()'s. */
static bool is_other_than_a_ring(const struct still *s)
{
    for (int r = 0; r < runtime.ranks; r++)
        if (s->before[r].what == WAITING_NEWER ||
            s->before[r].what == WAITING_ANY ||
            facts_in_finalize(s->before[r].state))
            return true;
    return false;
}

static bool all_stand(struct still *s)
{
    if (!look_at_ranks(s->before) || !is_other_than_a_ring(s))
        return false;
    for (int32_t r = 0; r < runtime.ranks; r++) {
        const struct facts_doing *doing = &s->before[r];
        struct report_link *link = &s->links[r];

        link->rank = r;
        if (in_region_wait(doing) ? !region_stands(link, doing)
                                  : in_mpi(doing) && !mpi_stands(link, doing))
            return false;
    }
    return look_at_ranks(s->after) && looks_the_same(s);
}

static bool is_youngest(const struct still *s)
{
    uint64_t age_us = s->links[runtime.rank].wait.age_us;

    for (int32_t r = 0; r < runtime.ranks; r++)
        if (in_region_wait(&s->before[r]) &&
            (s->links[r].wait.age_us < age_us ||
             (s->links[r].wait.age_us == age_us && r > runtime.rank)))
            return false;
    return true;
}

static int act(const struct still *s, bool late)
{
    bool ends = runtime.options.deadlock == RUNTIME_DEADLOCK_END;

    if (!is_youngest(s) && !(late && ends))
        return 0;
    if (!ends) {
        if (!ask_claim_deadlock(
                deadlock_number(s->links, (size_t)runtime.ranks)))
            return 0; /* another acquire fails */
        if (ask_claim(0, ASK_WHY_STALL))
            report_standstill(s->links, (size_t)runtime.ranks);
        return DRASYNC_EDEADLK;
    }
    if (!ask_claim(0, ASK_WHY_END))
        return 0; /* who may is about to end the job */
    report_standstill(s->links, (size_t)runtime.ranks);
    runtime_end_job();
}

int standstill_look(const struct waiting *w, bool late)
{
    size_t ranks = (size_t)runtime.ranks;
    struct still s = {.before = NULL};
    int err = 0;

    if (ranks > RANKS_MAX)
        return 0;
    s.before = calloc(2 * ranks, sizeof(*s.before));
    s.after = s.before ? s.before + ranks : NULL;
    s.links = calloc(ranks, sizeof(*s.links));
    if (s.before && s.links && all_stand(&s) &&
        s.before[runtime.rank].number == w->slot->seen.number)
        err = act(&s, late);
    free(s.links);
    free(s.before);
    return err;
}
