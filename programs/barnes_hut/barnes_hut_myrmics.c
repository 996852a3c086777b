/*
 * Barnes-Hut for the Myrmics allocator.  Each worker keeps its bodies in one
 * region.  In each step it builds its oct-tree in a fresh region and sends that
 * to all others; its bodies then feel all trees.  Every few steps the bodies'
 * regions go round, and each worker picks what has become its part of space.
 * Where a region's data begins is told by small messages.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "myrmics.h"
#include "program.h"

#define TAG_PARCEL 1
#define TAG_SUMS   2
#define TAG_STATUS 3

/* What one worker tells the others about a region it sends. */
struct parcel {
    rid_t region;
    void *start; /* the tree's root, or the bodies */
    size_t count;
};

struct simulation {
    struct program program;
    int worker, workers;
    size_t total; /* bodies of all */
    rid_t region; /* of this worker's bodies */
    struct body *bodies;
    size_t count;
    struct parcel *parcels; /* for each worker */
    struct share *shares;
    const struct node **trees;
};

/* --- Messages ------------------------------------------------------------ */

static void tell(int worker, int tag, const void *bytes, size_t size)
{
    MPI_Send(bytes, (int)size, MPI_BYTE, worker, tag, MPI_COMM_WORLD);
}

/* Lets others use the processor while there is nothing to hear. */
static void hear(int worker, int tag, void *bytes, size_t size)
{
    int there = 0;

    for (;;) {
        MPI_Iprobe(worker, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there)
            break;
        sched_yield();
    }
    MPI_Recv(bytes, (int)size, MPI_BYTE, worker, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Everybody's region goes to everybody. */
static void exchange(struct simulation *sim, rid_t region, void *start,
                     size_t count)
{
    struct parcel *parcels = sim->parcels;
    int w;

    memset(&parcels[sim->worker], 0, sizeof *parcels);
    parcels[sim->worker].region = region;
    parcels[sim->worker].start = start;
    parcels[sim->worker].count = count;
    for (w = 0; w < sim->workers; w++) {
        if (w == sim->worker)
            continue;
        sys_send(region, w);
        tell(w, TAG_PARCEL, &parcels[sim->worker], sizeof *parcels);
    }
    for (w = 0; w < sim->workers; w++) {
        if (w == sim->worker)
            continue;
        hear(w, TAG_PARCEL, &parcels[w], sizeof *parcels);
        sys_recv(parcels[w].region, w);
    }
}

/* --- Bodies -------------------------------------------------------------- */

/* A fresh region with copies of the bodies in @list. */
static void keep_bodies(struct simulation *sim, const struct body **list,
                        size_t count)
{
    size_t i;

    sim->region = sys_ralloc(0, 99);
    sim->count = count;
    sim->bodies = sys_alloc(count * sizeof *sim->bodies, sim->region);
    for (i = 0; i < count; i++)
        sim->bodies[i] = *list[i];
}

/* All bodies, by number, as they are now. */
static const struct body **gather(struct simulation *sim)
{
    const struct body **all;
    int w;

    exchange(sim, sim->region, sim->bodies, sim->count);
    for (w = 0; w < sim->workers; w++) {
        sim->shares[w].bodies = sim->parcels[w].start;
        sim->shares[w].count = sim->parcels[w].count;
    }
    all = bodies_by_id(sim->shares, sim->workers, &sim->total);
    sys_assert(all != NULL);
    return all;
}

static void rebalance(struct simulation *sim)
{
    const struct body **all = gather(sim);
    rid_t old = sim->region;
    size_t count;

    bodies_share(all, sim->total, sim->worker, sim->workers, &count);
    keep_bodies(sim, all, count);
    free(all);
    sys_barrier();
    sys_rfree(old);
}

/* --- Forces -------------------------------------------------------------- */

static void get_nodes(void *context, size_t count, struct node **nodes)
{
    rid_t region = *(rid_t *)context;

    sys_balloc(sizeof **nodes, region, (int)count, (void **)nodes);
}

static void compute_forces(struct simulation *sim)
{
    rid_t region = sys_ralloc(0, 0);
    struct node_source source = {.get = get_nodes, .context = &region};
    const struct gravity *gravity = &sim->program.gravity;
    struct pull *pulls;
    struct node *root;
    int w;

    root = tree_build(&source, sim->bodies, sim->count, sim->program.theta);
    exchange(sim, region, root, 0);
    for (w = 0; w < sim->workers; w++)
        sim->trees[w] = sim->parcels[w].start;
    pulls = forces_begin(sim->count);
    for (w = 0; w < sim->workers; w++)
        forces_add_tree(sim->trees[(sim->worker + w) % sim->workers], gravity,
                        sim->bodies, sim->count, pulls);
    forces_apply(sim->bodies, sim->count, gravity, pulls);
    free(pulls);
    /* Nobody looks at this tree any more. */
    sys_barrier();
    sys_rfree(region);
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
    int w;

    mine = program_sums(&sim->program, sim->bodies, sim->count, all, sim->total,
                        final);
    *hash_out = bodies_hash(all, sim->total);
    free(all);
    if (sim->worker != 0) {
        tell(0, TAG_SUMS, &mine, sizeof mine);
        return mine;
    }
    parts = report_malloc((size_t)sim->workers * sizeof *parts);
    parts[0] = mine;
    for (w = 1; w < sim->workers; w++)
        hear(w, TAG_SUMS, &parts[w], sizeof *parts);
    mine = forces_add(parts, sim->workers);
    free(parts);
    return mine;
}

/* Worker 0 has all bodies at first; 0, or the status to exit with. */
static int read_input(struct simulation *sim)
{
    const struct body **list = NULL;
    struct body *bodies = NULL;
    int status = 0, w;
    size_t count = 0, i;

    if (sim->worker == 0) {
        status = program_input(&sim->program, &bodies, &count);
        for (w = 1; w < sim->workers; w++)
            tell(w, TAG_STATUS, &status, sizeof status);
    } else {
        hear(0, TAG_STATUS, &status, sizeof status);
    }
    if (status)
        return status;
    list = report_malloc(count * sizeof *list);
    for (i = 0; i < count; i++)
        list[i] = &bodies[i];
    keep_bodies(sim, list, count);
    free(list);
    free(bodies);
    return 0;
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
    MPI_Pcontrol(1); /* for profilers: what is timed */
    since = report_now_seconds();
    rebalance(sim);
    compute_forces(sim);
    seconds = report_now_seconds() - since;
    MPI_Pcontrol(0);
    before = sum_up(sim, 0, &hash);
    MPI_Pcontrol(1);
    since = report_now_seconds();
    for (i = 0; i < sim->program.steps; i++) {
        if (sim->worker == 0)
            report_progress(sim->program.name, "steps", i, sim->program.steps);
        step(sim, i);
    }
    seconds += report_now_seconds() - since;
    MPI_Pcontrol(0);
    after = sum_up(sim, 1, &hash);
    if (sim->worker == 0) {
        report_progress_end();
        status = program_result(&sim->program, sim->workers, sim->total,
                                &before, &after, hash, seconds);
    }
    sys_barrier();
    sys_rfree(sim->region);
    return status;
}

int main(int argc, char **argv)
{
    struct simulation sim = {0};
    size_t workers;
    int status;

    status = program_options(&sim.program, "barnes_hut_myrmics", 0, argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    sim.worker = sys_get_worker_id();
    sim.workers = sys_get_num_workers();
    workers = (size_t)sim.workers;
    sim.parcels = report_malloc(workers * sizeof *sim.parcels);
    sim.shares = report_malloc(workers * sizeof *sim.shares);
    sim.trees = report_malloc(workers * sizeof *sim.trees);
    status = simulate(&sim);
    free(sim.parcels);
    free(sim.shares);
    free(sim.trees);
    MPI_Finalize();
    return status;
}
