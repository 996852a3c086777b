#include "benchmarks/common.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "programs/common/report.h"

/* Between two looks of a rank that waits asleep. */
#define ASLEEP_NS 200000

static const char *self = "";
static bool mpi_runs;

/* --- The command line ---------------------------------------------------------- */

static void help(const struct bench *b)
{
    if (!report_is_first_process())
        return;
    printf("Usage: %s [--tiny] [--runs N] [--launch COMMAND] [--side SIDE]\n\n"
           "%s\n"
           "  --tiny            small sizes and few runs: to see that it works\n"
           "  --runs N          measure each side so often (default %d)\n"
           "  --launch COMMAND  what starts a job of this program, where each\n"
           "                    measurement is a job of its own\n"
           "  --side SIDE       measure ours or theirs once, print the number\n"
           "  --help, --version\n\n"
           "scripts/bench runs it as it is meant to be run.\n",
           b->name, b->what, b->runs);
}

static int usage(const struct bench *b, const char *what, const char *value)
{
    return report_usage_error(b->name, what, value);
}

static int option(struct bench *b, const char *name, const char *value)
{
    uint64_t number;

    if (!strcmp(name, "--runs")) {
        if (!value || report_parse_u64(value, 1, BENCH_RUNS_MAX, &number))
            return usage(b, "--runs takes a number from 1 to 1000", "");
        b->runs = b->runs_tiny = (int)number;
    } else if (!strcmp(name, "--launch")) {
        if (!value)
            return usage(b, "--launch takes a command", "");
        b->launch = value;
    } else if (!strcmp(name, "--side")) {
        if (!value || (strcmp(value, "ours") && strcmp(value, "theirs")))
            return usage(b, "--side takes ours or theirs", "");
        b->side = strcmp(value, "ours") ? BENCH_THEIRS : BENCH_OURS;
    } else {
        return usage(b, "unknown argument ", name);
    }
    return 0;
}

void bench_options(struct bench *b, int argc, char **argv)
{
    self = argv[0];
    b->side = BENCH_BOTH;
    b->launch = "";
    b->ranks = 1;
    b->cores = 1;
    for (int i = 1; i < argc; i++) {
        int status;

        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            help(b);
            exit(0);
        }
        if (!strcmp(argv[i], "--version")) {
            report_help(b->name, NULL);
            exit(0);
        }
        if (!strcmp(argv[i], "--tiny")) {
            b->tiny = true;
            continue;
        }
        status = option(b, argv[i], argv[i + 1]);
        if (status)
            exit(status);
        i++;
    }
    if (b->tiny)
        b->runs = b->runs_tiny ? b->runs_tiny : 1;
}

/* --- Ranks ---------------------------------------------------------------------- */

/* One core for this rank; its threads that run already stay free. */
static void pin(struct bench *b)
{
    cpu_set_t allowed, one;
    size_t core;
    int wanted;

    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return;
    b->cores = CPU_COUNT(&allowed);
    wanted = b->rank % b->cores;
    for (core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && wanted-- == 0)
            break;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

void bench_mpi_start(struct bench *b, int ranks_needed)
{
    int given;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &given);
    mpi_runs = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    pin(b);
    if (b->ranks < ranks_needed) {
        int status = 2;

        if (b->rank == 0)
            fprintf(stderr, "%s: %d ranks are needed, here are %d\n", b->name,
                    ranks_needed, b->ranks);
        MPI_Finalize();
        exit(status);
    }
}

void bench_start(struct bench *b, int argc, char **argv, int ranks_needed)
{
    bench_options(b, argc, argv);
    bench_mpi_start(b, ranks_needed);
}

