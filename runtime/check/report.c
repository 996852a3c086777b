/* Reports: what was touched, by whom, and what was done with the region. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* With DRASYNC_CHECK_ACTION=continue: reports, and places that are told
 * apart. */
#define REPORTS_MAX 100

static struct check_text text;
static _Atomic bool reported;

bool check_reported(void)
{
    return reported;
}

void check_add(struct check_text *t, const char *format, ...)
{
    size_t room = sizeof(t->bytes) - t->used;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(t->bytes + t->used, room, format, args);
    va_end(args);
    if (length > 0)
        t->used += (size_t)length < room ? (size_t)length : room - 1;
}

void check_print(const struct check_text *t)
{
    for (size_t done = 0; done < t->used;) {
        ssize_t n = write(STDERR_FILENO, t->bytes + done, t->used - done);

        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return;
        done += n > 0 ? (size_t)n : 0;
    }
}

bool check_add_last(struct check_text *t)
{
    bool last = runtime.options.check_action == OPTIONS_CHECK_END;

    if (last)
        check_add(t, "the job ends with this; DRASYNC_CHECK_ACTION=continue "
                     "goes on\n");
    return last;
}

void check_add_region(struct check_text *t, uint64_t address,
                      const struct check_note *note)
{
    if (note && note->numbered)
        check_add(t, "region ID %u", note->rid);
    else
        check_add(t, "region %p", (void *)(uintptr_t)address);
    if (note && note->name[0])
        check_add(t, " \"%s\"", note->name);
}

static const char *mode_name(int mode)
{
    return mode == DRASYNC_WRITE ? "WRITE" : "READ";
}

static const char *verb_of(int mode)
{
    return mode == DRASYNC_WRITE  ? "wrote to"
           : mode == DRASYNC_READ ? "read"
                                  : "touched";
}

/* --- What a rank did ------------------------------------------------------ */

static void add_done(struct check_text *t, const char *what,
                     const struct check_done *done)
{
    check_add(t, "%s by its thread %d:\n", what, done->thread);
    check_lines_add(t, check_stack_of(done->stack), false);
}

/* Its hold, or the one that it had. */
static void add_hold(struct check_text *t, const struct check_note *note,
                     int held)
{
    const struct check_done *took = &note->done[CHECK_TOOK];
    const struct check_done *gave = &note->done[CHECK_GAVE];
    char what[100];

    if (held && !note->holds)
        return; /* it is covered by one of a region above */
    if (!took->thread)
        took = &note->done[CHECK_MADE];
    if (held && took->thread) {
        snprintf(what, sizeof(what), "  taken for %s", mode_name(held));
        add_done(t, what, took);
    } else if (!held && gave->thread) {
        snprintf(what, sizeof(what), "  its hold for %s was given %s",
                 mode_name(gave->mode),
                 gave->given ? "to another rank" : "back");
        add_done(t, what, gave);
    }
}

void check_add_taken(struct check_text *t, uint64_t region)
{
    struct check_place place = {0};
    struct check_note note;

    check_hooks.look((void *)(uintptr_t)region, 0, &place);
    if (check_note_of(region, place.incarnation, &note))
        add_hold(t, &note, place.held ? place.held : DRASYNC_READ);
}

/* --- Who else has it ------------------------------------------------------ */

static void add_holder(struct check_text *t, uint64_t region, int rank,
                       int mode)
{
    char answer[CHECK_ANSWER_BYTES];

    if (rank >= runtime.ranks && mode == DRASYNC_READ) {
        check_add(t, "rank %d saves it\n", rank % runtime.ranks);
        return;
    }
    if (rank >= runtime.ranks) {
        check_add(t, "node %d runs a function on it for another node\n",
                  runtime.node);
        return;
    }
    check_add(t, "rank %d holds it for %s\n", rank, mode_name(mode));
    if (rank == runtime.rank)
        check_add_taken(t, region);
    else if (check_ask(rank, region, answer))
        check_add(t, "%s", answer);
    else
        check_add(t, "  and did not say in time where it took it\n");
}

/* The holders on this node but rank @but. */
static void add_holders(struct check_text *t, const struct check_place *place,
                        int but)
{
    bool any = false;

    for (uint32_t i = 0; i < place->holders && i < CHECK_HOLDERS_MAX; i++)
        if (place->holder[i].rank != but) {
            add_holder(t, place->region, place->holder[i].rank,
                       place->holder[i].mode);
            any = true;
        }
    if (place->holders > CHECK_HOLDERS_MAX)
        check_add(t, "and %u more ranks of node %d hold it\n",
                  place->holders - CHECK_HOLDERS_MAX, runtime.node);
    if (!any && place->node == runtime.node)
        check_add(t, "no other rank holds it, and node %d owns it\n",
                  runtime.node);
}

void check_add_node(struct check_text *t, uint64_t address, int but)
{
    struct check_place place = {0};
    struct check_note note;
    bool known;

    check_hooks.look((void *)(uintptr_t)address, 0, &place);
    if (!place.region) {
        check_add(t, "node %d knows no region there\n", runtime.node);
        return;
    }
    check_add(t, "node %d (%s): ", runtime.node, runtime.host);
    known = check_note_of(place.region, place.incarnation, &note);
    check_add_region(t, place.region, known ? &note : NULL);
    check_add(t, "\n");
    add_holders(t, &place, but);
    if (place.node != runtime.node)
        check_add(t, "node %d owns it\n", place.node);
}

/* What the node says that owns @f's region, or that its address comes from, if it
 * does so in time. */
