/*
 * The method of conjugate gradients: see solve.h.
 *
 * Neighbours exchange residuals, not directions.  A residual is there before
 * the ranks add up its length, and what the direction becomes, each rank can
 * tell for its halo too; so the exchange goes on beside that sum, and the two
 * sums of an iteration keep the ranks in step.
 */
#include "solve.h"

#include <mpi.h>

#include "../common/report.h"

/*
 * The sum of all ranks' @mine, in the order of ranks: the same bits whatever
 * the MPI and the hosts are.  No rank returns before all have called.
 */
static double sum_of_all(const struct matrix *matrix, double mine)
{
    static double *parts;
    double sum = 0;
    int rank;

    if (!parts)
        parts = report_malloc((size_t)matrix->ranks * sizeof(*parts));
    MPI_Allgather(&mine, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (rank = 0; rank < matrix->ranks; rank++)
        sum += parts[rank];
    return sum;
}

static double dot(const struct matrix *matrix, const double *a, const double *b)
{
    double sum = 0;
    uint32_t i;

    for (i = 0; i < matrix->count; i++)
        sum += a[i] * b[i];
    return sum_of_all(matrix, sum);
}

/* x and p are 0. */
static void reset(const struct matrix *matrix, const struct vectors *vectors)
{
    uint32_t i;

    for (i = 0; i < matrix->count; i++) {
        vectors->x[i] = 0;
        vectors->residual[i] = vectors->right[i];
    }
    for (i = 0; i < matrix->count + matrix->halo; i++)
        vectors->p[i] = 0;
}

/* Go so far along p. */
static void step(const struct matrix *matrix, const struct vectors *vectors,
                 double length)
{
    uint32_t i;

    for (i = 0; i < matrix->count; i++) {
        vectors->x[i] += length * vectors->p[i];
        vectors->residual[i] -= length * vectors->product[i];
    }
}

int solve(const struct matrix *matrix, const struct vectors *vectors,
          const struct exchange *exchange, double tolerance)
{
    double squared, last = 0, first = 0, beta;
    uint32_t interior = matrix->interior;
    int iterations;

    reset(matrix, vectors);
    for (iterations = 0;; iterations++) {
        exchange->show(exchange->context);
        squared = dot(matrix, vectors->residual, vectors->residual);
        if (iterations == 0)
            first = squared;
        if (squared <= tolerance * tolerance * first ||
            iterations == ITERATIONS_MAX)
            break;
        beta = iterations ? squared / last : 0;
        last = squared;
        vectors_turn(vectors->p, vectors->residual, beta, matrix->count);
        matrix_multiply(matrix->rows, interior, vectors->p, vectors->product);
        exchange->look(exchange->context, beta);
        matrix_multiply(matrix->rows + interior, matrix->count - interior,
                        vectors->p, vectors->product);
        step(matrix, vectors,
             squared / dot(matrix, vectors->p, vectors->product));
    }
    exchange->look(exchange->context, 0); /* at what was shown last */
    return iterations;
}

void vectors_border(const struct neighbour *neighbour, const double *vector,
                    double *border)
{
    uint32_t i;

    for (i = 0; i < neighbour->border_count; i++)
        border[i] = vector[neighbour->border[i]];
}

void vectors_turn(double *p, const double *residual, double beta, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        p[i] = residual[i] + beta * p[i];
}
