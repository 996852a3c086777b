/* What is in the way of a wait, in a report: see report_state.h. */
#include "runtime/diagnose/report_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/diagnose/ask.h"
#include "runtime/process.h"

/* Ranks of a job that are sorted, and lines about them. */
#define RANKS_MAX 65536
#define LINES_MAX 16

/* --- Who is in the way ---------------------------------------------------- */

void report_add_since(struct text *text, const struct facts_wait *waits,
                      size_t count)
{
    uint64_t age_us = 0;

    for (size_t i = 0; i < count; i++)
        if (waits[i].age_us > age_us)
            age_us = waits[i].age_us;
    text_add(text, " since %lu s", (unsigned long)(age_us / 1000000));
    text_frames(text, waits->seen.frames, WAITING_FRAMES);
}

void report_add_blocker(struct text *text, const struct facts_wait *wait,
                        const struct facts_region *region)
{
    const struct native_look_blocker *b = &region->blocker;
    char other[DRASYNC_NAME_MAX + 1] = "";

    text_who(text, b->rank, b->mode);
    if (region->rank.rank >= 0)
        text_add(text, " (%s, process %d)", region->rank.host,
                 (int)region->rank.pid);
    text_add(text, b->asks ? " is taking " : " holds ");
    if (b->region == wait->seen.address) {
        text_add(text, "it");
    } else {
        ask_name(b->region, other);
        text_region(text, b->region, other);
        text_add(text, ", of the same tree,");
    }
    text_add(text, " for %s", text_mode(b->mode));
    if (!b->asks)
        text_hold(text, region->hold_age_us, &region->hold_place);
}

static void add_doing(struct text *text, const struct facts_rank *rank)
{
    char name[DRASYNC_NAME_MAX + 1] = "";

    if (rank->rank >= 0 && rank->waits) {
        if (waiting_names_region(&rank->wait.seen))
            ask_name(rank->wait.seen.address, name);
        text_wait(text, &rank->wait.seen, name, false);
        report_add_since(text, &rank->wait, 1);
    } else {
        text_doing(text, rank);
    }
}

static void add_queue(struct text *text, const struct facts_region *region)
{
    for (uint32_t i = 0; i < region->queued; i++) {
        const struct native_look_wait *q = &region->queue[i];

        text_add(text, i ? ", " : "drasync:     in its queue on node %u: ",
                 region->node);
        if (q->rank >= 0)
            text_who(text, q->rank, q->mode);
        else
            text_add(text, "a rank of node %u", q->node);
        text_add(text, " for %s", text_mode(q->mode));
    }
    if (region->queued == FACTS_QUEUE_MAX)
        text_add(text, " ...");
    if (region->queued)
        text_add(text, "\n");
}

/* True: nobody is in the way, but somebody else is to write. */
static bool add_region_state(struct text *text, const struct facts_wait *wait)
{
    bool newer = waiting_newer(&wait->seen);
    struct facts_region region;

    text_add(text, "drasync:     ");
    if (!wait->asked.at) {
        text_add(text,
                 "it is just being granted, its data is on its way, or it "
                 "waits for another request of its rank\n");
        return false;
    }
    if (ask_about_wait(wait, true, &region)) {
        text_add(text, "who holds it cannot be found out: its node does not "
                       "answer, or it is on its way between nodes\n");
        return newer;
    }
    if (region.status == FACTS_BLOCKED ||
        (region.status == FACTS_READ && wait->seen.what == WAITING_RUN)) {
        report_add_blocker(text, wait, &region);
        if (region.blocker.rank < runtime.ranks) {
            text_add(text, ", and ");
            add_doing(text, &region.rank);
        }
        text_add(text, "\n");
        if (newer)
            text_add(text,
                     "drasync:     version %" PRIu64
                     " is its newest, or being written\n",
                     region.version);
    } else if (newer) {
        text_add(text,
                 "nobody holds it for WRITE now, and version %" PRIu64
                 " is its newest\n",
                 region.version);
    } else {
        text_add(text, "nobody holds it now\n");
    }
    add_queue(text, &region);
    return newer && region.status != FACTS_BLOCKED;
}

/* Of @count waits for gifts the first for which something else is there. */
static void add_gift(struct text *text, const struct facts_wait *waits,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (waits[i].gift_from < 0)
            continue;
        text_add(text,
                 "drasync:     what rank %d gave to rank %d with tag %d is "
                 "there, and not taken\n",
                 (int)waits[i].gift_from, (int)waits[i].seen.rank,
                 (int)waits[i].gift_tag);
        return;
    }
}

/* Who is asked for the region of a call that waits for what has it. */
static void add_owner_state(struct text *text, const struct facts_wait *wait)
{
    struct facts_region region;

    if (!wait->asked.at)
        return;
    if (ask_about_wait(wait, false, &region))
        text_add(text, "drasync:     the node that has it does not answer, or "
                       "it is on its way between nodes\n");
    else
        text_add(text,
                 "drasync:     node %u has it, and answers: another one that "
                 "knows the region may not\n",
                 region.node);
}

