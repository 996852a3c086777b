/* What is left at the end of the job: holds and regions, by who made them. */
#include <inttypes.h>

#include "runtime/check/state.h"
#include "runtime/process.h"

/* Places that are named; of more only the number is said. */
#define PLACES_MAX 20

enum kind { HOLDS, REGIONS, REQUESTS, KINDS };

static const struct {
    const char *title, *missing, *done;
} words[KINDS] = {
    [HOLDS] = {"holds that were not released", "not released, the first of",
               "taken"},
    [REGIONS] = {"regions that were not deleted", "not deleted, the first",
                 "made"},
    [REQUESTS] = {"requests that nobody waited for",
                  "not waited for, the first of", "asked"},
};

/* Notes of one place, as they come in order of stacks. */
struct leak {
    struct check_text text;
    struct check_done done;
    struct check_note note; /* of the first one */
    uint64_t count, places, untold;
    uint64_t unplaced; /* holds whose places were not kept */
    enum kind kind;    /* that is looked for */
};

static void tell(struct leak *leak)
{
    struct check_text *text = &leak->text;

    if (!leak->count)
        return;
    if (leak->places++ >= PLACES_MAX) {
        leak->untold += leak->count;
        return;
    }
    check_add(text, "%" PRIu64 " %s ", leak->count, words[leak->kind].missing);
    check_add_region(text, leak->note.address, &leak->note);
    check_add(text, ", %s ", words[leak->kind].done);
    if (leak->kind != REGIONS)
        check_add(text, "for %s ",
                  leak->done.mode == DRASYNC_WRITE ? "WRITE" : "READ");
    check_add(text, "by thread %d:\n", leak->done.thread);
    check_lines_add(text, check_stack_of(leak->done.stack), false);
    leak->count = 0;
}

static void add(struct leak *leak, const struct check_done *done,
                const struct check_note *note)
{
    if (leak->count && done->stack != leak->done.stack)
        tell(leak);
    if (!leak->count++) {
        leak->done = *done;
        leak->note = *note;
    }
}

/* The hold that a Myrmics program's region came with, which it owns: no call of
 * the program gives that back, so only the region is left. */
static bool is_ownership(const struct check_note *note,
                         const struct check_done *hold)
{
    return runtime.options.myrmics == RUNTIME_MYRMICS_MOVE &&
           hold->stack == note->done[CHECK_MADE].stack;
}

static void each(const struct check_note *note, void *arg)
{
    const struct check_done *made = &note->done[CHECK_MADE];
    struct leak *leak = arg;

    if (!check_hooks.alive(note->address, note->incarnation))
        return;
    if (leak->kind == REGIONS && made->thread)
        add(leak, made, note);
    for (uint32_t i = 0;
         leak->kind == HOLDS && i < note->holds && i < CHECK_OPEN_MAX; i++)
        if (!is_ownership(note, &note->open[i]))
            add(leak, &note->open[i], note);
    if (leak->kind == HOLDS && note->holds > CHECK_OPEN_MAX)
        leak->unplaced += note->holds - CHECK_OPEN_MAX;
}

static void each_request(const struct check_request *request, void *arg)
{
    struct check_note note;

    if (!check_note_of(request->region, 0, &note))
        note = (struct check_note){.address = request->region};
    add(arg, &request->done, &note);
}

static void look_for(enum kind kind)
{
    static struct leak leak;

    leak = (struct leak){.kind = kind};
    check_add(&leak.text,
              "drasync: rank %d (%s): DRASYNC_CHECK: %s are left at the end\n",
              runtime.rank, runtime.host, words[kind].title);
    if (kind == REQUESTS)
        check_requests_each(each_request, &leak);
    else
        check_notes_each(each, &leak);
    tell(&leak);
    if (leak.untold)
        check_add(&leak.text, "and %" PRIu64 " of %" PRIu64 " more places\n",
                  leak.untold, leak.places - PLACES_MAX);
    if (leak.unplaced)
        check_add(&leak.text,
                  "and %" PRIu64 " more of regions that this rank holds more "
                  "than %d times\n",
                  leak.unplaced, CHECK_OPEN_MAX);
    if (leak.places)
        check_print(&leak.text);
}

void check_holds_left(void)
{
    if (runtime.options.check & OPTIONS_CHECK_LEAKS)
        look_for(HOLDS);
}

void check_leaks(void)
{
    look_for(REGIONS);
    look_for(REQUESTS);
}