static void ask_node(const struct check_fault *f,
                     const struct check_place *place)
{
    char answer[CHECK_ANSWER_BYTES];

    if (place->node < 0 || place->node == runtime.node)
        return;
    if (check_ask_node(place->node, (uintptr_t)f->address, answer))
        check_add(&text, "%s", answer);
    else
        check_add(&text,
                  "node %d, whose lowest rank is %d, owns it as far as "
                  "is known here\n",
                  place->node, runtime.leader_of[place->node]);
}

/* --- A touch -------------------------------------------------------------- */

/* What was touched. */
struct target {
    struct check_place place;
    struct check_note note; /* of the region; */
    bool noted;             /* if there is one */
    bool dead;              /* it was deleted here */
};

static void find_target(const struct check_fault *f, struct target *out)
{
    struct check_place *place = &out->place;

    memset(out, 0, sizeof(*out));
    place->node = -1;
    check_hooks.look(f->address, f->mode, place);
    if (!place->region && !place->foreign)
        out->dead = check_gone_of(space_page(&runtime.space, f->address),
                                  &place->region, &place->incarnation);
    if (place->region)
        out->noted =
            check_note_of(place->region, place->incarnation, &out->note);
}

static void add_rule(const struct target *at, const struct check_fault *f)
{
    const struct check_place *place = &at->place;
    const struct check_note *note = &at->note;

    if (!place->region)
        check_add(&text, "which is in no region that this node knows: no rank "
                         "of it has acquired it, or it was deleted\n");
    else if (at->dead)
        check_add(&text, "in a region that was deleted\n");
    else if (place->held)
        check_add(&text, "in a region that it holds for READ: release that, "
                         "and acquire it for WRITE\n");
    else if (at->noted && note->file)
        check_add(&text,
                  "in region ID %u, which was sent to worker %d at %s:%d and "
                  "not received again\n",
                  note->rid, note->to, note->file, note->line);
    else if (at->noted && note->done[CHECK_GAVE].given)
        check_add(&text,
                  "in a region that it has given to another rank: do that "
                  "before, or acquire it for %s once that has released it\n",
                  mode_name(f->mode));
    else if (at->noted && note->done[CHECK_GAVE].thread)
        check_add(&text,
                  "in a region that it has released: acquire it for %s first\n",
                  mode_name(f->mode));
    else if (runtime.options.myrmics == RUNTIME_MYRMICS_MOVE)
        check_add(&text,
                  "in a region that this worker neither made nor received\n");
    else
        check_add(&text,
                  "in a region that it does not hold: acquire it for "
                  "%s first\n",
                  mode_name(f->mode));
}

static void add_region(const struct target *at, const struct check_fault *f)
{
    const struct check_place *place = &at->place;
    uint64_t address = (uintptr_t)f->address;

    if (!place->region)
        return;
    check_add_region(&text, place->region, at->noted ? &at->note : NULL);
    if (place->object)
        check_add(&text,
                  ", byte %" PRIu64 " of the object of %" PRIu64 " bytes at %p",
                  address - place->object, place->object_bytes,
                  (void *)(uintptr_t)place->object);
    check_add(&text, "\n");
}

static void add_history(const struct target *at)
{
    const struct check_note *note = &at->note;

    if (!at->place.region)
        return;
    if (at->noted && note->done[CHECK_MADE].thread)
        add_done(&text, "this rank made it,", &note->done[CHECK_MADE]);
    if (at->dead) {
        add_done(&text, "this rank deleted it,", &note->done[CHECK_DELETED]);
        return;
    }
    check_add(&text, at->place.held ? "this rank holds it for READ\n"
                                    : "this rank has no hold on it\n");
    if (at->noted)
        add_hold(&text, note, at->place.held);
    add_holders(&text, &at->place, runtime.rank);
}

/* Was the same said before? */
static bool said(uint64_t region, void *at)
{
    static struct {
        uint64_t region;
        void *at;
    } known[REPORTS_MAX];
    static int count;

    for (int i = 0; i < count; i++)
        if (known[i].region == region && known[i].at == at)
            return true;
    if (count == REPORTS_MAX)
        return true;
    known[count].region = region;
    known[count++].at = at;
    return false;
}

/* The page is the program's until the next call changes its rights. */
static enum check_verdict go_on(const struct check_fault *f)
{
    check_allow(space_page(&runtime.space, f->address), 1, DRASYNC_WRITE);
    return CHECK_RETRY;
}

enum check_verdict check_report(const struct check_fault *f)
{
    static struct check_stack stack;
    static struct target at;
    bool last = runtime.options.check_action == OPTIONS_CHECK_END;

    reported = false;
    find_target(f, &at);
    if (at.place.foreign)
        return go_on(f);
    if (!at.dead && at.place.held &&
        (at.place.held == DRASYNC_WRITE || f->mode == DRASYNC_READ))
        return CHECK_RETRY; /* it is in order: the mapping follows by now */
    check_stack_at(f->context, &stack);
    if (said(at.place.region, stack.frames ? stack.frame[0] : NULL) && !last)
        return go_on(f);
    text.used = 0;
    check_add(&text, "drasync: rank %d (%s): DRASYNC_CHECK: thread %d %s %p, ",
              runtime.rank, runtime.host, f->thread, verb_of(f->mode),
              f->address);
    add_rule(&at, f);
    add_region(&at, f);
    check_add(&text, "it was %s here:\n",
              f->mode == DRASYNC_WRITE  ? "written"
              : f->mode == DRASYNC_READ ? "read"
                                        : "touched");
    check_lines_add(&text, &stack, true);
    add_history(&at);
    check_print(&text);
    reported = true;
    /* Apart, since the thread that waits may be in the way of messages. */
    text.used = 0;
    if (!at.dead)
        ask_node(f, &at.place);
    check_add_last(&text);
    check_print(&text);
    if (last)
        runtime_told();
    return last ? CHECK_END : go_on(f);
}
