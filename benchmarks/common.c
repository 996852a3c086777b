#include "benchmarks/common.h"

#include <dlfcn.h>
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

/* --- The command line ---------------------------------------------------- */

static void help(const struct bench *b)
{
    if (!report_is_first_process())
        return;
    printf(
        "Usage: %s [--tiny] [--runs N] [--launch COMMAND] [--side SIDE]\n\n"
        "%s\n"
        "  --tiny            small sizes and few runs: to see that it works\n"
        "  --runs N          measure each side so often (default %d)\n"
        "  --launch COMMAND  what starts a job of this program, where the "
        "sides\n"
        "                    are measured in jobs of their own\n"
        "  --side SIDE       measure ours or theirs, print the numbers\n"
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
        b->runs = (int)number;
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
    int tiny_runs = 1;

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
        if (!strcmp(argv[i], "--runs"))
            tiny_runs = b->runs;
        i++;
    }
    if (b->tiny)
        b->runs = tiny_runs;
}

/* --- Ranks --------------------------------------------------------------- */

int bench_pin(int number)
{
    cpu_set_t allowed, one;
    size_t core;
    int wanted, cores;

    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return 0;
    cores = CPU_COUNT(&allowed);
    wanted = number % cores;
    for (core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && wanted-- == 0)
            break;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return cores;
}

/*
 * MPI without DRASync, for their side: MPI's own function, which the library
 * has taken over in this program.
 */
static void mpi_init_plain(void)
{
    int (*init)(int *, char ***) = NULL;
    Dl_info info;
    void *mpi;

    /* A function that nobody takes over tells where MPI is; were it ours, the
     * rival would run on DRASync. */
    if (dladdr((void *)(uintptr_t)MPI_Get_version, &info) &&
        !strstr(info.dli_fname, "libdrasync") &&
        (mpi = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)))
        *(void **)(void *)&init = dlsym(mpi, "MPI_Init");
    bench_require(init && !init(NULL, NULL), "MPI_Init without DRASync");
}

void bench_mpi_start(struct bench *b, int ranks_needed)
{
    if (b->side == BENCH_THEIRS)
        mpi_init_plain();
    bench_drasync_start(b, ranks_needed);
}

void bench_drasync_start(struct bench *b, int ranks_needed)
{
    int started;

    MPI_Initialized(&started);
    if (!started)
        MPI_Init(NULL, NULL);
    mpi_runs = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    b->cores = bench_pin(b->rank);
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
    if (b->side == BENCH_BOTH && b->jobs) {
        bench_drive(b);
        exit(bench_finish(b));
    }
    bench_mpi_start(b, ranks_needed);
}

void bench_barrier_asleep(void)
{
    const struct timespec pause = {.tv_nsec = ASLEEP_NS};
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

void *bench_buffer(size_t bytes)
{
    void *buffer = malloc(bytes);

    bench_require(buffer != NULL, "malloc");
    return memset(buffer, 0, bytes);
}

double bench_told(double value, int from)
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, from, MPI_COMM_WORLD);
    return value;
}

double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* --- Measurements -------------------------------------------------------- */

void bench_add(struct bench *b, enum bench_side side, double value)
{
    int *count = &b->count[b->now][side];

    bench_require(*count < BENCH_RUNS_MAX, "too many runs");
    b->value[b->now][side][(*count)++] = value;
}

static int cases(const struct bench *b)
{
    return b->cases ? b->cases_count : 1;
}

void bench_compare(struct bench *b, bench_fn *ours, bench_fn *theirs, void *arg)
{
    bench_fn *const side[2] = {ours, theirs};

    /* The first is the warm-up. */
    for (int i = 0; i <= b->runs; i++)
        for (b->now = 0; b->now < cases(b); b->now++)
            for (int turn = 0; turn < 2; turn++) {
                enum bench_side s = (enum bench_side)((i + turn) % 2);
                double value;

                if (b->side != BENCH_BOTH && b->side != s)
                    continue;
                value = side[s](arg);
                if (i > 0)
                    bench_add(b, s, value);
            }
    b->now = 0;
}

/* Read the numbers that a job prints; how many. */
static int drive_read(struct bench *b, FILE *job, enum bench_side side,
                      bool count)
{
    char line[256], *why;
    int found = 0;
    double value;

    while (fgets(line, sizeof(line), job)) {
        if (sscanf(line, "side=%lf case=%d", &value, &b->now) == 2) {
            bench_require(b->now >= 0 && b->now < cases(b), "case");
            if (count)
                bench_add(b, side, value);
            found++;
        }
        why = strstr(line, " skipped: ");
        if (why) {
            line[strcspn(line, "\n")] = 0;
            bench_skip(b, why + strlen(" skipped: "));
        }
    }
    return found;
}