void bench_barrier_asleep(void)
{
    const struct timespec pause = { .tv_nsec = ASLEEP_NS };
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* --- Measurements ---------------------------------------------------------------- */

void bench_add(struct bench *b, enum bench_side side, double value)
{
    bench_require(b->count[side] < BENCH_RUNS_MAX, "too many runs");
    b->value[side][b->count[side]++] = value;
}

void bench_compare(struct bench *b, bench_fn *ours, bench_fn *theirs,
                   void *arg)
{
    bench_fn *const side[2] = { ours, theirs };

    if (b->side != BENCH_BOTH) {
        bench_add(b, b->side, side[b->side](arg));
        return;
    }
    ours(arg);
    theirs(arg);
    for (int i = 0; i < b->runs; i++)
        for (int turn = 0; turn < 2; turn++) {
            enum bench_side s = (enum bench_side)((i + turn) % 2);

            bench_add(b, s, side[s](arg));
        }
}

void bench_print_side(const struct bench *b, double value)
{
    if (b->rank == 0) {
        printf("side=%.17g\n", value);
        fflush(stdout);
    }
}

/* Start the program for one side, and read its number. */
static double drive_one(const struct bench *b, const char *program,
                        enum bench_side side)
{
    char command[4096], line[256];
    double value = 0;
    bool found = false;
    FILE *job;
    int n = snprintf(command, sizeof(command), "%s '%s' --side %s%s",
                     b->launch, program, side == BENCH_OURS ? "ours" : "theirs",
                     b->tiny ? " --tiny" : "");

    bench_require(n > 0 && (size_t)n < sizeof(command), "command too long");
    job = popen(command, "r");
    bench_require(job != NULL, "popen");
    while (fgets(line, sizeof(line), job))
        if (sscanf(line, "side=%lf", &value) == 1)
            found = true;
    n = pclose(job);
    if (!found || n) {
        fprintf(stderr, "%s: no result from: %s\n", b->name, command);
        exit(1);
    }
    return value;
}

void bench_drive(struct bench *b, const char *theirs)
{
    const char *const program[2] = { self, theirs ? theirs : self };

    fflush(stdout);
    drive_one(b, program[0], BENCH_OURS);
    drive_one(b, program[1], BENCH_THEIRS);
    for (int i = 0; i < b->runs; i++)
        for (int turn = 0; turn < 2; turn++) {
            enum bench_side s = (enum bench_side)((i + turn) % 2);

            bench_add(b, s, drive_one(b, program[s], s));
        }
}

/* --- The result ------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of sorted values; @part in [0, 1]. */
static double quantile(const double *sorted, int count, double part)
{
    double at = part * (count - 1);
    int low = (int)at;
    int high = low + 1 < count ? low + 1 : low;

    return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    return quantile(values, count, 0.5);
}

static double iqr(const double *sorted, int count)
{
    return quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25);
}

void bench_extra(struct bench *b, const char *name, double value)
{
    size_t used = strlen(b->extra);

    snprintf(b->extra + used, sizeof(b->extra) - used, " %s=%.4g", name,
             value);
}

static void print_line(struct bench *b)
{
    double ours, theirs, ratio;
    int runs = b->count[0] < b->count[1] ? b->count[0] : b->count[1];

    bench_require(runs > 0, "no measurements");
    ours = bench_median(b->value[0], b->count[0]);
    theirs = bench_median(b->value[1], b->count[1]);
    ratio = b->kind == BENCH_TIME ? theirs / ours : ours / theirs;
    printf("%s ratio=%.4g ours=%.4g theirs=%.4g unit=%s runs=%d "
           "ours_iqr=%.3g theirs_iqr=%.3g%s\n",
           b->name, ratio, ours, theirs, b->unit, runs,
           iqr(b->value[0], b->count[0]), iqr(b->value[1], b->count[1]),
           b->extra);
    fflush(stdout);
}

/* Not there in a program that is not linked to it. */
extern int drasync_finalize(void) __attribute__((weak));

static bool several_hosts(const struct bench *b)
{
    MPI_Comm host;
    int here;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_free(&host);
    return here < b->ranks;
}

static void mpi_end(const struct bench *b)
{
    /* Over TCP MPICH 4.0.2 may stay in MPI_Finalize for ever. */
    bool leave = several_hosts(b);

    if (!leave) {
        MPI_Finalize();
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (drasync_finalize)
        drasync_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
}

int bench_finish(struct bench *b)
{
    if (b->side != BENCH_BOTH)
        bench_print_side(b, b->value[b->side][0]);
    else if (b->rank == 0)
        print_line(b);
    if (mpi_runs)
        mpi_end(b);
    return 0;
}

void bench_skip(const struct bench *b, const char *reason)
{
    if (b->rank == 0 && report_is_first_process())
        printf("%s skipped: %s\n", b->name, reason);
    fflush(stdout);
    if (mpi_runs)
        MPI_Finalize();
    exit(BENCH_SKIP);
}

void bench_require(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "benchmark failed: %s\n", what);
    if (mpi_runs)
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
