/* Reports of objects: written past their end, or when freed, or freed twice. */
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* With DRASYNC_CHECK_ACTION=continue: so many reports, and places that free
 * twice. */
#define REPORTS_MAX 100

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct check_text text;

struct heap_who check_who(void)
{
    return (struct heap_who){runtime.rank, check_stack_here()};
}

/* --- Stacks of other ranks ------------------------------------------------ */

void check_add_stack(struct check_text *t, struct heap_who who, bool may_ask)
{
    char answer[CHECK_ANSWER_BYTES];
    bool there = who.rank >= 0 && who.rank < runtime.ranks, told = false;

    if (there && who.rank == runtime.rank) {
        check_lines_add(t, check_stack_of(who.stack), false);
        return;
    }
    if (there && runtime.node_of[who.rank] == runtime.node)
        told = check_ask_stack(who.rank, who.stack, answer);
    else if (there && may_ask)
        told = check_ask_stack_there(who.rank, who.stack, answer);
    check_add(t, "%s", told ? answer : "    (the stack is not known)\n");
}

/* --- One report ----------------------------------------------------------- */

static const char *found_by(const struct heap_fault *f, enum check_when when)
{
    switch (when) {
    case CHECK_AT_RELEASE:
        return "found when the region was released, here:";
    case CHECK_AT_DELETE:
        return "found when the region was deleted, here:";
    case CHECK_AT_SEND:
        return "found when the region was sent, here:";
    case CHECK_AT_END:
        return "found at the end, as the region was still held for WRITE, "
               "here:";
    case CHECK_AT_ALLOC:
        return "found when its memory was to be used again, here:";
    default:
        return f->wrong == HEAP_FREED_TWICE ? "it was freed again here:"
               : f->wrong == HEAP_WRITTEN_PAST
                   ? "found when it was freed, here:"
                   : "found when others had been "
                     "freed after it, here:";
    }
}

/* Which of its bytes, as a user counts them. */
static void add_bytes(const struct heap_fault *f)
{
    if (!f->noted)
        check_add(&text, "so far that its size is not known any more");
    else if (f->first == f->last)
        check_add(&text, "at byte %" PRIu64, f->first);
    else
        check_add(&text, "from byte %" PRIu64 " to %" PRIu64, f->first,
                  f->last);
}

static void add_object(const struct heap_fault *f)
{
    check_add(&text, "the object of %s%" PRIu64 " bytes at %p",
              f->noted ? "" : "at most ", f->bytes,
              (void *)(uintptr_t)f->object);
}

static void add_what(const struct heap_fault *f)
{
    check_add(&text, "drasync: rank %d (%s): DRASYNC_CHECK: ", runtime.rank,
              runtime.host);
    if (f->wrong == HEAP_FREED_TWICE)
        check_add(&text, "thread %d freed ", gettid());
    add_object(f);
    if (f->wrong == HEAP_POINTS_OUT) {
        check_add(&text, " has at byte %" PRIu64 " the address %p, of ",
                  f->first, (void *)(uintptr_t)f->address);
        check_add_mapping(&text, f->address);
        check_add(&text, ": other ranks do not have that there\n");
        return;
    }
    if (f->wrong == HEAP_FREED_TWICE) {
        check_add(&text, ", which was freed before\n");
        return;
    }
    check_add(&text, " was written %s, ",
              f->wrong == HEAP_WRITTEN_PAST ? "past its end"
                                            : "after it was freed");
    add_bytes(f);
    check_add(&text, "\n");
}

static void add_region(const struct check_region *region)
{
    struct check_note note;
    bool known;

    if (region->address) {
        known = check_note_of(region->address, region->incarnation, &note);
        check_add_region(&text, region->address, known ? &note : NULL);
    } else {
        check_add(&text, "region ID %u", region->rid);
    }
}

static void add_who(const char *what, struct heap_who who, bool may_ask)
{
    if (who.rank < 0) {
        check_add(&text, "it is not known who %s it: that was overwritten\n",
                  what);
        return;
    }
    check_add(&text, "rank %d had %s it here:\n", who.rank, what);
    check_add_stack(&text, who, may_ask);
}

/* Nobody can tell an end that was passed from a start that was. */
static void add_behind(const struct heap_fault *f, bool may_ask)
{
    check_add(&text,
              "or the object of %" PRIu64
              " bytes at %p, behind it, was written "
              "in front of its start\n",
              f->behind_bytes, (void *)(uintptr_t)f->behind);
    add_who("allocated", f->behind_made, may_ask);
}

/* By what a fault is known that is found again and again; UINT64_MAX: none. */
static uint64_t key_of(const struct heap_fault *f, struct heap_who who)
{
    switch (f->wrong) {
    case HEAP_FREED_TWICE:
        return (uint64_t)who.rank << 32 | who.stack;
    case HEAP_POINTS_OUT:
        /* The place that made it, as others like it will point out too. */
        return UINT64_C(1) << 63 | (uint64_t)f->made.rank << 32 | f->made.stack;
    default:
        return UINT64_MAX; /* what is written is mended, and found once */
    }
}

/* Was that said before? */
static bool said(const struct heap_fault *f, struct heap_who who)
{
    static uint64_t known[REPORTS_MAX];
    static int count;
    uint64_t key = key_of(f, who);

    for (int i = 0; i < count && key != UINT64_MAX; i++)
        if (known[i] == key)
            return true;
    if (count == REPORTS_MAX)
        return true;
    known[count++] = key;
    return false;
}

void check_objects(const struct heap_faults *faults,
                   const struct check_region *region, enum check_when when,
                   struct heap_who who, bool may_ask)
{
    bool last;
    uint64_t count =
        faults->count < HEAP_FAULTS_MAX ? faults->count : HEAP_FAULTS_MAX;
    bool told = false;

    pthread_mutex_lock(&mutex);
    for (uint64_t i = 0; i < count; i++) {
        const struct heap_fault *f = &faults->fault[i];

        if (said(f, who))
            continue;
        told = true;
        text.used = 0;
        add_what(f);
        add_region(region);
        check_add(&text, "\n%s\n", found_by(f, when));
        check_add_stack(&text, who, may_ask);
        if (f->wrong == HEAP_WRITTEN_FREED || f->wrong == HEAP_FREED_TWICE)
            add_who("freed", f->freed, may_ask);
        add_who("allocated", f->made, may_ask);
        if (f->behind)
            add_behind(f, may_ask);
        last = check_add_last(&text);
        check_print(&text);
        if (last)
            runtime_end_job();
    }
    if (told && count < faults->count) {
        text.used = 0;
        add_region(region);
        runtime_say("DRASYNC_CHECK: and %" PRIu64 " more objects of %s",
                    faults->count - count, text.bytes);
    }
    pthread_mutex_unlock(&mutex);
}
