/*
 * dart_nomem_far [begin | stopped | ended]: transfers, atomic operations and locks
 * without memory on the unit that asks, one request after another; through the
 * interface alone.  On a node: between nodes, who waits takes what comes for others
 * too, and without memory for that the job ends.
 *
 *   begin    only calls that do not wait, there too
 *   stopped  dart_test, while the process that it asks stands still, so that it
 *            cannot have answered; by messages
 *   ended    calls that end what was put to
 */
#include <signal.h>

#include "dart_nomem.h"

#define MOST (96 << 10) /* bytes: more than a message has */
#define FEW  24

static dart_gptr_t there, private_there; /* the next unit's */
static dart_gptr_t there_all;
static dart_datatype_t strided;
static char here[MOST], back[MOST];
static dart_handle_t handle;
static dart_lock_t locks[2];

/* What the transfers before this have left under way. */
static void undo_flush(void)
{
    assert(dart_flush_all(there_all) == DART_OK);
}

static dart_ret_t put(size_t bytes)
{
    here[0]++;
    return dart_put_blocking(there, here, bytes, DART_TYPE_BYTE,
                             DART_TYPE_BYTE);
}

static dart_ret_t run_put_few(void)
{
    return put(FEW);
}

static dart_ret_t run_put_many(void)
{
    return put(MOST);
}

