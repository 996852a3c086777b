/*
 * dart_nomem.h - calls of the DART interface without memory, one request after
 * another: for n = 1, 2, 3, ... the call is made so that its n-th request for
 * memory fails, until it has no n-th.  Each failing call says DART_ERR_NOMEM,
 * on all units if it is collective; then everything is as before, so that the
 * call with all its memory works.
 */
#ifndef TESTS_DART_NOMEM_H
#define TESTS_DART_NOMEM_H

#include "dart_check.h"
#include "failing.h"

/* More requests than any call has. */
#define REQUESTS_MAX 1000

struct call {
    const char *name;
    dart_ret_t (*run)(void);
    void (*undo)(void); /* of one that worked; NULL: nothing */
};

/* The greatest of all units', by a wait that leaves the processor to others. */
static inline void greatest(int *values, int count)
{
    MPI_Request request;
    int done = 0;

    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT, MPI_MAX,
                   MPI_COMM_WORLD, &request);
    for (int tries = 1; !done; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        nap_after(tries);
    }
}

/* All units have it. */
static inline void same_everywhere(const struct call *call, int value)
{
    int values[2] = {value, -value};

    greatest(values, 2);
    if (values[0] != value || values[1] != -value)
        fprintf(stderr, "unit %d: %s: %d here\n", me, call->name, value);
    assert(values[0] == value && values[1] == -value);
}

/* The call with its n-th request refused; was there one? */
static inline bool call_without(const struct call *call, long n, bool here)
{
    dart_ret_t ret;
    bool reached;

    if (here)
        failing_arm(n);
    ret = call->run();
    reached = failing_disarm();
    if (ret != DART_OK && (ret != DART_ERR_NOMEM || (here && !reached)))
        fprintf(stderr, "unit %d: %s: request %ld: %d\n", me, call->name, n,
                (int)ret);
    assert(ret == DART_OK || ret == DART_ERR_NOMEM);
    assert(!here || reached || ret == DART_OK);
    if (ret == DART_OK && call->undo)
        call->undo();
    return here && reached;
}

/* Each unit for itself. */
static inline void alone(const struct call *call)
{
    long n = 1;

    while (call_without(call, n, true))
        assert(n++ < REQUESTS_MAX);
}

/* All together, @unit without memory. */
static inline void together(const struct call *call, int unit)
{
    for (long n = 1;; n++) {
        int reached, value = 1;
        dart_ret_t ret;

        if (n == REQUESTS_MAX)
            fprintf(stderr, "%s: always one more request\n", call->name);
        assert(n < REQUESTS_MAX);
        if (me == unit)
            failing_arm(n);
        ret = call->run();
        reached = failing_disarm();
        greatest(&reached, 1);
        same_everywhere(call, (int)ret);
        assert(ret == DART_OK || (ret == DART_ERR_NOMEM && reached));
        if (ret == DART_OK && call->undo)
            call->undo();
        if (!reached)
            break;
        if (dart_initialized())
            assert(dart_allreduce(NULL, &value, 1, DART_TYPE_INT, DART_OP_SUM,
                                  DART_TEAM_ALL) == DART_OK &&
                   value == units);
    }
}

/* What is kept for later is kept once: a second time takes no more. */
static inline void twice(void (*calls)(void))
{
    long before;

    calls();
    barrier();
    before = atomic_load(&failing_live);
    calls();
    barrier();
    if (atomic_load(&failing_live) != before)
        fprintf(stderr, "unit %d: %ld pieces of memory, then %ld\n", me, before,
                atomic_load(&failing_live));
    assert(atomic_load(&failing_live) == before);
}

#endif /* TESTS_DART_NOMEM_H */
