/* Accelerations by trees, and by direct summation: see forces.h. */
#include "forces.h"

#include <math.h>
#include <string.h>

#include "../common/report.h"

static void pull_from_tree(const struct node *node, double epsilon_squared,
                           const double at[3], struct pull *pull)
{
    double x, y, z, squared, inverse, strength;

    while (node) {
        x = node->center[0] - at[0];
        y = node->center[1] - at[1];
        z = node->center[2] - at[2];
        squared = x * x + y * y + z * z;
        if (node->more && !(squared > node->open_squared)) {
            node = node->more;
            continue;
        }
        if (squared > 0) {
            inverse = 1 / sqrt(squared + epsilon_squared);
            strength = node->mass * inverse;
            pull->potential -= strength;
            strength *= inverse * inverse;
            pull->acceleration[0] += strength * x;
            pull->acceleration[1] += strength * y;
            pull->acceleration[2] += strength * z;
            pull->work++;
        }
        node = node->next;
    }
}

static void scale(struct pull *pull, double constant)
{
    int k;

    pull->potential *= constant;
    for (k = 0; k < 3; k++)
        pull->acceleration[k] *= constant;
}

struct pull *forces_begin(size_t count)
{
    struct pull *pulls = report_malloc(count * sizeof *pulls);

    memset(pulls, 0, count * sizeof *pulls);
    return pulls;
}

void forces_add_tree(const struct node *tree, const struct gravity *gravity,
                     const struct body *bodies, size_t count,
                     struct pull *pulls)
{
    double epsilon_squared = gravity->softening * gravity->softening;
    size_t i;

    for (i = 0; i < count; i++)
        pull_from_tree(tree, epsilon_squared, bodies[i].position, &pulls[i]);
}

void forces_apply(struct body *bodies, size_t count,
                  const struct gravity *gravity, const struct pull *pulls)
{
    size_t i;

    for (i = 0; i < count; i++) {
        struct pull pull = pulls[i];

        scale(&pull, gravity->constant);
        memcpy(bodies[i].acceleration, pull.acceleration,
               sizeof bodies[i].acceleration);
        bodies[i].potential = pull.potential;
        bodies[i].work = pull.work + 1;
    }
}

static double square_of(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static void add_energy(struct sums *sums, const struct body *body,
                       double potential)
{
    sums->kinetic += body->mass * square_of(body->velocity) / 2;
    /* Each pair counts once. */
    sums->potential += body->mass * potential / 2;
}

struct sums forces_energy(const struct body *bodies, size_t count)
{
    struct sums sums = {0};
    size_t i;

    for (i = 0; i < count; i++)
        add_energy(&sums, &bodies[i], bodies[i].potential);
    return sums;
}

static struct pull pull_direct(const struct body *body,
                               const struct body *const *all, size_t count,
                               const struct gravity *gravity)
{
    double epsilon_squared = gravity->softening * gravity->softening;
    struct pull pull = {0};
    struct node node = {0};
    size_t i;

    for (i = 0; i < count; i++) {
        memcpy(node.center, all[i]->position, sizeof node.center);
        node.mass = all[i]->mass;
        pull_from_tree(&node, epsilon_squared, body->position, &pull);
    }
    scale(&pull, gravity->constant);
    return pull;
}

struct sums forces_verify(const struct body *bodies, size_t count,
                          const struct body *const *all, size_t all_count,
                          const struct gravity *gravity, size_t stride,
                          int with_energy)
{
    struct sums sums = {0};
    size_t i;
    int k;

    for (i = 0; i < count; i++) {
        int sampled = stride && bodies[i].id % stride == 0;
        double potential = bodies[i].potential;

        if (sampled || with_energy) {
            struct pull pull = pull_direct(&bodies[i], all, all_count, gravity);
            double off[3];

            if (with_energy)
                potential = pull.potential;
            for (k = 0; k < 3; k++)
                off[k] = bodies[i].acceleration[k] - pull.acceleration[k];
            if (sampled && square_of(pull.acceleration) > 0) {
                sums.error_squared +=
                    square_of(off) / square_of(pull.acceleration);
                sums.samples++;
            }
        }
        add_energy(&sums, &bodies[i], potential);
    }
    return sums;
}

struct sums forces_add(const struct sums *parts, int count)
{
    struct sums sums = {0};
    int i;

    for (i = 0; i < count; i++) {
        sums.kinetic += parts[i].kinetic;
        sums.potential += parts[i].potential;
        sums.error_squared += parts[i].error_squared;
        sums.samples += parts[i].samples;
    }
    return sums;
}
