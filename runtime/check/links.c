/* Links that are forgotten: a managed region has an address of another one, which
 * may end all the same. */
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* With DRASYNC_CHECK_ACTION=continue: so many reports, each of another link. */
#define REPORTS_MAX 100

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct check_text text;

bool check_links_wanted(uint64_t root, uint64_t incarnation)
{
    return check_hooks.links_wanted &&
           check_hooks.links_wanted(root, incarnation);
}

/* Was that link told of before?  Under the mutex. */
static bool said(const struct check_links *links, const struct check_target *t)
{
    static struct {
        uint64_t from, from_incarnation, to, to_incarnation;
    } known[REPORTS_MAX];
    static int count;

    for (int i = 0; i < count; i++)
        if (known[i].from == links->root &&
            known[i].from_incarnation == links->root_incarnation &&
            known[i].to == t->to &&
            known[i].to_incarnation == t->to_incarnation)
            return true;
    if (count == REPORTS_MAX)
        return true;
    known[count].from = links->root;
    known[count].from_incarnation = links->root_incarnation;
    known[count].to = t->to;
    known[count++].to_incarnation = t->to_incarnation;
    if (count == REPORTS_MAX)
        runtime_say("DRASYNC_CHECK: these were %d forgotten links; others of "
                    "this rank are not reported",
                    REPORTS_MAX);
    return false;
}

static void add_region(uint64_t address, uint64_t incarnation)
{
    struct check_note note;
    bool known = check_note_of(address, incarnation, &note);

    check_add_region(&text, address, known ? &note : NULL);
}

/* Where the hold began that ends. */
static void add_hold(const struct check_links *links)
{
    const struct check_done *done;
    struct check_note note;

    if (!check_note_of(links->region, links->incarnation, &note))
        return;
    done = note.holds && note.holds <= CHECK_OPEN_MAX
               ? &note.open[note.holds - 1]
               : &note.done[note.done[CHECK_TOOK].thread ? CHECK_TOOK
                                                         : CHECK_MADE];
    if (!done->thread)
        return;
    check_add(&text, "this hold of it began here, by thread %d:\n",
              done->thread);
    check_lines_add(&text, check_stack_of(done->stack), false);
}

static void add_link(const struct check_links *links,
                     const struct check_target *t)
{
    check_add(&text,
              "drasync: rank %d (%s): DRASYNC_CHECK: the object of %" PRIu64
              " bytes at %p has at byte %" PRIu64
              " the address %p, of a managed region to which its own one has "
              "no link: that region may end while this points there\n",
              runtime.rank, runtime.host, t->object_bytes,
              (void *)(uintptr_t)t->object, t->at, (void *)(uintptr_t)t->word);
    add_region(t->region, t->incarnation);
    if (t->region != links->root) {
        check_add(&text, ", below ");
        add_region(links->root, links->root_incarnation);
    }
    check_add(&text, "\nhas no link to ");
    add_region(t->to, t->to_incarnation);
    check_add(&text,
              "\ncall drasync_link(%p, %p) before such a hold ends; for a "
              "pointer that keeps nothing, drasync_weak()\n",
              (void *)(uintptr_t)links->root, (void *)(uintptr_t)t->to);
}

/* One that is forgotten.  True: the job ends with it. */
static bool report(const struct check_links *links,
                   const struct check_target *t, struct heap_who who)
{
    bool last;

    text.used = 0;
    add_link(links, t);
    check_add(&text, "found when region %p was %s, by thread %d, here:\n",
              (void *)(uintptr_t)links->region,
              links->given ? "given to another rank" : "released",
              gettid());
    check_add_stack(&text, who, true);
    add_hold(links);
    check_add(&text, "rank %d had allocated the object here:\n", t->made.rank);
    check_add_stack(&text, t->made, true);
    last = check_add_last(&text);
    check_print(&text);
    return last;
}

/* What was not looked at, once each; under the mutex. */
static void say_limits(const struct check_links *links)
{
    static bool cut, full, many;

    if (links->cut && !cut)
        runtime_say("DRASYNC_CHECK=links: of region %p, and what is below it, "
                    "only the first GiB is looked at, and so of others",
                    (void *)(uintptr_t)links->region);
    if (links->full && !full)
        runtime_say("DRASYNC_CHECK=links: region %p has addresses of more than "
                    "%d other regions, and not all are looked at; so of others",
                    (void *)(uintptr_t)links->region, CHECK_LINKS_MAX);
    if (links->many && !many)
        runtime_say("DRASYNC_CHECK=links: region %p has more links than are "
                    "looked at, so forgotten ones are not found; so of others",
                    (void *)(uintptr_t)links->root);
    cut = cut || links->cut;
    full = full || links->full;
    many = many || links->many;
}

void check_links(struct check_links *links)
{
    struct heap_who who;

    if (links->count)
        check_hooks.links(links);
    who = check_who();
    pthread_mutex_lock(&mutex);
    say_limits(links);
    for (uint32_t i = 0; i < links->count; i++) {
        const struct check_target *t = &links->target[i];

        if (t->forgotten && !said(links, t) && report(links, t, who))
            runtime_end_job();
    }
    pthread_mutex_unlock(&mutex);
}
