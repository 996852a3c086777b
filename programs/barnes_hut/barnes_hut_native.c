/*
 * Barnes-Hut on DRASync: each worker has its bodies in a region and builds, in
 * each step, its oct-tree in a new one.  The others are told where a region's
 * data begins and look at it where it is.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "program.h"

/* A region, and what others need to know to look at it. */
struct shown {
    region region;
    void *start; /* the tree's root, or the bodies */
    size_t count;
};

struct simulation {
    struct program program;
    int worker, workers;
    size_t total;      /* bodies of all */
    struct shown mine; /* this worker's bodies, held for WRITE */
    struct shown tree; /* the last one */
    struct shown old;  /* the bodies before the last rebalancing */
    struct shown *all; /* of each worker, what is looked at */
    struct share *shares;
    drasync_request_t *requests; /* for READ of each worker's region */
};

/* For the calls that return errors; those of the paper end the job. */
static void check(const struct simulation *sim, int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: worker %d: %s: %s\n", sim->program.name, sim->worker,
            what, drasync_strerror(error));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* --- Showing and looking ------------------------------------------------- */

/* The worker that is so many after this one, by turns. */
static int after(const struct simulation *sim, int distance)
{
    return (sim->worker + distance) % sim->workers;
}

static void forget(struct shown *shown)
{
    if (shown->region)
        delete_region(shown->region);
    shown->region = NULL;
}

/*
 * Release @mine, learn of everybody's, and ask for all of them.  All are here,
 * so nobody looks at what was shown before.
 */
static void show(struct simulation *sim, const struct shown *mine)
{
    int d, w;

    release_region(mine->region);
    MPI_Allgather(mine, sizeof(*mine), MPI_BYTE, sim->all, sizeof(*mine),
                  MPI_BYTE, MPI_COMM_WORLD);
    for (d = 0; d < sim->workers; d++) {
        w = after(sim, d);
        check(sim,
              drasync_iacquire(sim->all[w].region, DRASYNC_READ,
                               &sim->requests[w]),
              "cannot ask for a region");
    }
}

/* What worker @w has shown, for READ. */
static const struct shown *look(struct simulation *sim, int w)
{
    check(sim, drasync_wait(&sim->requests[w], DRASYNC_FOREVER),
          "cannot read a region");
    return &sim->all[w];
}

static void look_away(struct simulation *sim)
{
    int w;

    for (w = 0; w < sim->workers; w++)
        release_region(sim->all[w].region);
}

/* --- Bodies -------------------------------------------------------------- */

/* A new region with copies of the bodies in @list. */
static struct shown copy_bodies(const struct body **list, size_t count)
{
    struct shown copy = {new_region(), NULL, count};
    struct body *bodies = ralloc(copy.region, count * sizeof(*bodies));
    size_t i;

    for (i = 0; i < count; i++)
        bodies[i] = *list[i];
    copy.start = bodies;
    return copy;
}

/* All bodies, by number, until look_away(). */
static const struct body **gather(struct simulation *sim)
{
    const struct body **all;
    int d, w;

    show(sim, &sim->mine);
    for (d = 0; d < sim->workers; d++) {
        w = after(sim, d);
        sim->shares[w].bodies = look(sim, w)->start;
        sim->shares[w].count = sim->all[w].count;
    }
    all = bodies_by_id(sim->shares, sim->workers, &sim->total);
    if (!all)
        check(sim, DRASYNC_EINTERNAL, "a body is missing or there twice");
    return all;
}

static void rebalance(struct simulation *sim)
{
    const struct body **all = gather(sim);
    size_t count;

    forget(&sim->old);
    sim->old = sim->mine;
    bodies_share(all, sim->total, sim->worker, sim->workers, &count);
    sim->mine = copy_bodies(all, count);
    look_away(sim);
    free(all);
}

/* --- Forces -------------------------------------------------------------- */

