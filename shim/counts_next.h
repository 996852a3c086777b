/*
 * counts_next.h - calls of MPI's that are counted and passed on, for counts*.c.
 */
#ifndef DRASYNC_SHIM_COUNTS_NEXT_H
#define DRASYNC_SHIM_COUNTS_NEXT_H

#include <mpi.h>
#include <stddef.h>

#include "shim/blocking.h"
#include "shim/counts.h"
#include "shim/next.h"

/* `next` is the next function called @name; `counted`: this one counts. */
#define NEXT_CALL(name)                                                 \
    static struct drasync_blocking_call call;                           \
    if (!drasync_blocking_found(&call))                                 \
        drasync_blocking_find(&call, next_symbol(#name), #name, #name); \
    __typeof__(&name) next = (__typeof__(&name))call.next;              \
    if (!next)                                                          \
        return MPI_ERR_OTHER;                                           \
    bool counted __attribute__((cleanup(drasync_counts_end))) =         \
        drasync_counts_begin()

/* Calls of this kind are not counted: the rank is unsure. */
#define UNSURE(name, declared, given) \
    int name declared                 \
    {                                 \
        NEXT_CALL(name);              \
        if (counted)                  \
            drasync_counts_unsure();  \
        return next given;            \
    }

#endif /* DRASYNC_SHIM_COUNTS_NEXT_H */
