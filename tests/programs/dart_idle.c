/*
 * dart_idle: a unit that has begun many large puts and waits for another one, in
 * dart_recv, goes on with them meanwhile: so that one's put to the same node does
 * not wait behind them for ever.  4 units on 2 nodes.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dash/dart/if/dart.h"

/* More than an engine takes in at a time, and longer than it does in some turns. */
#define PUTS  70
#define BYTES ((size_t)48 << 20)

static char *buffer;

static void put_and_wait(dart_gptr_t gptr)
{
    int32_t word = 0;

    gptr.unitid = 2;
    for (int i = 0; i < PUTS; i++)
        assert(dart_put(gptr, buffer, BYTES, DART_TYPE_BYTE, DART_TYPE_BYTE) ==
               DART_OK);
    assert(dart_send(&word, 1, DART_TYPE_INT, 0, DART_GLOBAL_UNIT_ID(0)) ==
           DART_OK);
    assert(dart_recv(&word, 1, DART_TYPE_INT, 1, DART_GLOBAL_UNIT_ID(0)) ==
           DART_OK);
    assert(dart_flush(gptr) == DART_OK);
}

static void put_then_tell(dart_gptr_t gptr)
{
    int32_t word = 0;

    assert(dart_recv(&word, 1, DART_TYPE_INT, 0, DART_GLOBAL_UNIT_ID(1)) ==
           DART_OK);
    gptr.unitid = 3;
    assert(dart_put_blocking(gptr, buffer, (size_t)1 << 20, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(dart_send(&word, 1, DART_TYPE_INT, 1, DART_GLOBAL_UNIT_ID(1)) ==
           DART_OK);
}

int main(int argc, char **argv)
{
    dart_global_unit_t me;
    dart_gptr_t gptr;
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    assert(dart_init(&argc, &argv) == DART_OK);
    assert(dart_myid(&me) == DART_OK);
    buffer = calloc(1, BYTES);
    assert(buffer);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, BYTES, DART_TYPE_BYTE,
                                      &gptr) == DART_OK);
    if (me.id == 1)
        put_and_wait(gptr);
    if (me.id == 0)
        put_then_tell(gptr);
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    if (me.id == 0)
        puts("ok");
    assert(dart_exit() == DART_OK);
    MPI_Finalize();
    return 0;
}
