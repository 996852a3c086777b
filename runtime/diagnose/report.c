/* The reports for a job: see report.h. */
#include "runtime/diagnose/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/others.h"
#include "runtime/diagnose/text.h"
#include "runtime/process.h"

/* Waits of a job that a report sorts; of more, it says how many. */
#define WAITS_MAX 16384

/* Of a report: regions, and lines about one region's waits. */
#define REGIONS_MAX 16
#define LINES_MAX   16

/* Of a report that somebody asked for. */
#define NODES_MAX 64

struct report {
    struct text text;
    struct facts_wait *waits;
    size_t count, room;
    size_t unread; /* nodes that did not answer */
};

static void begin(struct text *text)
{
    text_add(text, "drasync: rank %d (%s): ", runtime.rank,
             runtime.host[0] ? runtime.host : "?");
}

/* --- Who waits ------------------------------------------------------------ */

static bool room_for(struct report *r, size_t more)
{
    size_t room = r->room ? r->room : ASK_WAITS_MAX;
    struct facts_wait *grown;

    while (room < r->count + more)
        room *= 2;
    if (room > WAITS_MAX)
        return false;
    if (room == r->room)
        return true;
    grown = realloc(r->waits, room * sizeof(*grown));
    if (!grown)
        return false;
    r->waits = grown;
    r->room = room;
    return true;
}

static void gather(struct report *r)
{
    for (int node = 0; node < runtime.nodes; node++) {
        size_t first = 0, got = ASK_WAITS_MAX;
        int err = 0;

        while (got == ASK_WAITS_MAX && !err && room_for(r, ASK_WAITS_MAX)) {
            err = ask_waits(node, first, r->waits + r->count, &got);
            first += got;
            r->count += got;
        }
        r->unread += err != 0;
    }
}

/* By what they wait for, then where, then who. */
static int compare(const void *a, const void *b)
{
    const struct waiting_seen *x = &((const struct facts_wait *)a)->seen;
    const struct waiting_seen *y = &((const struct facts_wait *)b)->seen;
    int by;

#define BY(field)             \
    if (x->field != y->field) \
    return x->field < y->field ? -1 : 1
    BY(what);
    BY(address);
    BY(version);
    BY(peer);
    by = strcmp(x->name, y->name);
    if (by)
        return by;
    BY(mode);
    for (int i = 0; i < WAITING_FRAMES; i++) {
        by = strcmp(x->frames[i].object, y->frames[i].object);
        if (by)
            return by;
        BY(frames[i].offset);
    }
    BY(rank);
#undef BY
    return 0;
}

static bool same_thing(const struct waiting_seen *a,
                       const struct waiting_seen *b)
{
    return a->what == b->what && a->address == b->address &&
           a->peer == b->peer && !strcmp(a->name, b->name);
}

static bool same_line(const struct waiting_seen *a,
                      const struct waiting_seen *b)
{
    return same_thing(a, b) && a->mode == b->mode && a->version == b->version &&
           !memcmp(a->frames, b->frames, sizeof(a->frames));
}

/* "rank 1 (host, process 7)", or several, as text_ranks() has them. */
static void add_ranks(struct text *text, const struct facts_wait *waits,
                      size_t count)
{
    struct facts_rank rank;

    if (count == 1) {
        text_add(text, "rank %d", (int)waits->seen.rank);
        if (!ask_rank(waits->seen.rank, &rank) && rank.rank >= 0)
            text_add(text, " (%s, process %d)", rank.host, (int)rank.pid);
        return;
    }
    text_ranks(text, &waits->seen.rank, sizeof(*waits), count);
}

static void add_since(struct text *text, const struct facts_wait *waits,
                      size_t count)
{
    uint64_t age_us = 0;

    for (size_t i = 0; i < count; i++)
        if (waits[i].age_us > age_us)
            age_us = waits[i].age_us;
    text_add(text, " since %lu s", (unsigned long)(age_us / 1000000));
    text_frames(text, waits->seen.frames, WAITING_FRAMES);
}

/* --- Who is in the way ---------------------------------------------------- */

