/*
 * The steps of the program that are the same in both forms; see program.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "program.h"
#include "result.h"

static const char *progress_name;
static char progress_what[40];

static void show_progress(size_t done, size_t total)
{
    report_progress(progress_name, progress_what, done, total);
}

/* What to call now and then: only worker 0 shows how far it is. */
static cell_progress progress_of(const struct program *program, int level)
{
    if (program->worker != 0)
        return NULL;
    progress_name = program->name;
    if (level == 0)
        snprintf(progress_what, sizeof progress_what, "cell of worker 0");
    else
        snprintf(progress_what, sizeof progress_what, "joining %d cells",
                 partition_span(level));
    return show_progress;
}

void program_leaf(struct program *program, int leaf, struct cell *cell,
                  struct store *store)
{
    struct point *points;
    size_t count;

    memset(cell, 0, sizeof *cell);
    if (program->failed) {
        cell->failed = 1;
        memcpy(cell->error, program->error, sizeof cell->error);
        return;
    }
    cell->fingerprint = program->fingerprint;
    count = partition_select(program->points, program->count, program->levels,
                             leaf, program->boxes);
    points = report_malloc(count * sizeof *points);
    if (count)
        memcpy(points, program->points, count * sizeof *points);
    /* Worker 0 verifies with all of them. */
    if (program->worker != 0 && (leaf + 1) % program->leaves == 0)
        program_free(program);
    cell_triangulate(cell, store, points, count, &program->boxes[0],
                     progress_of(program, 0));
    free(points);
}

void program_join(struct program *program, int level, struct cell *cell,
                  struct store *store, struct cell *children[4])
{
    cell_join(cell, store, children, &program->boxes[level],
              program->fingerprint, progress_of(program, level));
}

void program_join_begin(struct program *program, int level, struct join *join,
                        struct cell *cell, struct store *store,
                        struct cell *children[4])
{
    cell_join_begin(join, cell, store, children, program->fingerprint,
                    progress_of(program, level));
}

void program_join_end(struct program *program, int level, struct join *join,
                      struct cell *cell, struct store *store,
                      struct cell *children[4])
{
    cell_join_end(join, cell, store, children, &program->boxes[level]);
}

int program_result(struct program *program, const struct cell *root)
{
    double seconds = report_now_seconds() - program->start_seconds;
    char error[VERIFY_ERROR_BYTES];
    const char *verified = "unchecked";
    struct result result;
    int wrong = 0;

    report_progress_end();
    if (root->failed) {
        fprintf(stderr, "%s: %s\n", program->name, root->error);
        return EXIT_INPUT;
    }
    if (root->repeated)
        fprintf(stderr, "%s: %" PRIu64 " of the points are repeated ones\n",
                program->name, root->repeated);
    result_collect(root, &result);
    if (program->verify) {
        wrong = verify(&result.triangles, result.ghosts, program->points,
                       program->count, error) != 0;
        verified = wrong ? "no" : "yes";
        if (wrong)
            fprintf(stderr, "%s: wrong: %s\n", program->name, error);
    }
    printf("delaunay points=%zu triangles=%zu hull=%" PRIu64 " hash=%016" PRIx64
           " verified=%s seconds=%.3f workers=%d\n",
           program->count, result.triangles.count, result.hull, result.hash,
           verified, seconds, program->workers);
    fflush(stdout);
    result_free(&result);
    return wrong ? EXIT_VERIFY : 0;
}

int program_status(const struct program *program)
{
    return program->failed ? EXIT_INPUT : 0;
}