/* What a job said on stderr, if it gave no result.  Otherwise that is about how
 * its ranks left. */
static void drive_failed(const struct bench *b, const char *command,
                         const char *errors)
{
    char line[256];
    FILE *f = fopen(errors, "r");

    while (f && fgets(line, sizeof(line), f))
        fputs(line, stderr);
    unlink(errors);
    fprintf(stderr, "%s: no result from: %s\n", b->name, command);
    exit(1);
}

/* A job for one side, which measures @runs times; the numbers count if @count.
 */
static void drive_one(struct bench *b, enum bench_side side, int runs,
                      bool count)
{
    char command[4096], errors[] = "/tmp/drasync-bench-XXXXXX";
    int n, file = mkstemp(errors);
    FILE *job;

    bench_require(file >= 0, "mkstemp");
    close(file);
    n = snprintf(command, sizeof(command), "%s '%s' --side %s --runs %d%s 2>%s",
                 b->launch, self, side == BENCH_OURS ? "ours" : "theirs", runs,
                 b->tiny ? " --tiny" : "", errors);
    bench_require(n > 0 && (size_t)n < sizeof(command), "command too long");
    job = popen(command, "r");
    bench_require(job != NULL, "popen");
    n = drive_read(b, job, side, count);
    b->now = 0;
    pclose(job);
    if (!n)
        drive_failed(b, command, errors);
    unlink(errors);
}

void bench_drive(struct bench *b)
{
    int jobs = b->jobs < b->runs ? b->jobs : b->runs;
    int runs = (b->runs + jobs - 1) / jobs;

    fflush(stdout);
    drive_one(b, BENCH_OURS, 1, false);
    drive_one(b, BENCH_THEIRS, 1, false);
    for (int i = 0; i < jobs; i++)
        for (int turn = 0; turn < 2; turn++)
            drive_one(b, (enum bench_side)((i + turn) % 2), runs, true);
}

/* --- The result ---------------------------------------------------------- */

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

    snprintf(b->extra + used, sizeof(b->extra) - used, " %s=%.4g", name, value);
}

/* What came of a case; its values are sorted then. */
struct outcome {
    double ours, theirs, ratio;
};

static struct outcome outcome(struct bench *b, int number)
{
    int *count = b->count[number];
    struct outcome o;

    bench_require(count[0] > 0 && count[1] > 0, "no measurements");
    o.ours = bench_median(b->value[number][0], count[0]);
    o.theirs = bench_median(b->value[number][1], count[1]);
    o.ratio = b->kind == BENCH_TIME ? o.theirs / o.ours : o.ours / o.theirs;
    return o;
}

/* The case that the line is about, with a field for each in b->extra. */
static int main_case(struct bench *b)
{
    int worst = 0;
    double ratio = 0;

    for (int i = 0; b->cases && i < cases(b); i++) {
        struct outcome o = outcome(b, i);
        char name[64];

        snprintf(name, sizeof(name), "ratio_%s", b->cases[i]);
        bench_extra(b, name, o.ratio);
        snprintf(name, sizeof(name), "ours_%s", b->cases[i]);
        bench_extra(b, name, o.ours);
        snprintf(name, sizeof(name), "theirs_%s", b->cases[i]);
        bench_extra(b, name, o.theirs);
        if (i == 0 || o.ratio < ratio) {
            worst = i;
            ratio = o.ratio;
        }
    }
    return b->main_case ? b->main_case - 1 : worst;
}

static void print_line(struct bench *b)
{
    int number = main_case(b), *count = b->count[number];
    double(*value)[BENCH_RUNS_MAX] = b->value[number];
    struct outcome o = outcome(b, number);

    printf("%s ratio=%.4g ours=%.4g theirs=%.4g unit=%s runs=%d "
           "ours_iqr=%.3g theirs_iqr=%.3g%s\n",
           b->name, o.ratio, o.ours, o.theirs, b->unit,
           count[0] < count[1] ? count[0] : count[1], iqr(value[0], count[0]),
           iqr(value[1], count[1]), b->extra);
    fflush(stdout);
}

/* For bench_drive(). */
static void print_side(const struct bench *b)
{
    for (int c = 0; c < cases(b); c++)
        for (int i = 0; i < b->count[c][b->side]; i++)
            printf("side=%.17g case=%d\n", b->value[c][b->side][i], c);
    fflush(stdout);
}

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

/* Between hosts MPI_Finalize is left out: over TCP, MPICH 4.0.2 may stay in it
 * for ever. */
static void mpi_end(const struct bench *b)
{
    if (!several_hosts(b)) {
        MPI_Finalize();
        return;
    }
    if (drasync_running())
        drasync_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
}

int bench_finish(struct bench *b)
{
    if (b->rank == 0 && b->side != BENCH_BOTH)
        print_side(b);
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
        mpi_end(b);
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
