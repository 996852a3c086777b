/* The matrix of the conjugate gradient programs: see matrix.h. */
#include "matrix.h"

#include <stdlib.h>

#include "../common/report.h"

/* What keeps the Laplacian from being singular. */
#define SHIFT 0.01

/* A point is moved by up to so much of the grid's step, each way. */
#define MOVE 0.3

/* Of 16 pairs of points so many are joined: those that are next to each other
 * along an axis, and those that are across. */
#define JOINED_ALONG  14
#define JOINED_ACROSS 1

#define LINKS_MAX 26

struct link {
    uint64_t row;
    double weight;
};

/* A point's number on the grid, and its coordinates after the move. */
struct point {
    int64_t cell[3];
    double at[3];
};

static struct point point_of(const struct matrix *matrix, uint64_t row)
{
    struct report_random random;
    struct point point;
    int axis;

    report_random_seed(&random, report_hash(matrix->seed, row));
    for (axis = 0; axis < 3; axis++) {
        point.cell[axis] = (int64_t)(row % matrix->side);
        row /= matrix->side;
        point.at[axis] = (double)point.cell[axis] +
                         MOVE * (2 * report_random_unit(&random) - 1);
    }
    return point;
}

/* Are two rows joined that differ along so many axes?  Either may ask. */
static int joined(const struct matrix *matrix, uint64_t a, uint64_t b, int axes)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t draw = report_hash(report_hash(matrix->seed, low), high) % 16;

    return draw < (axes == 1 ? JOINED_ALONG : JOINED_ACROSS);
}

/* The less, the longer the way. */
static double weight_of(const struct point *a, const struct point *b)
{
    double squared = 0;
    int axis;

    for (axis = 0; axis < 3; axis++)
        squared += (a->at[axis] - b->at[axis]) * (a->at[axis] - b->at[axis]);
    return 1 / squared;
}

/* What a row is joined to, ascending; returns how many rows that is. */
static int links_of(const struct matrix *matrix, uint64_t row,
                    struct link *links)
{
    struct point point = point_of(matrix, row), other;
    int64_t side = (int64_t)matrix->side;
    int count = 0, number;

    for (number = 0; number < 27; number++) {
        int64_t x = number % 3 - 1, y = number / 3 % 3 - 1, z = number / 9 - 1;
        int axes = (x != 0) + (y != 0) + (z != 0);
        uint64_t there;

        if (axes == 0 || point.cell[0] + x < 0 || point.cell[0] + x >= side ||
            point.cell[1] + y < 0 || point.cell[1] + y >= side ||
            point.cell[2] + z < 0 || point.cell[2] + z >= side)
            continue;
        there = (uint64_t)((int64_t)row + (z * side + y) * side + x);
        if (!joined(matrix, row, there, axes))
            continue;
        other = point_of(matrix, there);
        links[count].row = there;
        links[count++].weight = weight_of(&point, &other);
    }
    return count;
}

static double diagonal_of(const struct link *links, int count)
{
    double sum = SHIFT;
    int i;

    for (i = 0; i < count; i++)
        sum += links[i].weight;
    return sum;
}

/* --- Whose a row is ------------------------------------------------------ */

static uint64_t rows_of_all(const struct matrix *matrix)
{
    return matrix->side * matrix->side * matrix->side;
}

static uint64_t start_of(const struct matrix *matrix, int rank)
{
    return rows_of_all(matrix) * (uint64_t)rank / (uint64_t)matrix->ranks;
}

static int owner_of(const struct matrix *matrix, uint64_t row)
{
    return (int)(((row + 1) * (uint64_t)matrix->ranks - 1) /
                 rows_of_all(matrix));
}

static int is_mine(const struct matrix *matrix, uint64_t row)
{
    return row >= matrix->start && row < matrix->start + matrix->count;
}

void matrix_range(struct matrix *matrix)
{
    matrix->start = start_of(matrix, matrix->rank);
    matrix->count =
        (uint32_t)(start_of(matrix, matrix->rank + 1) - matrix->start);
}

/* --- The halo ------------------------------------------------------------ */

/* Other ranks' rows that this rank's are joined to, before they are sorted. */
struct wanted {
    uint64_t *rows;
    size_t count, room;
};

static void want(struct wanted *wanted, uint64_t row)
{
    if (wanted->count == wanted->room) {
        wanted->room = wanted->room ? 2 * wanted->room : 1024;
        wanted->rows =
            report_realloc(wanted->rows, wanted->room * sizeof *wanted->rows);
    }
    wanted->rows[wanted->count++] = row;
}

