/*
 * tree_transfer - a binary tree of 2^20 - 1 nodes of 24 bytes, made by rank 0,
 * is walked by rank 1 of the same node.
 *
 * ours    the tree is in a region: drasync_acquire() for READ, walk.  Each time
 *         it is a new region, that rank 1 has never seen
 * theirs  pack the nodes in preorder with their children's numbers, MPI_Send(),
 *         MPI_Recv() into what becomes the new tree, make the numbers pointers,
 *         walk.  All buffers are kept and were touched before
 *
 * Both trees are made parent first, left before right, which is also the order
 * of the walk.  Timed at rank 1: from a barrier, with the tree ready at rank 0,
 * to the sum of all values.
 */
#include "benchmarks/common.h"
#include "benchmarks/objects.h"

#include <mpi.h>
#include <stdlib.h>

#define DEPTH      20
#define DEPTH_TINY 10

struct node {
    struct node *left, *right;
    uint64_t value;
};

/* A node in a message: its children's numbers; 0: none. */
struct packed {
    uint64_t left, right, value;
};

/* What arrives becomes the tree where it lies. */
union arrived {
    struct packed packed;
    struct node node;
};

struct both {
    int rank;
    unsigned depth;
    size_t nodes;
    struct node *tree; /* theirs, at rank 0 */
    struct packed *packed;
    union arrived *arrived;
};

static uint64_t walk(const struct node *n)
{
    return n ? n->value + walk(n->left) + walk(n->right) : 0;
}

/* In region @r; NULL: malloc(). */
static struct node *build(region r, unsigned depth, uint64_t *value)
{
    struct node *n;

    if (!depth)
        return NULL;
    n = r ? ralloc(r, sizeof(*n)) : malloc(sizeof(*n));
    bench_require(n != NULL, "malloc");
    n->value = (*value)++;
    n->left = build(r, depth - 1, value);
    n->right = build(r, depth - 1, value);
    return n;
}

static void check_sum(const struct both *b, uint64_t sum)
{
    bench_require(sum == (uint64_t)b->nodes * (b->nodes - 1) / 2, "sum");
}

static double ours(void *arg)
{
    struct both *b = arg;
    struct {
        region region;
        struct node *tree;
    } made = {0};
    uint64_t value = 0;
    double ms = 0;

    if (b->rank == 0) {
        made.region = new_region();
        made.tree = build(made.region, b->depth, &value);
        release_region(made.region);
    }
    MPI_Bcast(&made, sizeof(made), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 1) {
        double begin = bench_now_ns();

        acquire_region(made.region, READ);
        value = walk(made.tree);
        ms = (bench_now_ns() - begin) * 1e-6;
        release_region(made.region);
        check_sum(b, value);
    }
    ms = bench_told(ms, 1);
    if (b->rank == 0)
        delete_region(made.region);
    MPI_Barrier(MPI_COMM_WORLD);
    return ms;
}

static uint64_t pack(struct packed *out, const struct node *n, uint64_t *next)
{
    uint64_t at;

    if (!n)
        return 0;
    at = (*next)++;
    out[at].value = n->value;
    out[at].left = pack(out, n->left, next);
    out[at].right = pack(out, n->right, next);
    return at;
}

static void rebuild(union arrived *a, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++) {
        struct packed p = a[i].packed;

        a[i].node.left = p.left ? &a[p.left].node : NULL;
        a[i].node.right = p.right ? &a[p.right].node : NULL;
        a[i].node.value = p.value;
    }
}

static double theirs(void *arg)
{
    struct both *b = arg;
    int bytes = (int)(b->nodes * sizeof(struct packed));
    uint64_t next = 0, sum;
    double begin, ms = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    if (b->rank == 0) {
        pack(b->packed, b->tree, &next);
        MPI_Send(b->packed, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (b->rank == 1) {
        MPI_Recv(b->arrived, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        rebuild(b->arrived, b->nodes);
        sum = walk(&b->arrived[0].node);
        ms = (bench_now_ns() - begin) * 1e-6;
        check_sum(b, sum);
    }
    return bench_told(ms, 1);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "tree_transfer",
        .unit = "ms",
        .what = "A binary tree of 1 M nodes: acquire and walk; pack, send, "
                "receive, rebuild\nand walk.\n",
        .runs = 9,
        .jobs = 3,
    };
    struct both both = {0};
    uint64_t value = 0;

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.depth = bench.tiny ? DEPTH_TINY : DEPTH;
    both.nodes = ((size_t)1 << both.depth) - 1;
    if (bench_only_theirs(&bench)) {
        if (both.rank == 0)
            both.tree = build(NULL, both.depth, &value);
        both.packed = bench_buffer(both.nodes * sizeof(*both.packed));
        both.arrived = bench_buffer(both.nodes * sizeof(*both.arrived));
    }
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
