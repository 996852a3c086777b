/*
 * Conjugate gradient by message passing.  Elements at borders go to neighbours
 * in one message for each, which is under way while the ranks add up and
 * multiply interior rows.  Where all ranks share memory they lie in a shared
 * window instead, and no message is sent.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/report.h"
#include "program.h"
#include "solve.h"

struct solver {
    struct matrix matrix;
    struct vectors vectors;
    double **shown;      /* what each neighbour needs */
    const double **seen; /* what each neighbour has for us */
    double *border;      /* all of what is shown */
    double *halo;        /* all of what is seen, if it comes by messages */
    MPI_Request *requests;
    MPI_Status *statuses;
    int request_count;
    MPI_Win window; /* MPI_WIN_NULL: by messages */
};

/* --- What a rank has ------------------------------------------------------ */

static void *allocate_row(void *context, uint32_t index, size_t size)
{
    (void)context;
    (void)index;
    return report_malloc(size);
}

static void free_rows(const struct matrix *matrix)
{
    struct entry *entry, *next;
    uint32_t i;

    for (i = 0; i < matrix->count; i++) {
        for (entry = matrix->rows[i].first; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    }
    free(matrix->rows);
}

static void make_vectors(struct solver *solver)
{
    size_t size = solver->matrix.count * sizeof(double);

    solver->vectors.right = report_malloc(size);
    solver->vectors.x = report_malloc(size);
    solver->vectors.residual = report_malloc(size);
    solver->vectors.product = report_malloc(size);
    solver->vectors.p =
        report_malloc(size + solver->matrix.halo * sizeof(double));
    matrix_right_side(&solver->matrix, solver->vectors.right);
}

static void free_vectors(struct vectors *vectors)
{
    free(vectors->right);
    free(vectors->x);
    free(vectors->residual);
    free(vectors->product);
    free(vectors->p);
}

/* --- Borders -------------------------------------------------------------- */

/* The number of border elements; @starts: where each rank's begin. */
static size_t border_starts(const struct matrix *matrix, uint64_t *starts)
{
    size_t count = 0;
    int n;

    memset(starts, 0, (size_t)matrix->ranks * sizeof(*starts));
    for (n = 0; n < matrix->neighbour_count; n++) {
        starts[matrix->neighbours[n].rank] = count;
        count += matrix->neighbours[n].border_count;
    }
    return count;
}

/* Neighbours' elements are seen in their parts of a window. */
static void share_window(struct solver *solver, MPI_Comm node, size_t count,
                         const uint64_t *starts)
{
    const struct matrix *matrix = &solver->matrix;
    uint64_t *there = report_malloc((size_t)matrix->ranks * sizeof(*there));
    MPI_Aint size;
    int n, unit;

    MPI_Win_allocate_shared((MPI_Aint)(count * sizeof(double)), sizeof(double),
                            MPI_INFO_NULL, node, &solver->border,
                            &solver->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, solver->window);
    MPI_Alltoall(starts, 1, MPI_UINT64_T, there, 1, MPI_UINT64_T, node);
    for (n = 0; n < matrix->neighbour_count; n++) {
        int rank = matrix->neighbours[n].rank;
        double *base;

        MPI_Win_shared_query(solver->window, rank, &size, &unit, &base);
        solver->seen[n] = base + there[rank];
    }
    free(there);
}

static void make_borders(struct solver *solver)
{
    const struct matrix *matrix = &solver->matrix;
    size_t neighbours = (size_t)matrix->neighbour_count, count;
    uint64_t *starts = report_malloc((size_t)matrix->ranks * sizeof(*starts));
    MPI_Comm node;
    int n, size;

    solver->shown = report_malloc(neighbours * sizeof(*solver->shown));
    solver->seen = report_malloc(neighbours * sizeof(*solver->seen));
    solver->requests =
        report_malloc(2 * neighbours * sizeof(*solver->requests));
    solver->statuses =
        report_malloc(2 * neighbours * sizeof(*solver->statuses));
    count = border_starts(matrix, starts);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, matrix->rank,
                        MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    solver->window = MPI_WIN_NULL;
    if (size == matrix->ranks) {
        share_window(solver, node, count, starts);
    } else {
        solver->border = report_malloc(count * sizeof(double));
        solver->halo = report_malloc(matrix->halo * sizeof(double));
        for (n = 0; n < matrix->neighbour_count; n++)
            solver->seen[n] = solver->halo + matrix->neighbours[n].halo_start;
    }
    for (n = 0; n < matrix->neighbour_count; n++)
        solver->shown[n] = solver->border + starts[matrix->neighbours[n].rank];
    MPI_Comm_free(&node);
    free(starts);
}

static void free_borders(struct solver *solver)
{
    if (solver->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(solver->window);
        MPI_Win_free(&solver->window);
    } else {
        free(solver->border);
        free(solver->halo);
    }
    free(solver->shown);
    free(solver->seen);
    free(solver->requests);
    free(solver->statuses);
}

/* --- In an iteration ------------------------------------------------------ */

/* The next request to fill in. */
static MPI_Request *request(struct solver *solver)
{
    return &solver->requests[solver->request_count++];
}

static void show(void *context)
{
    struct solver *solver = context;
    const struct matrix *matrix = &solver->matrix;
    int messages = solver->window == MPI_WIN_NULL, n;

    for (n = 0; messages && n < matrix->neighbour_count; n++)
        MPI_Irecv(solver->halo + matrix->neighbours[n].halo_start,
                  (int)matrix->neighbours[n].halo_count, MPI_DOUBLE,
                  matrix->neighbours[n].rank, 0, MPI_COMM_WORLD,
                  request(solver));
    for (n = 0; n < matrix->neighbour_count; n++) {
        const struct neighbour *neighbour = &matrix->neighbours[n];

        vectors_border(neighbour, solver->vectors.residual, solver->shown[n]);
        if (messages)
            MPI_Isend(solver->shown[n], (int)neighbour->border_count,
                      MPI_DOUBLE, neighbour->rank, 0, MPI_COMM_WORLD,
                      request(solver));
    }
    if (!messages)
        MPI_Win_sync(solver->window);
}

static void look(void *context, double beta)
{
    struct solver *solver = context;
    double *halo = solver->vectors.p + solver->matrix.count;
    int n;

    MPI_Waitall(solver->request_count, solver->requests, solver->statuses);
    solver->request_count = 0;
    if (solver->window != MPI_WIN_NULL)
        MPI_Win_sync(solver->window);
    for (n = 0; n < solver->matrix.neighbour_count; n++) {
        const struct neighbour *neighbour = &solver->matrix.neighbours[n];

        vectors_turn(halo + neighbour->halo_start, solver->seen[n], beta,
                     neighbour->halo_count);
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
    matrix_build(&solver.matrix, allocate_row, NULL);
    make_vectors(&solver);
    make_borders(&solver);
    for (i = 0; i < program->runs; i++) {
        measure_begin(&measure);
        iterations = solve(&solver.matrix, &solver.vectors, &exchange,
                           program->tolerance);
        measure_end(&measure);
    }
    status = program_result(program, &solver.matrix, solver.vectors.x,
                            iterations, &measure);
    free_borders(&solver);
    free_vectors(&solver.vectors);
    free_rows(&solver.matrix);
    matrix_free_neighbours(&solver.matrix);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status = program_options(&program, "cg_mpi", argc, argv);

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status = run(&program);
    MPI_Finalize();
    return status;
}
