/*
 * Handles that mean nothing any more: regions that were deleted, requests that
 * are finished; releases that fit no acquire of their thread; roots that lead out
 * of all regions; and what is to be freed and is no object.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory/space.h"
#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* Lines of that kind; more are not printed. */
#define SAID_MAX 100

/* Finished requests that are remembered; a handle is not used again. */
#define REQUESTS_MAX 256

struct request {
    const void *request;
    const char *call; /* that ended it */
    struct check_done done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct check_text text;
static struct request finished[REQUESTS_MAX];
static uint64_t finished_count;

/* Has this been said of a call here for @mode?  Under the mutex. */
static bool said(uint32_t stack, int mode)
{
    static uint64_t known[SAID_MAX];
    static int count;
    uint64_t key = (uint64_t)stack << 8 | (unsigned)mode;

    for (int i = 0; i < count; i++)
        if (known[i] == key)
            return true;
    if (count == SAID_MAX)
        return true;
    known[count++] = key;
    return false;
}

/* False: it was said before.  The mutex is held if not. */
static bool begin(uint32_t stack, int mode)
{
    pthread_mutex_lock(&mutex);
    if (said(stack, mode)) {
        pthread_mutex_unlock(&mutex);
        return false;
    }
    text.used = 0;
    check_add(&text, "drasync: rank %d (%s): DRASYNC_CHECK: thread %d ",
              runtime.rank, runtime.host, gettid());
    return true;
}

static void end(uint32_t stack)
{
    check_add(&text, "it was called here:\n");
    check_lines_add(&text, check_stack_of(stack), false);
}

static void add_done(const char *what, const struct check_done *done)
{
    if (!done->thread)
        return;
    check_add(&text, "%s by thread %d:\n", what, done->thread);
    check_lines_add(&text, check_stack_of(done->stack), false);
}

static void print(void)
{
    check_print(&text);
    pthread_mutex_unlock(&mutex);
}

/* --- Regions -------------------------------------------------------------- */

/* Where this rank got its hold of the region at @address, which is another one
 * than that of the call. */
static void add_other(const char *what, uint64_t address)
{
    struct check_note note;
    const struct check_done *done;
    char text_of[64];

    if (!address || !check_note_of(address, 0, &note))
        return;
    done = note.holds && note.holds <= CHECK_OPEN_MAX
               ? &note.open[note.holds - 1]
               : &note.done[note.done[CHECK_TOOK].thread ? CHECK_TOOK
                                                         : CHECK_MADE];
    snprintf(text_of, sizeof(text_of), "this rank took %s 0x%" PRIx64 ",", what,
             address);
    add_done(text_of, done);
}

/* The rank took no hold of @region itself: that of a region above covers it, or
 * it had one. */
static void add_through(drasync_region_t region, int err,
                        const struct check_note *note)
{
    struct check_place place = {0};

    check_hooks.look(region, 0, &place);
    if (place.through)
        add_other("region", place.through);
    else if (err == DRASYNC_ENOTHELD && note && note->done[CHECK_GAVE].thread)
        add_done(note->done[CHECK_GAVE].given
                     ? "this rank gave it to another one,"
                     : "this rank last gave back a hold of it,",
                 &note->done[CHECK_GAVE]);
}

/* Does another rank of this node hold @region still, or another node own it? */
static bool held_elsewhere(drasync_region_t region)
{
    struct check_place place = {0};

    check_hooks.look(region, 0, &place);
    if (place.region && place.node != runtime.node)
        return true;
    for (uint32_t i = 0; i < place.holders && i < CHECK_HOLDERS_MAX; i++)
        if (place.holder[i].rank != runtime.rank)
            return true;
    return place.busy || place.holders > CHECK_HOLDERS_MAX;
}

/* What is known of why @err is the answer for a region that is there. */
static void add_why(drasync_region_t region, int err,
                    const struct check_note *note)
{
    uint32_t holds = note ? note->holds : 0;
    struct check_place place = {0};

    if (err == DRASYNC_EORDER) {
        check_hooks.look(region, 0, &place);
        add_other("subregion", place.part);
    } else if (err == DRASYNC_EBUSY) {
        check_hooks.look(region, 0, &place);
        check_add_node(&text, (uintptr_t)region, runtime.rank);
        if (place.busy)
            check_add_node(&text, place.busy, runtime.rank);
        if (!held_elsewhere(region))
            check_add(&text, "who had it has given it back meanwhile: try "
                             "again\n");
    } else if ((err == DRASYNC_EUPGRADE || err == DRASYNC_ENOTHELD ||
                err == DRASYNC_ENESTED) &&
               holds && holds <= CHECK_OPEN_MAX)
        add_done("this rank took it,", &note->open[holds - 1]);
    else if (err == DRASYNC_EUPGRADE || err == DRASYNC_ENOTHELD ||
             err == DRASYNC_ENESTED)
        add_through(region, err, note);
}

static const char *what_of(drasync_region_t region, int err, bool dead)
{
    struct check_place place = {0};

    if (dead)
        return "which was deleted";
    if (err == DRASYNC_EORDER)
        return "of which this rank holds a subregion";
    switch (err) {
    case DRASYNC_EBUSY:
        return "which another rank held or waited for";
    case DRASYNC_EUPGRADE:
        return "which this rank holds for READ";
    case DRASYNC_ENESTED:
        check_hooks.look(region, 0, &place);
        return place.held ? "of which this rank has a hold"
                          : "for which this rank has another request, or had "
                            "a hold meanwhile";
    case DRASYNC_EMANAGED:
        return "which is managed, and ends by itself";
    default:
        check_hooks.look(region, 0, &place);
        return place.held == DRASYNC_READ
                   ? "which this rank holds for READ, and WRITE is needed"
                   : "which this rank does not hold";
    }
}

/* If @region is no handle, and never was one, say so, and where; true. */
static bool tell_never(const char *call, drasync_region_t region)
{
    struct check_place place = {0};
    bool outside = space_page(&runtime.space, region) == SPACE_NO_PAGE;
    uint32_t stack;

    if (!outside)
        check_hooks.look(region, 0, &place);
    if (!outside && (!place.region || place.region == (uintptr_t)region))
        return false;
    stack = check_stack_here();
    if (!begin(stack, 0))
        return true;
    if (!region)
        check_add(&text, "called %s for NULL, which is no region\n", call);
    else if (outside)
        check_add(&text,
                  "called %s for %p, which is outside of the addresses that "
                  "regions have\n",
                  call, (void *)region);
    else
        check_add(&text,
                  "called %s for %p, which lies inside of region %p, and is "
                  "not its handle\n",
                  call, (void *)region, (void *)(uintptr_t)place.region);
    end(stack);
    print();
    return true;
}

void check_refused_as(const char *call, drasync_region_t region, int err,
                      const char *what)
{
    struct check_note note;
    bool known, dead;
    uint32_t stack;

    known = check_note_of((uintptr_t)region, 0, &note);
    dead = known && note.done[CHECK_DELETED].thread;
    /* What another rank deleted may be asked for meanwhile: the error says all. */
    if (!dead && (tell_never(call, region) || err == DRASYNC_ENOREGION ||
                  err == DRASYNC_EDELETED))
        return;
    /* Who tries to delete, and is as often refused by a hold that is over at
     * once, does nothing wrong. */
    if (err == DRASYNC_EBUSY && !held_elsewhere(region))
        return;
    stack = check_stack_here();
    if (!begin(stack, 0))
        return;
    check_add(&text, "called %s for region %p, %s\n", call, (void *)region,
              what && !dead ? what : what_of(region, err, dead));
    if (known && note.name[0])
        check_add(&text, "it was named \"%s\"\n", note.name);
    end(stack);
    if (dead)
        add_done("this rank deleted it,", &note.done[CHECK_DELETED]);
    else
        add_why(region, err, known ? &note : NULL);
    print();
}

void check_refused(const char *call, drasync_region_t region, int err)
{
    if (err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED ||
        err == DRASYNC_ENOTHELD || err == DRASYNC_EUPGRADE ||
        err == DRASYNC_EBUSY || err == DRASYNC_EORDER ||
        err == DRASYNC_EMANAGED)
        check_refused_as(call, region, err, NULL);
}

void check_upgrade(const char *call, drasync_region_t region)
{
    struct check_place place = {0};

    check_hooks.look(region, 0, &place);
    if (place.held == DRASYNC_READ)
        check_refused(call, region, DRASYNC_EUPGRADE);
}

void check_nested(const char *call, drasync_region_t region)
{
    check_refused_as(call, region, DRASYNC_ENESTED, NULL);
}

void check_held_again(const char *call, drasync_region_t region)
{
    struct check_place place = {0};

    check_hooks.look(region, 0, &place);
    if (place.part)
        check_refused_as(call, region, DRASYNC_EORDER,
                         "of which this rank holds a subregion, too");
    else
        check_refused_as(call, region, DRASYNC_ENESTED,
                         "of which, or of what is above it, this rank has "
                         "another hold");
}

void check_unwritable(const char *call, drasync_region_t region, int err)
{
    struct check_place place = {0};

    check_hooks.look(region, 0, &place);
    if (place.held != DRASYNC_WRITE || place.region != (uintptr_t)region)
        check_refused(call, region, err);
}

void check_root(drasync_region_t region, const void *root)
{
    bool last;
    struct check_note note;
    uint32_t stack;

    if (!check_points_out(root))
        return;
    stack = check_stack_here();
    if (!begin(stack, 0))
        return;
    check_add(&text, "made the address %p, of ", root);
    check_add_mapping(&text, (uintptr_t)root);
    check_add(&text,
              ", the root of a region: other ranks do not have that there\n");
    check_add_region(&text, (uintptr_t)region,
                     check_note_of((uintptr_t)region, 0, &note) ? &note : NULL);
    check_add(&text, "\n");
    end(stack);
    last = check_add_last(&text);
    print();
    if (last)
        runtime_end_job();
}

void check_other_thread(uint64_t address, uint64_t incarnation,
                        enum drasync_mode mode)
{
    uint32_t stack = check_stack_here();
    struct check_note note;

