/*
 * Barnes-Hut on DRASync: each worker has its bodies in a region and builds, in
 * each step, its oct-tree in a new one.  The others are told where a region's
 * data begins and look at it where it is.  With --save the simulation is in a
 * file now and then (saved.h), and goes on from there.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "parts.h"
#include "program.h"
#include "saved.h"

/* What its worker has of a part. */
struct part {
    struct shown bodies; /* held for WRITE */
    struct shown tree;   /* the last one */
    struct shown old;    /* the bodies before the last rebalancing */
};

struct simulation {
    struct program program;
    struct parts parts;
    struct part *part;    /* of all, those of this worker filled in */
    struct share *shares; /* the bodies of all, while they are looked at */
    size_t total;         /* bodies of all */
    int loaded;           /* it goes on from a file */
    uint64_t step;        /* so many are done */
    struct sums before;   /* when none was */
    /* With --save, on worker 0. */
    region saved_region;
    struct saved *saved;
};

/* What worker 0 tells the others at the beginning. */
struct opening {
    int status; /* to exit with; 0: go on */
    uint64_t parts;
    region region; /* loaded from a file; NULL: begin with the input */
    struct saved *saved;
};

/* This worker's parts. */
static struct part *first(struct simulation *sim)
{
    return sim->part + sim->parts.first;
}

static struct part *end(struct simulation *sim)
{
    return sim->part + sim->parts.end;
}

