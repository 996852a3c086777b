/* The command line, the input and the last line: see program.h. */
#include "program.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* Positions are multiples of 1/GRID of the input's unit. */
#define GRID 100000.0

#define RANDOM_POINTS_MAX UINT64_C(1000000000)

/* Random points are in a square of this many bits a side. */
#define RANDOM_BITS 26

static const char usage[] =
    "Usage: mpirun -n WORKERS %s [OPTION]... FILE\n"
    "       mpirun -n WORKERS %s [OPTION]... --random N\n"
    "\n"
    "Delaunay triangulation of points in the plane, by 1, 4, 16 or 64 "
    "workers;\n"
    "by 2, 8 or 32 too, but for delaunay_myrmics.\n"
    "FILE is a CSV of x,y (or longitude,latitude); positions are rounded to\n"
    "0.00001 and are at most 671.08863.\n"
    "\n"
    "  --random N   N random points instead of a file\n"
    "  --seed S     which random points (default 1)\n"
    "  --verify     check the result: every edge locally Delaunay, Euler's\n"
    "               formula, areas, every point present\n"
    "  --progress   say how far it is when standard error is no terminal, as\n"
    "               under mpirun\n"
    "  --help       this text\n"
    "  --version    the version\n"
    "\n"
    "The last line on standard output is\n"
    "  delaunay points=N triangles=T hull=H hash=X verified=yes|no|unchecked\n"
    "  seconds=S workers=W\n"
    "on one line, where N counts the input's points, repeated ones too (a "
    "note\n"
    "on standard error says how many were), H the points on the hull's "
    "border,\n"
    "X depends on the triangles alone, and S is the time from when the input "
    "is\n"
    "read to when the triangulation is complete.\n"
    "\n"
    "Exit status: 0, 1 if --verify finds the result wrong, 2 if the command\n"
    "line, the input or the number of workers is.\n";

/* --- Command line -------------------------------------------------------- */

int program_options(struct program *program, const char *name, int argc,
                    char **argv)
{
    static const struct option options[] = {
        {"random", required_argument, NULL, 'r'},
        {"seed", required_argument, NULL, 's'},
        {"verify", no_argument, NULL, 'c'},
        {"progress", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option, random = 0;

    memset(program, 0, sizeof *program);
    program->name = name;
    program->seed = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'r':
            random = 1;
            if (report_parse_u64(optarg, 0, RANDOM_POINTS_MAX,
                                 &program->random_points))
                return report_usage_error(program->name,
                                          "not a number of points: ", optarg);
            break;
        case 's':
            if (report_parse_u64(optarg, 0, UINT64_MAX, &program->seed))
                return report_usage_error(program->name,
                                          "not a seed: ", optarg);
            break;
        case 'c':
            program->verify = 1;
            break;
        case 'p':
            report_progress_always();
            break;
        case 'h':
        case 'V':
            return report_help(program->name, option == 'h' ? usage : NULL);
        default:
            return report_usage_error(
                program->name,
                "not an option, or without its value: ", argv[optind - 1]);
        }
    }
    if (optind < argc)
        program->path = argv[optind++];
    if (optind < argc)
        return report_usage_error(program->name,
                                  "more than one file: ", argv[optind]);
    if (random && program->path)
        return report_usage_error(program->name,
                                  "both --random and a file: ", program->path);
    if (!random && !program->path)
        return report_usage_error(program->name, "no file and no --random", "");
    return -1;
}

/* --- Input --------------------------------------------------------------- */

/* Put one field onto the grid; 0, or -1 if it is out of range. */
static int to_grid(double value, int32_t *coordinate_out)
{
    double scaled = round(value * GRID);

    if (!(fabs(scaled) <= POINT_COORDINATE_MAX))
        return -1;
    *coordinate_out = (int32_t)scaled;
    return 0;
}

static int read_file(struct program *program, char *error, size_t error_bytes)
{
    struct csv csv;
    size_t i;
    int k;

    if (csv_read(program->path, 2, &csv, error, error_bytes))
        return -1;
    program->count = csv.rows;
    program->points = report_malloc(csv.rows * sizeof *program->points);
    for (i = 0; i < csv.rows; i++) {
        struct point *p = &program->points[i];

        for (k = 0; k < 2; k++) {
            if (to_grid(csv.values[2 * i + (size_t)k], k ? &p->y : &p->x)) {
                snprintf(error, error_bytes,
                         "%s:%zu: field %d is out of range: %g, but at most "
                         "%.5f in size is allowed",
                         program->path, csv.lines[i], k + 1,
                         csv.values[2 * i + (size_t)k],
                         POINT_COORDINATE_MAX / GRID);
                csv_free(&csv);
                program_free(program);
                return -1;
            }
        }
    }
    csv_free(&csv);
    return 0;
}

static void make_random(struct program *program)
{
    struct report_random random;
    uint64_t bits;
    size_t i;

    report_random_seed(&random, program->seed);
    program->count = program->random_points;
    program->points = report_malloc(program->count * sizeof *program->points);
    for (i = 0; i < program->count; i++) {
        bits = report_random_u64(&random);
        program->points[i].x =
            (int32_t)(bits >> (64 - RANDOM_BITS)) - (1 << (RANDOM_BITS - 1));
        program->points[i].y = (int32_t)(bits & ((1 << RANDOM_BITS) - 1)) -
                               (1 << (RANDOM_BITS - 1));
    }
}

static void take_fingerprint(struct program *program)
{
    size_t i;

    program->fingerprint = program->count;
    for (i = 0; i < program->count; i++)
        program->fingerprint =
            report_hash(program->fingerprint,
                        (uint64_t)(uint32_t)program->points[i].x << 32 |
                            (uint32_t)program->points[i].y);
}

int program_input(struct program *program, int worker, int workers,
                  int leaves_max)
{
    program->worker = worker;
    program->workers = workers;
    program->levels = partition_levels(workers, leaves_max);
    if (program->levels < 0) {
        if (worker == 0)
            fprintf(stderr,
                    "%s: %d workers: needs %s, for each level of the quadtree "
                    "joins four cells\n",
                    program->name, workers,
                    leaves_max > 1 ? "1, 2, 4, 8, 16, 32 or 64"
                                   : "1, 4, 16 or 64");
        return EXIT_INPUT;
    }
    program->leaves = partition_span(program->levels) / workers;
    if (!program->path)
        make_random(program);
    else if (read_file(program, program->error, sizeof program->error))
        program->failed = 1;
    if (!program->failed)
        take_fingerprint(program);
    program->start_seconds = report_now_seconds();
    return 0;
}

void program_free(struct program *program)
{
    free(program->points);
    program->points = NULL;
    program->count = 0;
}
