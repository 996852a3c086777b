/*
 * Every call once more in its plain spelling, for programs that were compiled
 * with a header that has no macros; and the task calls, so that a program that
 * needs a task runtime is told so.
 */
#include "fronts/myrmics.h"
#include "include/myrmics.h"

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

/* A function with its prototype, which stands in no header. */
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

/* --- Tasks --- */

static void no_tasks(const char *file, int line, const char *call)
    __attribute__((noreturn));

static void no_tasks(const char *file, int line, const char *call)
{
    myrmics_fail(file, line,
                 "%s is not supported: this program uses Myrmics tasks, and "
                 "DRASync has regions only",
                 call);
}

/* Whatever the arguments are, the first two are the place. */
PLAIN(void, _sys_spawn, (char *file, int line, ...),
      { no_tasks(file, line, "sys_spawn"); })
PLAIN(void, _sys_wait_on, (char *file, int line, ...),
      { no_tasks(file, line, "sys_wait_on"); })
PLAIN(void, sys_spawn, (int first, ...), {
    (void)first;
    no_tasks(unknown, 0, "sys_spawn");
})
PLAIN(void, sys_wait_on, (int first, ...), {
    (void)first;
    no_tasks(unknown, 0, "sys_wait_on");
})
