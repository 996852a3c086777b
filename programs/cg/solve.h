/*
 * solve.h - the method of conjugate gradients on one rank's rows.  How the
 * elements at the borders come to other ranks is the caller's matter.
 */
#ifndef CG_SOLVE_H
#define CG_SOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "matrix.h"

/* Iterations that a solution may take. */
#define ITERATIONS_MAX 10000

/* One element for each row of this rank; @p has the halo behind them. */
struct vectors {
    double *right;    /* right hand side */
    double *x;        /* solution */
    double *residual; /* right hand side less the matrix's product with x */
    double *p;        /* direction */
    double *product;  /* of the matrix and p */
};

/*
 * How neighbours' residuals come here.  @show offers this rank's to its
 * neighbours.  @look takes what all neighbours offered since the last time, and
 * turns the halo of p by vectors_turn().  No rank is in @look before all were
 * in @show, nor in the next @show before all were in @look.
 */
struct exchange {
    void (*show)(void *context);
    void (*look)(void *context, double beta);
    void *context;
};

/*
 * Solve to a residual of @tolerance times the right hand side's length.
 * Collective.  Returns the number of iterations; ITERATIONS_MAX: in vain.
 */
int solve(const struct matrix *matrix, const struct vectors *vectors,
          const struct exchange *exchange, double tolerance);

/* What @neighbour needs of @vector, in the order in which its halo has it. */
void vectors_border(const struct neighbour *neighbour, const double *vector,
                    double *border);

/* @p = @residual + @beta @p, for @count elements. */
void vectors_turn(double *p, const double *residual, double beta, size_t count);

#endif /* CG_SOLVE_H */
