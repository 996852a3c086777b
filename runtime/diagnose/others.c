/* What ranks do that wait for nothing of ours: see others.h. */
#include "runtime/diagnose/others.h"

#include <stdlib.h>

#include "runtime/diagnose/ask.h"
#include "runtime/process.h"

/* Ranks of a job that are sorted, and lines about them. */
#define RANKS_MAX 65536
#define LINES_MAX 16

struct others {
    struct facts_doing *list;
    size_t count, computing, room;
    bool all; /* there is none that is not in the list, or waits */
};

static void note(struct others *o, const struct facts_doing *doing)
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

static void gather(struct others *o)
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
                note(o, &got[i]);
        }
    }
    free(got);
}

/* By what they do, then who. */
static int compare(const void *a, const void *b)
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

static bool same(const struct facts_doing *a, const struct facts_doing *b)
{
    return a->mpi_call == b->mpi_call && a->mpi_peer == b->mpi_peer &&
           a->state == b->state;
}

/* The @count ranks from @doing on do the same. */
static void add_line(struct text *text, const struct facts_doing *doing,
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

void others_add(struct text *text)
{
    struct others o = {.list = NULL};
    size_t i = 0, next, lines = 0;

    gather(&o);
    if (o.count) {
        qsort(o.list, o.count, sizeof(*o.list), compare);
        text_add(text, "drasync:   who waits for a newer version waits for any "
                       "rank to write; the others:\n");
    }
    for (; i < o.count && lines < LINES_MAX; i = next, lines++) {
        for (next = i + 1; next < o.count && same(&o.list[i], &o.list[next]);)
            next++;
        add_line(text, &o.list[i], next - i);
    }
    if (i < o.count)
        text_add(text, "drasync:     and %zu more ranks\n", o.count - i);
    if (o.all && !o.computing)
        text_add(text, "drasync:   no rank computes: unless a limit of time or "
                       "another thread lets one go on, none ever will\n");
    free(o.list);
}
