/* Bodies from a file or by a formula, and whose they are: see bodies.h. */
#include "bodies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/csv.h"
#include "../common/report.h"

#define COLUMNS 7

/* --- Input --------------------------------------------------------------- */

int bodies_read(const char *path, struct body **bodies_out, size_t *count_out,
                char *error, size_t error_bytes)
{
    struct body *bodies;
    struct csv csv;
    size_t i;
    int k;

    if (csv_read(path, COLUMNS, &csv, error, error_bytes))
        return -1;
    bodies = report_malloc(csv.rows * sizeof *bodies);
    memset(bodies, 0, csv.rows * sizeof *bodies);
    for (i = 0; i < csv.rows; i++) {
        const double *row = csv.values + i * COLUMNS;

        if (row[0] < 0) {
            snprintf(error, error_bytes, "%s:%zu: the mass is negative: %g",
                     path, csv.lines[i], row[0]);
            csv_free(&csv);
            free(bodies);
            return -1;
        }
        bodies[i].mass = row[0];
        bodies[i].id = i;
        bodies[i].work = 1;
        for (k = 0; k < 3; k++) {
            bodies[i].position[k] = row[1 + k];
            bodies[i].velocity[k] = row[4 + k];
        }
    }
    *count_out = csv.rows;
    csv_free(&csv);
    *bodies_out = bodies;
    return 0;
}

/* A vector of length @length in a random direction. */
static void random_vector(struct report_random *random, double length,
                          double vector[3])
{
    double z = 2 * report_random_unit(random) - 1;
    double angle = 2 * M_PI * report_random_unit(random);
    double across = sqrt(1 - z * z);

    vector[0] = length * across * cos(angle);
    vector[1] = length * across * sin(angle);
    vector[2] = length * z;
}

/* After Aarseth, Henon and Wielen (1974). */
void bodies_plummer(size_t count, uint64_t seed, struct body *bodies)
{
    const double scale = 3 * M_PI / 16;
    double position[3] = {0}, velocity[3] = {0};
    struct report_random random;
    size_t i;
    int k;

    report_random_seed(&random, seed);
    memset(bodies, 0, count * sizeof *bodies);
    for (i = 0; i < count; i++) {
        struct body *body = &bodies[i];
        double radius, speed, limit;

        do {
            double inside = report_random_unit(&random);

            radius = 1 / sqrt(pow(inside, -2.0 / 3) - 1);
        } while (!(radius < 20));
        do {
            speed = report_random_unit(&random);
            limit = 0.1 * report_random_unit(&random);
        } while (limit > speed * speed * pow(1 - speed * speed, 3.5));
        speed *= sqrt(2) * pow(1 + radius * radius, -0.25);
        random_vector(&random, radius * scale, body->position);
        random_vector(&random, speed / sqrt(scale), body->velocity);
        body->mass = 1 / (double)count;
        body->id = i;
        body->work = 1;
        for (k = 0; k < 3; k++) {
            position[k] += body->position[k] / (double)count;
            velocity[k] += body->velocity[k] / (double)count;
        }
    }
    for (i = 0; i < count; i++) {
        for (k = 0; k < 3; k++) {
            bodies[i].position[k] -= position[k];
            bodies[i].velocity[k] -= velocity[k];
        }
    }
}

/* --- Shares -------------------------------------------------------------- */

const struct body **bodies_by_id(const struct share *shares, int workers,
                                 size_t *count_out)
{
    const struct body **all;
    size_t count = 0, i;
    int w;

    for (w = 0; w < workers; w++)
        count += shares[w].count;
    all = report_malloc(count * sizeof *all);
    memset(all, 0, count * sizeof *all);
    for (w = 0; w < workers; w++) {
        for (i = 0; i < shares[w].count; i++) {
            const struct body *body = &shares[w].bodies[i];

            if (body->id >= count || all[body->id]) {
                free(all);
                return NULL;
            }
            all[body->id] = body;
        }
    }
    *count_out = count;
    return all;
}

/* --- Motion -------------------------------------------------------------- */

void bodies_kick(struct body *bodies, size_t count, double dt)
{
    size_t i;
    int k;

    for (i = 0; i < count; i++)
        for (k = 0; k < 3; k++)
            bodies[i].velocity[k] += dt * bodies[i].acceleration[k];
}

void bodies_drift(struct body *bodies, size_t count, double dt)
{
    size_t i;
    int k;

    for (i = 0; i < count; i++)
        for (k = 0; k < 3; k++)
            bodies[i].position[k] += dt * bodies[i].velocity[k];
}

uint64_t bodies_hash(const struct body *const *all, size_t count)
{
    uint64_t hash = count, bits;
    size_t i;
    int k;

    for (i = 0; i < count; i++) {
        hash = report_hash(hash, all[i]->id);
        for (k = 0; k < 6; k++) {
            memcpy(&bits,
                   k < 3 ? &all[i]->position[k] : &all[i]->velocity[k - 3],
                   sizeof bits);
            hash = report_hash(hash, bits);
        }
    }
    return hash;
}
