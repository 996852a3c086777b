/*
 * far.h - transfers to and from other nodes, and private memory of others.
 */
#ifndef DRASYNC_FRONTS_DART_FAR_H
#define DRASYNC_FRONTS_DART_FAR_H

#include <stdbool.h>
#include <stddef.h>

#include "fronts/dart/handle.h"
#include "fronts/dart/target.h"
#include "fronts/dart/types.h"

/* @nelem elements, of which the front has checked all that it promises. */
struct far {
    bool put;
    struct target target;
    const struct type *there; /* the shape at the target... */
    const struct type *here;  /* ...and in the program's buffer */
    void *buffer;             /* only read by a put */
    size_t nelem;
};

/* Begin it: on MPI's window, or by messages.  @handle, if not NULL, stands for it
 * then.  On error nothing of it uses the buffer any more. */
dart_ret_t far_begin(const struct far *far, dart_handle_t handle);

/* Begin it, and wait until it is done; where there is window_by_messages. */
dart_ret_t far_do(const struct far *far);

/* Copy to or from private memory of another unit; done when it returns. */
dart_ret_t far_private(const struct far *far);

#endif /* DRASYNC_FRONTS_DART_FAR_H */
