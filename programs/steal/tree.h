/*
 * tree.h - the tree that is searched: a node says by a hash how many children
 * it has, so the tree is the same in whatever order it is visited, and nobody
 * knows how large a part is before it was.  After Olivier et al., UTS: An
 * Unbalanced Tree Search Benchmark, LCPC 2006 (binomial trees).
 */
#ifndef STEAL_TREE_H
#define STEAL_TREE_H

#include <stddef.h>
#include <stdint.h>

/* A node still to be visited. */
struct task {
    uint64_t state;
    uint64_t depth;
};

/* Tasks of one rank; the last one added is done first. */
struct stack {
    struct task *tasks;
    size_t first, end; /* those from tasks[first] to before tasks[end] */
    size_t room;
};

struct tree {
    uint64_t seed;
    uint64_t roots; /* children of the root */
    uint64_t grain; /* work for a node, in hashes */
};

/* What was visited.  Sums of several ranks' are those of all (found_add()). */
struct found {
    uint64_t nodes, leaves, depth_max;
    uint64_t check; /* sum of the hashes */
};

static inline size_t stack_count(const struct stack *stack)
{
    return stack->end - stack->first;
}

/* Room for @count tasks behind those of @stack, which become part of it. */
struct task *stack_add(struct stack *stack, size_t count);

/* The @count oldest tasks, taken from @stack; they are there until the next
 * call that adds tasks. */
const struct task *stack_take_oldest(struct stack *stack, size_t count);

void stack_free(struct stack *stack);

/* Visit the root. */
void tree_start(const struct tree *tree, struct stack *stack,
                struct found *found);

/* Visit up to @count nodes from @stack, whose children go there. */
void tree_visit(const struct tree *tree, struct stack *stack, size_t count,
                struct found *found);

#endif /* STEAL_TREE_H */
