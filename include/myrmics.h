/*
 * myrmics.h - the calls of the stand-alone Myrmics region allocator, as
 * message-passing region programs use them.
 *
 * One header for two libraries that give the same calls: libmyrmics.so, the
 * plain message-passing baseline, and libdrasync_shim.so, which takes the calls
 * over when it is preloaded.  A program compiled once runs on both.
 *
 * The sys_*() macros add the place of the call, so that an error can name it; a
 * compiled program holds undefined symbols with a leading underscore.  Both
 * spellings are exported by both libraries.
 *
 * What a program may count on:
 *   - any worker allocates in any region at any time, makes subregions of any
 *     region, frees any object it can name and any region; addresses are unique
 *     across workers, and a freed region is gone for all;
 *   - data is per worker: sys_send() sends a copy of the sender's data as it is
 *     now, and neither side sees the other's later writes;
 *   - sends do not wait for receives; matching is per pair of workers, in order.
 *
 * Errors end the job, after a line with the file and line of the call, what was
 * wrong, and the rank.  All calls may be made from several threads of a
 * process only if MPI gives MPI_THREAD_MULTIPLE.  After the DRASync paper
 * (sec. 4) and the published Myrmics runtime's interface.
 */
#ifndef MYRMICS_H
#define MYRMICS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A region's number.  0 names the root region, which always exists. */
typedef unsigned int rid_t;

/* Regions. */
rid_t _sys_ralloc(char *file, int line, rid_t parent, int level_hint);
void _sys_rfree(char *file, int line, rid_t region);

/* Objects: aligned to 64 bytes.  Sizes in bytes, 64-bit throughout. */
void *_sys_alloc(char *file, int line, size_t size, rid_t region);
void _sys_balloc(char *file, int line, size_t size, rid_t region,
                 int num_objects, void **objects);
void _sys_free(char *file, int line, void *ptr);
void *_sys_realloc(char *file, int line, void *old_ptr, size_t new_size,
                   rid_t new_region);

/*
 * Data.  sys_send() sends @region and its subregions, as this worker sees them
 * now, to @worker.  sys_recv() waits for what @worker sends next: @region must
 * be its region, or 0 to take whichever it is.  Returns the region's number.
 */
void _sys_send(char *file, int line, rid_t region, int worker);
rid_t _sys_recv(char *file, int line, rid_t region, int worker);

/* All workers wait for each other. */
void _sys_barrier(char *file, int line);

/* Statistics since the last sys_zerostats(); any pointer may be NULL. */
void _sys_zerostats(char *file, int line);
void _sys_getstats(char *file, int line, unsigned int *sched_sec,
                   unsigned int *sched_usec, unsigned int *sched_calls,
                   unsigned int *worker_sec, unsigned int *worker_usec,
                   unsigned long *worker_sent, unsigned long *worker_recv,
                   unsigned int *barrier_sec, unsigned int *barrier_usec);

/* Messages and the end of the job. */
#if defined(__GNUC__)
#define MYRMICS_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define MYRMICS_NORETURN     __attribute__((noreturn))
#else
#define MYRMICS_PRINTF(f, a)
#define MYRMICS_NORETURN
#endif
void _sys_warning(char *file, int line, char *format, ...) MYRMICS_PRINTF(3, 4);
void _sys_error(char *file, int line, char *format, ...)
    MYRMICS_PRINTF(3, 4) MYRMICS_NORETURN;
void _sys_assert(char *file, int line, int condition, char *text);
void _sys_abort(char *file, int line) MYRMICS_NORETURN;

/* Who is who. */
int pr_get_worker_id(void);
int pr_get_num_workers(void);
int pr_get_num_schedulers(void);

/* Timers: 10,000 ticks (cycles) to a millisecond. */
void ar_timer_reset(void);
unsigned int ar_timer_get_cycles(void);
unsigned int ar_timer_get_msec(void);
void ar_timer_busy_wait_cycles(unsigned int cycles);
void ar_timer_busy_wait_msec(unsigned int msec);
unsigned int ar_free_timer_get_ticks(void);
unsigned int ar_free_timer_get_cycles(void);

#define sys_ralloc(parent, level) \
    _sys_ralloc((char *)__FILE__, __LINE__, parent, level)
#define sys_rfree(region) _sys_rfree((char *)__FILE__, __LINE__, region)
#define sys_alloc(size, region) \
    _sys_alloc((char *)__FILE__, __LINE__, size, region)
#define sys_balloc(size, region, num, objects) \
    _sys_balloc((char *)__FILE__, __LINE__, size, region, num, objects)
#define sys_free(ptr) _sys_free((char *)__FILE__, __LINE__, ptr)
#define sys_realloc(ptr, size, region) \
    _sys_realloc((char *)__FILE__, __LINE__, ptr, size, region)
#define sys_send(region, worker) \
    _sys_send((char *)__FILE__, __LINE__, region, worker)
#define sys_recv(region, worker) \
    _sys_recv((char *)__FILE__, __LINE__, region, worker)
#define sys_barrier()   _sys_barrier((char *)__FILE__, __LINE__)
#define sys_zerostats() _sys_zerostats((char *)__FILE__, __LINE__)
#define sys_getstats(ss, su, sc, ws, wu, wt, wr, bs, bu)                      \
    _sys_getstats((char *)__FILE__, __LINE__, ss, su, sc, ws, wu, wt, wr, bs, \
                  bu)
#define sys_warning(...) _sys_warning((char *)__FILE__, __LINE__, __VA_ARGS__)
#define sys_error(...)   _sys_error((char *)__FILE__, __LINE__, __VA_ARGS__)
#define sys_assert(c) \
    _sys_assert((char *)__FILE__, __LINE__, (c) ? 1 : 0, (char *)#c)
#define sys_abort()                   _sys_abort((char *)__FILE__, __LINE__)
#define sys_get_worker_id()           pr_get_worker_id()
#define sys_get_num_workers()         pr_get_num_workers()
#define sys_get_num_schedulers()      pr_get_num_schedulers()
#define sys_timer_reset()             ar_timer_reset()
#define sys_timer_get_cycles()        ar_timer_get_cycles()
#define sys_timer_get_msec()          ar_timer_get_msec()
#define sys_timer_busy_wait_cycles(n) ar_timer_busy_wait_cycles(n)
#define sys_timer_busy_wait_msec(n)   ar_timer_busy_wait_msec(n)
#define sys_free_timer_get_ticks()    ar_free_timer_get_ticks()
#define sys_free_timer_get_cycles()   ar_free_timer_get_cycles()

#ifdef __cplusplus
}
#endif

#endif /* MYRMICS_H */
