/*
 * Conjugate gradient on DRASync.  Each rank has a region.  In its subregions
 * are the rows of the matrix, block by block, the rank's vectors, and for each
 * neighbour the elements that it needs, which the rank writes and the neighbour
 * reads once in an iteration.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/report.h"
#include "drasync.h"
#include "program.h"
#include "solve.h"

#define BLOCK_ROWS 4096

/* What a rank shows to a neighbour. */
struct border {
    region region;
    double *elements;
};

struct solver {
    struct matrix matrix;
    struct vectors vectors;
    region mine, rows, own_vectors;
    region block; /* of rows, the last one */
    uint32_t blocks;
    struct border *shown, *seen; /* to and of each neighbour */
};

/* --- What a rank has ------------------------------------------------------ */

static void *allocate_row(void *context, uint32_t index, size_t size)
{
    struct solver *solver = context;

    if (index == MATRIX_ARRAY)
        return ralloc(solver->rows, size);
    if (index / BLOCK_ROWS == solver->blocks) {
        solver->block = new_subregion(solver->rows);
        solver->blocks++;
    }
    return ralloc(solver->block, size);
}

static void make_vectors(struct solver *solver)
{
    region r = solver->own_vectors = new_subregion(solver->mine);
    size_t size = solver->matrix.count * sizeof(double);

    solver->vectors.right = ralloc(r, size);
    solver->vectors.x = ralloc(r, size);
    solver->vectors.residual = ralloc(r, size);
    solver->vectors.product = ralloc(r, size);
    solver->vectors.p = ralloc(r, size + solver->matrix.halo * sizeof(double));
    matrix_right_side(&solver->matrix, solver->vectors.right);
}

/* A region for each neighbour, and those that the neighbours made for us. */
static void make_borders(struct solver *solver)
{
    const struct matrix *matrix = &solver->matrix;
    size_t size = (size_t)matrix->ranks * sizeof(struct border);
    struct border *to = report_malloc(size), *from = report_malloc(size);
    int n;

    solver->shown = report_malloc(size);
    solver->seen = report_malloc(size);
    memset(to, 0, size);
    for (n = 0; n < matrix->neighbour_count; n++) {
        const struct neighbour *neighbour = &matrix->neighbours[n];
        struct border *border = &solver->shown[n];

        border->region = new_subregion(solver->mine);
        border->elements =
            ralloc(border->region, neighbour->border_count * sizeof(double));
        to[neighbour->rank] = *border;
    }
    MPI_Alltoall(to, sizeof(*to), MPI_BYTE, from, sizeof(*from), MPI_BYTE,
                 MPI_COMM_WORLD);
    for (n = 0; n < matrix->neighbour_count; n++)
        solver->seen[n] = from[matrix->neighbours[n].rank];
    free(to);
    free(from);
}

/* --- In an iteration ------------------------------------------------------ */

static void show(void *context)
{
    struct solver *solver = context;
    int n;

    for (n = 0; n < solver->matrix.neighbour_count; n++) {
        acquire_region(solver->shown[n].region, WRITE);
        vectors_border(&solver->matrix.neighbours[n], solver->vectors.residual,
                       solver->shown[n].elements);
        release_region(solver->shown[n].region);
    }
}

static void look(void *context, double beta)
{
    struct solver *solver = context;
    double *halo = solver->vectors.p + solver->matrix.count;
    int n;

    for (n = 0; n < solver->matrix.neighbour_count; n++) {
        const struct neighbour *neighbour = &solver->matrix.neighbours[n];

        acquire_region(solver->seen[n].region, READ);
        vectors_turn(halo + neighbour->halo_start, solver->seen[n].elements,
                     beta, neighbour->halo_count);
        release_region(solver->seen[n].region);
    }
}

/* --- The whole ------------------------------------------------------------ */

static int run(const struct program *program)
{
    struct solver solver = {0};
    struct exchange exchange = {show, look, &solver};
    struct measure measure = {0};
    int iterations = 0, status, i;

    program_matrix(program, &solver.matrix);
    solver.mine = new_region();
    solver.rows = new_subregion(solver.mine);
    matrix_build(&solver.matrix, allocate_row, &solver);
    make_vectors(&solver);
    make_borders(&solver);
    release_region(solver.mine);

    acquire_region(solver.rows, READ);
    acquire_region(solver.own_vectors, WRITE);
    for (i = 0; i < program->runs; i++) {
        measure_begin(&measure);
        iterations = solve(&solver.matrix, &solver.vectors, &exchange,
                           program->tolerance);
        measure_end(&measure);
    }
    status = program_result(program, &solver.matrix, solver.vectors.x,
                            iterations, &measure);
    release_region(solver.own_vectors);
    release_region(solver.rows);
    delete_region(solver.mine);
    matrix_free_neighbours(&solver.matrix);
    free(solver.shown);
    free(solver.seen);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status = program_options(&program, "cg_native", argc, argv);

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status = run(&program);
    MPI_Finalize();
    return status;
}
