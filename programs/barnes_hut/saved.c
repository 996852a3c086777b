/* The simulation in a file: see saved.h. */
#include "saved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/report.h"

/* The region's name, by which a file of this program is known from others.  The
 * number grows when what is in it changes, or what a step does. */
#define SAVED_NAME "Barnes-Hut simulation, format 1"

static int fail(const struct program *program, const char *what, int err)
{
    fprintf(stderr, "%s: cannot %s %s: %s\n", program->name, what,
            program->save, drasync_strerror(err));
    return EXIT_INPUT;
}

/* --- What it is a file of ------------------------------------------------ */

static uint64_t input_hash(const struct body *bodies, size_t count)
{
    uint64_t hash = count, bits;
    size_t i;
    int k;

    for (i = 0; i < count; i++) {
        memcpy(&bits, &bodies[i].mass, sizeof bits);
        hash = report_hash(hash, bits);
        for (k = 0; k < 3; k++) {
            memcpy(&bits, &bodies[i].position[k], sizeof bits);
            hash = report_hash(hash, bits);
            memcpy(&bits, &bodies[i].velocity[k], sizeof bits);
            hash = report_hash(hash, bits);
        }
    }
    return hash;
}

struct settings saved_settings(const struct program *program,
                               const struct body *bodies, size_t count,
                               int workers)
{
    return (struct settings){
        .bodies = count,
        .plummer = !program->path,
        .seed = program->path ? 0 : program->seed,
        .input = program->path ? input_hash(bodies, count) : 0,
        .parts = program->parts ? program->parts : (uint64_t)workers,
        .dt = program->dt,
        .theta = program->theta,
        .softening = program->gravity.softening,
        .verify = (uint64_t)program->verify,
    };
}

/* Say that @what is @there in the file and @here in this run. */
static int refuse(const struct program *program, const char *what,
                  const char *there, const char *here)
{
    fprintf(stderr,
            "%s: %s is of another simulation: %s %s there, %s in this run\n",
            program->name, program->save, what, there, here);
    return EXIT_INPUT;
}

/* 0 if they are equal, else as refuse(). */
static int same_number(const struct program *program, const char *what,
                       uint64_t there, uint64_t here)
{
    char text[2][32];

    if (there == here)
        return 0;
    snprintf(text[0], sizeof text[0], "%" PRIu64, there);
    snprintf(text[1], sizeof text[1], "%" PRIu64, here);
    return refuse(program, what, text[0], text[1]);
}

static int same_real(const struct program *program, const char *what,
                     double there, double here)
{
    char text[2][32];

    if (there == here)
        return 0;
    snprintf(text[0], sizeof text[0], "%g", there);
    snprintf(text[1], sizeof text[1], "%g", here);
    if (strcmp(text[0], text[1]) == 0) {
        snprintf(text[0], sizeof text[0], "%.17g", there);
        snprintf(text[1], sizeof text[1], "%.17g", here);
    }
    return refuse(program, what, text[0], text[1]);
}

/* 0, or EXIT_INPUT after a line that says what differs. */
static int same_simulation(const struct program *program,
                           const struct settings *there,
                           const struct settings *here)
{
    static const char *const origin[] = {"from a file", "a Plummer sphere"};
    static const char *const given[] = {"not given", "given"};
    int status;

    if (there->plummer != here->plummer)
        return refuse(program, "its bodies are", origin[there->plummer != 0],
                      origin[here->plummer != 0]);
    status = same_number(program, "its number of bodies is", there->bodies,
                         here->bodies);
    if (!status)
        status = same_number(program, "--seed is", there->seed, here->seed);
    if (!status && there->input != here->input)
        status = refuse(program, "its bodies began with", "other numbers",
                        "those of the input");
    if (!status && program->parts)
        status = same_number(program, "--parts is", there->parts, here->parts);
    if (!status)
        status = same_real(program, "--dt is", there->dt, here->dt);
    if (!status)
        status = same_real(program, "--theta is", there->theta, here->theta);
    if (!status)
        status = same_real(program, "--softening is", there->softening,
                           here->softening);
    if (!status && there->verify != here->verify)
        status = refuse(program, "--verify is", given[there->verify != 0],
                        given[here->verify != 0]);
    return status;
}