static void get_nodes(void *context, size_t count, struct node **nodes)
{
    struct node *block = ralloc(context, count * sizeof(*block));
    size_t i;

    for (i = 0; i < count; i++)
        nodes[i] = &block[i];
}

static void compute_forces(struct simulation *sim)
{
    const struct gravity *gravity = &sim->program.gravity;
    struct shown tree = {new_region(), NULL, 0};
    struct node_source source = {.get = get_nodes, .context = tree.region};
    struct body *bodies = sim->mine.start;
    struct pull *pulls = forces_begin(sim->mine.count);
    int d;

    tree.start =
        tree_build(&source, bodies, sim->mine.count, sim->program.theta);
    show(sim, &tree);
    forget(&sim->tree);
    sim->tree = tree;
    for (d = 0; d < sim->workers; d++)
        forces_add_tree(look(sim, after(sim, d))->start, gravity, bodies,
                        sim->mine.count, pulls);
    look_away(sim);
    forces_apply(bodies, sim->mine.count, gravity, pulls);
    free(pulls);
}

static void step(struct simulation *sim, uint64_t number)
{
    double dt = sim->program.dt;
    struct body *bodies = sim->mine.start;

    bodies_kick(bodies, sim->mine.count, dt / 2);
    bodies_drift(bodies, sim->mine.count, dt);
    if (number % REBALANCE_STEPS == 0)
        rebalance(sim);
    compute_forces(sim);
    bodies_kick(sim->mine.start, sim->mine.count, dt / 2);
}

/* --- The whole ----------------------------------------------------------- */

/* The sums of all, and the hash. */
static struct sums sum_up(struct simulation *sim, int final, uint64_t *hash_out)
{
    const struct body **all = gather(sim);
    struct sums mine, *parts;

    mine = program_sums(&sim->program, sim->mine.start, sim->mine.count, all,
                        sim->total, final);
    *hash_out = bodies_hash(all, sim->total);
    free(all);
    look_away(sim);
    parts = report_malloc((size_t)sim->workers * sizeof(*parts));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, parts, sizeof(mine), MPI_BYTE,
                  MPI_COMM_WORLD);
    mine = forces_add(parts, sim->workers);
    free(parts);
    /* Everybody has looked away: nobody waits for READ, or would in vain. */
    acquire_region(sim->mine.region, WRITE);
    return mine;
}

/* Worker 0 has all bodies at first; 0, or the status to exit with. */
static int read_input(struct simulation *sim)
{
    struct body *bodies = NULL;
    const struct body **list;
    size_t count = 0, i;
    int status = 0;

    if (sim->worker == 0)
        status = program_input(&sim->program, &bodies, &count);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status)
        return status;
    list = report_malloc(count * sizeof(*list));
    for (i = 0; i < count; i++)
        list[i] = &bodies[i];
    sim->mine = copy_bodies(list, count);
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
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1); /* for profilers: what is timed */
    since = report_now_seconds();
    rebalance(sim);
    compute_forces(sim);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = report_now_seconds() - since;
    MPI_Pcontrol(0);
    before = sum_up(sim, 0, &hash);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    since = report_now_seconds();
    for (i = 0; i < sim->program.steps; i++) {
        if (sim->worker == 0)
            report_progress(sim->program.name, "steps", i, sim->program.steps);
        step(sim, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += report_now_seconds() - since;
    MPI_Pcontrol(0);
    after = sum_up(sim, 1, &hash);
    if (sim->worker == 0) {
        report_progress_end();
        status = program_result(&sim->program, sim->workers, sim->total,
                                &before, &after, hash, seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    forget(&sim->tree);
    forget(&sim->old);
    forget(&sim->mine);
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
    sim.all = report_malloc(workers * sizeof(*sim.all));
    sim.shares = report_malloc(workers * sizeof(*sim.shares));
    sim.requests = report_malloc(workers * sizeof(*sim.requests));
    status = simulate(&sim);
    free(sim.all);
    free(sim.shares);
    free(sim.requests);
    MPI_Finalize();
    return status;
}
