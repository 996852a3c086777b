/*
 * common.h - what the benchmarks share: the command line, medians and spread,
 * the line that is printed, ranks pinned to cores, waiting that does not spin.
 *
 * A benchmark is one row: two sides that do equal work, run in turns in one
 * run of the program, after a warm-up of each.  It prints
 *
 *     NAME ratio=R ours=X theirs=Y unit=U runs=N ours_iqr=X theirs_iqr=Y ...
 *
 * where X and Y are medians, iqr is the distance of the quartiles, and ratio is
 * theirs/ours for times and ours/theirs for rates: higher is better.  Where there
 * are several rivals, each is a side; the line is that of the strongest, and has
 * what came of the others.  A row without a rival prints
 *
 *     NAME ours=X unit=U runs=N ours_iqr=X ...
 *
 * Exit status: 0, 1 for a failure, 2 for a wrong command line, BENCH_SKIP with
 * "NAME skipped: REASON" printed.
 */
#ifndef BENCHMARKS_COMMON_H
#define BENCHMARKS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "drasync.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_SKIP 77

/* Most runs of a side. */
#define BENCH_RUNS_MAX 1000

/* Most cases of a benchmark. */
#define BENCH_CASES_MAX 8

/* Most sides: we, and the rivals. */
#define BENCH_SIDES_MAX 6

enum bench_kind { BENCH_TIME, BENCH_RATE };

/* Rival number n is side BENCH_THEIRS + n. */
enum bench_side {
    BENCH_BOTH = -1,
    BENCH_OURS = 0,
    BENCH_THEIRS = 1,
    BENCH_LAST = BENCH_SIDES_MAX - 1, /* so that C++ may have those between */
};

struct bench {
    /* Filled in by the program. */
    const char *name, *unit, *what; /* what: for --help, whole lines */
    enum bench_kind kind;
    int runs; /* of each side, unless --runs */
    int jobs; /* at most so many for each side; 0: all in one process */
    /* Measured one after the other in each run; the line is that of the worst,
     * or of case number @main_case - 1, and has what came of each. */
    const char *const *cases; /* names; NULL: there is one, without */
    int cases_count, main_case;
    /* Whom we are compared with.  Each is measured in every case. */
    const char *const *rivals; /* names; NULL: there is one, "theirs" */
    int rivals_count;
    bool figure; /* there is no rival; each case is a figure of its own */

    /* Filled in here. */
    bool tiny;
    enum bench_side side; /* --side: measure one, in this process */
    const char *program;  /* as it was called */
    const char *launch;   /* --launch: before the program's name, to start it */
    int rank, ranks, cores;
    int now;   /* the case that is measured */
    int rival; /* the rival that is, if it is one */

    double value[BENCH_CASES_MAX][BENCH_SIDES_MAX][BENCH_RUNS_MAX];
    int count[BENCH_CASES_MAX][BENCH_SIDES_MAX];
    bool missing[BENCH_SIDES_MAX]; /* a rival that is not installed */
    char extra[1536];              /* more fields for the line */
};

/* We, and the rivals. */
static inline int bench_sides(const struct bench *b)
{
    return BENCH_THEIRS + b->rivals_count;
}

/* Whether this process measures a rival and nothing else: where that is MPI it
 * runs without DRASync. */
static inline bool bench_only_theirs(const struct bench *b)
{
    return b->side >= BENCH_THEIRS;
}

/*
 * Read the command line; answers --help, --version and mistakes by ending the
 * process.  MPI is not started.
 */
void bench_options(struct bench *b, int argc, char **argv);

/* Start MPI, for a rival without DRASync, and pin this rank to core number
 * rank (modulo cores). */
void bench_mpi_start(struct bench *b, int ranks_needed);
/* The same with DRASync on both sides. */
void bench_drasync_start(struct bench *b, int ranks_needed);

/* bench_options(); but for --side that is not given, if there are `jobs`,
 * bench_drive() and the end of the process. */
void bench_begin(struct bench *b, int argc, char **argv);
/* bench_begin(), then bench_mpi_start(). */
void bench_start(struct bench *b, int argc, char **argv, int ranks_needed);

/*
 * Run the sides in turns, changing who begins, after a warm-up of each; all
 * ranks call it.  A side returns what it measured; rank 0's counts.  With
 * --side it is that side alone.  @theirs is called for each rival, with b->rival
 * set; it is NULL where there is none.
 */
typedef double bench_fn(void *arg);
void bench_compare(struct bench *b, bench_fn *ours, bench_fn *theirs,
                   void *arg);

/*
 * Measure each side in jobs of its own, in turns: "LAUNCH PROGRAM --side ours".
 * Where their side is MPI it runs without DRASync: a progress thread, or locks
 * for MPI_THREAD_MULTIPLE, are not theirs to pay for, nor to profit from.
 */
void bench_drive(struct bench *b);

/* Note a measurement of the case now; where the two functions above do not
 * fit. */
void bench_add(struct bench *b, enum bench_side side, double value);

/* Add a field to the line, as "name=%.4g". */
void bench_extra(struct bench *b, const char *name, double value);
double bench_median(double *values, int count);

/* Print the line; bench_finish() does. */
void bench_print(struct bench *b);

/* Print the line (rank 0), end MPI if it runs, and return the exit status. */
int bench_finish(struct bench *b);

/* Print why this row cannot be measured here, and end the process; in a job for
 * one of several rivals: why that one cannot, and the row goes without it. */
void bench_skip(const struct bench *b, const char *reason)
    __attribute__((noreturn));

/* End the job with a line unless @ok. */
void bench_require(bool ok, const char *what);
/* The same for what a drasync_ call returned.  A branch where there is no error,
 * as in a program.  (Here: one that does not use drasync_strerror() must not
 * refer to the library.) */
static inline void bench_check(int err, const char *what)
{
    if (__builtin_expect(err, 0)) {
        fprintf(stderr, "%s: %s\n", what, drasync_strerror(err));
        bench_require(false, what);
    }
}

/* Memory that is there: written all over. */
void *bench_buffer(size_t bytes);

/* One core for this thread, of those that it may use: the one with that number,
 * modulo how many they are, which is returned; 0: nobody knows.  Threads that it
 * has started stay free. */
int bench_pin(int number);

double bench_now_ns(void);

/* What rank @from measured, on all ranks. */
double bench_told(double value, int from);

/* Wait for all ranks without taking a core from those that still work. */
void bench_barrier_asleep(void);

/* A random number, the same sequence everywhere for the same *state. */
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Let the compiler believe that @ptr's memory is read. */
static inline void bench_keep(const void *ptr)
{
    __asm__ volatile("" : : "r"(ptr) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
