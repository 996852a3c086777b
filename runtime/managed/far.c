/* Circles over all nodes: found (far_look.c), held, and deleted.  See far.h. */
#include "runtime/managed/far.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/death.h"
#include "runtime/managed/state.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* Acquires under way. */
#define TAKES_MAX 256

/* So long what is refused is asked for again: a READ at another node may be over,
 * and not known to be (native_delete() waits for that, too). */
#define AGAIN_US     20000
#define AGAIN_NAP_NS 200000

/* How often node 0 is asked whether another search is over. */
#define ELECT_NS 100000

/* What is to be done to an entry at a node. */
struct step {
    int node;
    bool live;
    struct far_item item;
    struct refs_seen *seen;
};

/* A part, and the hold that this rank has. */
struct taken {
    drasync_request_t request; /* under way */
    bool asked, refused, held, gone;
};

struct work {
    struct far_search search;
    struct step *steps; /* by node; of the records of parts */
    size_t steps_count;
    struct taken *taken; /* [parts] */
    struct far_request request;
    _Alignas(16) char reply[FAR_REPLY_BYTES_MAX];
};

static size_t parts_of(const struct work *w)
{
    return w->search.refs.parts;
}

static const struct refs_part *part_at(const struct work *w, size_t i)
{
    return &w->search.refs.part[i];
}

static drasync_region_t region_at(const struct work *w, size_t i)
{
    return (drasync_region_t)(uintptr_t)part_at(w, i)->entry->address;
}

/* --- Questions -------------------------------------------------------------- */

static int ask(struct work *w, int node, enum far_what what, uint32_t count,
               size_t *reply_bytes_out)
{
    w->request.what = what;
    w->request.count = count;
    return managed_far_ask(node, &w->request, FAR_REQUEST_BYTES(count),
                           w->reply, sizeof(w->reply), reply_bytes_out);
}

/* What of @steps, @count, is @live, or is not: @what of each. */
static int ask_steps(struct work *w, const struct step *steps, size_t count,
                     bool live, enum far_what what)
{
    size_t i = 0, got;
    int err = 0;

    while (i < count && !err) {
        int node = steps[i].node;
        uint32_t n = 0;

        for (; i < count && steps[i].node == node && n < FAR_ITEMS_MAX; i++)
            if (steps[i].live == live)
                w->request.item[n++] = steps[i].item;
        err = n ? ask(w, node, what, n, &got) : 0;
    }
    return err;
}

/* Freeze what has not changed: steps[].seen->frozen. */
static int ask_freeze(struct work *w)
{
    size_t i = 0, got;
    int err = 0;

    while (i < w->steps_count && !err) {
        const struct step *step = &w->steps[i];
        uint32_t n = 0;

        for (; i < w->steps_count && w->steps[i].node == step->node &&
               n < FAR_ITEMS_MAX;
             i++)
            w->request.item[n++] = w->steps[i].item;
        err = ask(w, step->node, FAR_FREEZE, n, &got);
        if (!err && got != n)
            err = DRASYNC_EINTERNAL;
        for (uint32_t k = 0; k < n && !err; k++)
            step[k].seen->frozen = w->reply[k];
    }
    return err;
}

static int by_node(const void *a, const void *b)
{
    return ((const struct step *)a)->node - ((const struct step *)b)->node;
}

/* --- Who searches ----------------------------------------------------------- */

/* True: this rank; false: one that began since is over, or *err_out. */
static bool elected(struct work *w, int *err_out)
{
    const struct timespec pause = {.tv_nsec = ELECT_NS};
    const uint64_t since_us = runtime_now_us();
    struct far_elected answer = {0};
    size_t got;

    for (;;) {
        w->request.number = answer.number;
        *err_out = death_check(since_us);
        if (!*err_out)
            *err_out = ask(w, 0, FAR_ELECT, 0, &got);
        if (!*err_out && got != sizeof(answer))
            *err_out = DRASYNC_EINTERNAL;
        if (*err_out)
            return false;
        memcpy(&answer, w->reply, sizeof(answer));
        if (answer.yes || answer.over)
            return answer.yes;
        nanosleep(&pause, NULL);
    }
}

/* --- Freezing --------------------------------------------------------------- */

