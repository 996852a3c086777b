/* The sides of a benchmark in turns: in this process, or each in jobs. */
#include "benchmarks/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_add(struct bench *b, enum bench_side side, double value)
{
    int *count = &b->count[b->now][side];

    bench_require(*count < BENCH_RUNS_MAX, "too many runs");
    b->value[b->now][side][(*count)++] = value;
}

void bench_compare(struct bench *b, bench_fn *ours, bench_fn *theirs, void *arg)
{
    const int sides = bench_sides(b);

    /* The first is the warm-up. */
    for (int i = 0; i <= b->runs; i++)
        for (b->now = 0; b->now < b->cases_count; b->now++)
            for (int turn = 0; turn < sides; turn++) {
                enum bench_side s = (enum bench_side)((i + turn) % sides);
                double value;

                if (b->side != BENCH_BOTH && b->side != s)
                    continue;
                if (s >= BENCH_THEIRS)
                    b->rival = (int)s - BENCH_THEIRS;
                value = s == BENCH_OURS ? ours(arg) : theirs(arg);
                if (i > 0)
                    bench_add(b, s, value);
            }
    b->now = 0;
}

/* One of several rivals is not to be had; the last one's lack is the row's. */
static void drive_without(struct bench *b, enum bench_side side,
                          const char *reason)
{
    int left = 0;

    b->missing[side] = true;
    for (int s = BENCH_THEIRS; s < bench_sides(b); s++)
        left += !b->missing[s];
    if (side == BENCH_OURS || !left)
        bench_skip(b, reason);
    fprintf(stderr, "%s: without %s: %s\n", b->name,
            b->rivals[side - BENCH_THEIRS], reason);
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
            bench_require(b->now >= 0 && b->now < b->cases_count, "case");
            if (count)
                bench_add(b, side, value);
            found++;
        }
        why = strstr(line, " skipped: ");
        if (why) {
            line[strcspn(line, "\n")] = 0;
            drive_without(b, side, why + strlen(" skipped: "));
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
    const char *name = side == BENCH_OURS ? "ours" : b->rivals[side - 1];
    int n, file;
    FILE *job;

    if (b->missing[side])
        return;
    file = mkstemp(errors);
    bench_require(file >= 0, "mkstemp");
    close(file);
    n = snprintf(command, sizeof(command), "%s '%s' --side %s --runs %d%s 2>%s",
                 b->launch, b->program, name, runs, b->tiny ? " --tiny" : "",
                 errors);
    bench_require(n > 0 && (size_t)n < sizeof(command), "command too long");
    job = popen(command, "r");
    bench_require(job != NULL, "popen");
    n = drive_read(b, job, side, count);
    b->now = 0;
    pclose(job);
    if (!n && !b->missing[side])
        drive_failed(b, command, errors);
    unlink(errors);
}

void bench_drive(struct bench *b)
{
    int jobs = b->jobs < b->runs ? b->jobs : b->runs;
    int runs = (b->runs + jobs - 1) / jobs, sides = bench_sides(b);

    fflush(stdout);
    for (int s = 0; s < sides && !b->tiny; s++)
        drive_one(b, (enum bench_side)s, 1, false);
    for (int i = 0; i < jobs; i++)
        for (int turn = 0; turn < sides; turn++)
            drive_one(b, (enum bench_side)((i + turn) % sides), runs, true);
}
