/* What the program's calls did with each region, and from where. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/space.h"
#include "runtime/check/state.h"
#include "runtime/process.h"

#define BUCKET_BITS 16
#define BUCKETS     (1 << BUCKET_BITS)

/* Regions that are noted; of more nothing is said but that they are there. */
#define NOTES_MAX (UINT64_C(1) << 20)

/* Runs of deleted regions that are remembered, the oldest forgotten first. */
#define GONE_MAX 4096

/* Notes of deleted regions, which go with the runs. */
#define DEAD_MAX GONE_MAX

struct gone {
    uint64_t first, pages, address, incarnation;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct check_note *bucket[BUCKETS];
static uint64_t notes_count;
static struct gone gone[GONE_MAX];
static uint64_t gone_count;
static struct gone dead[DEAD_MAX]; /* notes, by address and incarnation */
static uint64_t dead_count;

static struct check_note **place_of(uint64_t address)
{
    return &bucket[space_page_hash(address, BUCKET_BITS)];
}

/* With @incarnation 0 the latest. */
static struct check_note *find(uint64_t address, uint64_t incarnation)
{
    struct check_note *n;

    for (n = *place_of(address); n; n = n->next)
        if (n->address == address &&
            (!incarnation || n->incarnation == incarnation))
            return n;
    return NULL;
}

/* A note that can be of the region in this life.  Of what other ranks delete we
 * do not hear: an earlier life of the address has ended, and its note is free. */
static bool is_fit(const struct check_note *n, uint64_t address,
                   uint64_t incarnation)
{
    return n->address == address &&
           (n->incarnation == incarnation || !n->done[CHECK_DELETED].thread);
}

static struct check_note *enter(uint64_t address, uint64_t incarnation)
{
    struct check_note *n = find(address, incarnation);
    struct check_note *next;

    for (n = n ? n : *place_of(address); n; n = n->next)
        if (is_fit(n, address, incarnation))
            break;
    if (n && n->incarnation && n->incarnation != incarnation) {
        next = n->next;
        *n = (struct check_note){.next = next, .address = address};
    }
    if (!n) {
        n = notes_count < NOTES_MAX ? calloc(1, sizeof(*n)) : NULL;
        if (!n)
            return NULL;
        notes_count++;
        n->address = address;
        n->next = *place_of(address);
        *place_of(address) = n;
    }
    n->incarnation = incarnation;
    return n;
}

static void drop(uint64_t address, uint64_t incarnation)
{
    struct check_note **p = place_of(address), *n;

    while (*p && ((*p)->address != address || (*p)->incarnation != incarnation))
        p = &(*p)->next;
    n = *p;
    if (n) {
        *p = n->next;
        notes_count--;
        free(n);
    }
}

/* A region was deleted: the note of one deleted long ago goes. */
static void bury(uint64_t address, uint64_t incarnation)
{
    struct gone *d = &dead[dead_count++ % DEAD_MAX];

    if (d->address)
        drop(d->address, d->incarnation);
    *d = (struct gone){.address = address, .incarnation = incarnation};
}

static void open_add(struct check_note *n, const struct check_done *done)
{
    if (!done->mode)
        return;
    if (n->holds < CHECK_OPEN_MAX)
        n->open[n->holds] = *done;
    n->holds++;
}

/* A release gives back what its thread took last, or else what another did. */
static void open_end(struct check_note *n, int32_t thread)
{
    uint32_t at = n->holds - 1;

    if (!n->holds)
        return;
    n->holds--;
    if (n->holds >= CHECK_OPEN_MAX)
        return; /* the last one's place was not kept */
    while (at > 0 && n->open[at].thread != thread)
        at--;
    if (n->open[at].thread != thread)
        at = n->holds;
    memmove(n->open + at, n->open + at + 1,
            (n->holds - at) * sizeof(n->open[0]));
}

void check_event(enum check_what what, uint64_t address, uint64_t incarnation,
                 enum drasync_mode mode)
{
    const struct check_done done = {check_stack_here(), gettid(), (int)mode,
                                    what == CHECK_GIVEN};
    struct check_note *n;

    if (what == CHECK_GIVEN)
        what = CHECK_GAVE;
    pthread_mutex_lock(&mutex);
    n = enter(address, incarnation);
    if (n) {
        n->done[what] = done;
        if (what == CHECK_TOOK || what == CHECK_MADE)
            open_add(n, &done);
        else if (what == CHECK_GAVE)
            open_end(n, done.thread);
        else
            n->holds = 0;
        if (what == CHECK_TOOK)
            n->file = NULL;
        if (what == CHECK_DELETED)
            bury(address, incarnation);
    }
    pthread_mutex_unlock(&mutex);
}

void check_named(drasync_region_t region, const char *name)
{
    struct check_note *n;

    pthread_mutex_lock(&mutex);
    n = find((uintptr_t)region, 0);
    if (!n)
        n = enter((uintptr_t)region, 0);
    if (n)
        strncpy(n->name, name, DRASYNC_NAME_MAX);
    pthread_mutex_unlock(&mutex);
}

void check_numbered(drasync_region_t region, uint32_t rid)
{
    struct check_note *n;

    pthread_mutex_lock(&mutex);
    n = find((uintptr_t)region, 0);
    if (n) {
        n->numbered = true;
        n->rid = rid;
    }
    pthread_mutex_unlock(&mutex);
}

void check_sent(drasync_region_t region, uint32_t rid, int to, const char *file,
                int line)
{
    struct check_note *n;

    pthread_mutex_lock(&mutex);
    n = find((uintptr_t)region, 0);
    if (n) {
        n->rid = rid;
        n->to = to;
        n->file = file;
        n->line = line;
    }
    pthread_mutex_unlock(&mutex);
}

bool check_note_of(uint64_t address, uint64_t incarnation,
                   struct check_note *out)
{
    const struct check_note *n;

    pthread_mutex_lock(&mutex);
    n = find(address, incarnation);
    if (!n) {
        n = find(address, 0);
        if (n && n->incarnation)
            n = NULL; /* of another life */
    }
    if (n)
        *out = *n;
    pthread_mutex_unlock(&mutex);
    return n != NULL;
}

void check_gone(uint64_t first, uint64_t pages, uint64_t address,
                uint64_t incarnation)
{
    pthread_mutex_lock(&mutex);
    gone[gone_count++ % GONE_MAX] =
        (struct gone){first, pages, address, incarnation};
    pthread_mutex_unlock(&mutex);
}

bool check_gone_of(uint64_t page, uint64_t *address, uint64_t *incarnation)
{
    const struct gone *found = NULL;

    pthread_mutex_lock(&mutex);
    for (uint64_t i = 1; i <= gone_count && i <= GONE_MAX && !found; i++) {
        const struct gone *g = &gone[(gone_count - i) % GONE_MAX];

        if (page - g->first < g->pages)
            found = g;
    }
    if (found) {
        *address = found->address;
        *incarnation = found->incarnation;
    }
    pthread_mutex_unlock(&mutex);
    return found != NULL;
}

void check_notes_each(void (*each)(const struct check_note *note, void *arg),
                      void *arg)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BUCKETS; i++)
        for (const struct check_note *at = bucket[i]; at; at = at->next)
            each(at, arg);
    pthread_mutex_unlock(&mutex);
}
