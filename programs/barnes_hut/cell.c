/* Cells of space: see cell.h. */
#include "cell.h"

#include <math.h>
#include <string.h>

struct cell cell_around(const struct body *const *list, size_t count)
{
    struct cell cell = {{0, 0, 0}, 0};
    double farthest = 0;
    int exponent, k;
    size_t i;

    for (i = 0; i < count; i++)
        for (k = 0; k < 3; k++)
            farthest = fmax(farthest, fabs(list[i]->position[k]));
    frexp(farthest, &exponent); /* it is less than 2 to that */
    cell.half = ldexp(1, exponent);
    return cell;
}

unsigned cell_octant(const struct cell *cell, const struct body *body)
{
    return (body->position[0] >= cell->center[0] ? 1u : 0u) |
           (body->position[1] >= cell->center[1] ? 2u : 0u) |
           (body->position[2] >= cell->center[2] ? 4u : 0u);
}

struct cell cell_part(const struct cell *cell, unsigned octant)
{
    struct cell part = {{0, 0, 0}, cell->half / 2};
    unsigned k;

    for (k = 0; k < 3; k++)
        part.center[k] =
            cell->center[k] + (octant >> k & 1 ? part.half : -part.half);
    return part;
}

int cell_is_point(const struct cell *cell)
{
    struct cell part = cell_part(cell, 0);

    return part.half < 1e-300 ||
           memcmp(part.center, cell->center, sizeof part.center) == 0;
}

void cell_sort(const struct cell *cell, const struct body **list, size_t count,
               const struct body **spare, size_t starts[9])
{
    size_t place[8] = {0}, i;
    unsigned octant;

    for (i = 0; i < count; i++)
        place[cell_octant(cell, list[i])]++;
    for (starts[0] = 0, octant = 0; octant < 8; octant++) {
        starts[octant + 1] = starts[octant] + place[octant];
        place[octant] = starts[octant];
    }
    for (i = 0; i < count; i++)
        spare[place[cell_octant(cell, list[i])]++] = list[i];
    memcpy(list, spare, count * sizeof *list);
}
