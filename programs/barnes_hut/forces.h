/*
 * forces.h - accelerations and potentials, from trees and by direct summation,
 * and the sums that --verify looks at.
 */
#ifndef BARNES_HUT_FORCES_H
#define BARNES_HUT_FORCES_H

#include "bodies.h"
#include "tree.h"

/* What the law of gravity needs to know. */
struct gravity {
    double constant;  /* G */
    double softening; /* epsilon */
};

/* What trees do to one body; kept apart while the body may not be written. */
struct pull {
    double acceleration[3];
    double potential;
    uint64_t work;
};

/*
 * The pull of all @trees, one after the other, on each of @bodies.  A body does
 * not pull itself, nor one at exactly its place.
 */
void forces_from_trees(const struct node *const *trees, int count,
                       const struct gravity *gravity, const struct body *bodies,
                       size_t bodies_count, struct pull *pulls);

/* Write them into the bodies. */
void forces_apply(struct body *bodies, size_t count, const struct pull *pulls);

/* One worker's part of the sums. */
struct sums {
    double kinetic;
    double potential;
    double error_squared; /* of sampled relative force errors */
    uint64_t samples;
};

/* The energy of @bodies, with the potentials that the trees gave. */
struct sums forces_energy(const struct body *bodies, size_t count);

/*
 * The same with potentials by direct summation over @all, and, for bodies whose
 * number is a multiple of @stride (0: none), the relative error of their
 * accelerations, |a - a_direct| / |a_direct|, squared and summed.
 */
struct sums forces_verify(const struct body *bodies, size_t count,
                          const struct body *const *all, size_t all_count,
                          const struct gravity *gravity, size_t stride,
                          int with_energy);

/* Add up, in order of workers. */
struct sums forces_add(const struct sums *parts, int count);

#endif /* BARNES_HUT_FORCES_H */
