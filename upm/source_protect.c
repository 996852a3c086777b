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

#include "upm/holds.h"
#include "upm/host.h"
#include "upm/huge.h"
#include "upm/intercept.h"
#include "upm/signals.h"
#include "upm/source.h"

/*
 * A fault at an open unit, or where an area was a moment ago, may have been
 * under way when that was opened: the access is tried again.  So often at one
 * address in a row, and the fault is the program's own.
 */
#define TRIES_MAX 16

/*
 * Whether units are being armed, beside the holds of system calls: either sees
 * the other (both sequentially consistent), so a unit is never armed under a
 * system call that uses it.
 */
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

/* The first unit from @unit on, below @end, of which a system call uses a part;
 * @end if there is none.  *after: the one behind what it uses. */
static size_t next_held(const struct upm_area *area, size_t unit, size_t end,
                        size_t *after)
{
    size_t found = end;

    *after = end;
    for (unsigned i = 0; i < UPM_HOLDS_MAX; i++) {
        uintptr_t from, to;

        if (!upm_held_range(i, &from, &to) || to <= area->start ||
            from >= area->start + area->bytes)
            continue;
        from = from > area->start ? from - area->start : 0;
        size_t first = from / area->unit_bytes;
        size_t behind = (to - 1 - area->start) / area->unit_bytes + 1;
        first = first > unit ? first : unit;
        if (behind <= unit || first >= found)
            continue;
        found = first;
        *after = behind;
    }
    return found;
}

/* False: the kernel has no room for another mapping. */
static bool arm_run(struct upm_area *area, size_t first, size_t end)
{
    /* Before the pages: whoever faults finds its unit armed.  One that is
     * opened in between stays protected and open: see upm_protect_fault(). */
    for (size_t i = first; i < end; i++)
        atomic_store(&area->state[i], UPM_UNIT_ARMED);
    return first == end ||
           !mprotect((void *)(area->start + first * area->unit_bytes),
                     unit_bytes(area, first, end - first), PROT_NONE);
}

static void arm(struct upm_area *area, size_t first, size_t count)
{
    size_t end = first + count, held, after;
    sigset_t before;

    if (!count || upm_intercept())
        return;
    /* A handler of this thread that uses a hot page in a system call would wait
     * for itself. */
    upm_signals_block(&before);
    atomic_store(&arming, true);
    for (; first < end && !upm_all_is_held(); first = after) {
        held = next_held(area, first, end, &after);
        if (!arm_run(area, first, held)) {
            disarm(area);
            break;
        }
    }
    atomic_store(&arming, false);
    upm_signals_restore(&before);
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

/* Open what the caller holds, [at, end), until none of it can be armed.  Is
 * anything of it hot? */
static bool open_held(uintptr_t at, uintptr_t end)
{
    unsigned seen;
    bool hot, busy;

    do {
        /* What was being armed before may be armed after this; who begins later
         * sees the hold. */
        busy = atomic_load(&arming);
        seen = upm_area_changes();
        hot = open_range(at, end);
    } while (seen % 2 || seen != upm_area_changes() ||
             (hot && busy && !sched_yield()));
    return hot;
}

/* Relaxed: the program orders its own calls with its own threads. */
static bool is_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed);
}

unsigned upm_protect_hold(uintptr_t start, size_t bytes)
{
    uintptr_t end = start + bytes;
    sigset_t before;
    unsigned hold;

    if (!bytes || end < start || !is_active())
        return 0;
    /* A handler that jumps away would leave this half done. */
    upm_signals_block(&before);
    upm_areas_enter();
    hold = upm_hold_begin(start, end);
    if (!open_held(start, end)) {
        upm_hold_end(hold);
        hold = 0;
    }
    upm_areas_leave();
    upm_signals_restore(&before);
    return hold;
}

unsigned upm_protect_hold_all(void)
{
    sigset_t before;
    unsigned hold;

    upm_signals_block(&before);
    upm_areas_enter();
    hold = upm_hold_all();
    if (is_active())
        open_held(0, UINTPTR_MAX);
    upm_areas_leave();
    upm_signals_restore(&before);
    return hold;
}

void upm_protect_release(unsigned hold)
{
    if (hold)
        upm_hold_end(hold);
}

/* The child has the protection, the handler, and no thread that arms. */
static void forked(void)
{
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i)); i++)
        disarm(area);
    upm_holds_forked();
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
