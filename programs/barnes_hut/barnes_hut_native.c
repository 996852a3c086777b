#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "drasync.h"
#include "program.h"

/*
 * Barnes-Hut on DRASync.  Each worker has one published region with its bodies
 * and, in a subregion that is new in each step, its oct-tree.  It holds its
 * region for WRITE while it works on it; then it gives the new version free,
 * and all look at all regions of that version for READ.  No data is sent.
 */

/* The root object of a worker's region. */
struct header {
    uint64_t version; /* how often this worker has shown its region */
    uint64_t failed;  /* worker 0: the input could not be read */
    struct node *tree;
    drasync_region_t tree_region;
    struct body *bodies;
    uint64_t count;
    struct sums sums;
};

struct simulation {
    struct program program;
    int worker, workers;
    size_t total; /* bodies of all */
    uint64_t version;
    drasync_region_t *regions;     /* of each worker */
    const struct header **headers; /* while they are looked at */
    struct header *mine;
    struct share *shares;
    const struct node **trees;
};

static void check(const struct simulation *sim, int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: worker %d: %s: %s\n", sim->program.name, sim->worker,
            what, drasync_strerror(error));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void *allocate(const struct simulation *sim, drasync_region_t region,
                      size_t size)
{
    void *memory = NULL;

    check(sim, drasync_alloc(region, size, &memory), "cannot allocate");
    return memory;
}

/* --- Showing and looking ------------------------------------------------- */

