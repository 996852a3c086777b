/* The reports for a job: see report.h. */
#include "runtime/diagnose/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/report_state.h"
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
    size_t unread;  /* nodes that did not answer; */
    int32_t silent; /* the lowest rank of the first */
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
        if (err && !r->unread++)
            r->silent = runtime.leader_of[node];
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

/* --- The reports ---------------------------------------------------------- */

/* The @count waits from @first on are for the same.  As report_add_state(). */
static bool add_thing(struct text *text, const struct facts_wait *first,
                      size_t count)
{
    char name[DRASYNC_NAME_MAX + 1] = "";
    size_t i, lines = 0, next;

    if (waiting_names_region(&first->seen))
        ask_name(first->seen.address, name);
    for (i = 0; i < count && lines < LINES_MAX; i = next, lines++) {
        for (next = i + 1;
             next < count && same_line(&first[i].seen, &first[next].seen);)
            next++;
        text_add(text, "drasync:   ");
        add_ranks(text, first + i, next - i);
        text_add(text, " ");
        text_wait(text, &first[i].seen, name, next - i > 1);
        report_add_since(text, first + i, next - i);
        text_add(text, "\n");
    }
    if (i < count)
        text_add(text, "drasync:   and %zu more waits for it\n", count - i);
    return report_add_state(text, first, count);
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
        report_add_others(&r->text);
    if (r->unread)
        text_add(&r->text,
                 "drasync:   %zu of %d nodes do not answer, the first that of "
                 "rank %d\n",
                 r->unread, runtime.nodes, (int)r->silent);
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
    report_add_since(text, &link->wait, 1);
    text_add(text, "\ndrasync:     ");
    report_add_blocker(text, &link->wait, &link->region);
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
