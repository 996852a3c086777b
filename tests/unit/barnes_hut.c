/* The numerical code of Barnes-Hut: trees, forces, shares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/barnes_hut/bodies.h"
#include "programs/barnes_hut/forces.h"
#include "programs/barnes_hut/tree.h"
#include "programs/common/report.h"
#include "tap.h"

#define COUNT 2000

/* Nodes with holes between, in one order or the other; good until the arena is
 * used again from its start. */
static struct {
    struct node node;
    char hole[40];
} arena[COUNT * 8];
static size_t arena_used;

static void get_nodes(void *context, size_t count, struct node **nodes)
{
    int backwards = *(int *)context;
    size_t i;

    for (i = 0; i < count; i++)
        nodes[backwards ? count - 1 - i : i] = &arena[arena_used + i].node;
    arena_used += count;
}

static struct node *make_tree(const struct body *bodies, size_t count,
                              double theta, int backwards)
{
    struct node_source source = {.get = get_nodes, .context = &backwards};

    return tree_build(&source, bodies, count, theta);
}

/* Root of the mean squared relative error of the forces of @parts trees. */
static double force_error(struct body *bodies, size_t count, double theta,
                          int parts, double softening)
{
    const struct gravity gravity = {1, softening};
    struct share share = {bodies, count};
    const struct body **all;
    const struct node *trees[8];
    struct pull *pulls = forces_begin(count);
    struct sums sums;
    size_t all_count;
    int t;

    arena_used = 0;
    for (t = 0; t < parts; t++) {
        size_t from = count * (size_t)t / (size_t)parts;
        size_t to = count * (size_t)(t + 1) / (size_t)parts;

        trees[t] = make_tree(bodies + from, to - from, theta, t % 2);
    }
    for (t = 0; t < parts; t++)
        forces_add_tree(trees[t], &gravity, bodies, count, pulls);
    forces_apply(bodies, count, &gravity, pulls);
    all = bodies_by_id(&share, 1, &all_count);
    sums = forces_verify(bodies, count, all, all_count, &gravity, 1, 1);
    free(all);
    free(pulls);
    return sums.samples ? sqrt(sums.error_squared / (double)sums.samples) : 0;
}

static void test_forces(struct body *bodies)
{
    struct body before[3];
    double half, one;

    tap_ok(force_error(bodies, COUNT, 0, 1, 0.01) < 1e-12,
           "with theta 0 the tree gives the direct sum");
    half = force_error(bodies, COUNT, 0.5, 1, 0.01);
    one = force_error(bodies, COUNT, 1, 1, 0.01);
    tap_ok(half < 0.01 && one > half,
           "with theta 0.5 within a hundredth, and less well with 1");
    memcpy(before, bodies, sizeof before);
    tap_ok(force_error(bodies, COUNT, 0.5, 5, 0.01) < 0.01,
           "five trees do as well as one");
    force_error(bodies, COUNT, 0.5, 1, 0.01);
    memcpy(before, bodies, sizeof before);
    force_error(bodies, COUNT, 0.5, 1, 0.01);
    tap_ok(memcmp(before, bodies, sizeof before) == 0,
           "the same bodies give the same bits wherever the nodes lie");
}

static void test_coinciding(void)
{
    struct body bodies[20];
    size_t i;

    bodies_plummer(20, 3, bodies);
    for (i = 5; i < 15; i++)
        memcpy(bodies[i].position, bodies[5].position,
               sizeof bodies[i].position);
    bodies[15].position[0] = nextafter(bodies[5].position[0], 9);
    bodies[15].position[1] = bodies[5].position[1];
    bodies[15].position[2] = bodies[5].position[2];
    bodies[16].mass = 0;
    tap_ok(force_error(bodies, 20, 0, 1, 0.1) < 1e-9,
           "bodies may share a place, or nearly, or have no mass");
    tap_ok(force_error(bodies, 1, 0.5, 1, 0) == 0 &&
               make_tree(bodies, 0, 0.5, 0) == NULL,
           "one body, and none");
}

static double distance(const struct body *a, const struct body *b)
{
    double squared = 0;
    int k;

    for (k = 0; k < 3; k++)
        squared += (a->position[k] - b->position[k]) *
                   (a->position[k] - b->position[k]);
    return sqrt(squared);
}

/* How far it is from the first body to the last by way of all. */
static double way_along(const struct body *const *list, size_t count)
{
    double way = 0;
    size_t i;

    for (i = 1; i < count; i++)
        way += distance(list[i - 1], list[i]);
    return way;
}

