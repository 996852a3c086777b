/*
 * dart_far: transfers of units that lead no node, as of others: to a target that
 * computes, seen through by testing alone, in long shapes by several threads,
 * after DART has started again, and left under way at the end.
 *
 *   dart_far           all of it
 *   dart_far left      MPI_Finalize comes with transfers under way
 *   dart_far killed    unit 0 is killed while others get from it; with nodes of 2
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "dart_check.h"

#define BLOCK   24 /* longs; every other block of the target */
#define BLOCKS  ((size_t)3000)
#define LONGS   (BLOCK * BLOCKS)
#define LONGER  (8 * LONGS) /* more than may be under way at a time */
#define THREADS 2

static dart_gptr_t take(size_t longs)
{
    dart_gptr_t gptr;

    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, longs, DART_TYPE_LONG,
                                      &gptr) == DART_OK);
    memset(address_of(gptr), 0, longs * sizeof(long));
    barrier();
    return gptr;
}

static dart_datatype_t blocks(void)
{
    dart_datatype_t type;

    assert(dart_type_create_strided(DART_TYPE_LONG, 2 * BLOCK, BLOCK, &type) ==
           DART_OK);
    return type;
}

static void fill(long *to, size_t longs, long begin)
{
    for (size_t i = 0; i < longs; i++)
        to[i] = begin + (long)i;
}

/* --- A target that computes --------------------------------------------------------- */

/* Each unit in turn looks into nothing but its own memory until all others have
 * put there, in one piece and in blocks; what they then get is what they put. */
