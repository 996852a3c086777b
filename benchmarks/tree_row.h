/*
 * tree_row.h - the two rows about a binary tree of 2^20 - 1 nodes, made by rank 0
 * and walked by rank 1.
 *
 * ours    the tree is in a region: drasync_acquire() for READ, walk.  Nodes have
 *         24 bytes.  Each time it is a new region, that rank 1 has never seen
 * theirs  a tree of 32-bit places in one array, 16 bytes a node, which is walked
 *         as it is: in a window that both ranks share, with a byte that says so
 *         (window); sent by one MPI_Send() (offsets).  Or a tree with pointers:
 *         packed in preorder with the children's numbers, MPI_Send(), MPI_Recv()
 *         into what becomes the new tree, numbers made pointers (rebuild).  All
 *         buffers are kept and were touched before
 *
 * All trees are made parent first, left before right, which is also the order of
 * the walk.  Timed at rank 1: from a barrier, with the tree ready at rank 0, to
 * the sum of all values.
 */
#ifndef BENCHMARKS_TREE_ROW_H
#define BENCHMARKS_TREE_ROW_H

#include "benchmarks/common.h"
#include "benchmarks/shared_window.h"

#include <mpi.h>
#include <stdlib.h>

#define TREE_DEPTH      20
#define TREE_DEPTH_TINY 10

enum { TREE_OFFSETS, TREE_REBUILD, TREE_WINDOW };

/* The last one on a node only. */
static const char *const tree_rivals[] = {"offsets", "rebuild", "window"};

struct tree_node {
    struct tree_node *left, *right;
    uint64_t value;
};

/* A node in a message: its children's numbers; 0: none. */
struct tree_packed {
    uint64_t left, right, value;
};

/* What arrives becomes the tree where it lies. */
union tree_arrived {
    struct tree_packed packed;
    struct tree_node node;
};

/* A node in an array: its children's places; 0: none. */
struct tree_place {
    uint32_t left, right;
    uint64_t value;
};

struct tree_row {
    struct bench bench;
    /* Filled in here. */
    unsigned depth;
    size_t nodes;
    struct tree_node *tree; /* theirs, at rank 0 */
    struct tree_packed *packed;
    union tree_arrived *arrived;
    struct tree_place *place;
    struct shared_window window; /* place lies in it */
};

static inline uint64_t tree_walk(const struct tree_node *n)
{
    return n ? n->value + tree_walk(n->left) + tree_walk(n->right) : 0;
}

static inline uint64_t tree_walk_places(const struct tree_place *place,
                                        uint32_t at)
{
    const struct tree_place *n = &place[at];
    uint64_t sum = n->value;

    if (n->left)
        sum += tree_walk_places(place, n->left);
    if (n->right)
        sum += tree_walk_places(place, n->right);
    return sum;
}

/* In region @r; NULL: malloc(). */
static inline struct tree_node *tree_build(region r, unsigned depth,
                                           uint64_t *value)
{
    struct tree_node *n;

    if (!depth)
        return NULL;
    n = r ? ralloc(r, sizeof(*n)) : malloc(sizeof(*n));
    bench_require(n != NULL, "malloc");
    n->value = (*value)++;
    n->left = tree_build(r, depth - 1, value);
    n->right = tree_build(r, depth - 1, value);
    return n;
}

/* Node number n has value n. */
static inline uint32_t tree_build_places(struct tree_place *place,
                                         unsigned depth, uint32_t *next)
{
    uint32_t at;

    if (!depth)
        return 0;
    at = (*next)++;
    place[at].value = at;
    place[at].left = tree_build_places(place, depth - 1, next);
    place[at].right = tree_build_places(place, depth - 1, next);
    return at;
}

static inline void tree_check(const struct tree_row *row, uint64_t sum)
{
    bench_require(sum == (uint64_t)row->nodes * (row->nodes - 1) / 2, "sum");
}