/* What was put last is there. */
static void undo_put(void)
{
    assert(dart_get_blocking(back, there, FEW, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(memcmp(back, here, FEW) == 0);
}

static dart_ret_t run_begin_few(void)
{
    return dart_put(there, here, FEW, DART_TYPE_BYTE, DART_TYPE_BYTE);
}

static dart_ret_t run_begin_many(void)
{
    return dart_put(there, here, MOST, DART_TYPE_BYTE, DART_TYPE_BYTE);
}

static dart_ret_t get(dart_gptr_t from, size_t bytes)
{
    memset(back, 0, sizeof(back));
    return dart_get_blocking(back, from, bytes, DART_TYPE_BYTE, DART_TYPE_BYTE);
}

static dart_ret_t run_get_few(void)
{
    return get(there, FEW);
}

static dart_ret_t run_get_many(void)
{
    return get(there, MOST);
}

static dart_ret_t run_put_handle(void)
{
    dart_ret_t ret = dart_put_handle(there, here, MOST, DART_TYPE_BYTE,
                                     DART_TYPE_BYTE, &handle);

    assert(!ret || !handle);
    return ret;
}

static dart_ret_t run_get_handle(void)
{
    dart_ret_t ret = dart_get_handle(back, there, MOST, DART_TYPE_BYTE,
                                     DART_TYPE_BYTE, &handle);

    assert(!ret || !handle);
    return ret;
}

static void undo_handle(void)
{
    assert(dart_wait(&handle) == DART_OK && !handle);
}

/* With memory when it began, and when it is waited for again. */
static dart_ret_t run_wait(void)
{
    long left = failing_left;
    dart_ret_t ret;

    failing_left = 0;
    assert(run_get_handle() == DART_OK);
    failing_left = left;
    ret = dart_wait(&handle);
    failing_left = 0;
    assert(!ret == !handle);
    if (ret)
        undo_handle();
    return ret;
}

static dart_ret_t run_test(void)
{
    long left = failing_left;
    int32_t done = 0;
    dart_ret_t ret = DART_OK;

    failing_left = 0;
    assert(run_put_handle() == DART_OK);
    failing_left = left;
    while (!ret && !done)
        ret = dart_test(&handle, &done);
    failing_left = 0;
    assert(!ret == !handle);
    if (ret)
        undo_handle();
    return ret;
}

static dart_ret_t run_put_strided(void)
{
    return dart_put_blocking(there, here, 1000, DART_TYPE_INT, strided);
}

static dart_ret_t run_get_strided(void)
{
    return dart_get_blocking(back, there, 1000, strided, DART_TYPE_INT);
}

/* --- Private memory ------------------------------------------------------------------ */

static dart_ret_t run_put_private(void)
{
    return dart_put_blocking(private_there, here, MOST, DART_TYPE_BYTE,
                             DART_TYPE_BYTE);
}

static dart_ret_t run_get_private(void)
{
    return get(private_there, MOST);
}

static dart_ret_t run_put_private_strided(void)
{
    return dart_put_blocking(private_there, here, 1000, strided, DART_TYPE_INT);
}

static dart_ret_t run_get_private_strided(void)
{
    return dart_get_blocking(back, private_there, 1000, DART_TYPE_INT, strided);
}

/* --- Atomic operations --------------------------------------------------------------- */

static dart_ret_t accumulate(dart_gptr_t to, size_t elements)
{
    return dart_accumulate(to, here, elements, DART_TYPE_INT, DART_OP_BXOR);
}

static dart_ret_t run_accumulate(void)
{
    return accumulate(there, MOST / sizeof(int));
}

static dart_ret_t run_accumulate_private(void)
{
    return accumulate(private_there, MOST / sizeof(int));
}

static dart_ret_t fetch(dart_gptr_t from)
{
    const int one = 1;
    int old = 0;

    return dart_fetch_and_op(from, &one, &old, DART_TYPE_INT, DART_OP_SUM);
}

static dart_ret_t run_fetch(void)
{
    return fetch(there);
}

static dart_ret_t run_fetch_private(void)
{
    return fetch(private_there);
}

static dart_ret_t run_compare(void)
{
    const int one = 1, two = 2;
    int old = 0;

    return dart_compare_and_swap(there, &one, &two, &old, DART_TYPE_INT);
}

/* --- Locks --------------------------------------------------------------------------- */

static dart_ret_t run_acquire(void)
{
    dart_ret_t ret = DART_OK;

    for (int i = 0; i < 2 && !ret; i++) {
        ret = dart_lock_acquire(locks[i]);
        if (ret && i)
            assert(dart_lock_release(locks[0]) == DART_OK);
    }
    return ret;
}

static void undo_acquire(void)
{
    for (int i = 0; i < 2; i++)
        assert(dart_lock_release(locks[i]) == DART_OK);
}

/* Without memory a try has nothing, as one that came too late. */
static dart_ret_t run_try(void)
{
    dart_ret_t ret = DART_OK;

    for (int i = 0; i < 2 && !ret; i++) {
        int32_t had = 7;

        ret = dart_lock_try_acquire(locks[i], &had);
        assert(ret || had == 1);
        if (ret && i)
            assert(dart_lock_release(locks[0]) == DART_OK);
    }
    return ret;
}

/* Who could not give it back has it, and can do so later. */
static dart_ret_t run_release(void)
{
    long left = failing_left;
    dart_ret_t ret[2];

    failing_left = 0;
    assert(run_acquire() == DART_OK);
    failing_left = left;
    for (int i = 0; i < 2; i++) {
        ret[i] = dart_lock_release(locks[i]);
        if (ret[i])
            assert(dart_lock_release(locks[i]) == DART_OK);
    }
    return ret[0] ? ret[0] : ret[1];
}

/* --- A process that stands still --------------------------------------------------- */

static int *pids; /* [units] */

/* The call that failed has not made of a put that nobody has seen one that is
 * there. */
static dart_ret_t run_test_stopped(void)
{
    const struct timespec nap = {0, 20000000};
    int pid = pids[(me + 1) % units];
    long left = failing_left;
    int32_t done;
    dart_ret_t ret;

    /* Nothing is to come any more, as who takes it without memory ends the job. */
    failing_left = 0;
    nanosleep(&nap, NULL);
    kill(pid, SIGSTOP);
    nanosleep(&nap, NULL);
    here[0]++;
    assert(dart_put_handle(there, here, FEW, DART_TYPE_BYTE, DART_TYPE_BYTE,
                           &handle) == DART_OK);
    failing_left = left;
    ret = dart_test(&handle, &done);
    failing_left = 0;
    assert(!done && handle);
    assert(dart_test(&handle, &done) == DART_OK && !done && handle);
    kill(pid, SIGCONT);
    undo_handle();
    undo_put();
    return ret;
}

/* --- The end of memory that is put to ------------------------------------------------ */

static dart_team_t ended_team;
static dart_gptr_t ended;
static dart_allocator_t ended_pool;

static dart_ret_t run_memfree(void)
{
    return dart_team_memfree(ended);
}

static dart_ret_t run_allocator_destroy(void)
{
    return dart_allocator_destroy(&ended_pool);
}

static dart_ret_t run_team_destroy(void)
{
    return dart_team_destroy(&ended_team);
}

/* What unit 0 has put it cannot complete, if it needs memory for that: then all
 * keep what they have, and can end it later. */
static void end_without(const struct call *call)
{
    const struct timespec nap = {0, 20000000};
    char value = (char)(7 + me), *mine;
    dart_ret_t ret;
    int reached;

    mine = address_of(ended);
    *mine = 0;
    barrier();
    assert(dart_put(on_unit(ended, (me + 1) % units), &value, 1, DART_TYPE_BYTE,
                    DART_TYPE_BYTE) == DART_OK);
    nanosleep(&nap, NULL);
    failing_arm(me == 0);
    ret = call->run();
    reached = failing_disarm();
    greatest(&reached, 1);
    same_everywhere(call, (int)ret);
    assert(ret == (reached ? DART_ERR_NOMEM : DART_OK));
    if (ret) {
        assert(address_of(ended) == mine);
        assert(dart_flush_all(ended) == DART_OK);
        barrier();
        assert(*mine == (char)(7 + (me + units - 1) % units));
        barrier();
        assert(call->run() == DART_OK);
    }
    if (me == 0 && reached)
        fprintf(stderr, "%s: refused\n", call->name);
}

static void ended_calls(void)
{
    const struct call calls_made[] = {
        {"dart_team_memfree", run_memfree, NULL},
        {"dart_allocator_destroy", run_allocator_destroy, NULL},
        {"dart_team_destroy", run_team_destroy, NULL},
    };

    for (int i = 0; i < 3; i++) {
        assert(dart_team_clone(DART_TEAM_ALL, &ended_team) == DART_OK);
        assert(dart_team_memalloc_aligned(ended_team, 64, DART_TYPE_BYTE,
                                          &ended) == DART_OK);
        assert(dart_allocator_new(64, ended_team, &ended_pool) == DART_OK);
        end_without(&calls_made[i]);
        if (i < 2)
            assert(dart_team_destroy(&ended_team) == DART_OK);
        assert(!ended_pool || dart_allocator_destroy(&ended_pool) == DART_OK);
    }
}

/* --- All ------------------------------------------------------------------------------- */

static const struct call calls[] = {
    {"dart_get_blocking, many bytes", run_get_many, NULL},
    {"dart_get_handle", run_get_handle, undo_handle},
    {"dart_get_blocking, strided", run_get_strided, NULL},
    {"dart_get_blocking, private", run_get_private, NULL},
    {"dart_get_blocking, private, strided", run_get_private_strided, NULL},
    {"dart_put_blocking", run_put_few, undo_put},
    {"dart_put_blocking, many bytes", run_put_many, undo_put},
    {"dart_put", run_begin_few, undo_flush},
    {"dart_put, many bytes", run_begin_many, undo_flush},
    {"dart_get_blocking", run_get_few, NULL},
    {"dart_put_handle", run_put_handle, undo_handle},
    {"dart_wait", run_wait, NULL},
    {"dart_test", run_test, NULL},
    {"dart_put_blocking, strided", run_put_strided, NULL},
    {"dart_put_blocking, private", run_put_private, NULL},
    {"dart_put_blocking, private, strided", run_put_private_strided, NULL},
    {"dart_accumulate", run_accumulate, NULL},
    {"dart_accumulate, private", run_accumulate_private, NULL},
    {"dart_fetch_and_op", run_fetch, NULL},
    {"dart_fetch_and_op, private", run_fetch_private, NULL},
    {"dart_compare_and_swap", run_compare, NULL},
    {"dart_lock_acquire", run_acquire, undo_acquire},
    {"dart_lock_try_acquire", run_try, undo_acquire},
    {"dart_lock_release", run_release, NULL},
};

/* Those that do not wait; what undoes them has memory. */
static const struct call begun[] = {
    {"dart_put", run_begin_few, undo_flush},
    {"dart_put, many bytes", run_begin_many, undo_flush},
    {"dart_put_handle", run_put_handle, undo_handle},
    {"dart_get_handle", run_get_handle, undo_handle},
};

static const struct call stopped[] = {
    {"dart_test, stopped", run_test_stopped, NULL},
};

/* One unit after the other: what it asks of the others they have memory for. */
static void each(const struct call *list, size_t count)
{
    for (int unit = 0; unit < units; unit++) {
        for (size_t i = 0; i < count; i++) {
            if (me == unit)
                alone(&list[i]);
        }
        barrier();
    }
}

static void all_calls(void)
{
    each(calls, sizeof(calls) / sizeof(calls[0]));
}

static void begun_calls(void)
{
    each(begun, sizeof(begun) / sizeof(begun[0]));
}

static void stopped_calls(void)
{
    int pid = (int)getpid();

    pids = calloc((size_t)units, sizeof(*pids));
    assert(pids);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    each(stopped, 1);
    free(pids);
}

int main(int argc, char **argv)
{
    void (*run)(void) = all_calls;
    static char own[MOST];
    dart_gptr_t gptr;
    int next;

    if (argc > 1)
        run = !strcmp(argv[1], "begin")     ? begun_calls
              : !strcmp(argv[1], "stopped") ? stopped_calls
                                            : ended_calls;
    failing_begin();
    check_begin();
    next = (me + 1) % units;
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, MOST, DART_TYPE_BYTE,
                                      &there_all) == DART_OK);
    assert(dart_team_memregister(DART_TEAM_ALL, MOST, DART_TYPE_BYTE, own,
                                 &gptr) == DART_OK);
    there = on_unit(there_all, next);
    private_there = on_unit(gptr, next);
    assert(dart_type_create_strided(DART_TYPE_INT, 4, 2, &strided) == DART_OK);
    for (int i = 0; i < 2; i++)
        assert(dart_team_lock_init(DART_TEAM_ALL, &locks[i]) == DART_OK);
    twice(run);
    for (int i = 0; i < 2; i++)
        assert(dart_team_lock_destroy(&locks[i]) == DART_OK);
    barrier();
    assert(dart_team_memderegister(gptr) == DART_OK);
    assert(dart_team_memfree(there_all) == DART_OK);
    check_end();
    return 0;
}