/* Of each record of a part that is @frozen, or is not, as far as it is known
 * which of them live. */
static void list_steps(struct work *w, bool frozen)
{
    const struct refs_search *s = &w->search.refs;
    struct step *next = w->steps;

    for (size_t i = 0; i < s->parts; i++) {
        const struct refs_found *f = refs_found_of(&s->part[i]);

        for (size_t k = f->first; k < f->first + f->count; k++) {
            const struct refs_record *r = s->seen[k].record;

            if (s->seen[k].frozen != frozen)
                continue;
            *next++ = (struct step){
                .node = s->seen[k].node,
                .live = s->seen[k].live,
                .item = {r->address, r->incarnation, r->stamp},
                .seen = &s->seen[k],
            };
        }
    }
    w->steps_count = (size_t)(next - w->steps);
    qsort(w->steps, w->steps_count, sizeof(*w->steps), by_node);
}

static int make_steps(struct work *w)
{
    const struct refs_search *s = &w->search.refs;
    size_t count = 0;

    for (size_t i = 0; i < s->parts; i++)
        count += refs_found_of(&s->part[i])->count;
    w->steps = malloc(count * sizeof(*w->steps));
    if (!w->steps)
        return DRASYNC_ENOMEM;
    list_steps(w, false);
    return 0;
}

static int freeze(struct work *w)
{
    int err = make_steps(w);

    if (err)
        return err;
    err = ask_freeze(w);
    list_steps(w, true);
    return err;
}

/* --- Holds ------------------------------------------------------------------ */

static void begin_take(struct work *w, size_t i)
{
    struct native_identity id;
    struct taken *t = &w->taken[i];
    int err;

    if (!refs_search_frozen(&w->search.refs, part_at(w, i)))
        return;
    err = native_identify(region_at(w, i), &id);
    if (!err && id.held)
        return; /* by this rank's program */
    err = native_itry(region_at(w, i), DRASYNC_WRITE, &t->request);
    t->asked = !err;
    t->refused = err == DRASYNC_EAGAIN;
    t->gone = err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED;
}

/* Deleted by somebody who did not know that it is managed, it may be another one
 * by now. */
static bool is_other(const struct work *w, size_t i)
{
    uint64_t incarnation;

    return native_incarnation(region_at(w, i), &incarnation) ||
           incarnation != part_at(w, i)->entry->incarnation;
}

static void release(struct work *w, size_t i)
{
    if (w->taken[i].held)
        native_release(region_at(w, i));
    w->taken[i].held = false;
}

static void end_take(struct work *w, size_t i)
{
    struct taken *t = &w->taken[i];
    struct native_newer none;
    int err;

    if (!t->asked)
        return;
    err = native_wait(&t->request, DRASYNC_FOREVER, &none);
    t->asked = false;
    t->held = !err;
    t->refused = err == DRASYNC_EAGAIN;
    t->gone = err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED;
    if (t->held && is_other(w, i)) {
        release(w, i);
        t->gone = true;
    }
}

/* Whom somebody has for READ at @node lives on. */
static int ask_readers(struct work *w, int node)
{
    size_t i = 0, got;
    int err = 0;

    while (i < parts_of(w) && !err) {
        size_t part[FAR_ITEMS_MAX];
        uint32_t n = 0;

        for (; i < parts_of(w) && n < FAR_ITEMS_MAX; i++) {
            if (!w->taken[i].held)
                continue;
            part[n] = i;
            w->request.item[n++] =
                (struct far_item){part_at(w, i)->entry->address,
                                  part_at(w, i)->entry->incarnation, 0};
        }
        err = n ? ask(w, node, FAR_READ, n, &got) : 0;
        if (!err && n && got != n)
            err = DRASYNC_EINTERNAL;
        for (uint32_t k = 0; k < n && !err; k++)
            if (w->reply[k])
                release(w, part[k]);
    }
    return err;
}

/* All parts, or those that were refused; true: some were now. */
static bool take_all(struct work *w, bool again)
{
    size_t parts = parts_of(w);
    bool refused = false;

    for (size_t i = 0; i < parts + TAKES_MAX; i++) {
        if (i < parts && (!again || w->taken[i].refused))
            begin_take(w, i);
        if (i >= TAKES_MAX && i - TAKES_MAX < parts) {
            end_take(w, i - TAKES_MAX);
            refused |= w->taken[i - TAKES_MAX].refused;
        }
    }
    return refused;
}

