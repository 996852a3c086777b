/*
 * parts.h - the parts that the form on DRASync cuts the bodies into, whose they
 * are, and how others look at them.
 *
 * There is a part for each worker, or as many as the file has that the run goes
 * on from; then a worker has several of them, or none.  The answer depends on
 * the number of parts, to the last bit, and not on that of the workers.
 * parts_exchange() and parts_show() are collective.
 */
#ifndef BARNES_HUT_PARTS_H
#define BARNES_HUT_PARTS_H

#include <drasync.h>

#include "bodies.h"

/* A region, and what others need to know to look at it. */
struct shown {
    region region;
    void *start; /* the tree's root, or the bodies */
    size_t count;
};

struct parts {
    int worker, workers;
    int count;           /* of all */
    int first, end;      /* this worker's are from @first to before @end */
    struct shown *shown; /* by each part */
    drasync_request_t *requests; /* for READ of them */
};

/* @count parts, for the workers of MPI_COMM_WORLD.  What is zero may be ended,
 * too. */
void parts_begin(struct parts *parts, uint64_t count);
void parts_end(struct parts *parts);

/* There are more workers than parts, and this one has nothing to do. */
int parts_none(const struct parts *parts);

/* @values has @bytes for each part; all get those that its worker has. */
void parts_exchange(const struct parts *parts, void *values, size_t bytes);

/*
 * Of this worker's parts parts->shown is filled in with regions that it holds.
 * They are released, and everybody's are there afterwards.  All are here, so
 * nobody looks at what was shown before.
 */
void parts_show(struct parts *parts);

/* Ask for what was shown, beginning with this worker's own. */
void parts_ask(struct parts *parts);

/* What the part @distance after @part, by turns, has shown, for READ; it is
 * waited for.  Somebody who asked looks at all, and then away. */
const struct shown *parts_look(struct parts *parts, int part, int distance);
void parts_look_away(struct parts *parts);

/* End the job if there is an @error.  The paper's calls do so themselves. */
void parts_check(const struct parts *parts, int error, const char *what);

#endif /* BARNES_HUT_PARTS_H */