static void computing(void)
{
    dart_gptr_t gptr = take(2 * (LONGS + 1) * (size_t)units);
    long *out = malloc(LONGS * sizeof(long));
    dart_datatype_t type = blocks();
    long one = 1;

    assert(out);
    for (int target = 0; target < units; target++) {
        size_t part = 2 * (LONGS + 1) * sizeof(long) * (size_t)me;
        dart_gptr_t to = at_offset(on_unit(gptr, target), part);
        volatile long *mine = address_of(gptr);

        for (int u = 0; u < units && me == target; u++) {
            while (u != me && !mine[2 * (LONGS + 1) * (size_t)u])
                continue;
        }
        if (me != target) {
            fill(out, LONGS, me + target);
            assert(dart_put(at_offset(to, 2 * sizeof(long)), out, LONGS,
                            DART_TYPE_LONG, type) == DART_OK);
            assert(dart_flush(to) == DART_OK);
            memset(out, 0, LONGS * sizeof(long));
            assert(dart_get_blocking(out, at_offset(to, 2 * sizeof(long)),
                                     LONGS, type, DART_TYPE_LONG) == DART_OK);
            for (size_t i = 0; i < LONGS; i++)
                assert(out[i] == me + target + (long)i);
            assert(dart_put_blocking(to, &one, 1, DART_TYPE_LONG,
                                     DART_TYPE_LONG) == DART_OK);
        }
        barrier();
    }
    assert(dart_type_destroy(&type) == DART_OK);
    free(out);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* --- By testing alone ------------------------------------------------------------------ */

static void test_until_done(dart_handle_t *handle, bool there)
{
    int32_t done = 0;

    while (!done) {
        assert((there ? dart_test(handle, &done)
                      : dart_test_local(handle, &done)) == DART_OK);
        sched_yield();
    }
    assert(*handle == DART_HANDLE_NULL);
}

static void testing(void)
{
    dart_gptr_t gptr = take(2 * LONGS * (size_t)units);
    long *out = malloc(LONGS * sizeof(long)),
         *in = malloc(LONGS * sizeof(long));
    int target = (me + 1) % units;
    dart_gptr_t at =
        at_offset(on_unit(gptr, target), 2 * LONGS * sizeof(long) * (size_t)me);
    dart_handle_t handle;

    assert(out && in);
    for (int turn = 0; turn < 8; turn++) {
        dart_datatype_t there = turn % 2 ? blocks() : DART_TYPE_LONG;
        size_t longs = turn < 4 ? LONGS : BLOCK;

        fill(out, LONGS, turn * 100);
        assert(dart_put_handle(at, out, longs, DART_TYPE_LONG, there,
                               &handle) == DART_OK);
        test_until_done(&handle, true);
        memset(in, 0, LONGS * sizeof(long));
        assert(dart_get_handle(in, at, longs, there, DART_TYPE_LONG, &handle) ==
               DART_OK);
        /* The type may go before the data comes. */
        if (turn % 2)
            assert(dart_type_destroy(&there) == DART_OK);
        test_until_done(&handle, turn % 4 < 2);
        assert(!memcmp(in, out, longs * sizeof(long)));
    }
    free(out);
    free(in);
    barrier();
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* --- More than may be under way, by several threads -------------------------------------- */

static dart_gptr_t long_memory;

static void *long_shapes(void *arg)
{
    size_t thread = (size_t)(intptr_t)arg;
    long *out = malloc(LONGER * sizeof(long));
    long *in = malloc(LONGER * sizeof(long));
    dart_datatype_t type = blocks();

    assert(out && in);
    for (int turn = 0; turn < units; turn++) {
        int target = (me + turn) % units;
        dart_gptr_t at = at_offset(on_unit(long_memory, target),
                                   2 * LONGER * sizeof(long) *
                                       (THREADS * (size_t)me + thread));

        fill(out, LONGER, turn);
        assert(dart_put(at, out, LONGER, DART_TYPE_LONG, type) == DART_OK);
        assert(dart_flush_all(long_memory) == DART_OK);
        memset(in, 0, LONGER * sizeof(long));
        assert(dart_get(in, at, LONGER, type, DART_TYPE_LONG) == DART_OK);
        assert(dart_flush_local(at) == DART_OK);
        assert(!memcmp(in, out, LONGER * sizeof(long)));
    }
    assert(dart_type_destroy(&type) == DART_OK);
    free(out);
    free(in);
    return NULL;
}

static void threads(void)
{
    pthread_t other;

    long_memory = take(2 * LONGER * THREADS * (size_t)units);
    assert(!pthread_create(&other, NULL, long_shapes, (void *)(intptr_t)1));
    long_shapes(NULL);
    assert(!pthread_join(other, NULL));
    barrier();
    assert(dart_team_memfree(long_memory) == DART_OK);
}

/* --- Start and end ------------------------------------------------------------------------ */

/* Begin some that nobody waits for. */
static void begin(dart_gptr_t gptr)
{
    static long values[LONGS], seen[LONGS];
    dart_datatype_t type = blocks();

    for (int u = 0; u < units; u++) {
        dart_gptr_t at =
            at_offset(on_unit(gptr, u), 2 * LONGS * sizeof(long) * (size_t)me);

        assert(dart_put(at, values, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
               DART_OK);
        assert(dart_put(at, values, LONGS, DART_TYPE_LONG, DART_TYPE_LONG) ==
               DART_OK);
        assert(dart_put(at, values, LONGS, DART_TYPE_LONG, type) == DART_OK);
        assert(dart_get(seen, at, LONGS, type, DART_TYPE_LONG) == DART_OK);
        assert(dart_put(at, values, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
               DART_OK);
    }
    assert(dart_type_destroy(&type) == DART_OK);
}

static void again(void)
{
    for (int turn = 0; turn < 5; turn++) {
        dart_gptr_t gptr = take(2 * LONGS * (size_t)units);

        begin(gptr);
        assert(dart_exit() == DART_OK);
        check_begin();
    }
}

/* Unit 0 goes while those of the other node wait for what it has.  (A long one
 * would end MPI too, where it reads another process's memory.) */
static void killed(void)
{
    dart_gptr_t gptr = take(2), told;
    _Atomic long *others = (_Atomic long *)address_of(gptr) + 1;
    long value, one = 1;
    dart_ret_t ret = DART_OK;

    if (me == 0) {
        while (*others < units - 1)
            sched_yield();
        raise(SIGKILL);
    }
    told = on_unit(gptr, 0);
    assert(dart_gptr_incaddr(&told, sizeof(long)) == DART_OK);
    for (bool first = true; !ret; first = false) {
        ret = dart_get_blocking(&value, on_unit(gptr, me == 1 ? 2 : 0), 1,
                                DART_TYPE_LONG, DART_TYPE_LONG);
        if (first && !ret)
            ret = dart_accumulate_blocking_local(told, &one, 1, DART_TYPE_LONG,
                                                 DART_OP_SUM);
    }
    printf("told %d\n", me);
    fflush(stdout);
    _exit(3);
}

int main(int argc, char **argv)
{
    int level;

    assert(!MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
    assert(level == MPI_THREAD_MULTIPLE);
    check_begin();
    if (argc > 1 && !strcmp(argv[1], "killed"))
        killed();
    if (argc > 1) {
        begin(take(2 * LONGS * (size_t)units));
    } else {
        computing();
        testing();
        threads();
        again();
        check_end();
    }
    if (me == 0 && argc > 1)
        puts("ok");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