static double tree_ours(void *arg)
{
    struct tree_row *row = arg;
    struct {
        region region;
        struct tree_node *tree;
    } made = {0};
    uint64_t value = 0;
    double ms = 0;

    if (row->bench.rank == 0) {
        made.region = new_region();
        made.tree = tree_build(made.region, row->depth, &value);
        release_region(made.region);
    }
    MPI_Bcast(&made, sizeof(made), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (row->bench.rank == 1) {
        double begin = bench_now_ns();

        acquire_region(made.region, READ);
        value = tree_walk(made.tree);
        ms = (bench_now_ns() - begin) * 1e-6;
        release_region(made.region);
        tree_check(row, value);
    }
    ms = bench_told(ms, 1);
    if (row->bench.rank == 0)
        delete_region(made.region);
    MPI_Barrier(MPI_COMM_WORLD);
    return ms;
}

static inline uint64_t tree_pack(struct tree_packed *out,
                                 const struct tree_node *n, uint64_t *next)
{
    uint64_t at;

    if (!n)
        return 0;
    at = (*next)++;
    out[at].value = n->value;
    out[at].left = tree_pack(out, n->left, next);
    out[at].right = tree_pack(out, n->right, next);
    return at;
}

static inline void tree_rebuild(union tree_arrived *a, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++) {
        struct tree_packed p = a[i].packed;

        a[i].node.left = p.left ? &a[p.left].node : NULL;
        a[i].node.right = p.right ? &a[p.right].node : NULL;
        a[i].node.value = p.value;
    }
}

/* What is sent of a tree, and how rank 1 gets its sum. */
static inline void tree_send(struct tree_row *row)
{
    uint64_t next = 0;
    char token = 0;

    switch (row->bench.rival) {
    case TREE_WINDOW: /* the release pairs with tree_receive()'s acquire */
        atomic_thread_fence(memory_order_release);
        MPI_Send(&token, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        break;
    case TREE_OFFSETS:
        MPI_Send(row->place, (int)(row->nodes * sizeof(*row->place)), MPI_BYTE,
                 1, 0, MPI_COMM_WORLD);
        break;
    default:
        tree_pack(row->packed, row->tree, &next);
        MPI_Send(row->packed, (int)(row->nodes * sizeof(*row->packed)),
                 MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
}

static inline uint64_t tree_receive(struct tree_row *row)
{
    char token;

    switch (row->bench.rival) {
    case TREE_WINDOW:
        MPI_Recv(&token, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        atomic_thread_fence(memory_order_acquire);
        return tree_walk_places(row->place, 0);
    case TREE_OFFSETS:
        MPI_Recv(row->place, (int)(row->nodes * sizeof(*row->place)), MPI_BYTE,
                 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return tree_walk_places(row->place, 0);
    default:
        MPI_Recv(row->arrived, (int)(row->nodes * sizeof(*row->arrived)),
                 MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tree_rebuild(row->arrived, row->nodes);
        return tree_walk(&row->arrived[0].node);
    }
}

static double tree_theirs(void *arg)
{
    struct tree_row *row = arg;
    uint32_t next = 0;
    uint64_t sum;
    double begin, ms = 0;

    /* As our side's is each time, it is in rank 0's cache. */
    if (row->bench.rank == 0 && row->place)
        tree_build_places(row->place, row->depth, &next);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    if (row->bench.rank == 0) {
        tree_send(row);
    } else if (row->bench.rank == 1) {
        sum = tree_receive(row);
        ms = (bench_now_ns() - begin) * 1e-6;
        tree_check(row, sum);
    }
    return bench_told(ms, 1);
}

static inline void tree_theirs_make(struct tree_row *row)
{
    const size_t bytes = row->nodes * sizeof(*row->place);
    uint64_t value = 0;

    switch (row->bench.rival) {
    case TREE_WINDOW:
        shared_window_make(&row->window, &row->bench, MPI_COMM_WORLD, bytes);
        row->place = row->window.data;
        break;
    case TREE_OFFSETS:
        row->place = bench_buffer(bytes);
        break;
    default:
        if (row->bench.rank == 0)
            row->tree = tree_build(NULL, row->depth, &value);
        row->packed = bench_buffer(row->nodes * sizeof(*row->packed));
        row->arrived = bench_buffer(row->nodes * sizeof(*row->arrived));
    }
}

static inline int tree_main(struct tree_row *row, int argc, char **argv)
{
    struct bench *b = &row->bench;

    bench_start(b, argc, argv, 2);
    row->depth = b->tiny ? TREE_DEPTH_TINY : TREE_DEPTH;
    row->nodes = ((size_t)1 << row->depth) - 1;
    if (bench_only_theirs(b))
        tree_theirs_make(row);
    bench_compare(b, tree_ours, tree_theirs, row);
    if (row->window.data)
        shared_window_end(&row->window);
    return bench_finish(b);
}

#endif
