/*
 * The octree exchange without the exchange: command line, runs and result.
 */
#include "program.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/measure.h"
#include "../common/options.h"
#include "../common/report.h"

#define POINTS_MAX UINT64_C(10000000)
#define STEPS_MAX  UINT64_C(1000000)

/* Percent; from farther, no tree would be other than a list of points. */
#define OPENING_MAX 10000

static const char usage[] =
    "Usage: mpirun -n RANKS %s [OPTION]...\n"
    "\n"
    "Each rank has points, all over one cube.  In each step it builds an "
    "octree "
    "of\n"
    "them, walks the trees of all other ranks to sum their field at each of "
    "its\n"
    "points, and moves these a little.\n"
    "\n"
    "  --points N   points of a rank (default 20000)\n"
    "  --steps K    steps of a run (default 10)\n"
    "  --opening P  cells are looked into from nearer than P percent of their "
    "side\n"
    "               (default 50)\n"
    "  --runs R     runs; the first one is not counted (default 6)\n"
    "  --tiny       300 points, 3 steps, 2 runs\n"
    "  --help       this text\n"
    "  --version    the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N points=N steps=K\n"
    "HASH is that of the field at all points in all steps, S the median time "
    "of "
    "a\n"
    "run.\n"
    "\n"
    "Exit status: 0; 1 if the runs differ; 2 if the command line is wrong.\n";

int program_start(struct program *program, const char *name, int *argc,
                  char ***argv)
{
    const struct program_option options[] = {
        OPTION_NUMBER("points", &program->points, 1, POINTS_MAX, 20000, 300),
        OPTION_NUMBER("steps", &program->steps, 1, STEPS_MAX, 10, 3),
        OPTION_NUMBER("opening", &program->opening_percent, 0, OPENING_MAX, 50,
                      50),
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
    cloud_open(&program->cloud, program->points,
               (double)program->opening_percent / 100);
    return -1;
}

static void run(struct program *program, void (*look)(void *context),
                void (*end)(void *context), void *context)
{
    for (uint64_t step = 0; step < program->steps; step++) {
        cloud_order(&program->cloud);
        look(context);
        cloud_move(&program->cloud);
    }
    end(context);
}

int program_run(struct program *program, void (*look)(void *context),
                void (*end)(void *context), void *context)
{
    struct measure measure = {0};
    uint64_t first = 0;
    char details[80];

    for (uint64_t i = 0; i < program->runs; i++) {
        cloud_reset(&program->cloud, program->rank);
        measure_begin(&measure);
        run(program, look, end, context);
        measure_end(&measure);
        if (i == 0)
            first = program->cloud.answer;
        if (program->cloud.answer != first) {
            fprintf(stderr,
                    "%s: rank %d: run %" PRIu64 " has another answer than the "
                    "first: points were lost on the way; please report it\n",
                    program->name, program->rank, i + 1);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    cloud_close(&program->cloud);
    snprintf(details, sizeof(details), "points=%" PRIu64 " steps=%" PRIu64,
             program->points, program->steps);
    measure_print(&measure, program->name, first, details);
    return 0;
}
