/*
 * Counts by page protection: an armed unit may not be touched; the fault says
 * which node came first, and opens it.  See source.h.
 */
#include "upm/source_protect.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "upm/host.h"
#include "upm/huge.h"
#include "upm/intercept.h"
#include "upm/source.h"

/*
 * A fault at an open unit, or where an area was a moment ago, may have been
 * under way when that was opened: the access is tried again.  So often at one
 * address in a row, and the fault is the program's own.
 */
#define TRIES_MAX 16

/*
 * Holds of system calls, and whether units are being armed: either sees the
 * other (both sequentially consistent), so a unit is never armed under a system
 * call that uses it.
 */
static _Atomic unsigned holds;
static _Atomic bool arming;
static _Atomic bool active; /* some unit may be armed */

/* Time in the handler.  A sum: no order is needed. */
static _Atomic uint64_t handler_ns;

static int open_protect(const char *argument, char *why, size_t why_bytes)
{
    (void)argument;
    int err = upm_intercept();
    if (err)
        snprintf(why, why_bytes, "no handler of SIGSEGV can be set (errno %d)",
                 -err);
    atomic_store(&active, !err);
    return err ? -ENOTSUP : 0;
}

static void close_protect(void)
{
    atomic_store(&active, false);
}

/* A huge page moves as a whole, and here each page goes its own way. */
static int watch(struct upm_area *area)
{
    upm_huge_split(area);
    return 0;
}

static size_t unit_bytes(const struct upm_area *area, size_t first,
                         size_t count)
{
    size_t from = first * area->unit_bytes, bytes = count * area->unit_bytes;

    return bytes < area->bytes - from ? bytes : area->bytes - from;
}

/* Async-signal-safe, as mprotect() is but a system call. */
static int allow(struct upm_area *area, size_t first, size_t count)
{
    return mprotect((void *)(area->start + first * area->unit_bytes),
                    unit_bytes(area, first, count), PROT_READ | PROT_WRITE);
}

/* Where the program has unmapped a part, a call stops at the hole: unit by unit
 * then, and page by page what is left of a unit. */
static void allow_rest(struct upm_area *area)
{
    for (size_t unit = 0; unit < area->units; unit++) {
        uintptr_t start = area->start + unit * area->unit_bytes;

        if (!allow(area, unit, 1))
            continue;
        for (size_t at = 0; at < unit_bytes(area, unit, 1);
             at += UPM_PAGE_BYTES)
            mprotect((void *)(start + at), UPM_PAGE_BYTES,
                     PROT_READ | PROT_WRITE);
    }
}

static void disarm(struct upm_area *area)
{
    if (!area->units)
        return;
    if (allow(area, 0, area->units))
        allow_rest(area);
    /* After the pages: a fault that finds its unit armed still counts. */
    for (size_t i = 0; i < area->units; i++)
        atomic_store(&area->state[i], UPM_UNIT_OPEN);
}

static void arm(struct upm_area *area, size_t first, size_t count)
{
    sigset_t all, before;

    if (!count || upm_intercept())
        return;
    /* A handler of this thread that uses a hot page in a system call would wait
     * for itself. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    atomic_store(&arming, true);
    if (!atomic_load(&holds)) {
        /* Before the pages: whoever faults finds its unit armed.  One that is
         * opened in between stays protected and open: see upm_protect_fault(). */
        for (size_t i = first; i < first + count; i++)
            atomic_store(&area->state[i], UPM_UNIT_ARMED);
        if (mprotect((void *)(area->start + first * area->unit_bytes),
                     unit_bytes(area, first, count), PROT_NONE))
            disarm(area);
    }
    atomic_store(&arming, false);
    /* As a fault while it is blocked ends the process. */
    sigdelset(&before, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Count the access, and open the unit: what was armed, or is open already. */
static bool open_unit(struct upm_area *area, uintptr_t at)
{
    size_t unit = (at - area->start) / area->unit_bytes;
    bool armed = atomic_load(&area->state[unit]) == UPM_UNIT_ARMED;

    /* Twice, if two threads come at once: each node then counts. */
    if (armed)
        upm_area_count_access(area, unit, upm_host_here());
    /* No room for another mapping: all of it at once. */
    if (allow(area, unit, 1) && errno == ENOMEM)
        allow(area, 0, area->units);
    atomic_store(&area->state[unit], UPM_UNIT_OPEN);
    return armed;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* As much again for the fault itself and the signal. */
static uint64_t spent_ns(void)
{
    return 2 * atomic_exchange_explicit(&handler_ns, 0, memory_order_relaxed);
}

bool upm_protect_fault(const siginfo_t *info)
{
    static __thread uintptr_t last __attribute__((tls_model("initial-exec")));
    static __thread unsigned tries __attribute__((tls_model("initial-exec")));
    uintptr_t at = (uintptr_t)info->si_addr;

    if (info->si_code != SEGV_ACCERR)
        return false;
    uint64_t began = now_ns();
    upm_areas_enter();
    struct upm_area *area = upm_area_find(at);
    bool armed = area && open_unit(area, at);
    upm_areas_leave();
    atomic_fetch_add_explicit(&handler_ns, now_ns() - began,
                              memory_order_relaxed);
    tries = !armed && at == last ? tries + 1 : 0;
    last = at;
    if (tries < TRIES_MAX)
        return true;
    tries = 0;
    return false;
}

/* Open what is armed of [at, end).  Is anything of it hot? */
static bool open_range(uintptr_t at, uintptr_t end)
{
    struct upm_area *area;
    bool hot = false;

    for (size_t i = 0; (area = upm_area_next(i)); i++) {
        if (at >= area->start + area->bytes || end <= area->start)
            continue;
        uintptr_t from = at > area->start ? at - area->start : 0;
        uintptr_t to = end - area->start;
        to = to < area->bytes ? to : area->bytes;
        size_t first = from / area->unit_bytes;
        size_t last = (to - 1) / area->unit_bytes;

        hot = true;
        allow(area, first, last - first + 1);
        for (size_t unit = first; unit <= last; unit++)
            atomic_store(&area->state[unit], UPM_UNIT_OPEN);
    }
    return hot;
}

bool upm_protect_hold(uintptr_t start, size_t bytes)
{
    uintptr_t end = start + bytes;
    unsigned seen;
    bool hot, busy;

    /* Relaxed: the program orders its own calls with its own threads. */
    if (!bytes || end < start ||
        !atomic_load_explicit(&active, memory_order_relaxed))
        return false;
    upm_areas_enter();
    atomic_fetch_add(&holds, 1);
    do {
        /* What was being armed before may be armed after this; who begins later
         * sees `holds`. */
        busy = atomic_load(&arming);
        seen = upm_area_changes();
        hot = open_range(start, end);
    } while (seen % 2 || seen != upm_area_changes() ||
             (hot && busy && !sched_yield()));
    if (!hot)
        atomic_fetch_sub(&holds, 1);
    upm_areas_leave();
    return hot;
}

void upm_protect_release(void)
{
    atomic_fetch_sub(&holds, 1);
}

/* The child has the protection, the handler, and no thread that arms. */
static void forked(void)
{
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i)); i++)
        disarm(area);
    atomic_store(&holds, 0); /* other threads' are gone */
    atomic_store(&arming, false);
    close_protect();
}

const struct upm_source upm_source_protect = {
    .name = "protect",
    .open = open_protect,
    .close = close_protect,
    .watch = watch,
    .unwatch = upm_huge_join,
    .arm = arm,
    .disarm = disarm,
    .rearms = true,
    .spent_ns = spent_ns,
    .forked = forked,
};
