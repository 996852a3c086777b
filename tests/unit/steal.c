/*
 * The tree of the work stealing example, and the stack of its tasks: the same
 * nodes are found in whatever order and by however many they are visited.
 */
#include <stdio.h>
#include <string.h>

#include "programs/steal/tree.h"
#include "tap.h"

#define WORKERS 3

static const struct tree tree = {.seed = 4, .roots = 400, .grain = 1};

static struct found search(void)
{
    struct stack stack = {0};
    struct found found = {0};

    tree_start(&tree, &stack, &found);
    tree_visit(&tree, &stack, SIZE_MAX, &found);
    stack_free(&stack);
    return found;
}

/* Workers in turn visit @count nodes and give the next half of their tasks. */
static struct found search_shared(size_t count)
{
    struct stack stacks[WORKERS] = {0};
    struct found found = {0};
    size_t half, left;
    int w;

    tree_start(&tree, &stacks[0], &found);
    do {
        left = 0;
        for (w = 0; w < WORKERS; w++) {
            struct stack *to = &stacks[(w + 1) % WORKERS];

            tree_visit(&tree, &stacks[w], count, &found);
            half = stack_count(&stacks[w]) / 2;
            if (half > 0)
                memcpy(stack_add(to, half), stack_take_oldest(&stacks[w], half),
                       half * sizeof(*to->tasks));
            left += stack_count(&stacks[w]) + half;
        }
    } while (left > 0);
    for (w = 0; w < WORKERS; w++)
        stack_free(&stacks[w]);
    return found;
}

static void test_stack(void)
{
    struct stack stack = {0};
    const struct task *oldest;
    uint64_t i;

    for (i = 0; i < 1000; i++)
        stack_add(&stack, 1)->state = i;
    oldest = stack_take_oldest(&stack, 600);
    tap_ok(oldest[0].state == 0 && oldest[599].state == 599,
           "the oldest are taken");
    for (i = 1000; i < 3000; i++)
        stack_add(&stack, 1)->state = i;
    tap_ok(stack_count(&stack) == 2400 &&
               stack.tasks[stack.first].state == 600 &&
               stack.tasks[stack.end - 1].state == 2999,
           "the others stay, and more come behind them");
    stack_free(&stack);
}

int main(void)
{
    struct found all = search(), shared;

    test_stack();
    tap_ok(all.nodes > 100000 && all.leaves < all.nodes && all.depth_max > 100,
           "the tree is large");
    shared = search_shared(1);
    tap_ok(memcmp(&all, &shared, sizeof(all)) == 0,
           "workers who share after each node find the same");
    shared = search_shared(100);
    tap_ok(memcmp(&all, &shared, sizeof(all)) == 0,
           "workers who share now and then find the same");
    return tap_end();
}
