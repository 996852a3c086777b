/*
 * measure.h - what applications in two forms share around their work: it is
 * done several times between barriers, and rank 0 prints one result line, which
 * scripts/bench --apps reads.  All calls are collective over MPI_COMM_WORLD.
 */
#ifndef PROGRAMS_COMMON_MEASURE_H
#define PROGRAMS_COMMON_MEASURE_H

#include <stdint.h>

/* The first run warms up and does not count, so there are two at least. */
#define MEASURE_RUNS_MIN     2
#define MEASURE_RUNS_MAX     1000
#define MEASURE_RUNS_DEFAULT 6

/* Zero before the first run. */
struct measure {
    double seconds[MEASURE_RUNS_MAX]; /* on rank 0: of the slowest rank */
    int runs;
    double since;
};

/* A run begins when all ranks are here, and ends when all are there. */
void measure_begin(struct measure *measure);
void measure_end(struct measure *measure);

/*
 * Print "NAME answer=HEX16 seconds=S ranks=N DETAILS" on rank 0: the sum modulo
 * 2^64 of the ranks' @answer, and the median of the runs that count.
 */
void measure_print(struct measure *measure, const char *name, uint64_t answer,
                   const char *details);

#endif /* PROGRAMS_COMMON_MEASURE_H */
