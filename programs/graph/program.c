/* Command line, measured work and result of the graph programs. */
#include "program.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/options.h"
#include "../common/report.h"

#define ITERATIONS_MAX 1000
#define ROOTS_MAX      64

static const char usage[] =
    "Usage: mpirun -n RANKS %s [OPTION]...\n"
    "\n"
    "PageRank and breadth-first searches on a Kronecker graph.\n"
    "\n"
    "  --scale N       2^N vertices, 16 edges for each (default 14)\n"
    "  --seed S        of the graph (default 1)\n"
    "  --iterations N  of PageRank (default 20)\n"
    "  --roots N       searches (default 8)\n"
    "  --runs N        runs; the first one is not counted (default 6)\n"
    "  --tiny          scale 8, 3 iterations, 2 roots, 2 runs\n"
    "  --verify        compare with a plain form\n"
    "  --help          this text\n"
    "  --version       the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N scale=N vertices=N iterations=N "
    "roots=N\n"
    "HASH is that of all scores and levels, S the median time of a run. "
    "vertices is\n"
    "how many have edges.\n"
    "\n"
    "Exit status: 0; 1 if --verify finds a difference; 2 if the command line "
    "is "
    "wrong.\n";

int program_options(struct program *program, const char *name, int argc,
                    char **argv)
{
    uint64_t runs;
    int status;
    const struct program_option table[] = {
        OPTION_NUMBER("scale", &program->scale, SCALE_MIN, SCALE_MAX, 14, 8),
        OPTION_NUMBER("seed", &program->seed, 0, UINT64_MAX, 1, 1),
        OPTION_NUMBER("iterations", &program->iterations, 0, ITERATIONS_MAX, 20,
                      3),
        OPTION_NUMBER("roots", &program->roots, 0, ROOTS_MAX, 8, 2),
        OPTION_NUMBER("runs", &runs, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX,
                      MEASURE_RUNS_DEFAULT, MEASURE_RUNS_MIN),
        OPTION_FLAG("verify", &program->verify),
    };

    program->name = name;
    status = options_read(name, usage, table, sizeof(table) / sizeof(table[0]),
                          argc, argv);
    program->runs = (int)runs;
    return status;
}

void program_graph(const struct program *program, struct graph *graph,
                   graph_allocate *allocate, void *context)
{
    memset(graph, 0, sizeof(*graph));
    graph->scale = (unsigned)program->scale;
    graph->seed = program->seed;
    MPI_Comm_rank(MPI_COMM_WORLD, &graph->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &graph->ranks);
    graph_build(graph, allocate, context);
}

/* --- Work and result ------------------------------------------------------ */

/* Of this rank's vertices. */
struct result {
    uint64_t *scores;
    uint32_t *levels; /* of each search, one after the other */
};

static uint32_t root_of(const struct program *program,
                        const struct graph *graph, uint64_t search)
{
    return (uint32_t)(report_hash(program->seed, search) % graph->total);
}

static uint64_t hash_of(const struct program *program,
                        const struct graph *graph, const struct result *result)
{
    uint64_t sum = 0, search;
    uint32_t v;

    for (v = 0; v < graph->count; v++) {
        uint64_t hash = report_hash(graph->start + v, result->scores[v]);

        for (search = 0; search < program->roots; search++)
            hash = report_hash(hash, result->levels[search * graph->count + v]);
        sum += hash;
    }
    return sum;
}

/* The status to exit with. */
static int verify(const struct program *program, const struct graph *graph,
                  const struct result *result)
{
    struct edges edges = edges_make(graph->scale, graph->seed);
    uint64_t search, wrong, wrong_of_all = 0;

    wrong = verify_scores(graph, &edges, program->iterations, result->scores);
    for (search = 0; search < program->roots; search++)
        wrong += verify_levels(graph, &edges, root_of(program, graph, search),
                               result->levels + search * graph->count);
    free(edges.list);
    MPI_Allreduce(&wrong, &wrong_of_all, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    if (wrong_of_all == 0)
        return 0;
    if (graph->rank == 0)
        fprintf(stderr, "%s: %" PRIu64 " scores or levels are wrong\n",
                program->name, wrong_of_all);
    return EXIT_VERIFY;
}

int program_run(const struct program *program, const struct graph *graph,
                const struct share_exchange *shares,
                const struct vertex_exchange *vertices)
{
    struct measure measure = {0};
    struct result result;
    char details[128];
    uint64_t search;
    int i, status;

    result.scores = report_malloc(graph->count * sizeof(*result.scores));
    result.levels =
        report_malloc(program->roots * graph->count * sizeof(*result.levels));
    for (i = 0; i < program->runs; i++) {
        measure_begin(&measure);
        pagerank(graph, shares, program->iterations, result.scores);
        for (search = 0; search < program->roots; search++)
            bfs(graph, vertices, root_of(program, graph, search),
                result.levels + search * graph->count);
        measure_end(&measure);
    }
    snprintf(details, sizeof(details),
             "scale=%u vertices=%u iterations=%d roots=%d", graph->scale,
             graph->total, (int)program->iterations, (int)program->roots);
    measure_print(&measure, program->name, hash_of(program, graph, &result),
                  details);
    status = program->verify ? verify(program, graph, &result) : 0;
    free(result.scores);
    free(result.levels);
    return status;
}