/* --- From the file ------------------------------------------------------- */

/* A file of another program has no region of that name, and a root that means
 * something else. */
static int is_ours(region region)
{
    drasync_region_t named;

    return drasync_lookup(SAVED_NAME, 0, &named) == 0 && named == region;
}

int saved_load(const struct program *program, struct settings *settings,
               region *region_out, struct saved **saved_out)
{
    region region;
    void *root = NULL;
    struct saved *saved;
    int err, status;

    *region_out = NULL;
    *saved_out = NULL;
    if (access(program->save, F_OK) != 0) {
        /* A file that is there and cannot be seen is not to be begun anew. */
        if (errno == ENOENT)
            return 0;
        fprintf(stderr, "%s: cannot look for %s: %s\n", program->name,
                program->save, strerror(errno));
        return EXIT_INPUT;
    }
    err = drasync_load(program->save, &region); /* held for WRITE */
    if (err)
        return fail(program, "load", err);
    status = EXIT_INPUT;
    if (!is_ours(region)) {
        fprintf(stderr, "%s: %s was saved by another program or version\n",
                program->name, program->save);
        goto delete_it;
    }
    err = drasync_get_root(region, &root);
    if (err) {
        fail(program, "load", err);
        goto delete_it;
    }
    saved = root;
    status = same_simulation(program, &saved->settings, settings);
    if (status)
        goto delete_it;
    if (saved->step > program->steps) {
        fprintf(stderr,
                "%s: %s is after step %" PRIu64 ", and --steps is %" PRIu64
                "\n",
                program->name, program->save, saved->step, program->steps);
        status = EXIT_INPUT;
        goto delete_it;
    }
    fprintf(stderr, "%s: goes on after step %" PRIu64 " of %" PRIu64 "\n",
            program->name, saved->step, program->steps);
    *settings = saved->settings;
    err = drasync_release(region);
    if (err)
        return fail(program, "release what was loaded from", err);
    *region_out = region;
    *saved_out = saved;
    return 0;

delete_it:
    drasync_delete(region);
    return status;
}

/* --- To the file --------------------------------------------------------- */

int saved_new(const struct program *program, const struct settings *settings,
              region *region_out, struct saved **saved_out)
{
    region region;
    struct saved *saved;
    void *object;
    int err;

    err = drasync_new_region(&region);
    if (err)
        return fail(program, "make a region for", err);
    err = drasync_alloc(region, sizeof *saved, &object);
    if (err)
        goto delete_it;
    saved = object;
    memset(saved, 0, sizeof *saved);
    saved->settings = *settings;
    err = drasync_alloc(region, settings->parts * sizeof *saved->part, &object);
    if (err)
        goto delete_it;
    saved->part = object;
    err = drasync_alloc(region, settings->bodies * sizeof *saved->bodies,
                        &object);
    if (err)
        goto delete_it;
    saved->bodies = object;
    /* By these two whoever loads it finds the rest. */
    err = drasync_set_root(region, saved);
    if (!err)
        err = drasync_publish(SAVED_NAME, region);
    if (!err)
        err = drasync_release(region);
    if (err)
        goto delete_it;
    *region_out = region;
    *saved_out = saved;
    return 0;

delete_it:
    drasync_delete(region);
    return fail(program, "make a region for", err);
}

int saved_fill(region region, struct saved *saved, uint64_t step,
               const struct sums *before, const struct share *part)
{
    struct body *to;
    uint64_t p;
    size_t i;
    int err;

    err = drasync_acquire(region, DRASYNC_WRITE);
    if (err)
        return err;
    to = saved->bodies;
    for (p = 0; p < saved->settings.parts; p++) {
        saved->part[p] = (struct share){to, part[p].count};
        for (i = 0; i < part[p].count; i++)
            *to++ = part[p].bodies[i];
    }
    saved->step = step;
    saved->before = *before;
    return drasync_release(region);
}

int saved_write(const struct program *program, region region, uint64_t step)
{
    int err = drasync_save(region, program->save);

    if (err)
        return fail(program, "save to", err);
    fprintf(stderr, "%s: saved step %" PRIu64 "\n", program->name, step);
    return 0;
}
