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

/* The ring that this rank's wait @number is in, at @links, with the holds' places if
 * @places; how many they are, or 0: there is none. */
static size_t follow(uint64_t number, bool places, struct report_link *links)
{
    struct facts_rank rank;
    size_t count = 0;

    if (ask_rank(runtime.rank, &rank))
        return 0;
    while (stands(&rank) && count < RING_MAX) {
        if (count && rank.rank == runtime.rank)
            return rank.wait.seen.number == number ? count : 0;
        for (size_t i = 1; i < count; i++)
            if (links[i].wait.seen.rank == rank.rank)
                return 0; /* a ring that this rank only leads to */
        links[count].wait = rank.wait;
        if (ask_about_wait(&rank.wait, places, &links[count].region) ||
            links[count].region.status != FACTS_BLOCKED)
            return 0;
        rank = links[count++].region.rank;
    }
    return 0;
}

static bool same(const struct report_link *a, const struct report_link *b,
                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].wait.seen.rank != b[i].wait.seen.rank ||
            a[i].wait.seen.number != b[i].wait.seen.number ||
            a[i].region.blocker.rank != b[i].region.blocker.rank)
            return false;
    return true;
}

/* Is the first of them the youngest?  Of two of one age, the higher rank. */
static bool first_is_youngest(const struct report_link *links, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (links[i].wait.age_us < links[0].wait.age_us ||
            (links[i].wait.age_us == links[0].wait.age_us &&
             links[i].wait.seen.rank > links[0].wait.seen.rank))
            return false;
    return true;
}

static int act(const struct report_link *links, size_t count, bool late)
{
    bool ends = runtime.options.deadlock == RUNTIME_DEADLOCK_END;

    if (!first_is_youngest(links, count) && !(late && ends))
        return 0;
    if (!ends) {
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
    struct report_link *links = calloc(2 * RING_MAX, sizeof(*links));
    size_t count = links ? follow(number, false, links) : 0;
    int err = 0;

    if (count && follow(number, true, links + RING_MAX) == count &&
        same(links, links + RING_MAX, count))
        err = act(links + RING_MAX, count, late);
    free(links);
    return err;
}
