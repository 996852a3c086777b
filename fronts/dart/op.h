/* op.h - operations for reductions, as MPI has them. */
#ifndef DRASYNC_FRONTS_DART_OP_H
#define DRASYNC_FRONTS_DART_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "dash/dart/if/dart_types.h"

struct reduction {
    MPI_Op op;
    MPI_Datatype type; /* perhaps several of the program's elements */
    size_t count;      /* of these */
    size_t bytes;      /* of one */
};

/* How MPI reduces @nelem elements; false if the type has no such operation, or
 * the count does not fit it (DART_OP_MINMAX takes pairs). */
bool op_reduction(dart_operation_t op, dart_datatype_t dtype, size_t nelem,
                  struct reduction *out);

dart_ret_t ops_start(void);
void ops_stop(void);

#endif /* DRASYNC_FRONTS_DART_OP_H */