static void forget(struct shown *shown)
{
    if (shown->region)
        delete_region(shown->region);
    shown->region = NULL;
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

/* The same of an array. */
static struct shown copy_array(const struct body *bodies, size_t count)
{
    const struct body **list = report_malloc(count * sizeof(*list));
    struct shown copy;
    size_t i;

    for (i = 0; i < count; i++)
        list[i] = &bodies[i];
    copy = copy_bodies(list, count);
    free(list);
    return copy;
}

static void show_bodies(struct simulation *sim)
{
    int p;

    for (p = sim->parts.first; p < sim->parts.end; p++)
        sim->parts.shown[p] = sim->part[p].bodies;
    parts_show(&sim->parts);
}

/* Until parts_look_away(). */
static void look_at_bodies(struct simulation *sim)
{
    const struct shown *shown;
    int p;

    parts_ask(&sim->parts);
    for (p = 0; p < sim->parts.count; p++) {
        shown = parts_look(&sim->parts, p, 0);
        sim->shares[p] = (struct share){shown->start, shown->count};
    }
}

/* Everybody has looked away: nobody waits for READ, or would in vain. */
static void take_bodies(struct simulation *sim)
{
    struct part *part;

    for (part = first(sim); part < end(sim); part++)
        acquire_region(part->bodies.region, WRITE);
}

/* All bodies, by number, until parts_look_away(). */
static const struct body **gather(struct simulation *sim)
{
    const struct body **all;

    show_bodies(sim);
    look_at_bodies(sim);
    all = bodies_by_id(sim->shares, sim->parts.count, &sim->total);
    if (!all)
        parts_check(&sim->parts, DRASYNC_EINTERNAL,
                    "a body is missing or there twice");
    return all;
}

static void rebalance(struct simulation *sim)
{
    const struct body **all, **list;
    struct part *part;
    size_t count;

    if (parts_none(&sim->parts)) {
        show_bodies(sim);
        return;
    }
    all = gather(sim);
    list = report_malloc(sim->total * sizeof(*list));
    for (part = first(sim); part < end(sim); part++) {
        forget(&part->old);
        part->old = part->bodies;
        memcpy(list, all, sim->total * sizeof(*list));
        bodies_share(list, sim->total, (int)(part - sim->part),
                     sim->parts.count, &count);
        part->bodies = copy_bodies(list, count);
    }
    parts_look_away(&sim->parts);
    free(list);
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

static struct shown build_tree(const struct shown *bodies, double theta)
{
    struct shown tree = {new_region(), NULL, 0};
    struct node_source source = {.get = get_nodes, .context = tree.region};

    tree.start = tree_build(&source, bodies->start, bodies->count, theta);
    return tree;
}

static void pull_bodies(struct simulation *sim, int p)
{
    const struct gravity *gravity = &sim->program.gravity;
    const struct shown *bodies = &sim->part[p].bodies;
    struct pull *pulls = forces_begin(bodies->count);
    int d;

    for (d = 0; d < sim->parts.count; d++)
        forces_add_tree(parts_look(&sim->parts, p, d)->start, gravity,
                        bodies->start, bodies->count, pulls);
    forces_apply(bodies->start, bodies->count, gravity, pulls);
    free(pulls);
}

static void compute_forces(struct simulation *sim)
{
    struct parts *parts = &sim->parts;
    int p;

    for (p = parts->first; p < parts->end; p++)
        parts->shown[p] = build_tree(&sim->part[p].bodies, sim->program.theta);
    parts_show(parts);
    for (p = parts->first; p < parts->end; p++) {
        forget(&sim->part[p].tree);
        sim->part[p].tree = parts->shown[p];
    }
    if (parts_none(parts))
        return;
    parts_ask(parts);
    for (p = parts->first; p < parts->end; p++)
        pull_bodies(sim, p);
    parts_look_away(parts);
}

static void step(struct simulation *sim)
{
    double dt = sim->program.dt;
    struct part *part;

    for (part = first(sim); part < end(sim); part++) {
        bodies_kick(part->bodies.start, part->bodies.count, dt / 2);
        bodies_drift(part->bodies.start, part->bodies.count, dt);
    }
    if (sim->step % REBALANCE_STEPS == 0)
        rebalance(sim);
    compute_forces(sim);
    for (part = first(sim); part < end(sim); part++)
        bodies_kick(part->bodies.start, part->bodies.count, dt / 2);
    sim->step++;
}

/* The sums of all, and the hash. */
static struct sums sum_up(struct simulation *sim, int final, uint64_t *hash_out)
{
    size_t count = (size_t)sim->parts.count;
    struct sums *sums = report_malloc(count * sizeof(*sums));
    const struct body **all = gather(sim);
    struct sums total;
    int p;

    for (p = sim->parts.first; p < sim->parts.end; p++)
        sums[p] =
            program_sums(&sim->program, sim->part[p].bodies.start,
                         sim->part[p].bodies.count, all, sim->total, final);
    *hash_out = bodies_hash(all, sim->total);
    free(all);
    parts_look_away(&sim->parts);
    parts_exchange(&sim->parts, sums, sizeof(*sums));
    total = forces_add(sums, sim->parts.count);
    free(sums);
    take_bodies(sim);
    return total;
}

/* --- Saving and going on ------------------------------------------------- */

/*
 * The others go on when worker 0 has copied all bodies, while it writes the
 * file.  Returns 0 or, on worker 0, the status of what cannot be saved.
 */
static int save(struct simulation *sim)
{
    show_bodies(sim);
    if (sim->parts.worker == 0) {
        look_at_bodies(sim);
        parts_check(&sim->parts,
                    saved_fill(sim->saved_region, sim->saved, sim->step,
                               &sim->before, sim->shares),
                    "cannot copy what is to be saved");
        parts_look_away(&sim->parts);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    take_bodies(sim);
    if (sim->parts.worker != 0)
        return 0;
    return saved_write(&sim->program, sim->saved_region, sim->step);
}

/* Each worker takes its parts out of what worker 0 loaded. */
static void place_saved(struct simulation *sim, const struct opening *opening)
{
    const struct share *share;
    struct part *part;

    acquire_region(opening->region, READ);
    for (part = first(sim); part < end(sim); part++) {
        share = &opening->saved->part[part - sim->part];
        part->bodies = copy_array(share->bodies, share->count);
    }
    sim->loaded = 1;
    sim->step = opening->saved->step;
    sim->before = opening->saved->before;
    release_region(opening->region);
    /* Nobody writes it, or deletes it, before all have read it. */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All bodies are in the first part; rebalance() follows. */
static void place_input(struct simulation *sim, const struct body *bodies,
                        size_t count)
{
    struct part *part;

    for (part = first(sim); part < end(sim); part++)
        part->bodies = copy_array(bodies, part == sim->part ? count : 0);
}

/* On worker 0: the input, which the caller frees, and the saved file. */
static struct opening open_files(struct simulation *sim, int workers,
                                 struct body **bodies, size_t *count)
{
    const struct program *program = &sim->program;
    struct opening opening = {0};
    struct settings settings;

    opening.status = program_input(program, bodies, count);
    if (opening.status)
        return opening;
    settings = saved_settings(program, *bodies, *count, workers);
    if (program->save)
        opening.status =
            saved_load(program, &settings, &opening.region, &opening.saved);
    sim->saved_region = opening.region;
    sim->saved = opening.saved;
    if (program->save && !opening.region && !opening.status)
        opening.status =
            saved_new(program, &settings, &sim->saved_region, &sim->saved);
    opening.parts = settings.parts;
    return opening;
}

/* The bodies where they are at first; 0, or the status to exit with. */
static int begin(struct simulation *sim)
{
    struct opening opening = {0};
    struct body *bodies = NULL;
    size_t count = 0, parts;
    int worker, workers;

    MPI_Comm_rank(MPI_COMM_WORLD, &worker);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    if (worker == 0)
        opening = open_files(sim, workers, &bodies, &count);
    /* Before this nobody makes a region: it might lie where the file's must. */
    MPI_Bcast(&opening, sizeof(opening), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (opening.status) {
        free(bodies);
        return opening.status;
    }
    parts_begin(&sim->parts, opening.parts);
    parts = (size_t)opening.parts;
    sim->part = report_malloc(parts * sizeof(*sim->part));
    memset(sim->part, 0, parts * sizeof(*sim->part));
    sim->shares = report_malloc(parts * sizeof(*sim->shares));
    if (opening.region)
        place_saved(sim, &opening);
    else
        place_input(sim, bodies, count);
    free(bodies);
    return 0;
}

/*
 * Forces and energy at the beginning, which a file that was loaded has; then a
 * save, so that it is known now, and not after hours, if there can be none.
 * Returns 0, or the status to exit with.
 */
static int first_forces(struct simulation *sim, double *seconds_out)
{
    double since;
    uint64_t hash;
    int status;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1); /* for profilers: what is timed */
    since = report_now_seconds();
    rebalance(sim);
    compute_forces(sim);
    MPI_Barrier(MPI_COMM_WORLD);
    *seconds_out = report_now_seconds() - since;
    MPI_Pcontrol(0);
    sim->before = sum_up(sim, 0, &hash);
    if (!sim->program.save)
        return 0;
    status = save(sim);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

/* --- The whole ----------------------------------------------------------- */

static void all_steps(struct simulation *sim)
{
    const struct program *program = &sim->program;

    while (sim->step < program->steps) {
        if (sim->parts.worker == 0)
            report_progress(program->name, "steps", sim->step, program->steps);
        step(sim);
        /* One that fails is no reason to end: there is the file before. */
        if (program->save && (sim->step % program->save_steps == 0 ||
                              sim->step == program->steps))
            save(sim);
    }
}

static int simulate(struct simulation *sim)
{
    double since, seconds = 0;
    struct sums after;
    uint64_t hash;
    int status;

    status = begin(sim);
    if (!status && !sim->loaded)
        status = first_forces(sim, &seconds);
    if (status)
        return status;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    since = report_now_seconds();
    all_steps(sim);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += report_now_seconds() - since;
    MPI_Pcontrol(0);
    after = sum_up(sim, 1, &hash);
    if (sim->parts.worker == 0) {
        report_progress_end();
        status = program_result(&sim->program, sim->parts.workers, sim->total,
                                &sim->before, &after, hash, seconds);
    }
    return status;
}

static void forget_all(struct simulation *sim)
{
    struct part *part;

    MPI_Barrier(MPI_COMM_WORLD);
    for (part = first(sim); part < end(sim); part++) {
        forget(&part->tree);
        forget(&part->old);
        forget(&part->bodies);
    }
    if (sim->saved_region)
        delete_region(sim->saved_region);
    free(sim->part);
    free(sim->shares);
    parts_end(&sim->parts);
}

int main(int argc, char **argv)
{
    struct simulation sim = {0};
    int status;

    status = program_options(&sim.program, "barnes_hut_native", 1, argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status = simulate(&sim);
    forget_all(&sim);
    MPI_Finalize();
    return status;
}
