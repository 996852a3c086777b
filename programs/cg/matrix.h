/*
 * matrix.h - one rank's rows of a sparse symmetric positive definite matrix:
 * the Laplacian of a grid of points in three dimensions, each moved a little
 * and joined to some of the points around it, both as the seed says.
 *
 * The ranks have equal ranges of rows, in order.  A row is a list of entries,
 * whose columns are numbered as the rank's vectors are: its own elements, then
 * the halo, which is what its rows need of other ranks' elements.
 */
#ifndef CG_MATRIX_H
#define CG_MATRIX_H

#include <stddef.h>
#include <stdint.h>

struct entry {
    struct entry *next;
    double value;
    uint32_t column;
};

struct row {
    struct entry *first;
    uint32_t index; /* of the element that it gives */
};

/* A rank whose elements this one needs; it needs some of this rank's too. */
struct neighbour {
    int rank;
    uint32_t halo_start, halo_count; /* what comes from there */
    uint32_t *border;                /* what goes there: own elements */
    uint32_t border_count;
};

struct matrix {
    uint64_t seed;
    uint64_t side; /* points along an edge of the grid */
    uint64_t start;
    uint32_t count;    /* rows of this rank */
    uint32_t interior; /* of these, the first ones need no halo */
    uint32_t halo;     /* elements of others */
    struct row *rows;
    struct neighbour *neighbours; /* ascending by rank */
    int neighbour_count;
    int rank, ranks;
};

/*
 * Where rows and entries come from: memory for @size bytes of row @index of
 * this rank, or for the array of all rows if @index is MATRIX_ARRAY.
 */
#define MATRIX_ARRAY UINT32_MAX
typedef void *matrix_allocate(void *context, uint32_t index, size_t size);

/* Fill @matrix, whose seed, side, rank and ranks are set, and whose start and
 * count matrix_range() has set. */
void matrix_build(struct matrix *matrix, matrix_allocate *allocate,
                  void *context);

/* Which rows are this rank's. */
void matrix_range(struct matrix *matrix);

/* Free the neighbours; rows are the caller's. */
void matrix_free_neighbours(struct matrix *matrix);

/* @to = the product of @count @rows and @from. */
void matrix_multiply(const struct row *rows, size_t count, const double *from,
                     double *to);

/* Element @row of the solution that the right hand side is made from. */
double matrix_solution(const struct matrix *matrix, uint64_t row);

/* The right hand side of this rank's rows. */
void matrix_right_side(const struct matrix *matrix, double *right);

#endif /* CG_MATRIX_H */
