/* What is left at the end of the job: holds and regions, by who made them. */
#include <inttypes.h>
#include <stdlib.h>

#include "memory/grow.h"
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

struct found {
    struct check_done done;
    uint64_t address, incarnation;
};

struct leak {
    struct found *found;
    size_t count, room;
    uint64_t unplaced; /* holds whose places were not kept, or had no room */
    enum kind kind;    /* that is looked for */
};

static void add(struct leak *leak, const struct check_done *done,
                uint64_t address, uint64_t incarnation)
{
    struct found *grown =
        room_for_one(leak->found, leak->count, &leak->room, sizeof(*grown));

    if (!grown) {
        leak->unplaced++;
        return;
    }
    leak->found = grown;
    grown[leak->count++] = (struct found){*done, address, incarnation};
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
    uint64_t top = note->address, incarnation = note->incarnation;
    struct leak *leak = arg;

    if (!check_hooks.top(&top, &incarnation))
        return;
    /* What is managed ends by itself: there, whoever refers to it. */
    if (leak->kind == REGIONS && made->thread &&
        !check_hooks.managed(top, incarnation))
        add(leak, made, note->address, note->incarnation);
    for (uint32_t i = 0;
         leak->kind == HOLDS && i < note->holds && i < CHECK_OPEN_MAX; i++)
        if (!is_ownership(note, &note->open[i]))
            add(leak, &note->open[i], note->address, note->incarnation);
    if (leak->kind == HOLDS && note->holds > CHECK_OPEN_MAX)
        leak->unplaced += note->holds - CHECK_OPEN_MAX;
}

static void each_request(const struct check_request *request, void *arg)
{
    add(arg, &request->done, request->region, 0);
}

/* --- What is said of it --------------------------------------------------- */

static int by_stack(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return x->done.stack < y->done.stack   ? -1
           : x->done.stack > y->done.stack ? 1
           : x->address < y->address       ? -1
                                           : x->address > y->address;
}

/* How many of @count at @found are of the place of the first. */
static size_t alike(const struct found *found, size_t count)
{
    size_t n = 1;

    while (n < count && found[n].done.stack == found[0].done.stack)
        n++;
    return n;
}

static void tell(struct check_text *text, enum kind kind,
                 const struct found *first, size_t count)
{
    struct check_note note;

    if (!check_note_of(first->address, first->incarnation, &note))
        note = (struct check_note){.address = first->address};
    check_add(text, "%zu %s ", count, words[kind].missing);
    check_add_region(text, note.address, &note);
    check_add(text, ", %s ", words[kind].done);
    if (kind != REGIONS)
        check_add(text, "for %s ",
                  first->done.mode == DRASYNC_WRITE ? "WRITE" : "READ");
    check_add(text, "by thread %d:\n", first->done.thread);
    check_lines_add(text, check_stack_of(first->done.stack), false);
}

static void tell_all(struct check_text *text, const struct leak *leak)
{
    uint64_t places = 0, untold = 0;
    size_t n;

    for (size_t i = 0; i < leak->count; i += n) {
        n = alike(&leak->found[i], leak->count - i);
        if (places++ < PLACES_MAX)
            tell(text, leak->kind, &leak->found[i], n);
        else
            untold += n;
    }
    if (untold)
        check_add(text, "and %" PRIu64 " of %" PRIu64 " more places\n", untold,
                  places - PLACES_MAX);
    if (leak->unplaced)
        check_add(text,
                  "and %" PRIu64 " more of regions that this rank holds more "
                  "than %d times\n",
                  leak->unplaced, CHECK_OPEN_MAX);
}

static void look_for(enum kind kind)
{
    static struct check_text text;
    struct leak leak = {.kind = kind};

    if (kind == REQUESTS)
        check_requests_each(each_request, &leak);
    else
        check_notes_each(each, &leak);
    text.used = 0;
    check_add(&text,
              "drasync: rank %d (%s): DRASYNC_CHECK: %s are left at the end\n",
              runtime.rank, runtime.host, words[kind].title);
    if (leak.count)
        qsort(leak.found, leak.count, sizeof(leak.found[0]), by_stack);
    tell_all(&text, &leak);
    if (leak.count)
        check_print(&text);
    free(leak.found);
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
