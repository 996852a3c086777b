/*
 * report.h - small things that the example programs share: numbers from the
 * command line, random numbers and hashes that are the same everywhere, time,
 * and progress lines.
 */
#ifndef PROGRAMS_COMMON_REPORT_H
#define PROGRAMS_COMMON_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* --- Hashes and random numbers ------------------------------------------- */

/* A 64-bit mix in which every input bit moves every output bit. */
static inline uint64_t report_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

/* Chain @value into @hash; order matters. */
static inline uint64_t report_hash(uint64_t hash, uint64_t value)
{
    return report_mix(hash + UINT64_C(0x9e3779b97f4a7c15) + report_mix(value));
}

/* Random numbers: the same sequence for the same seed on every machine. */
struct report_random {
    uint64_t state;
};

static inline void report_random_seed(struct report_random *r, uint64_t seed)
{
    r->state = report_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t report_random_u64(struct report_random *r)
{
    r->state += UINT64_C(0x9e3779b97f4a7c15);
    return report_mix(r->state);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double report_random_unit(struct report_random *r)
{
    return (double)(report_random_u64(r) >> 11) * 0x1p-53;
}

/* --- The command line ---------------------------------------------------- */

/*
 * @text as a decimal number in [@min, @max], nothing around it.
 * Returns 0, or -1 with *value_out unchanged.
 */
int report_parse_u64(const char *text, uint64_t min, uint64_t max,
                     uint64_t *value_out);

/* The same for a finite decimal number. */
int report_parse_double(const char *text, double min, double max,
                        double *value_out);

/*
 * 1 in the one process of a job that should answer --help and --version.  That
 * is before MPI is started, so it goes by what the launcher says; without a
 * launcher there is one process.
 */
int report_is_first_process(void);

/*
 * Answer --help with @usage, a format for the program's name twice, or with
 * NULL --version; in that process alone.  Returns the exit status, 0.
 */
int report_help(const char *name, const char *usage);

/* Say on stderr, once a job, what is wrong on the command line.  Returns the
 * exit status, 2. */
int report_usage_error(const char *name, const char *what, const char *value);

/* --- Time, memory and progress ------------------------------------------- */

/* Seconds on a clock that only goes forward. */
double report_now_seconds(void);

/* malloc() and realloc() that end the process with a line when there is no
 * memory left.  Size 0 gives an address too. */
void *report_malloc(size_t size_bytes);
void *report_realloc(void *ptr, size_t size_bytes);

/*
 * Show "NAME: WHAT P%" on stderr: if stderr is a terminal, over the last such
 * line, at most ten times a second.  If not, nothing, or after
 * report_progress_always() a line a second: under mpirun stderr is a pipe even
 * when its other end shows on a terminal.  report_progress_end() removes a line
 * left on a terminal.  Only one process of a job should call these.
 */
void report_progress_always(void);
void report_progress(const char *name, const char *what, uint64_t done,
                     uint64_t total);
void report_progress_end(void);

#endif /* PROGRAMS_COMMON_REPORT_H */