static void test_shares(struct body *bodies)
{
    static int owner[COUNT];
    struct share share = {bodies, COUNT};
    const struct body **all;
    int workers, w, balanced = 1, once = 1;
    double way, way_before;
    size_t count, mine_count, i;

    for (workers = 1; workers <= 9; workers++) {
        memset(owner, 0xff, sizeof owner);
        for (w = 0; w < workers; w++) {
            uint64_t work = 0, total = 0;

            all = bodies_by_id(&share, 1, &count);
            bodies_share(all, count, w, workers, &mine_count);
            for (i = 0; i < mine_count; i++) {
                if (owner[all[i]->id] != -1)
                    once = 0;
                owner[all[i]->id] = w;
                work += all[i]->work;
            }
            for (i = 0; i < COUNT; i++)
                total += bodies[i].work;
            if (fabs((double)work - (double)total / workers) >
                0.002 * (double)total)
                balanced = 0;
            free(all);
        }
        for (i = 0; i < COUNT; i++)
            if (owner[i] < 0)
                once = 0;
    }
    tap_ok(once, "each body falls to one worker");
    all = bodies_by_id(&share, 1, &count);
    way_before = way_along(all, count);
    bodies_share(all, count, 0, 1, &mine_count);
    way = way_along(all, mine_count);
    free(all);
    tap_ok(mine_count == COUNT && way < way_before / 3,
           "bodies that follow each other are close");
    tap_ok(balanced, "the work is shared evenly");
}

/* Interactions of all bodies with the trees of @workers' shares. */
static uint64_t work_with(struct body *bodies, int workers)
{
    static struct body copies[COUNT];
    const struct gravity gravity = {1, 0.01};
    struct share share = {bodies, COUNT};
    const struct node *trees[9];
    struct pull *pulls = forces_begin(COUNT);
    size_t all_count, count, done = 0, i;
    uint64_t work = 0;
    int w;

    arena_used = 0;
    for (w = 0; w < workers; w++) {
        const struct body **all = bodies_by_id(&share, 1, &all_count);

        bodies_share(all, all_count, w, workers, &count);
        for (i = 0; i < count; i++)
            copies[done + i] = *all[i];
        trees[w] = make_tree(copies + done, count, 0.5, 0);
        done += count;
        free(all);
    }
    for (w = 0; w < workers; w++)
        forces_add_tree(trees[w], &gravity, bodies, COUNT, pulls);
    for (i = 0; i < COUNT; i++)
        work += pulls[i].work;
    free(pulls);
    return work;
}

static void test_trees_of_shares(struct body *bodies)
{
    uint64_t one = work_with(bodies, 1);

    tap_ok(work_with(bodies, 2) < one + one / 50 &&
               work_with(bodies, 9) < one + one / 10,
           "the trees of shares are looked at hardly more often than one tree");
}

static void test_no_bodies(void)
{
    const struct body *none[1] = {NULL};
    size_t count = 1;

    bodies_share(none, 0, 1, 3, &count);
    tap_ok(count == 0, "no bodies have no shares");
}

static void test_workers_without(struct body *bodies)
{
    struct share share = {bodies, 3};
    size_t count, all_count, sum = 0;
    int w;

    for (w = 0; w < 9; w++) {
        const struct body **all = bodies_by_id(&share, 1, &all_count);

        bodies_share(all, all_count, w, 9, &count);
        sum += count;
        free(all);
    }
    tap_ok(sum == 3, "of few bodies some workers get none");
}

static void test_missing(struct body *bodies)
{
    struct share shares[2] = {{bodies, 10}, {bodies + 11, 10}};
    size_t count;

    tap_ok(bodies_by_id(shares, 2, &count) == NULL,
           "a missing body is noticed");
    shares[1].bodies = bodies + 9;
    tap_ok(bodies_by_id(shares, 2, &count) == NULL,
           "a body there twice is noticed");
}

static void test_plummer(struct body *bodies)
{
    struct share share = {bodies, COUNT};
    const struct gravity gravity = {1, 0};
    const struct body **all;
    struct sums sums;
    size_t count;

    all = bodies_by_id(&share, 1, &count);
    sums = forces_verify(bodies, COUNT, all, count, &gravity, 0, 1);
    tap_ok(fabs(sums.kinetic + sums.potential + 0.25) < 0.03 &&
               fabs(sums.kinetic * 2 / sums.potential + 1) < 0.1,
           "a Plummer sphere has energy -1/4 and is in equilibrium");
    free(all);
}

int main(void)
{
    static struct body bodies[COUNT];

    bodies_plummer(COUNT, 7, bodies);
    test_plummer(bodies);
    test_forces(bodies);
    test_coinciding();
    test_shares(bodies);
    test_trees_of_shares(bodies);
    test_no_bodies();
    test_workers_without(bodies);
    test_missing(bodies);
    return tap_end();
}
