/* DRASYNC_CHECK in move mode: pages of what was handed over are barred. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fronts/myrmics_move.h"
#include "runtime/native/native.h"

/*
 * DRASYNC_CHECK=1 with DRASYNC_MYRMICS=move: what was sent is taken out of this
 * process's reach until it comes back, and touching it ends the job with both
 * places.  The pages themselves are shared with their new owner; only this
 * process's mapping forbids them.
 */

#define FRAMES_MAX 12

struct barred {
    uint64_t first, pages;
    uint32_t rid;
    const char *file;
    int line, to;
};

static struct barred *barred;
static size_t barred_count, barred_room;
static const struct replica_job *job;
static struct sigaction before;

static void *address_of(uint64_t page)
{
    return job->base + (page << 12);
}

static struct barred *find(uint64_t page)
{
    for (size_t i = 0; i < barred_count; i++)
        if (page - barred[i].first < barred[i].pages)
            return &barred[i];
    return NULL;
}

/* Its region has come back, or is gone. */
static void allow(struct barred *b)
{
    mprotect(address_of(b->first), b->pages << 12, PROT_READ | PROT_WRITE);
    *b = barred[--barred_count];
}

/* Its pages may be those of a region that this worker owns by now. */
static int is_mine(const void *address)
{
    struct move_region *region;
    const void *page = (const void *)((uintptr_t)address & ~(uintptr_t)4095);

    return move_region_of(page, &region) == 0;
}

static void backtrace(ucontext_t *where)
{
    unw_cursor_t cursor;

    if (unw_init_local2(&cursor, where, UNW_INIT_SIGNAL_FRAME))
        return;
    for (int i = 0; i < FRAMES_MAX; i++) {
        unw_word_t at, offset = 0;
        char name[100] = "?", line[200];
        int length;

        unw_get_reg(&cursor, UNW_REG_IP, &at);
        if (unw_get_proc_name(&cursor, name, sizeof(name), &offset))
            offset = 0;
        length = snprintf(line, sizeof(line), "  touched in %s+0x%lx [0x%lx]\n",
                          name, (unsigned long)offset, (unsigned long)at);
        if (write(STDERR_FILENO, line, (size_t)length) < 0)
            return;
        if (unw_step(&cursor) <= 0)
            return;
    }
}

/* What is said of @page, if it is this process's to touch no more: *@out, and
 * true. */
static bool is_barred(uint64_t page, const void *address, struct barred *out)
{
    bool by_library = move_locked(), mine;
    struct barred *what;

    if (!by_library)
        move_lock();
    what = page < job->pages ? find(page) : NULL;
    mine = what && (by_library || is_mine(address));
    if (mine)
        allow(what);
    else if (what)
        *out = *what;
    else
        /* Not ours: once more, with whoever was there before us. */
        sigaction(SIGSEGV, &before, NULL);
    if (!by_library)
        move_unlock();
    return what && !mine;
}

/*
 * A page that was sent may be this worker's again without having been received:
 * if the receiver freed the region, it may be given to one that this worker
 * makes, or gets.  A call of this mode touches nothing else, so what it touches
 * is such a page.
 */
static void touched(int signal, siginfo_t *info, void *context)
{
    uint64_t page = (uint64_t)((char *)info->si_addr - job->base) >> 12;
    struct barred what;

    (void)signal;
    if (!is_barred(page, info->si_addr, &what))
        return;
    backtrace(context);
    myrmics_fail(what.file, what.line,
                 "%p in region ID %u was touched after the region was sent to "
                 "worker %d",
                 info->si_addr, what.rid, what.to);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = touched,
                               .sa_flags = SA_SIGINFO | SA_NODEFER};

    replica_enter(&job);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}

/* The pages are those of no other region: what was noted of them is void. */
static void bar(void *arg, uint64_t first, uint64_t pages)
{
    const struct move_region *region = arg;

    for (size_t i = barred_count; i-- > 0;)
        if (barred[i].first < first + pages &&
            first < barred[i].first + barred[i].pages)
            allow(&barred[i]);
    if (barred_count == barred_room) {
        size_t room = barred_room ? barred_room * 2 : 64;
        struct barred *more = realloc(barred, room * sizeof(*more));

        if (!more)
            return; /* not checked, then */
        barred = more;
        barred_room = room;
    }
    barred[barred_count++] = (struct barred){
        .first = first,
        .pages = pages,
        .rid = region->rid,
        .file = region->sent_file,
        .line = region->sent_line,
        .to = region->sent_to,
    };
}

void check_sent(struct move_region *region)
{
    if (!job)
        install();
    check_back(region);
    native_region_pages(region->handle, bar, region);
}

void check_gone(const struct move_region *region)
{
    for (size_t i = 0; i < barred_count; i++)
        if (barred[i].rid == region->rid)
            mprotect(address_of(barred[i].first), barred[i].pages << 12,
                     PROT_NONE);
}

void check_back(const struct move_region *region)
{
    for (size_t i = barred_count; i-- > 0;)
        if (barred[i].rid == region->rid)
            allow(&barred[i]);
}
