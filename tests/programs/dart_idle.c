/*
 * dart_idle [HOW]: a unit that has begun many large puts and waits for another one
 * goes on with them meanwhile: so that one's put to the same node does not wait
 * behind them for ever.  4 units on 2 nodes.  It waits by a message, or
 *
 *   lock N   for lock N, which is on unit N's node
 *   try      by trying to have a lock
 *   word N   by reading a word on unit N's node with an atomic operation
 *   swap     by comparing one
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dash/dart/if/dart.h"

/* More than an engine takes in at a time, and longer than it does in some turns. */
#define PUTS  70
#define TURNS 20
#define BYTES ((size_t)12 << 20)

#define LOCKS 3

static char *buffer;
static const char *how = "message";
static int me, where; /* N */
static dart_gptr_t memory, word;
static dart_lock_t locks[LOCKS]; /* of each the tail is on that unit's node */

/* What unit 1 waits for, which unit 0 has until it says so. */
static bool is_over(void)
{
    const int32_t one = 1;
    int32_t got = 0;

    if (!strcmp(how, "lock")) {
        assert(dart_lock_acquire(locks[where]) == DART_OK);
        got = 1;
    } else if (!strcmp(how, "try")) {
        assert(dart_lock_try_acquire(locks[where], &got) == DART_OK);
    } else if (!strcmp(how, "word")) {
        assert(dart_fetch_and_op(word, NULL, &got, DART_TYPE_INT,
                                 DART_OP_NO_OP) == DART_OK);
    } else if (!strcmp(how, "swap")) {
        assert(dart_compare_and_swap(word, &one, &one, &got, DART_TYPE_INT) ==
               DART_OK);
    } else {
        assert(dart_recv(&got, 1, DART_TYPE_INT, 1, DART_GLOBAL_UNIT_ID(0)) ==
               DART_OK);
    }
    return got;
}

/* So long that the other node knows of all puts, and not until they are done. */
static void move(dart_handle_t *handle)
{
    const struct timespec nap = {0, 1000000};
    int32_t done = 0;

    for (int i = 0; i < TURNS; i++) {
        assert(dart_test_local(handle, &done) == DART_OK);
        nanosleep(&nap, NULL);
    }
}

static void put_and_wait(void)
{
    dart_handle_t handle = DART_HANDLE_NULL;
    dart_gptr_t gptr = memory;
    int32_t none = 0;

    gptr.unitid = 2;
    for (int i = 0; i < PUTS; i++) {
        assert(dart_handle_free(&handle) == DART_OK);
        assert(dart_put_handle(gptr, buffer, BYTES, DART_TYPE_BYTE,
                               DART_TYPE_BYTE, &handle) == DART_OK);
    }
    move(&handle);
    assert(dart_send(&none, 1, DART_TYPE_INT, 0, DART_GLOBAL_UNIT_ID(0)) ==
           DART_OK);
    while (!is_over())
        continue;
    if (!strcmp(how, "lock") || !strcmp(how, "try"))
        assert(dart_lock_release(locks[where]) == DART_OK);
    assert(dart_flush(gptr) == DART_OK);
    assert(dart_wait(&handle) == DART_OK);
}

static void put_then_tell(void)
{
    const int32_t one = 1;
    dart_gptr_t gptr = memory;
    int32_t none;

    assert(dart_recv(&none, 1, DART_TYPE_INT, 0, DART_GLOBAL_UNIT_ID(1)) ==
           DART_OK);
    gptr.unitid = 3;
    assert(dart_put_blocking(gptr, buffer, (size_t)1 << 20, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(dart_accumulate(word, &one, 1, DART_TYPE_INT, DART_OP_SUM) ==
           DART_OK);
    assert(dart_lock_release(locks[where]) == DART_OK);
    if (!strcmp(how, "message"))
        assert(dart_send(&one, 1, DART_TYPE_INT, 1, DART_GLOBAL_UNIT_ID(1)) ==
               DART_OK);
}

/* The word is 0, and unit 0 has the lock. */
static void prepare(void)
{
    const int32_t none = 0;

    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, BYTES, DART_TYPE_BYTE,
                                      &memory) == DART_OK);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 1, DART_TYPE_INT, &word) ==
           DART_OK);
    for (int i = 0; i < LOCKS; i++)
        assert(dart_team_lock_init(DART_TEAM_ALL, &locks[i]) == DART_OK);
    word.unitid = where & 0x7fffff;
    if (me == 0) {
        assert(dart_put_blocking(word, &none, 1, DART_TYPE_INT,
                                 DART_TYPE_INT) == DART_OK);
        assert(dart_lock_acquire(locks[where]) == DART_OK);
    }
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
}

int main(int argc, char **argv)
{
    dart_global_unit_t id;
    int level;

    if (argc > 1)
        how = argv[1];
    if (argc > 2)
        where = atoi(argv[2]);
    assert(where >= 0 && where < LOCKS);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    assert(dart_init(&argc, &argv) == DART_OK);
    assert(dart_myid(&id) == DART_OK);
    me = id.id;
    buffer = calloc(1, BYTES);
    assert(buffer);
    prepare();
    if (me == 1)
        put_and_wait();
    if (me == 0)
        put_then_tell();
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    if (me == 0)
        puts("ok");
    assert(dart_exit() == DART_OK);
    MPI_Finalize();
    return 0;
}
