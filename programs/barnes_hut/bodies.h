/*
 * bodies.h - the bodies of the simulation, where they come from, and which
 * worker they belong to.
 *
 * A worker's bodies are one array, in the order of the grid (cell.h), so that
 * bodies that look at the same nodes of a tree follow each other.  Everything
 * here gives the same bits wherever it is computed from the same bodies.
 */
#ifndef BARNES_HUT_BODIES_H
#define BARNES_HUT_BODIES_H

#include <stddef.h>
#include <stdint.h>

struct body {
    double position[3];
    double velocity[3];
    double acceleration[3];
    double potential; /* per unit of mass, without softened self-energy */
    double mass;
    uint64_t id;
    uint64_t work; /* interactions in the last step */
};

/* The bodies of one worker, as another worker sees them. */
struct share {
    const struct body *bodies;
    size_t count;
};

/*
 * Read mass,x,y,z,vx,vy,vz from @path.  Returns 0 with an array that the caller
 * frees, or -1 with one line in @error.
 */
int bodies_read(const char *path, struct body **bodies_out, size_t *count_out,
                char *error, size_t error_bytes);

/*
 * A Plummer sphere of @count bodies, in the usual units: G and the total mass
 * are 1, the energy is -1/4; at rest as a whole, around 0.
 */
void bodies_plummer(size_t count, uint64_t seed, struct body *bodies);

/*
 * All bodies of @shares, by number: an array of pointers that the caller frees,
 * or NULL if one is missing or there twice.
 */
const struct body **bodies_by_id(const struct share *shares, int workers,
                                 size_t *count_out);

/*
 * The bodies that fall to @worker when all are put in a row, cell by cell of the
 * grid, each followed by its neighbours, and the row is cut so that the workers'
 * shares of the last step's work are as equal as can be.  @all, from
 * bodies_by_id(), is changed; the chosen ones, in the row's order, are its
 * first *count_out.  (share.c)
 */
void bodies_share(const struct body **all, size_t count, int worker,
                  int workers, size_t *count_out);

/* Velocities on by @dt times the accelerations; positions by @dt times the
 * velocities. */
void bodies_kick(struct body *bodies, size_t count, double dt);
void bodies_drift(struct body *bodies, size_t count, double dt);

/* A hash of numbers, positions and velocities of all, from bodies_by_id(). */
uint64_t bodies_hash(const struct body *const *all, size_t count);

#endif /* BARNES_HUT_BODIES_H */
