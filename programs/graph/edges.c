/* The edges of a Kronecker graph: see graph.h. */
#include <stdlib.h>

#include "../common/report.h"
#include "graph.h"

#define EDGES_PER_VERTEX 16

/* Of 100 edges so many go to each quarter of the matrix, at each level. */
#define QUARTER_A 57
#define QUARTER_B 19
#define QUARTER_C 19

static struct edge draw_edge(unsigned scale, struct report_random *random)
{
    struct edge edge = {{0, 0}};
    unsigned level;

    for (level = 0; level < scale; level++) {
        uint64_t draw = report_random_u64(random) % 100;

        edge.ends[0] = edge.ends[0] << 1 | (draw >= QUARTER_A + QUARTER_B);
        edge.ends[1] = edge.ends[1] << 1 |
                       ((draw >= QUARTER_A && draw < QUARTER_A + QUARTER_B) ||
                        draw >= QUARTER_A + QUARTER_B + QUARTER_C);
    }
    return edge;
}

/* Numbers for the vertices that have edges, in a random order. */
static uint32_t *draw_numbers(const struct edges *edges, uint32_t vertices,
                              struct report_random *random, uint32_t *count_out)
{
    uint32_t *order = report_malloc(vertices * sizeof(*order));
    uint32_t *numbers = report_malloc(vertices * sizeof(*numbers));
    uint32_t v, other, count = 0;
    size_t e;

    for (v = 0; v < vertices; v++) {
        order[v] = v;
        numbers[v] = 0;
    }
    for (v = vertices; v-- > 1;) {
        uint32_t kept = order[v];

        other = (uint32_t)(report_random_u64(random) % (v + 1));
        order[v] = order[other];
        order[other] = kept;
    }
    for (e = 0; e < edges->count; e++)
        numbers[edges->list[e].ends[0]] = numbers[edges->list[e].ends[1]] = 1;
    for (v = 0; v < vertices; v++) {
        if (numbers[order[v]])
            numbers[order[v]] = count++;
    }
    free(order);
    *count_out = count;
    return numbers;
}

struct edges edges_make(unsigned scale, uint64_t seed)
{
    uint32_t vertices = UINT32_C(1) << scale, *numbers;
    size_t drawn = (size_t)vertices * EDGES_PER_VERTEX, e;
    struct edges edges = {0};
    struct report_random random;

    report_random_seed(&random, seed);
    edges.list = report_malloc(drawn * sizeof(*edges.list));
    for (e = 0; e < drawn; e++) {
        struct edge edge = draw_edge(scale, &random);

        if (edge.ends[0] != edge.ends[1])
            edges.list[edges.count++] = edge;
    }
    numbers = draw_numbers(&edges, vertices, &random, &edges.vertices);
    for (e = 0; e < edges.count; e++) {
        edges.list[e].ends[0] = numbers[edges.list[e].ends[0]];
        edges.list[e].ends[1] = numbers[edges.list[e].ends[1]];
    }
    free(numbers);
    return edges;
}