/* Hold what nobody else holds: w->search.refs.part[].taken. */
static int take(struct work *w)
{
    const struct timespec nap = {.tv_nsec = AGAIN_NAP_NS};
    uint64_t until = runtime_now_us() + AGAIN_US;
    size_t parts = parts_of(w);
    bool refused;
    int err = 0;

    w->taken = calloc(parts, sizeof(*w->taken));
    if (!w->taken)
        return DRASYNC_ENOMEM;
    refused = take_all(w, false);
    while (refused && runtime_now_us() < until) {
        runtime_glance();
        nanosleep(&nap, NULL);
        refused = take_all(w, true);
    }
    for (int node = 0; node < runtime.nodes && !err; node++)
        err = ask_readers(w, node);
    for (size_t i = 0; i < parts; i++)
        w->search.refs.part[i].taken = w->taken[i].held || w->taken[i].gone;
    return err;
}

/* --- The end ---------------------------------------------------------------- */

/* Where the home's record of part @i came from. */
static int home_of(const struct work *w, size_t i)
{
    const struct refs_seen *seen = w->search.refs.seen;
    const struct refs_found *f = refs_found_of(part_at(w, i));
    size_t k = f->first, last = f->first + f->count - 1;

    while (k < last && !seen[k].record->home)
        k++;
    return seen[k].node;
}

/* Delete the parts; @steps: for their homes, live: those that linger. */
static size_t delete_all(struct work *w, struct step *steps)
{
    size_t count = 0;

    for (size_t i = 0; i < parts_of(w); i++) {
        const struct refs_entry *e = part_at(w, i)->entry;
        int err = 0;

        if (part_at(w, i)->live) {
            release(w, i);
            continue;
        }
        if (!w->taken[i].gone)
            err = native_delete_held_once(region_at(w, i));
        if (err)
            release(w, i);
        steps[count++] = (struct step){
            .node = home_of(w, i),
            .live = err != 0,
            .item = {e->address, e->incarnation, 0},
        };
    }
    qsort(steps, count, sizeof(*steps), by_node);
    return count;
}

static int end(struct work *w)
{
    size_t count;
    int err;

    refs_search_spare(&w->search.refs);
    list_steps(w, true);
    err = ask_steps(w, w->steps, w->steps_count, true, FAR_THAW);
    if (!err)
        err = ask_steps(w, w->steps, w->steps_count, false, FAR_DOOM);
    if (!err)
        err = ask_steps(w, w->steps, w->steps_count, false, FAR_CUT);
    if (err)
        return err;
    /* There is a step of each part's home. */
    count = delete_all(w, w->steps);
    err = ask_steps(w, w->steps, count, false, FAR_GONE);
    return err ? err : ask_steps(w, w->steps, count, true, FAR_LINGER);
}

/* Frozen, but not to end after all. */
static void undo(struct work *w)
{
    for (size_t i = 0; w->taken && i < parts_of(w); i++)
        release(w, i);
    if (ask_steps(w, w->steps, w->steps_count, false, FAR_THAW))
        runtime_poison("a search for circles of regions cannot be undone");
}

static int search(struct work *w)
{
    int err = managed_far_look(&w->search);

    if (err || !parts_of(w))
        return err;
    err = freeze(w);
    if (!err)
        err = take(w);
    if (err) {
        undo(w);
        return err;
    }
    err = end(w);
    if (err)
        runtime_poison("circles of regions cannot be ended: %s",
                       drasync_strerror(err));
    return err;
}

int managed_far_circles(void)
{
    struct work *w = calloc(1, sizeof(*w));
    size_t got;
    int err, over;

    if (!w)
        return DRASYNC_ENOMEM;
    if (elected(w, &err)) {
        err = search(w);
        managed_far_forget(&w->search);
        over = ask(w, 0, FAR_OVER, 0, &got);
        err = err ? err : over;
    }
    free(w->steps);
    free(w->taken);
    free(w);
    return err;
}
