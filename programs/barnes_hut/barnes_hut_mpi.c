/*
 * Barnes-Hut by message passing.
 *
 * A worker gets of another's tree what its bodies look at, and no more: cells
 * that all places in the box around its bodies are far enough from come without
 * their parts.  The boxes are exchanged while the trees are built; receives are
 * posted before the others' trees are cut; and the own tree, then those of the
 * workers after this one, pull while the next ones come.
 *
 * Every few steps all bodies go to all workers, without what the next forces
 * overwrite, and each picks what has become its part of space.
 *
 * Trees go in messages on a host too: they take a hundredth of the time that
 * they save, so a window would not show.
 */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "program.h"

#define TAG_TREE 1

/* Between looks into MPI. */
#define BODIES_BETWEEN 256

/* A body on its way. */
struct parcel {
    double position[3];
    double velocity[3];
    double mass;
    uint64_t id, work;
};

/* What others need to know of a worker's bodies. */
struct summary {
    double low[3], high[3]; /* the box around them */
    uint64_t count;
};

/* Room for the nodes of a tree. */
struct nodes {
    struct node *items;
    size_t count, room;
};

struct simulation {
    struct program program;
    int worker, workers;
    struct body *bodies; /* this worker's */
    size_t count;
    struct body *all; /* of all workers, while they are looked at */
    size_t total;
    struct nodes tree;             /* this worker's */
    struct nodes *there, *here;    /* for each worker; from each worker */
    struct summary *summaries;     /* of each worker */
    MPI_Request *sends, *receives; /* to and from each worker */
    int *counts, *starts;          /* of each worker's parcels, in bytes */
};

