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

/* Pulls on @count bodies, none yet; the caller frees them. */
struct pull *forces_begin(size_t count);

/*
 * Add the pull of @tree on each of @bodies.  A body does not pull itself, nor
 * one at exactly its place.  For the same bits in all forms a worker adds its
 * own tree first and then those of the workers after it, by turns: the others'
 * can be on their way meanwhile.
 */
void forces_add_tree(const struct node *tree, const struct gravity *gravity,
                     const struct body *bodies, size_t count,
                     struct pull *pulls);

/* Write them into the bodies. */
void forces_apply(struct body *bodies, size_t count,
                  const struct gravity *gravity, const struct pull *pulls);

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