static void add_blocker(struct text *text, const struct facts_wait *wait,
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
        if (waiting_on_region(&rank->wait.seen))
            ask_name(rank->wait.seen.address, name);
        text_wait(text, &rank->wait.seen, name, false);
        add_since(text, &rank->wait, 1);
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
        add_blocker(text, wait, &region);
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

/* Who should send, or publish. */
static void add_other_state(struct text *text, const struct waiting_seen *seen)
{
    struct facts_rank rank;

    if (seen->what == WAITING_NAME)
        text_add(text, "drasync:     nobody has published it\n");
    if (seen->what != WAITING_VERSION &&
        (seen->what != WAITING_GIFT || seen->peer == WAITING_NOBODY))
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

/* --- The reports ---------------------------------------------------------- */

/* The @count waits from @first on are for the same.  As add_region_state(). */
static bool add_thing(struct text *text, const struct facts_wait *first,
                      size_t count)
{
    char name[DRASYNC_NAME_MAX + 1] = "";
    size_t i, lines = 0, next;

    if (waiting_on_region(&first->seen))
        ask_name(first->seen.address, name);
    for (i = 0; i < count && lines < LINES_MAX; i = next, lines++) {
        for (next = i + 1;
             next < count && same_line(&first[i].seen, &first[next].seen);)
            next++;
        text_add(text, "drasync:   ");
        add_ranks(text, first + i, next - i);
        text_add(text, " ");
        text_wait(text, &first[i].seen, name, next - i > 1);
        add_since(text, first + i, next - i);
        text_add(text, "\n");
    }
    if (i < count)
        text_add(text, "drasync:   and %zu more waits for it\n", count - i);
    if (waiting_on_region(&first->seen))
        return add_region_state(text, first);
    add_gift(text, first, count);
    add_other_state(text, &first->seen);
    return false;
}

/* @all: nobody is left to tell of. */
static void add_all(struct report *r, bool all)
{
    size_t i, next, things = 0;
    bool others = false;

    for (i = 0; i < r->count && things < REGIONS_MAX; i = next, things++) {
        for (next = i + 1; next < r->count &&
                           same_thing(&r->waits[i].seen, &r->waits[next].seen);)
            next++;
        others |= add_thing(&r->text, r->waits + i, next - i);
    }
    if (i < r->count)
        text_add(&r->text, "drasync:   and %zu more waits\n", r->count - i);
    if (others && !all)
        others_add(&r->text);
    if (r->unread)
        text_add(&r->text, "drasync:   %zu of %d nodes do not answer\n",
                 r->unread, runtime.nodes);
}

void report_stall(void)
{
    struct report r = {.count = 0};

    gather(&r);
    if (!r.count)
        return;
    qsort(r.waits, r.count, sizeof(*r.waits), compare);
    begin(&r.text);
    text_add(&r.text,
             "a wait lasts for %u s or more (DRASYNC_STALL_S); what ranks wait "
             "for:\n",
             runtime.options.stall_s);
    add_all(&r, false);
    text_say(&r.text);
    free(r.text.bytes);
    free(r.waits);
}

/* A line of ours before each of @view's. */
static void add_view(struct text *text, const char *view)
{
    while (*view) {
        size_t length = strcspn(view, "\n");

        text_add(text, "drasync:   %.*s\n", (int)length, view);
        view += length + (view[length] == '\n');
    }
}

void report_asked(void)
{
    char *view = malloc(ASK_VIEW_BYTES);
    struct report r = {.count = 0};
    int node;

    begin(&r.text);
    text_add(&r.text, "a signal asks what the job does:\n");
    for (node = 0; view && node < runtime.nodes && node < NODES_MAX; node++) {
        if (ask_view(node, view))
            text_add(&r.text, "drasync:   node %d of %d does not answer\n",
                     node, runtime.nodes);
        else
            add_view(&r.text, view);
    }
    if (node < runtime.nodes)
        text_add(&r.text, "drasync:   and %d more nodes\n",
                 runtime.nodes - node);
    gather(&r);
    if (r.count) {
        qsort(r.waits, r.count, sizeof(*r.waits), compare);
        text_add(&r.text, "drasync: what ranks wait for:\n");
        add_all(&r, false);
    }
    text_say(&r.text);
    free(r.text.bytes);
    free(r.waits);
    free(view);
}

/* A rank that waits for a region, and who has it. */
static void add_link(struct text *text, const struct report_link *link)
{
    char name[DRASYNC_NAME_MAX + 1] = "";

    ask_name(link->wait.seen.address, name);
    text_add(text, "drasync:   ");
    add_ranks(text, &link->wait, 1);
    text_add(text, " ");
    text_wait(text, &link->wait.seen, name, false);
    add_since(text, &link->wait, 1);
    text_add(text, "\ndrasync:     ");
    add_blocker(text, &link->wait, &link->region);
    text_add(text, "\n");
}

/* A rank that is inside MPI, and who must do something there. */
static void add_inside(struct text *text, const struct report_link *link)
{
    const struct waiting_inside *inside = &link->mpi.inside;
    struct facts_rank rank;

    text_add(text, "drasync:   rank %d", (int)link->rank);
    if (!ask_rank(link->rank, &rank) && rank.rank >= 0)
        text_add(text, " (%s, process %d)", rank.host, (int)rank.pid);
    text_add(text, " is inside %s", waiting_mpi_name(inside->call));
    text_frames(text, &link->mpi.place, 1);
    if (link->need.count)
        text_add(
            text,
            "\ndrasync:     rank %d has not sent it that message, with tag "
            "%d\n",
            (int)link->next, (int)link->need.tag);
    else
        text_add(text, "\ndrasync:     rank %d has not come to that call\n",
                 (int)link->next);
}

static void add_end(struct text *text)
{
    if (runtime.options.deadlock == RUNTIME_DEADLOCK_END)
        text_add(text, "drasync:   the job ends; with DRASYNC_DEADLOCK=error "
                       "the last of these acquires fails instead\n");
}

void report_deadlock(const struct report_link *links, size_t count)
{
    struct text text = {.bytes = NULL};

    begin(&text);
    text_add(&text, "deadlock: %zu ranks wait for each other in a ring:\n",
             count);
    for (size_t i = 0; i < count; i++)
        if (links[i].mpi.inside.call)
            add_inside(&text, &links[i]);
        else
            add_link(&text, &links[i]);
    add_end(&text);
    text_say(&text);
    free(text.bytes);
}

/* The ranks that are in MPI_Finalize, in a line. */
static void add_ending(struct text *text, const struct report_link *links,
                       size_t count)
{
    int32_t *ranks = malloc(count * sizeof(*ranks));
    size_t ending = 0;

    for (size_t i = 0; ranks && i < count; i++)
        if (!links[i].wait.seen.what && !links[i].mpi.inside.call)
            ranks[ending++] = links[i].rank;
    if (ending == 1) {
        text_add(text, "drasync:   rank %d is in MPI_Finalize\n",
                 (int)ranks[0]);
    } else if (ending) {
        text_add(text, "drasync:   ");
        text_ranks(text, ranks, sizeof(*ranks), ending);
        text_add(text, " are in MPI_Finalize\n");
    }
    free(ranks);
}

void report_standstill(const struct report_link *links, size_t count)
{
    struct report r = {.waits = malloc(count * sizeof(*r.waits))};

    for (size_t i = 0; r.waits && i < count; i++)
        if (links[i].wait.seen.what)
            r.waits[r.count++] = links[i].wait;
    if (r.count)
        qsort(r.waits, r.count, sizeof(*r.waits), compare);
    begin(&r.text);
    text_add(&r.text,
             "deadlock: each of all %zu ranks waits until another one writes, "
             "or goes on:\n",
             count);
    add_all(&r, true);
    for (size_t i = 0; i < count; i++)
        if (links[i].mpi.inside.call)
            add_inside(&r.text, &links[i]);
    add_ending(&r.text, links, count);
    add_end(&r.text);
    text_say(&r.text);
    free(r.text.bytes);
    free(r.waits);
}
