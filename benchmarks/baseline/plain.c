/*
 * Messages, timers, and every call once more in its plain spelling, for
 * programs that were compiled without the macros.
 */
#include "base.h"
#include "myrmics.h"

#include <stdarg.h>

/* --- Messages and the end of the job ------------------------------------- */

void _sys_warning(char *file, int line, char *format, ...)
{
    va_list args;

    va_start(args, format);
    bl_say("Warning", file, line, format, args);
    va_end(args);
}

void _sys_error(char *file, int line, char *format, ...)
{
    va_list args;

    va_start(args, format);
    bl_say("Error", file, line, format, args);
    va_end(args);
    bl_stop();
}

void _sys_assert(char *file, int line, int condition, char *text)
{
    if (!condition)
        bl_fail(file, line, "Assertion failed: %s", text);
}

void _sys_abort(char *file, int line)
{
    bl_fail(file, line, "Aborted");
}

/* --- Timers -------------------------------------------------------------- */

#define TICKS_PER_SECOND 1e7

static double timer_since;

static double ticks_seconds(unsigned ticks)
{
    return (double)ticks / TICKS_PER_SECOND;
}

static void busy_wait(double seconds)
{
    double since = bl_now_seconds();

    while (bl_now_seconds() - since < seconds)
        ;
}

void ar_timer_reset(void)
{
    timer_since = bl_now_seconds();
}

unsigned int ar_timer_get_cycles(void)
{
    return (unsigned int)(uint64_t)((bl_now_seconds() - timer_since) *
                                    TICKS_PER_SECOND);
}

unsigned int ar_timer_get_msec(void)
{
    return (unsigned int)(uint64_t)((bl_now_seconds() - timer_since) * 1e3);
}

void ar_timer_busy_wait_cycles(unsigned int cycles)
{
    busy_wait(ticks_seconds(cycles));
}

void ar_timer_busy_wait_msec(unsigned int msec)
{
    busy_wait((double)msec / 1e3);
}

unsigned int ar_free_timer_get_ticks(void)
{
    return (unsigned int)(uint64_t)(bl_now_seconds() * TICKS_PER_SECOND);
}

unsigned int ar_free_timer_get_cycles(void)
{
    return ar_free_timer_get_ticks();
}

/* --- The plain spelling -------------------------------------------------- */

#undef sys_ralloc
#undef sys_rfree
#undef sys_alloc
#undef sys_balloc
#undef sys_free
#undef sys_realloc
#undef sys_send
#undef sys_recv
#undef sys_barrier
#undef sys_zerostats
#undef sys_getstats
#undef sys_warning
#undef sys_error
#undef sys_assert
#undef sys_abort
#undef sys_get_worker_id
#undef sys_get_num_workers
#undef sys_get_num_schedulers
#undef sys_timer_reset
#undef sys_timer_get_cycles
#undef sys_timer_get_msec
#undef sys_timer_busy_wait_cycles
#undef sys_timer_busy_wait_msec
#undef sys_free_timer_get_ticks
#undef sys_free_timer_get_cycles

static char unknown[] = "unknown";

#define PLAIN(type, name, params, body) \
    type name params;                   \
    type name params body

PLAIN(rid_t, sys_ralloc, (rid_t parent, int level_hint),
      { return _sys_ralloc(unknown, 0, parent, level_hint); })
PLAIN(void, sys_rfree, (rid_t region), { _sys_rfree(unknown, 0, region); })
PLAIN(void *, sys_alloc, (size_t size, rid_t region),
      { return _sys_alloc(unknown, 0, size, region); })
PLAIN(void, sys_balloc,
      (size_t size, rid_t region, int num_objects, void **objects),
      { _sys_balloc(unknown, 0, size, region, num_objects, objects); })
PLAIN(void, sys_free, (void *ptr), { _sys_free(unknown, 0, ptr); })
PLAIN(void *, sys_realloc, (void *old_ptr, size_t new_size, rid_t new_region),
      { return _sys_realloc(unknown, 0, old_ptr, new_size, new_region); })
PLAIN(void, sys_send, (rid_t region, int worker),
      { _sys_send(unknown, 0, region, worker); })
PLAIN(rid_t, sys_recv, (rid_t region, int worker),
      { return _sys_recv(unknown, 0, region, worker); })
PLAIN(void, sys_barrier, (void), { _sys_barrier(unknown, 0); })
PLAIN(void, sys_zerostats, (void), { _sys_zerostats(unknown, 0); })
PLAIN(void, sys_getstats,
      (unsigned int *ss, unsigned int *su, unsigned int *sc, unsigned int *ws,
       unsigned int *wu, unsigned long *wt, unsigned long *wr, unsigned int *bs,
       unsigned int *bu),
      { _sys_getstats(unknown, 0, ss, su, sc, ws, wu, wt, wr, bs, bu); })
PLAIN(void, sys_assert, (int condition),
      { _sys_assert(unknown, 0, condition, unknown); })
PLAIN(void, sys_abort, (void), { _sys_abort(unknown, 0); })
PLAIN(int, sys_get_worker_id, (void), { return pr_get_worker_id(); })
PLAIN(int, sys_get_num_workers, (void), { return pr_get_num_workers(); })
PLAIN(int, sys_get_num_schedulers, (void), { return pr_get_num_schedulers(); })
PLAIN(void, sys_timer_reset, (void), { ar_timer_reset(); })
PLAIN(unsigned int, sys_timer_get_cycles, (void),
      { return ar_timer_get_cycles(); })
PLAIN(unsigned int, sys_timer_get_msec, (void), { return ar_timer_get_msec(); })
PLAIN(void, sys_timer_busy_wait_cycles, (unsigned int cycles),
      { ar_timer_busy_wait_cycles(cycles); })
PLAIN(void, sys_timer_busy_wait_msec, (unsigned int msec),
      { ar_timer_busy_wait_msec(msec); })
PLAIN(unsigned int, sys_free_timer_get_ticks, (void),
      { return ar_free_timer_get_ticks(); })
PLAIN(unsigned int, sys_free_timer_get_cycles, (void),
      { return ar_free_timer_get_cycles(); })

void sys_warning(char *format, ...) MYRMICS_PRINTF(1, 2);
void sys_warning(char *format, ...)
{
    va_list args;

    va_start(args, format);
    bl_say("Warning", unknown, 0, format, args);
    va_end(args);
}

void sys_error(char *format, ...) MYRMICS_PRINTF(1, 2) MYRMICS_NORETURN;
void sys_error(char *format, ...)
{
    va_list args;

    va_start(args, format);
    bl_say("Error", unknown, 0, format, args);
    va_end(args);
    bl_stop();
}