static void fail(const struct simulation *sim, const char *what)
{
    fprintf(stderr, "%s: worker %d: %s\n", sim->program.name, sim->worker,
            what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* --- Bodies -------------------------------------------------------------- */

static void keep_bodies(struct simulation *sim, const struct body **list,
                        size_t count)
{
    size_t i;

    free(sim->bodies);
    sim->bodies = report_malloc(count * sizeof(*sim->bodies));
    sim->count = count;
    for (i = 0; i < count; i++)
        sim->bodies[i] = *list[i];
}

static struct parcel *pack_bodies(const struct simulation *sim)
{
    struct parcel *parcels = report_malloc(sim->count * sizeof(*parcels));
    size_t i;

    for (i = 0; i < sim->count; i++) {
        const struct body *body = &sim->bodies[i];

        memcpy(parcels[i].position, body->position, sizeof(body->position));
        memcpy(parcels[i].velocity, body->velocity, sizeof(body->velocity));
        parcels[i].mass = body->mass;
        parcels[i].id = body->id;
        parcels[i].work = body->work;
    }
    return parcels;
}

static void unpack_bodies(struct simulation *sim, const struct parcel *parcels)
{
    size_t i;

    sim->all = report_malloc(sim->total * sizeof(*sim->all));
    for (i = 0; i < sim->total; i++) {
        struct body *body = &sim->all[i];

        *body = (struct body){.mass = parcels[i].mass,
                              .id = parcels[i].id,
                              .work = parcels[i].work};
        memcpy(body->position, parcels[i].position, sizeof(body->position));
        memcpy(body->velocity, parcels[i].velocity, sizeof(body->velocity));
    }
}

/* All bodies, by number, as they are now; they are in sim->all. */
static const struct body **gather(struct simulation *sim)
{
    struct parcel *mine = pack_bodies(sim), *parcels;
    size_t bytes = sim->count * sizeof(*mine);
    const struct body **all;
    struct share share;
    int count = (int)bytes, w;
    double total = 0;

    MPI_Allgather(&count, 1, MPI_INT, sim->counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (w = 0; w < sim->workers; w++) {
        sim->starts[w] = (int)total;
        total += sim->counts[w];
        if (total > INT_MAX || bytes > INT_MAX)
            fail(sim, "more bodies than a message can hold");
    }
    sim->total = (size_t)total / sizeof(*parcels);
    parcels = report_malloc(sim->total * sizeof(*parcels));
    MPI_Allgatherv(mine, count, MPI_BYTE, parcels, sim->counts, sim->starts,
                   MPI_BYTE, MPI_COMM_WORLD);
    unpack_bodies(sim, parcels);
    free(parcels);
    free(mine);
    share.bodies = sim->all;
    share.count = sim->total;
    all = bodies_by_id(&share, 1, &sim->total);
    if (!all)
        fail(sim, "a body is missing or there twice");
    return all;
}

static void let_go(struct simulation *sim, const struct body **all)
{
    free(all);
    free(sim->all);
    sim->all = NULL;
}

static void rebalance(struct simulation *sim)
{
    const struct body **all = gather(sim);
    size_t count;

    bodies_share(all, sim->total, sim->worker, sim->workers, &count);
    keep_bodies(sim, all, count);
    let_go(sim, all);
}

/* --- Trees --------------------------------------------------------------- */

/* Room for the tree of so many bodies, which has fewer than twice the nodes. */
static void reserve(struct nodes *nodes, uint64_t bodies)
{
    size_t room = 2 * bodies + TREE_BATCH;

    nodes->count = 0;
    if (room <= nodes->room)
        return;
    nodes->room = 2 * room;
    free(nodes->items);
    nodes->items = report_malloc(nodes->room * sizeof(*nodes->items));
}

static void get_nodes(void *context, size_t count, struct node **nodes)
{
    struct nodes *tree = context;
    size_t i;

    for (i = 0; i < count; i++)
        nodes[i] = &tree->items[tree->count++];
}

static struct summary summarize(const struct body *bodies, size_t count)
{
    struct summary summary = {.count = count};
    size_t i;
    int k;

    for (k = 0; k < 3; k++) {
        summary.low[k] = INFINITY;
        summary.high[k] = -INFINITY;
    }
    for (i = 0; i < count; i++) {
        for (k = 0; k < 3; k++) {
            summary.low[k] = fmin(summary.low[k], bodies[i].position[k]);
            summary.high[k] = fmax(summary.high[k], bodies[i].position[k]);
        }
    }
    return summary;
}

/*
 * 1 if somebody in the box may look at the parts of @node: the nearest place in
 * the box, computed as forces.c computes a body's distance, decides.  Rounding
 * keeps order, so no body's distance is less.
 */
static int is_opened(const struct node *node, const struct summary *box)
{
    double gap[3];
    int k;

    for (k = 0; k < 3; k++)
        gap[k] = node->center[k] < box->low[k] ? node->center[k] - box->low[k]
                 : node->center[k] > box->high[k]
                     ? node->center[k] - box->high[k]
                     : 0;
    return !(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2] >
             node->open_squared);
}

/* Instead of a pointer: the place in the list of nodes. */
static struct node *to_place(size_t place)
{
    return (struct node *)(uintptr_t)place;
}

/* Add what those in @box look at of @node and its parts to @nodes. */
static void cut(struct nodes *nodes, const struct node *node,
                const struct summary *box)
{
    struct node *copy = &nodes->items[nodes->count++];
    const struct node *part;

    *copy = *node;
    if (node->more && !is_opened(node, box))
        copy->more = NULL;
    if (copy->more) {
        copy->more = to_place(nodes->count);
        for (part = node->more; part != node->next; part = part->next)
            cut(nodes, part, box);
    }
    copy->next = to_place(nodes->count);
}

/* Pointers instead of places; returns the first node, NULL if there is none. */
static struct node *link(struct nodes *nodes)
{
    struct node *items = nodes->items;
    size_t i;

    for (i = 0; i < nodes->count; i++) {
        if (items[i].more)
            items[i].more = items + (uintptr_t)items[i].more;
        items[i].next = (uintptr_t)items[i].next < nodes->count
                            ? items + (uintptr_t)items[i].next
                            : NULL;
    }
    return nodes->count ? items : NULL;
}

/* The worker that is so many after this one, by turns. */
static int after(const struct simulation *sim, int distance)
{
    return (sim->worker + distance) % sim->workers;
}

static void receive_trees(struct simulation *sim)
{
    int d, w;

    for (d = 1; d < sim->workers; d++) {
        w = after(sim, d);
        reserve(&sim->here[w], sim->summaries[w].count);
        if (sim->here[w].room * sizeof(struct node) > INT_MAX)
            fail(sim, "a tree is larger than a message: use more workers");
        MPI_Irecv(sim->here[w].items,
                  (int)(sim->here[w].room * sizeof(struct node)), MPI_BYTE, w,
                  TAG_TREE, MPI_COMM_WORLD, &sim->receives[w]);
    }
}

/* First to those that want it first. */
static void send_trees(struct simulation *sim, const struct node *root)
{
    const struct node *node;
    int d, w;

    for (d = sim->workers - 1; d > 0; d--) {
        w = after(sim, d);
        reserve(&sim->there[w], sim->count);
        for (node = root; node && sim->summaries[w].count; node = node->next)
            cut(&sim->there[w], node, &sim->summaries[w]);
        MPI_Isend(sim->there[w].items,
                  (int)(sim->there[w].count * sizeof(struct node)), MPI_BYTE, w,
                  TAG_TREE, MPI_COMM_WORLD, &sim->sends[w]);
    }
}

/* --- Forces -------------------------------------------------------------- */

/* Now and then MPI gets a look at what comes after worker @w's tree, and at what
 * goes: others wait for that. */
static void pull(struct simulation *sim, int w, const struct node *tree,
                 struct pull *pulls)
{
    int next = (w + 1) % sim->workers, there;
    size_t i, count;

    for (i = 0; i < sim->count; i += BODIES_BETWEEN) {
        count =
            sim->count - i < BODIES_BETWEEN ? sim->count - i : BODIES_BETWEEN;
        forces_add_tree(tree, &sim->program.gravity, &sim->bodies[i], count,
                        &pulls[i]);
        if (next != sim->worker)
            MPI_Request_get_status(sim->receives[next], &there,
                                   MPI_STATUS_IGNORE);
        for (int to = 0; to < sim->workers; to++)
            MPI_Test(&sim->sends[to], &there, MPI_STATUS_IGNORE);
    }
}

static void compute_forces(struct simulation *sim)
{
    struct node_source source = {.get = get_nodes, .context = &sim->tree};
    struct summary mine = summarize(sim->bodies, sim->count);
    struct pull *pulls = forces_begin(sim->count);
    struct node *root;
    MPI_Request request;
    MPI_Status status;
    int d, w, bytes;

    MPI_Iallgather(&mine, sizeof(mine), MPI_BYTE, sim->summaries, sizeof(mine),
                   MPI_BYTE, MPI_COMM_WORLD, &request);
    reserve(&sim->tree, sim->count);
    root = tree_build(&source, sim->bodies, sim->count, sim->program.theta);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive_trees(sim);
    send_trees(sim, root);
    pull(sim, sim->worker, root, pulls);
    for (d = 1; d < sim->workers; d++) {
        w = after(sim, d);
        MPI_Wait(&sim->receives[w], &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        sim->here[w].count = (size_t)bytes / sizeof(struct node);
        pull(sim, w, link(&sim->here[w]), pulls);
    }
    forces_apply(sim->bodies, sim->count, &sim->program.gravity, pulls);
    free(pulls);
    for (w = 0; w < sim->workers; w++)
        MPI_Wait(&sim->sends[w], MPI_STATUS_IGNORE);
}

static void step(struct simulation *sim, uint64_t number)
{
    double dt = sim->program.dt;

    bodies_kick(sim->bodies, sim->count, dt / 2);
    bodies_drift(sim->bodies, sim->count, dt);
    if (number % REBALANCE_STEPS == 0)
        rebalance(sim);
    compute_forces(sim);
    bodies_kick(sim->bodies, sim->count, dt / 2);
}

/* --- The whole ----------------------------------------------------------- */

/* The sums of all, at worker 0, and the hash. */
static struct sums sum_up(struct simulation *sim, int final, uint64_t *hash_out)
{
    const struct body **all = gather(sim);
    struct sums mine, *parts;

    mine = program_sums(&sim->program, sim->bodies, sim->count, all, sim->total,
                        final);
    *hash_out = bodies_hash(all, sim->total);
    let_go(sim, all);
    parts = report_malloc((size_t)sim->workers * sizeof(*parts));
    MPI_Gather(&mine, sizeof(mine), MPI_BYTE, parts, sizeof(mine), MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (sim->worker == 0)
        mine = forces_add(parts, sim->workers);
    free(parts);
    return mine;
}

/* Worker 0 has all bodies at first; 0, or the status to exit with. */
static int read_input(struct simulation *sim)
{
    int status = 0;

    if (sim->worker == 0)
        status = program_input(&sim->program, &sim->bodies, &sim->count);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

static int simulate(struct simulation *sim)
{
    struct sums before, after;
    double since, seconds;
    uint64_t hash, i;
    int status;

    status = read_input(sim);
    if (status)
        return status;
    MPI_Barrier(MPI_COMM_WORLD);
    since = report_now_seconds();
    rebalance(sim);
    compute_forces(sim);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = report_now_seconds() - since;
    before = sum_up(sim, 0, &hash);
    MPI_Barrier(MPI_COMM_WORLD);
    since = report_now_seconds();
    for (i = 0; i < sim->program.steps; i++) {
        if (sim->worker == 0)
            report_progress(sim->program.name, "steps", i, sim->program.steps);
        step(sim, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += report_now_seconds() - since;
    after = sum_up(sim, 1, &hash);
    if (sim->worker == 0) {
        report_progress_end();
        status = program_result(&sim->program, sim->workers, sim->total,
                                &before, &after, hash, seconds);
    }
    return status;
}

static void open_simulation(struct simulation *sim)
{
    size_t workers = (size_t)sim->workers, w;

    sim->there = report_malloc(workers * sizeof(*sim->there));
    sim->here = report_malloc(workers * sizeof(*sim->here));
    memset(sim->there, 0, workers * sizeof(*sim->there));
    memset(sim->here, 0, workers * sizeof(*sim->here));
    sim->summaries = report_malloc(workers * sizeof(*sim->summaries));
    sim->sends = report_malloc(workers * sizeof(*sim->sends));
    sim->receives = report_malloc(workers * sizeof(*sim->receives));
    for (w = 0; w < workers; w++)
        sim->sends[w] = sim->receives[w] = MPI_REQUEST_NULL;
    sim->counts = report_malloc(workers * sizeof(*sim->counts));
    sim->starts = report_malloc(workers * sizeof(*sim->starts));
}

static void close_simulation(struct simulation *sim)
{
    int w;

    for (w = 0; w < sim->workers; w++) {
        free(sim->there[w].items);
        free(sim->here[w].items);
    }
    free(sim->there);
    free(sim->here);
    free(sim->tree.items);
    free(sim->summaries);
    free(sim->sends);
    free(sim->receives);
    free(sim->counts);
    free(sim->starts);
    free(sim->bodies);
}

int main(int argc, char **argv)
{
    struct simulation sim = {0};
    int status;

    status = program_options(&sim.program, "barnes_hut_mpi", 0, argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &sim.worker);
    MPI_Comm_size(MPI_COMM_WORLD, &sim.workers);
    open_simulation(&sim);
    status = simulate(&sim);
    close_simulation(&sim);
    MPI_Finalize();
    return status;
}
