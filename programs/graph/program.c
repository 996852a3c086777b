/* Command line, measured work and result of the graph programs. */
#include "program.h"

#include <getopt.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
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

static const struct option long_options[] = {
    {"scale", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, 's'},
    {"iterations", required_argument, NULL, 'i'},
    {"roots", required_argument, NULL, 'b'},
    {"runs", required_argument, NULL, 'r'},
    {"tiny", no_argument, NULL, 't'},
    {"verify", no_argument, NULL, 'c'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* One option with a value; NULL, or what is wrong with it. */
static const char *take_value(struct program *program, int option,
                              const char *text)
{
    uint64_t value = 0;

    switch (option) {
    case 'n':
        return report_parse_u64(text, SCALE_MIN, SCALE_MAX, &program->scale)
                   ? "--scale takes a number from 4 to 22: "
                   : NULL;
    case 's':
        return report_parse_u64(text, 0, UINT64_MAX, &program->seed)
                   ? "--seed takes a number: "
                   : NULL;
    case 'i':
        return report_parse_u64(text, 0, ITERATIONS_MAX, &program->iterations)
                   ? "--iterations takes a number up to 1000: "
                   : NULL;
    case 'b':
        return report_parse_u64(text, 0, ROOTS_MAX, &program->roots)
                   ? "--roots takes a number up to 64: "
                   : NULL;
    default:
        if (report_parse_u64(text, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX, &value))
            return "--runs takes a number from 2 to 1000: ";
        program->runs = (int)value;
        return NULL;
    }
}

/* What no option said; --tiny may stand anywhere. */
static void set_rest(struct program *program, int tiny)
{
    if (!program->scale)
        program->scale = tiny ? 8 : 14;
    if (program->iterations == UINT64_MAX)
        program->iterations = tiny ? 3 : 20;
    if (program->roots == UINT64_MAX)
        program->roots = tiny ? 2 : 8;
    if (!program->runs)
        program->runs = tiny ? MEASURE_RUNS_MIN : MEASURE_RUNS_DEFAULT;
}

int program_options(struct program *program, const char *name, int argc,
                    char **argv)
{
    const char *wrong;
    int option, tiny = 0;

    *program = (struct program){
        .name = name, .seed = 1, .iterations = UINT64_MAX, .roots = UINT64_MAX};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case '?':
            return report_usage_error(
                name,
                "not an option, or without its value: ", argv[optind - 1]);
        case 'h':
        case 'V':
            return report_help(name, option == 'h' ? usage : NULL);
        case 'c':
            program->verify = 1;
            break;
        case 't':
            tiny = 1;
            break;
        default:
            wrong = take_value(program, option, optarg);
            if (wrong)
                return report_usage_error(name, wrong, optarg);
        }
    }
    if (optind < argc)
        return report_usage_error(name, "not an option: ", argv[optind]);
    set_rest(program, tiny);
    return -1;
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
