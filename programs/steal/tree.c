/*
 * The unbalanced tree: visiting nodes, and the stack of those to be visited.
 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* A node has CHILDREN children in this many of 2^16 cases, else none: a bit
 * fewer than one on average, so that every part ends, and some are large. */
#define CHILDREN     8
#define HAS_CHILDREN 8172

/* --- The stack ----------------------------------------------------------- */

struct task *stack_add(struct stack *stack, size_t count)
{
    if (stack->end + count > stack->room && stack->first > 0) {
        stack->end -= stack->first;
        memmove(stack->tasks, stack->tasks + stack->first,
                stack->end * sizeof(*stack->tasks));
        stack->first = 0;
    }
    if (stack->end + count > stack->room) {
        stack->room = 2 * (stack->end + count);
        stack->tasks =
            report_realloc(stack->tasks, stack->room * sizeof(*stack->tasks));
    }
    stack->end += count;
    return stack->tasks + stack->end - count;
}

const struct task *stack_take_oldest(struct stack *stack, size_t count)
{
    stack->first += count;
    return stack->tasks + stack->first - count;
}

void stack_free(struct stack *stack)
{
    free(stack->tasks);
    memset(stack, 0, sizeof(*stack));
}

/* --- The tree ------------------------------------------------------------ */

static void add_children(struct stack *stack, uint64_t state, uint64_t depth,
                         uint64_t count)
{
    struct task *child = stack_add(stack, count);

    for (uint64_t i = 0; i < count; i++) {
        child[i].state = report_hash(state, i);
        child[i].depth = depth + 1;
    }
}

void tree_start(const struct tree *tree, struct stack *stack,
                struct found *found)
{
    found->nodes++;
    add_children(stack, report_mix(tree->seed), 0, tree->roots);
}

void tree_visit(const struct tree *tree, struct stack *stack, size_t count,
                struct found *found)
{
    while (count-- > 0 && stack_count(stack) > 0) {
        struct task task = stack->tasks[--stack->end];
        uint64_t work = task.state;

        for (uint64_t i = 0; i < tree->grain; i++)
            work = report_hash(work, i);
        found->nodes++;
        found->check += work;
        if (task.depth > found->depth_max)
            found->depth_max = task.depth;
        if ((task.state & 0xffff) < HAS_CHILDREN)
            add_children(stack, task.state, task.depth, CHILDREN);
        else
            found->leaves++;
    }
}
