/* What is left at the end of the job: holds and regions, by who made them. */
#include <inttypes.h>

#include "runtime/check/state.h"
#include "runtime/process.h"

/* Places that are named; of more only the number is said. */
#define PLACES_MAX 20

/* Notes of one place, as they come in order of stacks. */
struct leak {
    struct check_text text;
    struct check_done done;
    struct check_note note; /* of the first one */
    uint64_t count, places, untold;
    bool holds; /* it is holds that are looked for; else regions */
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
    check_add(text, "%" PRIu64 " not %s, the first %s", leak->count,
              leak->holds ? "released" : "deleted", leak->holds ? "of " : "");
    check_add_region(text, leak->note.address, &leak->note);
    if (leak->holds)
        check_add(text, ", taken for %s by thread %d:\n",
                  leak->done.mode == DRASYNC_WRITE ? "WRITE" : "READ",
                  leak->done.thread);
    else
        check_add(text, ", made by thread %d:\n", leak->done.thread);
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
    if (!leak->holds && made->thread)
        add(leak, made, note);
    for (uint32_t i = 0; leak->holds && i < note->holds && i < CHECK_OPEN_MAX;
         i++)
        if (!is_ownership(note, &note->open[i]))
            add(leak, &note->open[i], note);
}

static void look_for(bool holds)
{
    static struct leak leak;

    leak = (struct leak){.holds = holds};
    check_add(&leak.text,
              "drasync: rank %d (%s): DRASYNC_CHECK: %s are left at the end\n",
              runtime.rank, runtime.host,
              holds ? "holds that were not released"
                    : "regions that were not deleted");
    check_notes_each(each, &leak);
    tell(&leak);
    if (leak.untold)
        check_add(&leak.text, "and %" PRIu64 " of %" PRIu64 " more places\n",
                  leak.untold, leak.places - PLACES_MAX);
    if (leak.places)
        check_print(&leak.text);
}

void check_leaks(void)
{
    look_for(true);
    look_for(false);
}
