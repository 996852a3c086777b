/*
 * Work stealing without the stealing: command line, runs and result.
 */
#include "program.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/options.h"

#define ROOTS_MAX UINT64_C(100000000)
#define GRAIN_MAX UINT64_C(1000000)

static const char usage[] =
    "Usage: mpirun -n RANKS %s [OPTION]...\n"
    "\n"
    "Searches a tree whose parts are of very different sizes.  Rank 0 has all "
    "of it\n"
    "at first; ranks that have nothing to do steal from others.\n"
    "\n"
    "  --roots N  children of the root (default 2000)\n"
    "  --seed S   which tree (default 4, which has 1,002,801 nodes; most have "
    "fewer)\n"
    "  --grain G  work for a node, in hashes (default 8)\n"
    "  --runs R   runs; the first one is not counted (default 6)\n"
    "  --tiny     50 children of the root, 2 runs\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N nodes=N leaves=N depth=N\n"
    "HASH is that of all nodes, S the median time of a run.\n"
    "\n"
    "Exit status: 0; 1 if the runs differ; 2 if the command line is wrong.\n";

int program_start(struct program *program, const char *name, int *argc,
                  char ***argv)
{
    struct tree *tree = &program->tree;
    const struct program_option options[] = {
        OPTION_NUMBER("roots", &tree->roots, 1, ROOTS_MAX, 2000, 50),
        OPTION_NUMBER("seed", &tree->seed, 0, UINT64_MAX, 4, 4),
        OPTION_NUMBER("grain", &tree->grain, 0, GRAIN_MAX, 8, 8),
        OPTION_NUMBER("runs", &program->runs, MEASURE_RUNS_MIN,
                      MEASURE_RUNS_MAX, MEASURE_RUNS_DEFAULT, 2),
    };
    int status;

    program->name = name;
    status = options_read(name, usage, options,
                          sizeof(options) / sizeof(options[0]), *argc, *argv);
    if (status >= 0)
        return status;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &program->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program->ranks);
    report_random_seed(&program->random, (uint64_t)program->rank);
    return -1;
}

int program_victim(struct program *program)
{
    uint64_t others = (uint64_t)program->ranks - 1;
    int victim = (int)(report_random_u64(&program->random) % others);

    return victim < program->rank ? victim : victim + 1;
}

/* What all ranks found together. */
static struct found sum_up(const struct found *mine)
{
    struct found all;

    MPI_Allreduce(&mine->nodes, &all.nodes, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&mine->leaves, &all.leaves, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&mine->depth_max, &all.depth_max, 1, MPI_UINT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&mine->check, &all.check, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
}

static void check_same(const struct program *program, uint64_t run,
                       const struct found *first, const struct found *found)
{
    if (memcmp(first, found, sizeof(*first)) == 0)
        return;
    if (program->rank == 0)
        fprintf(stderr,
                "%s: run %" PRIu64 " visited %" PRIu64
                " nodes, the first %" PRIu64
                ": tasks were lost or done twice; please report it\n",
                program->name, run + 1, found->nodes, first->nodes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void print_result(const struct program *program, struct measure *measure,
                         const struct found *all)
{
    uint64_t answer = 0;
    char details[100];

    if (program->rank == 0) {
        answer = report_hash(all->nodes, all->leaves);
        answer = report_hash(answer, all->depth_max);
        answer = report_hash(answer, all->check);
    }
    snprintf(details, sizeof(details),
             "nodes=%" PRIu64 " leaves=%" PRIu64 " depth=%" PRIu64, all->nodes,
             all->leaves, all->depth_max);
    measure_print(measure, program->name, answer, details);
}

int program_run(struct program *program, void (*prepare)(void *context),
                void (*search)(void *context), void *context)
{
    struct measure measure = {0};
    struct found first, found;

    for (uint64_t run = 0; run < program->runs; run++) {
        memset(&program->found, 0, sizeof(program->found));
        prepare(context);
        measure_begin(&measure);
        if (program->rank == 0)
            tree_start(&program->tree, &program->stack, &program->found);
        search(context);
        measure_end(&measure);
        found = sum_up(&program->found);
        if (run == 0)
            first = found;
        check_same(program, run, &first, &found);
    }
    stack_free(&program->stack);
    print_result(program, &measure, &first);
    return 0;
}
