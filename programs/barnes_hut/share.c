/* Which bodies fall to a worker: see bodies.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "bodies.h"
#include "cell.h"

struct cut {
    double from, to; /* the share, in work from the row's beginning */
    double at;       /* so much of the row has been passed */
    const struct body **mine;
    size_t count;
    const struct body **spare;
};

static double work_of(const struct body *const *list, size_t count)
{
    double work = 0;
    size_t i;

    for (i = 0; i < count; i++)
        work += (double)list[i]->work;
    return work;
}

/* The middle of a body on a border says whose it is. */
static void take_each(struct cut *cut, const struct body *const *list,
                      size_t count)
{
    double middle;
    size_t i;

    for (i = 0; i < count; i++) {
        middle = cut->at + (double)list[i]->work / 2;
        if (middle >= cut->from && middle < cut->to)
            cut->mine[cut->count++] = list[i];
        cut->at += (double)list[i]->work;
    }
}

/* What is in the cell, which has @work. */
static void take_cell(struct cut *cut, struct cell cell,
                      const struct body **list, size_t count, double work)
{
    size_t starts[9] = {0};
    unsigned octant;

    if (cut->at + work <= cut->from || cut->at >= cut->to) {
        cut->at += work;
        return;
    }
    if (count < 2 || cell_is_point(&cell)) {
        take_each(cut, list, count);
        return;
    }
    cell_sort(&cell, list, count, cut->spare, starts);
    for (octant = 0; octant < 8; octant++) {
        const struct body **part = list + starts[octant];
        size_t part_count = starts[octant + 1] - starts[octant];

        if (part_count)
            take_cell(cut, cell_part(&cell, octant), part, part_count,
                      work_of(part, part_count));
    }
}

void bodies_share(const struct body **all, size_t count, int worker,
                  int workers, size_t *count_out)
{
    struct cut cut = {0};
    double total = work_of(all, count);

    *count_out = 0;
    if (count == 0)
        return;
    cut.spare = report_malloc(count * sizeof *cut.spare);
    cut.mine = report_malloc(count * sizeof *cut.mine);
    cut.from = total * worker / workers;
    cut.to = worker == workers - 1 ? INFINITY : total * (worker + 1) / workers;
    take_cell(&cut, cell_around(all, count), all, count, total);
    memcpy(all, cut.mine, cut.count * sizeof *all);
    *count_out = cut.count;
    free(cut.mine);
    free(cut.spare);
}
