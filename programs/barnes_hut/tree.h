/*
 * tree.h - the oct-tree of one worker's bodies.
 *
 * Nodes point to each other: @more to a cell's first part, @next to what comes
 * after the node and all its parts.  A walk goes to one or the other and needs
 * no stack.  The tree depends on the bodies alone, not on where its nodes lie.
 * Cells with all bodies in one of their eight parts are left out.
 */
#ifndef BARNES_HUT_TREE_H
#define BARNES_HUT_TREE_H

#include <stddef.h>

#include "bodies.h"

/* One cache line, and one slot of a Myrmics region. */
struct node {
    double center[3]; /* of mass */
    double mass;
    double open_squared; /* nearer than its root, look at the parts */
    struct node *more;   /* NULL: one body */
    struct node *next;   /* NULL: the end */
};

/*
 * Where nodes come from: @get fills @nodes with @count new ones, in whatever
 * region @context says.
 */
#define TREE_BATCH 256
struct node_source {
    void (*get)(void *context, size_t count, struct node **nodes);
    void *context;
    struct node *batch[TREE_BATCH];
    size_t left;
};

/*
 * The tree of @bodies, for opening angle @theta in [0, 1]; NULL if there are
 * none.
 */
struct node *tree_build(struct node_source *source, const struct body *bodies,
                        size_t count, double theta);

#endif /* BARNES_HUT_TREE_H */