/* Who should send, publish, or answer. */
static void add_other_state(struct text *text, const struct waiting_seen *seen)
{
    struct facts_rank rank;

    if (seen->what == WAITING_NAME)
        text_add(text, "drasync:     nobody has published it\n");
    if (seen->peer == WAITING_NOBODY ||
        (seen->what != WAITING_VERSION && seen->what != WAITING_GIFT &&
         seen->what != WAITING_CALL))
        return;
    text_add(text, "drasync:     rank %d", (int)seen->peer);
    if (ask_rank(seen->peer, &rank)) {
        text_add(text, ": its node does not answer\n");
        return;
    }
    text_add(text, " (%s, process %d) ", rank.host, (int)rank.pid);
    add_doing(text, &rank);
    text_add(text, "\n");
}

bool report_add_state(struct text *text, const struct facts_wait *waits,
                      size_t count)
{
    if (waiting_on_region(&waits->seen))
        return add_region_state(text, waits);
    if (waits->seen.what == WAITING_CALL)
        add_owner_state(text, waits);
    add_gift(text, waits, count);
    add_other_state(text, &waits->seen);
    return false;
}

/* --- What the others do --------------------------------------------------- */

struct others {
    struct facts_doing *list;
    size_t count, computing, room;
    bool all; /* there is none that is not in the list, or waits */
};

static void note_other(struct others *o, const struct facts_doing *doing)
{
    if (doing->waits)
        return;
    if (o->count < o->room) {
        o->list[o->count++] = *doing;
        o->computing += !doing->mpi_call && facts_in_program(doing->state);
    } else {
        o->all = false;
    }
}

static void gather_others(struct others *o)
{
    struct facts_doing *got = malloc(ASK_DOING_MAX * sizeof(*got));

    o->room =
        (size_t)runtime.ranks < RANKS_MAX ? (size_t)runtime.ranks : RANKS_MAX;
    o->list = malloc(o->room * sizeof(*o->list));
    o->all = got && o->list;
    for (int node = 0; got && o->list && node < runtime.nodes; node++) {
        size_t first = 0, count = ASK_DOING_MAX;

        for (; count == ASK_DOING_MAX; first += count) {
            if (ask_doing(node, first, false, got, &count))
                o->all = false;
            for (size_t i = 0; i < count; i++)
                note_other(o, &got[i]);
        }
    }
    free(got);
}

/* By what they do, then who. */
static int by_doing(const void *a, const void *b)
{
    const struct facts_doing *x = a, *y = b;

#define BY(field)             \
    if (x->field != y->field) \
    return x->field < y->field ? -1 : 1
    BY(mpi_call);
    BY(mpi_peer);
    BY(state);
    BY(rank);
#undef BY
    return 0;
}

static bool same_doing(const struct facts_doing *a, const struct facts_doing *b)
{
    return a->mpi_call == b->mpi_call && a->mpi_peer == b->mpi_peer &&
           a->state == b->state;
}

/* The @count ranks from @doing on do the same. */
static void add_alike(struct text *text, const struct facts_doing *doing,
                      size_t count)
{
    struct facts_rank whole, rank = {
                                 .rank = doing->rank,
                                 .state = doing->state,
                                 .mpi_call = doing->mpi_call,
                                 .mpi_peer = doing->mpi_peer,
                             };

    text_add(text, "drasync:     ");
    if (count == 1) {
        text_add(text, "rank %d (%s, process %d) ", (int)doing->rank,
                 ask_rank(doing->rank, &whole) ? "?" : whole.host,
                 (int)doing->pid);
    } else {
        text_ranks(text, &doing->rank, sizeof(*doing), count);
        text_add(text, ": each ");
    }
    text_doing(text, &rank);
    text_add(text, "\n");
}

void report_add_others(struct text *text)
{
    struct others o = {.list = NULL};
    size_t i = 0, next, lines = 0;

    gather_others(&o);
    if (o.count) {
        qsort(o.list, o.count, sizeof(*o.list), by_doing);
        text_add(text, "drasync:   who waits for a newer version waits for any "
                       "rank to write; the others:\n");
    }
    for (; i < o.count && lines < LINES_MAX; i = next, lines++) {
        for (next = i + 1; next < o.count && same_doing(&o.list[i], &o.list[next]);)
            next++;
        add_alike(text, &o.list[i], next - i);
    }
    if (i < o.count)
        text_add(text, "drasync:     and %zu more ranks\n", o.count - i);
    if (o.all && !o.computing)
        text_add(text, "drasync:   no rank computes: unless a limit of time or "
                       "another thread lets one go on, none ever will\n");
    free(o.list);
}