    if (!begin(stack, (int)mode))
        return;
    check_add(&text,
              "that has no hold of region %p of its own gives back one for %s "
              "that another thread took\n",
              (void *)(uintptr_t)address,
              mode == DRASYNC_WRITE ? "WRITE" : "READ");
    end(stack);
    if (check_note_of(address, incarnation, &note)) {
        add_done("made", &note.done[CHECK_MADE]);
        add_done("last taken", &note.done[CHECK_TOOK]);
    }
    print();
}

/* --- Objects -------------------------------------------------------------- */

/* @place has the region, or what was deleted there has, if @gone. */
static void add_no_object(const void *ptr, const struct check_place *place,
                          bool gone)
{
    const uint64_t address = (uintptr_t)ptr;

    if (space_page(&runtime.space, ptr) == SPACE_NO_PAGE) {
        check_add(&text, ", of ");
        check_add_mapping(&text, address);
        check_add(&text, ": it is for objects of regions\n");
    } else if (gone) {
        check_add(&text, ", in a region that was deleted\n");
    } else if (place->object) {
        check_add(&text,
                  ", byte %" PRIu64 " of the object of %" PRIu64
                  " bytes at %p: pass that address\n",
                  address - place->object, place->object_bytes,
                  (void *)(uintptr_t)place->object);
    } else if (place->region == address) {
        check_add(&text, ", which is a region's handle\n");
    } else if (place->region) {
        check_add(&text, ", at which no object of its region begins\n");
    } else {
        check_add(&text, "%s\n",
                  place->foreign
                      ? ", in memory of the Myrmics or DART calls"
                      : ", which is in no region that this node knows");
    }
}

void check_no_object(const char *call, const void *ptr, int err)
{
    struct check_place place = {0};
    struct check_note note;
    bool inside = space_page(&runtime.space, ptr) != SPACE_NO_PAGE;
    bool gone = false, known;
    uint32_t stack;

    if (inside)
        check_hooks.look(ptr, 0, &place);
    if (inside && !place.region && !place.foreign)
        gone = check_gone_of(space_page(&runtime.space, ptr), &place.region,
                             &place.incarnation);
    /* What was an object and is free: its heap knows that (objects.c). */
    if (err == DRASYNC_EFREED && !gone && place.region != (uintptr_t)ptr &&
        (!place.object || place.object == (uintptr_t)ptr))
        return;
    stack = check_stack_here();
    if (!begin(stack, 0))
        return;
    check_add(&text, "called %s for %p", call, ptr);
    add_no_object(ptr, &place, gone);
    known = place.region &&
            check_note_of(place.region, place.incarnation, &note);
    if (place.region) {
        check_add_region(&text, place.region, known ? &note : NULL);
        check_add(&text, "\n");
    }
    end(stack);
    if (gone && known)
        add_done("this rank deleted it,", &note.done[CHECK_DELETED]);
    print();
}

/* --- Requests ------------------------------------------------------------- */

void check_request_ends(const char *call, const void *request)
{
    const struct request now = {
        request, call, {check_stack_here(), gettid(), 0, false}};

    check_request_gone(request);
    pthread_mutex_lock(&mutex);
    finished[finished_count++ % REQUESTS_MAX] = now;
    pthread_mutex_unlock(&mutex);
}

/* Under the mutex. */
static const struct request *find(const void *request)
{
    for (uint64_t i = 0; i < finished_count && i < REQUESTS_MAX; i++)
        if (finished[i].request == request)
            return &finished[i];
    return NULL;
}

bool check_request_valid(const char *call, const void *request)
{
    struct request copy = {0};
    const struct request *was;
    uint32_t stack;

    pthread_mutex_lock(&mutex);
    was = find(request);
    if (was)
        copy = *was;
    pthread_mutex_unlock(&mutex);
    if (!was)
        return true;
    stack = check_stack_here();
    if (!begin(stack, 0))
        return false;
    check_add(&text,
              "called %s for request %p, which is finished: this is a "
              "copy of its handle\n",
              call, request);
    end(stack);
    check_add(&text, "it ended in %s,", copy.call);
    add_done("", &copy.done);
    print();
    return false;
}