/* A barrier that lets others use the processor. */
static void barrier(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

/* Give this worker's region free and look at everybody's in this version. */
static void show_all(struct simulation *sim)
{
    drasync_region_t own = sim->regions[sim->worker], region;
    void *root;
    int w;

    sim->mine->version = ++sim->version;
    check(sim, drasync_release(own), "cannot release");
    for (w = 0; w < sim->workers; w++) {
        region = sim->regions[w];
        for (;;) {
            check(sim, drasync_acquire(region, DRASYNC_READ), "cannot read");
            check(sim, drasync_get_root(region, &root), "no root object");
            sim->headers[w] = root;
            if (root && sim->headers[w]->version == sim->version)
                break;
            /* Its owner has not come to work on this version yet. */
            check(sim, drasync_release(region), "cannot release");
            sched_yield();
        }
    }
}

/*
 * Everybody has looked: this worker's region is for writing again, and the tree
 * in it is not needed any more.  The second barrier keeps others from asking
 * for the region while its tree is deleted.
 */
static void look_away(struct simulation *sim)
{
    int w;

    for (w = 0; w < sim->workers; w++)
        check(sim, drasync_release(sim->regions[w]), "cannot release");
    barrier();
    check(sim, drasync_acquire(sim->regions[sim->worker], DRASYNC_WRITE),
          "cannot write");
    if (sim->mine->tree_region)
        check(sim, drasync_delete(sim->mine->tree_region), "cannot delete");
    sim->mine->tree_region = NULL;
    barrier();
}

static void open_regions(struct simulation *sim)
{
    drasync_region_t own;
    char name[DRASYNC_NAME_MAX + 1];
    int w;

    check(sim, drasync_new_region(&own), "cannot make a region");
    sim->mine = allocate(sim, own, sizeof *sim->mine);
    memset(sim->mine, 0, sizeof *sim->mine);
    check(sim, drasync_set_root(own, sim->mine), "cannot set the root object");
    snprintf(name, sizeof name, "barnes_hut.%d", sim->worker);
    check(sim, drasync_publish(name, own), "cannot publish");
    for (w = 0; w < sim->workers; w++) {
        snprintf(name, sizeof name, "barnes_hut.%d", w);
        check(sim, drasync_lookup(name, DRASYNC_FOREVER, &sim->regions[w]),
              "cannot look up");
    }
}

/* --- Bodies -------------------------------------------------------------- */

/* Take @bodies over into this worker's region, instead of those it had. */
static void keep_bodies(struct simulation *sim, const struct body *bodies,
                        size_t count)
{
    struct header *mine = sim->mine;

    check(sim, drasync_free(mine->bodies), "cannot free");
    mine->bodies =
        allocate(sim, sim->regions[sim->worker], count * sizeof *bodies);
    mine->count = count;
    if (count)
        memcpy(mine->bodies, bodies, count * sizeof *bodies);
}

/* All bodies, by number, while all regions are looked at. */
static const struct body **gather(struct simulation *sim)
{
    const struct body **all;
    int w;

    for (w = 0; w < sim->workers; w++) {
        sim->shares[w].bodies = sim->headers[w]->bodies;
        sim->shares[w].count = sim->headers[w]->count;
    }
    all = bodies_by_id(sim->shares, sim->workers, &sim->total);
    if (!all)
        check(sim, DRASYNC_EINTERNAL, "a body is missing or there twice");
    return all;
}

static void rebalance(struct simulation *sim)
{
    const struct body **all;
    struct body *bodies;
    size_t count, i;

    show_all(sim);
    all = gather(sim);
    bodies_share(all, sim->total, sim->worker, sim->workers, &count);
    bodies = report_malloc(count * sizeof *bodies);
    for (i = 0; i < count; i++)
        bodies[i] = *all[i];
    look_away(sim);
    keep_bodies(sim, bodies, count);
    free(all);
    free(bodies);
}

/* --- Forces -------------------------------------------------------------- */

static void get_nodes(void *context, size_t count, struct node **nodes)
{
    const struct simulation *sim = context;
    struct node *block;
    size_t i;

    block = allocate(sim, sim->mine->tree_region, count * sizeof *block);
    for (i = 0; i < count; i++)
        nodes[i] = &block[i];
}

static void compute_forces(struct simulation *sim)
{
    struct node_source source = {.get = get_nodes, .context = sim};
    struct header *mine = sim->mine;
    struct pull *pulls;
    int w;

    check(sim,
          drasync_new_subregion(sim->regions[sim->worker], &mine->tree_region),
          "cannot make a region");
    mine->tree =
        tree_build(&source, mine->bodies, mine->count, sim->program.theta);
    show_all(sim);
    for (w = 0; w < sim->workers; w++)
        sim->trees[w] = sim->headers[w]->tree;
    pulls = report_malloc(mine->count * sizeof *pulls);
    forces_from_trees(sim->trees, sim->workers, &sim->program.gravity,
                      mine->bodies, mine->count, pulls);
    look_away(sim);
    forces_apply(mine->bodies, mine->count, pulls);
    free(pulls);
}

static void step(struct simulation *sim, uint64_t number)
{
    struct header *mine = sim->mine;
    double dt = sim->program.dt;

    bodies_kick(mine->bodies, mine->count, dt / 2);
    bodies_drift(mine->bodies, mine->count, dt);
    if (number % REBALANCE_STEPS == 0)
        rebalance(sim);
    compute_forces(sim);
    bodies_kick(mine->bodies, mine->count, dt / 2);
}

/* --- The whole ----------------------------------------------------------- */

/* The sums of all, and the hash. */
static struct sums sum_up(struct simulation *sim, int final, uint64_t *hash_out)
{
    const struct body **all;
    struct sums sums, *parts;
    int w;

    show_all(sim);
    all = gather(sim);
    sums = program_sums(&sim->program, sim->mine->bodies, sim->mine->count, all,
                        sim->total, final);
    *hash_out = bodies_hash(all, sim->total);
    free(all);
    look_away(sim);
    sim->mine->sums = sums;
    show_all(sim);
    parts = report_malloc((size_t)sim->workers * sizeof *parts);
    for (w = 0; w < sim->workers; w++)
        parts[w] = sim->headers[w]->sums;
    sums = forces_add(parts, sim->workers);
    free(parts);
    look_away(sim);
    return sums;
}

/* Worker 0 has all bodies at first; 0, or the status to exit with. */
static int read_input(struct simulation *sim)
{
    struct body *bodies = NULL;
    size_t count = 0;
    int failed;

    if (sim->worker == 0)
        sim->mine->failed = program_input(&sim->program, &bodies, &count) != 0;
    if (!sim->mine->failed)
        keep_bodies(sim, bodies, count);
    free(bodies);
    show_all(sim);
    failed = sim->headers[0]->failed != 0;
    look_away(sim);
    return failed ? EXIT_INPUT : 0;
}

static int simulate(struct simulation *sim)
{
    struct sums before, after;
    double since, seconds;
    uint64_t hash, i;
    int status;

    open_regions(sim);
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
    check(sim, drasync_delete(sim->regions[sim->worker]), "cannot delete");
    return status;
}

int main(int argc, char **argv)
{
    struct simulation sim = {0};
    size_t workers;
    int status;

    status = program_options(&sim.program, "barnes_hut_native", argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &sim.worker);
    MPI_Comm_size(MPI_COMM_WORLD, &sim.workers);
    workers = (size_t)sim.workers;
    sim.regions = report_malloc(workers * sizeof *sim.regions);
    sim.headers = report_malloc(workers * sizeof *sim.headers);
    sim.shares = report_malloc(workers * sizeof *sim.shares);
    sim.trees = report_malloc(workers * sizeof *sim.trees);
    status = simulate(&sim);
    free(sim.regions);
    free(sim.headers);
    free(sim.shares);
    free(sim.trees);
    MPI_Finalize();
    return status;
}