static int compare_rows(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sort_once(struct wanted *wanted)
{
    size_t i, kept = 0;

    if (wanted->count)
        qsort(wanted->rows, wanted->count, sizeof *wanted->rows, compare_rows);
    for (i = 0; i < wanted->count; i++) {
        if (kept == 0 || wanted->rows[kept - 1] != wanted->rows[i])
            wanted->rows[kept++] = wanted->rows[i];
    }
    wanted->count = kept;
}

/* Row @index is joined to some of @neighbour's. */
static void add_border(struct neighbour *neighbour, uint32_t index)
{
    uint32_t count = neighbour->border_count;

    if (count && neighbour->border[count - 1] == index)
        return;
    if ((count & (count - 1)) == 0) /* 0 or a power of two: full */
        neighbour->border =
            report_realloc(neighbour->border, (count ? 2 * (size_t)count : 1) *
                                                  sizeof *neighbour->border);
    neighbour->border[neighbour->border_count++] = index;
}

/*
 * Who needs what of whom.  Joining is mutual: so the elements that a neighbour
 * needs are those whose rows are joined to its rows, and nobody has to ask.
 */
static struct wanted find_neighbours(struct matrix *matrix)
{
    struct neighbour *all = report_malloc((size_t)matrix->ranks * sizeof *all);
    struct link links[LINKS_MAX];
    struct wanted halo = {0};
    uint32_t index, h;
    int count, i, rank;

    for (rank = 0; rank < matrix->ranks; rank++)
        all[rank] = (struct neighbour){.rank = rank};
    for (index = 0; index < matrix->count; index++) {
        count = links_of(matrix, matrix->start + index, links);
        for (i = 0; i < count; i++) {
            if (is_mine(matrix, links[i].row))
                continue;
            want(&halo, links[i].row);
            add_border(&all[owner_of(matrix, links[i].row)], index);
        }
    }
    sort_once(&halo);
    for (h = (uint32_t)halo.count; h-- > 0;) {
        rank = owner_of(matrix, halo.rows[h]);
        all[rank].halo_start = h;
        all[rank].halo_count++;
    }
    matrix->halo = (uint32_t)halo.count;
    matrix->neighbour_count = 0;
    for (rank = 0; rank < matrix->ranks; rank++) {
        if (all[rank].halo_count)
            all[matrix->neighbour_count++] = all[rank];
    }
    matrix->neighbours = all;
    return halo;
}

void matrix_free_neighbours(struct matrix *matrix)
{
    int i;

    for (i = 0; i < matrix->neighbour_count; i++)
        free(matrix->neighbours[i].border);
    free(matrix->neighbours);
}

/* --- Rows ---------------------------------------------------------------- */

struct builder {
    struct matrix *matrix;
    struct wanted halo;
    matrix_allocate *allocate;
    void *context;
};

static uint32_t column_of(const struct builder *builder, uint64_t row)
{
    const struct matrix *matrix = builder->matrix;
    const uint64_t *found;

    if (is_mine(matrix, row))
        return (uint32_t)(row - matrix->start);
    found = bsearch(&row, builder->halo.rows, builder->halo.count, sizeof row,
                    compare_rows);
    return matrix->count + (uint32_t)(found - builder->halo.rows);
}

static struct entry *make_entry(const struct builder *builder, uint32_t index,
                                uint64_t row, double value)
{
    struct entry *entry =
        builder->allocate(builder->context, index, sizeof *entry);

    entry->next = NULL;
    entry->value = value;
    entry->column = column_of(builder, row);
    return entry;
}

/* The entries of row @index, the diagonal first; returns whether it needs the
 * halo. */
static int make_row(const struct builder *builder, uint32_t index,
                    struct entry **first_out)
{
    const struct matrix *matrix = builder->matrix;
    uint64_t row = matrix->start + index;
    struct link links[LINKS_MAX];
    int count = links_of(matrix, row, links), i, needs_halo = 0;
    struct entry *last;

    last = *first_out =
        make_entry(builder, index, row, diagonal_of(links, count));
    for (i = 0; i < count; i++) {
        last->next = make_entry(builder, index, links[i].row, -links[i].weight);
        last = last->next;
        needs_halo |= !is_mine(matrix, links[i].row);
    }
    return needs_halo;
}

void matrix_build(struct matrix *matrix, matrix_allocate *allocate,
                  void *context)
{
    struct builder builder = {.matrix = matrix,
                              .halo = find_neighbours(matrix),
                              .allocate = allocate,
                              .context = context};
    uint32_t low = 0, high = matrix->count, index;
    struct entry *first;

    matrix->rows =
        allocate(context, MATRIX_ARRAY, matrix->count * sizeof *matrix->rows);
    for (index = 0; index < matrix->count; index++) {
        int needs_halo = make_row(&builder, index, &first);
        struct row *row = &matrix->rows[needs_halo ? --high : low++];

        row->first = first;
        row->index = index;
    }
    matrix->interior = low;
    free(builder.halo.rows);
}

void matrix_multiply(const struct row *rows, size_t count, const double *from,
                     double *to)
{
    const struct entry *entry;
    double sum;
    size_t i;

    for (i = 0; i < count; i++) {
        sum = 0;
        for (entry = rows[i].first; entry; entry = entry->next)
            sum += entry->value * from[entry->column];
        to[rows[i].index] = sum;
    }
}

/* --- The system of equations --------------------------------------------- */

double matrix_solution(const struct matrix *matrix, uint64_t row)
{
    struct report_random random;

    report_random_seed(&random, report_hash(~matrix->seed, row));
    return report_random_unit(&random);
}

void matrix_right_side(const struct matrix *matrix, double *right)
{
    struct link links[LINKS_MAX];
    uint32_t index;
    int count, i;

    for (index = 0; index < matrix->count; index++) {
        uint64_t row = matrix->start + index;

        count = links_of(matrix, row, links);
        right[index] = diagonal_of(links, count) * matrix_solution(matrix, row);
        for (i = 0; i < count; i++)
            right[index] -=
                links[i].weight * matrix_solution(matrix, links[i].row);
    }
}
