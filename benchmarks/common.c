/* The command line of a benchmark, its ranks, and its end. */
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

static bool mpi_runs;

/* --- The command line ---------------------------------------------------- */

/* " ours, theirs", or with the rivals' names. */
static void sides_list(const struct bench *b, char *text, size_t bytes)
{
    int used = snprintf(text, bytes, " ours");

    for (int i = 0; i < b->rivals_count; i++)
        used +=
            snprintf(text + used, bytes - (size_t)used, ", %s", b->rivals[i]);
}

static void help(const struct bench *b)
{
    char sides[256];

    if (!report_is_first_process())
        return;
    sides_list(b, sides, sizeof(sides));
    printf(
        "Usage: %s [--tiny] [--runs N] [--launch COMMAND] [--side SIDE]\n\n"
        "%s\n"
        "  --tiny            small sizes and few runs: to see that it works\n"
        "  --runs N          measure each side so often (default %d)\n"
        "  --launch COMMAND  what starts a job of this program, where the "
        "sides\n"
        "                    are measured in jobs of their own\n"
        "  --side SIDE       measure one side, print the numbers:%s\n"
        "  --help, --version\n\n"
        "scripts/bench runs it as it is meant to be run.\n",
        b->name, b->what, b->runs, sides);
}

static int usage(const struct bench *b, const char *what, const char *value)
{
    return report_usage_error(b->name, what, value);
}

static int option_side(struct bench *b, const char *value)
{
    char sides[256];

    if (value && !strcmp(value, "ours")) {
        b->side = BENCH_OURS;
        return 0;
    }
    for (int i = 0; value && i < b->rivals_count; i++)
        if (!strcmp(value, b->rivals[i])) {
            b->side = (enum bench_side)(BENCH_THEIRS + i);
            b->rival = i;
            return 0;
        }
    sides_list(b, sides, sizeof(sides));
    return usage(b, "--side takes one of", sides);
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
        return option_side(b, value);
    } else {
        return usage(b, "unknown argument ", name);
    }
    return 0;
}

/* What the program left out. */
static void defaults(struct bench *b, const char *program)
{
    static const char *const one[] = {"theirs"};

    if (!b->cases)
        b->cases_count = 1;
    if (!b->rivals && !b->figure) {
        b->rivals = one;
        b->rivals_count = 1;
    }
    b->program = program;
    b->side = BENCH_BOTH;
    b->launch = "";
    b->ranks = 1;
    b->cores = 1;
}

void bench_options(struct bench *b, int argc, char **argv)
{
    int tiny_runs = 1;

    defaults(b, argv[0]);
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
    if (bench_only_theirs(b))
        mpi_init_plain();
    bench_drasync_start(b, ranks_needed);
}

void bench_drasync_start(struct bench *b, int ranks_needed)
{
    int started;

    MPI_Initialized(&started);
    /* A row is about the acquires that it makes; what comes by itself has rows of
     * its own, which say so before. */
    setenv("DRASYNC_AHEAD", "off", 0);
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

void bench_begin(struct bench *b, int argc, char **argv)
{
    bench_options(b, argc, argv);
    if (b->side == BENCH_BOTH && b->jobs) {
        bench_drive(b);
        exit(bench_finish(b));
    }
}

void bench_start(struct bench *b, int argc, char **argv, int ranks_needed)
{
    bench_begin(b, argc, argv);
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

/* --- The end ------------------------------------------------------------ */

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
    if (b->rank == 0)
        bench_print(b);
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
