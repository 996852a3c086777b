/* Threads that have waited for long: see stall.h. */
#include "runtime/diagnose/stall.h"

#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/deadlock.h"
#include "runtime/diagnose/report.h"
#include "runtime/diagnose/standstill.h"
#include "runtime/process.h"

/* After a report, none for so many times DRASYNC_STALL_S. */
#define STALL_PAUSE 10

/* So many of one process. */
#define STALLS_MAX 10

/* Between two looks for a ring: as long as the first took to come, twice as long
 * each time, to this. */
#define LOOK_PAUSE_US     200000
#define LOOK_PAUSE_US_MAX 10000000

/* With DRASYNC_CHECK=deadlock a call of MPI's may close a ring, in which nobody
 * looks. */
#define LOOK_PAUSE_CHECKED_US_MAX 2000000

static uint64_t stall_us(void)
{
    return (uint64_t)runtime.options.stall_s * 1000000;
}

static uint64_t pause_max_us(void)
{
    return runtime.options.check & OPTIONS_CHECK_DEADLOCK
               ? LOOK_PAUSE_CHECKED_US_MAX
               : LOOK_PAUSE_US_MAX;
}

static int look_for_ring(struct waiting *w, uint64_t now)
{
    bool late;
    int err = 0;

    if (runtime.options.deadlock == RUNTIME_DEADLOCK_OFF || !w->slot ||
        (w->what != WAITING_REGION && w->what != WAITING_NEWER &&
         w->what != WAITING_ANY) ||
        w->timed || now < w->look_us)
        return 0;
    if (w->pause_us < pause_max_us())
        w->pause_us = w->pause_us ? 2 * w->pause_us : LOOK_PAUSE_US;
    w->look_us = now + w->pause_us;
    late = w->pause_us > 8 * LOOK_PAUSE_US;
    if (w->what == WAITING_REGION)
        err = deadlock_look(w, late);
    return err ? err : standstill_look(w, late);
}

static void look_at_time(struct waiting *w, uint64_t now)
{
    /* This process has reported.  Node 0 knows of it, unless it does not answer,
     * which may be why threads wait.  Relaxed: one report more does no harm. */
    static _Atomic uint64_t quiet_until_us;
    static _Atomic int reports;

    if (!stall_us() || now < w->stall_us)
        return;
    w->stall_us = now + stall_us();
    if (now < atomic_load_explicit(&quiet_until_us, memory_order_relaxed) ||
        atomic_load_explicit(&reports, memory_order_relaxed) >= STALLS_MAX ||
        !ask_claim(STALL_PAUSE * stall_us(), ASK_WHY_STALL))
        return;
    atomic_store_explicit(&quiet_until_us, now + STALL_PAUSE * stall_us(),
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&reports, 1, memory_order_relaxed);
    report_stall();
}

int stall_slept(uint64_t since_us)
{
    struct waiting *inner = waiting_mine, *w = inner;
    int err;

    while (w && w->marker)
        w = w->outer;
    if (!w)
        return 0;
    if (!w->since_us) {
        w->since_us = since_us;
        w->stall_us = since_us + stall_us();
    }
    if (!w->slot)
        waiting_show(w, w->since_us);
    /* What this thread waits for meanwhile is our own affair. */
    waiting_mine = NULL;
    err = look_for_ring(w, runtime_now_us());
    if (!err)
        look_at_time(w, runtime_now_us());
    waiting_mine = inner;
    return err;
}
