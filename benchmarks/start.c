/*
 * start - what a program pays to start and end: MPI_Init to the first region,
 * and MPI_Finalize.
 *
 * ours    MPI_Init, a region with an object of 1 KiB, MPI_Finalize
 * theirs  the same on plain MPI, with malloc: a program that DRASync is not
 *         linked to
 *
 * Timed: the whole job, from before mpirun starts to its end (job); and in rank 0
 * the calls (calls).
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/common.h"

enum { JOB, CALLS };
static const char *const names[] = {"job", "calls"};

static struct bench bench = {
    .name = "start",
    .unit = "ms",
    .what = "Jobs that start, make one object and end, on DRASync and on MPI.\n"
            "It starts them itself, by the command that --launch gives.\n",
    .runs = 7,
    .cases = names,
    .cases_count = 2,
};

/* benchmarks/start_job_ours or _theirs, where this program is. */
static void job_command(char *command, size_t bytes, const char *self,
                        enum bench_side side)
{
    const char *name = strrchr(self, '/');
    int folder = name ? (int)(name - self) + 1 : 0;
    int length = snprintf(command, bytes, "%s '%.*sstart_job_%s'", bench.launch,
                          folder, self, side == BENCH_OURS ? "ours" : "theirs");

    bench_require(length > 0 && (size_t)length < bytes, "command too long");
}

static void run_job(const char *self, enum bench_side side, bool count)
{
    char command[4096], line[256];
    double calls = 0, begin = bench_now_ns();

    job_command(command, sizeof(command), self, side);
    FILE *job = popen(command, "r");
    bench_require(job != NULL, "popen");
    while (fgets(line, sizeof(line), job))
        sscanf(line, "calls=%lf", &calls);
    bench_require(pclose(job) == 0 && calls > 0, command);
    begin = (bench_now_ns() - begin) * 1e-6;
    if (!count)
        return;
    bench.now = JOB;
    bench_add(&bench, side, begin);
    bench.now = CALLS;
    bench_add(&bench, side, calls);
}

int main(int argc, char **argv)
{
    bench_options(&bench, argc, argv);
    fflush(stdout);
    /* The first is the warm-up. */
    for (int i = 0; i <= bench.runs; i++)
        for (int turn = 0; turn < 2; turn++)
            run_job(argv[0], (enum bench_side)((i + turn) % 2), i > 0);
    return bench_finish(&bench);
}
