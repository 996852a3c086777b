/*
 * upmlib.h - pages of an OpenMP program go to the NUMA nodes that use them.
 *
 * The calls of UPMlib (Nikolopoulos et al., "Leveraging Transparent Data
 * Distribution in OpenMP via User-Level Dynamic Page Migration", 2000), which
 * took its counts from the Origin2000's counters; here they come from a source
 * that upmlib_set() or UPM_SOURCE names.  No MPI is needed.
 *
 *     upmlib_init();
 *     upmlib_memrefcnt(u, sizeof(u));
 *     for (step = 0; step < steps; step++) {
 *         ...                            parallel loops over u
 *         upmlib_migrate_memory();
 *     }
 *     upmlib_end();
 *
 * Every function that gives an int returns 0 or a number on success, a negative
 * errno otherwise; upmlib_error() says what is wrong and what to do.  Nothing
 * has changed then.  A page that the kernel does not move is no error: it stays,
 * and `stayed` counts it.  On a machine with one node, or where the kernel lets
 * nothing move, correct calls succeed and do nothing; upmlib_get_stats() says so.
 *
 * Thread-safe; the calls are meant for the sequential part between parallel
 * loops, and one waits for another.  After fork() the child's calls succeed and
 * do nothing.  The Fortran forms are subroutines (module upmlib, upmlib.f90);
 * they print what is wrong on stderr.
 *
 * While pages are counted by page protection (the default), a hot area must stay
 * mapped, readable and writable; an area that is freed is dropped first by
 * upmlib_memrefcnt(start, 0).  The program's handler of SIGSEGV keeps working,
 * and read(), write() and their like may use hot areas; system calls that are
 * made without the C library may fail with EFAULT.
 */
#ifndef UPMLIB_H
#define UPMLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hot areas at one time. */
#define UPMLIB_AREAS_MAX 1024

enum upmlib_option {
    /* A page may move if racc_max / lacc is above this many percent: the most
     * accesses of another node over those of the page's own.  0 to 1000000;
     * default 100. */
    UPMLIB_THRESHOLD,
    /* A phase moves that many pages at most, those with the highest racc_max /
     * lacc: the paper's n.  0 to 2^31 - 1; default 20. */
    UPMLIB_CRITICAL,
    /* A page that came back so often to a node that it had left is frozen; -1:
     * never.  -1 to 100; default 1. */
    UPMLIB_FREEZE,
    /* An enum upmlib_source.  Before the first upmlib_memrefcnt(). */
    UPMLIB_SOURCE,
    /* The kernel is asked to move that many pages at once, and sampling looks
     * at as many at a time.  1 to 65536; default 512. */
    UPMLIB_BATCH,
};

/* Who says which node uses a page. */
enum upmlib_source {
    /* The pages are protected for a moment; the fault says who came first. */
    UPMLIB_SOURCE_PROTECT,
    /* The same by userfaultfd, for writers only.  Needs the right to use it. */
    UPMLIB_SOURCE_USERFAULTFD,
    /* Samples of loads and stores by perf, where there is a PMU for them. */
    UPMLIB_SOURCE_PERF,
    /* The file UPM_SOURCE=file:NAME: docs/migration.md has its form. */
    UPMLIB_SOURCE_FILE,
    /* Nobody: no page moves but by UPM_PLACE.  To compare with. */
    UPMLIB_SOURCE_NONE,
};

struct upmlib_stats {
    unsigned nodes;      /* NUMA nodes that this process may use; 1: nothing is
                            counted or moved */
    unsigned areas;      /* hot areas */
    uint64_t pages;      /* in them */
    uint64_t iterations; /* calls of upmlib_migrate_memory() that looked */
    uint64_t counted;    /* accesses seen: faults or samples */
    uint64_t moved;      /* pages, by any engine */
    uint64_t stayed;     /* pages that the kernel did not move: it was busy with
                            them, or the node was full */
    uint64_t frozen;     /* pages that bounced */
    uint64_t replayed;   /* pages moved by upmlib_replay() */
    uint64_t undone;     /* pages moved back by upmlib_undo() */
    uint64_t sampled;    /* pages that the sampling engine looked at */
    int counting;        /* 1: a source counts now */
    int off;             /* 1: the iterative engine has switched itself off */
    const char *source;  /* its name */
    const char *why;     /* nothing is done, because ...; NULL where it is */
};

/*
 * Start.  Reads the UPM_ variables.  Once more, without upmlib_end(): does
 * nothing.
 *   -EINVAL  a variable has a value that it may not have
 */
int upmlib_init(void);

/*
 * Count references to a hot area, whole pages of it; with @bytes 0, stop that
 * for the area that begins at @start.
 *   -EPERM   upmlib_init() was not called
 *   -EEXIST  it overlaps a hot area
 *   -EFAULT  it is not all mapped for reading and writing
 *   -EINVAL  @start is NULL, the area wraps, or none begins there (@bytes 0)
 *   -ENOSPC  there are UPMLIB_AREAS_MAX
 *   -ENOMEM
 *   -ENOTSUP the source cannot count here
 */
int upmlib_memrefcnt(const void *start, size_t bytes);

/*
 * At the end of an outer iteration: move the pages of the hot areas that satisfy
 * the competitive criterion with the counts of this iteration.  Returns how many
 * moved.  After an iteration that moved none the engine is off: nothing is
 * counted any more and the call returns 0 at once, until another area is given.
 *   -EPERM, -ENOMEM
 */
int upmlib_migrate_memory(void);

/*
 * At a phase transition of an iteration: the accesses between two calls are
 * those of a phase.  The first call after upmlib_init() or upmlib_replay()
 * begins a new recording.
 *   -EPERM, -ENOMEM
 *   -ENOSPC  more than 64 phases
 */
int upmlib_record(void);

/*
 * Before a recorded phase, in the order of recording: move its pages.  Returns
 * how many moved.
 *   -EPERM, -ENOMEM
 *   -ENODATA  no phase is recorded: that takes two upmlib_record()
 */
int upmlib_replay(void);

/*
 * After the last phase: all pages that were replayed go back to where they were.
 * Returns how many did.
 *   -EPERM, -ENOMEM
 *   -ENODATA  there was no upmlib_replay() before it
 */
int upmlib_undo(void);

/*
 * For programs that do not iterate: a thread looks every @interval_ms at some
 * pages and moves those that another node uses more.  0 ends it.
 *   -EPERM
 *   -EINVAL  @interval_ms is above 3600000
 *   -EAGAIN  there is no thread to be had
 */
int upmlib_sample(unsigned interval_ms);

/*
 * Set an enum upmlib_option.
 *   -EPERM
 *   -EINVAL  there is no such option, or it may not be @value
 *   -EBUSY   the source, while there are hot areas
 */
int upmlib_set(int option, long value);

/* What has been done so far.  -EINVAL: @stats is NULL. */
int upmlib_get_stats(struct upmlib_stats *stats);

/* Stop: no page is counted any more, all areas are dropped, pages stay where
 * they are.  Without upmlib_init(): does nothing. */
void upmlib_end(void);

/* What the last failed call of this thread found, "" if none failed; valid
 * until the thread's next call. */
const char *upmlib_error(void);

#ifdef __cplusplus
}
#endif

#endif /* UPMLIB_H */
