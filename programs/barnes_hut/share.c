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
    char *chosen;    /* by number */
    const struct body **spare;
};

/* The middle of a body on a border says whose it is. */
static void take_each(struct cut *cut, const struct body *const *list,
                      size_t count)
{
    double middle;
    size_t i;

    for (i = 0; i < count; i++) {
        middle = cut->at + (double)list[i]->work / 2;
        if (middle >= cut->from && middle < cut->to)
            cut->chosen[list[i]->id] = 1;
        cut->at += (double)list[i]->work;
    }
}

/* Only cells at the two ends of the share are looked into. */
static void take_cell(struct cut *cut, struct cell cell,
                      const struct body **list, size_t count)
{
    size_t starts[9] = {0}, i;
    double work = 0;
    unsigned octant;

    for (i = 0; i < count; i++)
        work += (double)list[i]->work;
    if (cut->at + work <= cut->from || cut->at >= cut->to) {
        cut->at += work;
        return;
    }
    if ((cut->at >= cut->from && cut->at + work <= cut->to) || count < 2 ||
        cell_is_point(&cell)) {
        take_each(cut, list, count);
        return;
    }
    cell_sort(&cell, list, count, cut->spare, starts);
    for (octant = 0; octant < 8; octant++)
        take_cell(cut, cell_part(&cell, octant), list + starts[octant],
                  starts[octant + 1] - starts[octant]);
}

void bodies_share(const struct body **all, size_t count, int worker,
                  int workers, size_t *count_out)
{
    const struct body **by_id;
    struct cut cut = {0};
    double total = 0;
    size_t mine = 0, i;

    if (count == 0) {
        *count_out = 0;
        return;
    }
    by_id = report_malloc(count * sizeof *by_id);
    cut.spare = report_malloc(count * sizeof *cut.spare);
    cut.chosen = report_malloc(count);
    memset(cut.chosen, 0, count);
    memcpy(by_id, all, count * sizeof *by_id);
    for (i = 0; i < count; i++)
        total += (double)all[i]->work;
    cut.from = total * worker / workers;
    cut.to = worker == workers - 1 ? INFINITY : total * (worker + 1) / workers;
    take_cell(&cut, cell_around(all, count), all, count);
    for (i = 0; i < count; i++) {
        if (cut.chosen[by_id[i]->id])
            all[mine++] = by_id[i];
    }
    *count_out = mine;
    free(cut.chosen);
    free(cut.spare);
    free(by_id);
}
