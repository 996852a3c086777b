/* Waits by their places: see waits.h. */
#include "runtime/waits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/wait.h"
#include "runtime/waiting.h"

/* Places that are told apart; more are one. */
#define PLACES_MAX 256

/* Lines that are printed; and places that are looked at for them: a function that
 * the compiler copied to several has one line in the source. */
#define LINES_MAX  8
#define LOOKED_MAX 24

struct counted {
    const void *pc; /* the program's call returns there; NULL: not known */
    uint32_t what, mode;
    int32_t peer;
    const char *call; /* of WAITING_CALL, else NULL */
    uint64_t times, total_us, longest_us;
    uint64_t address; /* of the longest */
};

void (*waiting_counter)(struct waiting *w, bool begins);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct counted places[PLACES_MAX + 1]; /* the last one: all others */
static int places_count;
static uint64_t times_all, total_all_us;

/* Under the mutex. */
static struct counted *place_for(const struct waiting *w)
{
    /* That of a gift is its tag.  The Myrmics calls, in a library of their own,
     * do not say where the program made them. */
    const uint32_t mode = w->what == WAITING_GIFT ? 0 : w->mode;
    const char *call = w->what == WAITING_CALL ? w->name : NULL;
    const int32_t peer = call ? WAITING_NOBODY : w->peer; /* any node's */
    const bool myrmics =
        w->what == WAITING_VERSION || w->what == WAITING_BARRIER;
    const void *pc = myrmics ? NULL : waiting_caller;
    struct counted *p = places;

    while (p < places + places_count &&
           (p->pc != pc || p->what != w->what || p->mode != mode ||
            p->peer != peer || p->call != call))
        p++;
    if (p == places + places_count && places_count < PLACES_MAX) {
        places_count++;
        *p = (struct counted){.pc = pc,
                              .what = w->what,
                              .mode = mode,
                              .peer = peer,
                              .call = call};
    }
    return p;
}

static void ended(const struct waiting *w, uint64_t us)
{
    pthread_mutex_lock(&mutex);
    struct counted *p = place_for(w);
    p->times++;
    p->total_us += us;
    if (us >= p->longest_us) {
        p->longest_us = us;
        p->address = w->address;
    }
    times_all++;
    total_all_us += us;
    pthread_mutex_unlock(&mutex);
}

static void count(struct waiting *w, bool begins)
{
    uint64_t now = runtime_now_us();

    if (begins)
        w->begun_us = now;
    else if (w->begun_us) /* 0: it began before anything was counted */
        ended(w, now - w->begun_us);
}

void waits_start(void)
{
    waiting_counter = count;
}

/* --- Lines ---------------------------------------------------------------- */

/* Of counts, or of lines, which begin with one. */
static int by_total(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;

    if (x->total_us != y->total_us)
        return x->total_us > y->total_us ? -1 : 1;
    return 0;
}

static const char *name_of(const struct counted *p, char text[64])
{
    switch (p->what) {
    case WAITING_REGION:
        return p->mode == DRASYNC_WRITE ? "WRITE" : "READ";
    case WAITING_NEWER:
        return p->mode == DRASYNC_WRITE ? "a newer WRITE" : "a newer READ";
    case WAITING_VERSION:
        snprintf(text, 64, "sys_recv from worker %d", p->peer);
        return text;
    case WAITING_GIFT:
        return "drasync_take";
    case WAITING_BARRIER:
        return "sys_barrier";
    case WAITING_NAME:
        return "drasync_lookup";
    case WAITING_RUN:
        return "drasync_run";
    case WAITING_ANY:
        return "drasync_wait_any";
    case WAITING_CALL:
        return p->call;
    default:
        return "other calls";
    }
}

struct line {
    struct counted sum;
    char where[PLACE_TEXT_BYTES]; /* in the program; "": not known */
};

static void find_place(const struct counted *p, char where[PLACE_TEXT_BYTES])
{
    const uint64_t pc = (uint64_t)(uintptr_t)p->pc - 1; /* the call itself */
    struct code_place place = {.offset = 0};

    where[0] = 0;
    if (!p->pc)
        return;
    places_of((int)getpid(), &pc, 1, &place);
    place_text(&place, where, PLACE_TEXT_BYTES);
}

/* Add @p to the line of @lines[*count] that says the same, or make it one. */
static void add_line(struct line *lines, int *count, const struct counted *p)
{
    struct line *l = lines;
    char where[PLACE_TEXT_BYTES];

    find_place(p, where);
    while (l < lines + *count &&
           (!where[0] || strcmp(l->where, where) || l->sum.what != p->what ||
            l->sum.mode != p->mode || l->sum.peer != p->peer ||
            l->sum.call != p->call))
        l++;
    if (l == lines + *count) {
        l->sum = *p;
        memcpy(l->where, where, sizeof(where));
        ++*count;
        return;
    }
    l->sum.times += p->times;
    l->sum.total_us += p->total_us;
    if (p->longest_us > l->sum.longest_us) {
        l->sum.longest_us = p->longest_us;
        l->sum.address = p->address;
    }
}

static void print_line(const struct line *line)
{
    const struct counted *p = &line->sum;
    char times[32] = "once", name[64], region[64] = "";

    if (p->address)
        snprintf(region, sizeof(region), " (region 0x%" PRIx64 ")", p->address);
    if (p->times > 1)
        snprintf(times, sizeof(times), "%" PRIu64 " times", p->times);
    runtime_say("waits: %.1f ms, %s, for %s%s%s; the longest %.1f ms%s",
                (double)p->total_us / 1e3, times, name_of(p, name),
                line->where[0] ? " in " : "", line->where,
                (double)p->longest_us / 1e3, region);
}

void waits_print(void)
{
    struct line *lines = malloc(LOOKED_MAX * sizeof(*lines));
    int listed, looked, count = 0;

    pthread_mutex_lock(&mutex);
    listed = places_count;
    if (places[PLACES_MAX].times)
        places[listed++] = places[PLACES_MAX];
    qsort(places, (size_t)listed, sizeof(places[0]), by_total);
    looked = !lines ? 0 : listed < LOOKED_MAX ? listed : LOOKED_MAX;
    for (int i = 0; i < looked; i++)
        add_line(lines, &count, &places[i]);
    qsort(lines, (size_t)count, sizeof(lines[0]), by_total);
    listed -= looked - count;
    runtime_say("waits: %.1f ms in all, %" PRIu64 " of them, in %d place%s%s",
                (double)total_all_us / 1e3, times_all, listed,
                listed == 1 ? "" : "s",
                listed > LINES_MAX ? "; the longest:" : "");
    for (int i = 0; i < count && i < LINES_MAX; i++)
        print_line(&lines[i]);
    pthread_mutex_unlock(&mutex);
    free(lines);
}
