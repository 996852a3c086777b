/* Parts, and looking at them: see parts.h. */
#include "parts.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* Part p is worker p * workers / count's. */
static int first_of(const struct parts *parts, int worker)
{
    int64_t count = parts->count, workers = parts->workers;

    return (int)((worker * count + workers - 1) / workers);
}

void parts_begin(struct parts *parts, uint64_t count)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &parts->worker);
    MPI_Comm_size(MPI_COMM_WORLD, &parts->workers);
    parts->count = (int)count;
    parts->first = first_of(parts, parts->worker);
    parts->end = first_of(parts, parts->worker + 1);
    parts->shown = report_malloc(count * sizeof(*parts->shown));
    parts->requests = report_malloc(count * sizeof(*parts->requests));
    memset(parts->requests, 0, count * sizeof(*parts->requests));
}

void parts_end(struct parts *parts)
{
    free(parts->shown);
    free(parts->requests);
}

int parts_none(const struct parts *parts)
{
    return parts->first == parts->end;
}

void parts_check(const struct parts *parts, int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "barnes_hut_native: worker %d: %s: %s\n", parts->worker,
            what, drasync_strerror(error));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void parts_exchange(const struct parts *parts, void *values, size_t bytes)
{
    size_t workers = (size_t)parts->workers;
    int *counts = report_malloc(2 * workers * sizeof(*counts));
    int *places = counts + workers;
    int w;

    for (w = 0; w < parts->workers; w++) {
        places[w] = first_of(parts, w) * (int)bytes;
        counts[w] = first_of(parts, w + 1) * (int)bytes - places[w];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, values, counts, places, MPI_BYTE,
                   MPI_COMM_WORLD);
    free(counts);
}

void parts_show(struct parts *parts)
{
    int p;

    for (p = parts->first; p < parts->end; p++)
        release_region(parts->shown[p].region);
    parts_exchange(parts, parts->shown, sizeof(*parts->shown));
}

void parts_ask(struct parts *parts)
{
    int d, p;

    for (d = 0; d < parts->count; d++) {
        p = (parts->first + d) % parts->count;
        parts_check(parts,
                    drasync_iacquire(parts->shown[p].region, DRASYNC_READ,
                                     &parts->requests[p]),
                    "cannot ask for a region");
    }
}

const struct shown *parts_look(struct parts *parts, int part, int distance)
{
    int p = (part + distance) % parts->count;

    if (parts->requests[p])
        parts_check(parts, drasync_wait(&parts->requests[p], DRASYNC_FOREVER),
                    "cannot read a region");
    return &parts->shown[p];
}

void parts_look_away(struct parts *parts)
{
    int p;

    for (p = 0; p < parts->count; p++)
        release_region(parts->shown[p].region);
}
