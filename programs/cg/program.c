/* Command line and result of the conjugate gradient programs. */
#include "program.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/options.h"
#include "../common/report.h"
#include "solve.h"

#define SIDE_MAX 1000

/* An element may be off by so much for each unit of the tolerance. */
#define ERROR_PER_TOLERANCE 1e4

static const char usage[] =
    "Usage: mpirun -n RANKS %s [OPTION]...\n"
    "\n"
    "Solves a sparse symmetric positive definite system of equations, the "
    "Laplacian\n"
    "of an irregular grid, by conjugate gradients.\n"
    "\n"
    "  --side N       points along an edge of the grid, which has N^3 (default "
    "32)\n"
    "  --seed S       of the grid (default 1)\n"
    "  --tolerance T  the residual's length, in that of the right hand side\n"
    "                 (default 1e-9)\n"
    "  --runs N       runs; the first one is not counted (default 6)\n"
    "  --tiny         8 points along an edge, 2 runs\n"
    "  --help         this text\n"
    "  --version      the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N side=N iterations=N error=E\n"
    "HASH is that of the solution, S the median time of a run, E the largest\n"
    "difference to the right solution, whose elements are from 0 to 1.\n"
    "\n"
    "Exit status: 0; 1 if the solution is not found or wrong; 2 if the command "
    "line\n"
    "is wrong.\n";

int program_options(struct program *program, const char *name, int argc,
                    char **argv)
{
    uint64_t runs;
    int status;
    const struct program_option table[] = {
        OPTION_NUMBER("side", &program->side, 1, SIDE_MAX, 32, 8),
        OPTION_NUMBER("seed", &program->seed, 0, UINT64_MAX, 1, 1),
        OPTION_NUMBER("runs", &runs, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX,
                      MEASURE_RUNS_DEFAULT, MEASURE_RUNS_MIN),
        OPTION_REAL("tolerance", &program->tolerance, 1e-14, 1, 1e-9),
    };

    program->name = name;
    status = options_read(name, usage, table, sizeof(table) / sizeof(table[0]),
                          argc, argv);
    program->runs = (int)runs;
    return status;
}

/* --- Input and result ---------------------------------------------------- */

void program_matrix(const struct program *program, struct matrix *matrix)
{
    memset(matrix, 0, sizeof(*matrix));
    matrix->side = program->side;
    matrix->seed = program->seed;
    MPI_Comm_rank(MPI_COMM_WORLD, &matrix->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &matrix->ranks);
    matrix_range(matrix);
}

/* The largest difference to the right solution, on rank 0. */
static double error_of(const struct matrix *matrix, const double *x)
{
    double error = 0, largest = 0;
    uint32_t i;

    for (i = 0; i < matrix->count; i++)
        error = fmax(error,
                     fabs(x[i] - matrix_solution(matrix, matrix->start + i)));
    MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return largest;
}

int program_result(const struct program *program, const struct matrix *matrix,
                   const double *x, int iterations, struct measure *measure)
{
    double error = error_of(matrix, x);
    uint64_t answer = 0, bits;
    char details[128];
    uint32_t i;

    for (i = 0; i < matrix->count; i++) {
        memcpy(&bits, &x[i], sizeof(bits));
        answer += report_hash(matrix->start + i, bits);
    }
    snprintf(details, sizeof(details), "side=%d iterations=%d error=%.1e",
             (int)program->side, iterations, error);
    measure_print(measure, program->name, answer, details);
    if (matrix->rank != 0)
        return 0;
    if (iterations < ITERATIONS_MAX &&
        error <= ERROR_PER_TOLERANCE * program->tolerance)
        return 0;
    fprintf(stderr, "%s: the solution is off by %g after %d iterations\n",
            program->name, error, iterations);
    return EXIT_SOLUTION;
}
