/*
 * dart_nomem MODE: what calls do without memory, through the interface alone.
 *
 *   collective   those that units make together, without memory on each in turn
 *   restart      dart_init, when it has been called before
 *   start N UNIT dart_init: its N-th request on that unit is refused; says "no
 *                request" if it has none
 *   threads      two threads of each unit, each with a team of its own
 *   full         with DRASYNC_MEMORY=64M: the node's memory is used up
 */
#include <pthread.h>

#include "dart_nomem.h"
#include "dash/dart/if/dart_locality.h"

static dart_team_t team; /* all units */

/* --- Together ------------------------------------------------------------------- */

static dart_team_t made_team;
static dart_gptr_t made;
static dart_allocator_t pool;
static dart_lock_t lock;
static char own[4096];

static dart_ret_t run_create(void)
{
    dart_group_t group;
    dart_ret_t ret;

    /* Not what is tested. */
    long left = failing_left;
    failing_left = 0;
    assert(dart_team_get_group(team, &group) == DART_OK);
    if (units > 1)
        assert(dart_group_delmember(group, DART_GLOBAL_UNIT_ID(units - 1)) ==
               DART_OK);
    failing_left = left;
    ret = dart_team_create(team, group, &made_team);
    assert(dart_group_destroy(&group) == DART_OK);
    return ret;
}

static dart_ret_t run_clone(void)
{
    return dart_team_clone(team, &made_team);
}

static void undo_team(void)
{
    assert(dart_team_destroy(&made_team) == DART_OK);
}

static dart_ret_t run_destroy(void)
{
    long left = failing_left;
    dart_gptr_t gptr;
    dart_lock_t in_it;

    failing_left = 0;
    assert(dart_team_clone(team, &made_team) == DART_OK);
    assert(dart_team_memalloc_aligned(made_team, 10, DART_TYPE_INT, &gptr) ==
           DART_OK);
    assert(dart_team_lock_init(made_team, &in_it) == DART_OK);
    failing_left = left;
    return dart_team_destroy(&made_team);
}

static dart_ret_t run_memalloc(void)
{
    return dart_team_memalloc_aligned(team, 1000, DART_TYPE_INT, &made);
}

static dart_ret_t run_memalloc_large(void)
{
    return dart_team_memalloc_aligned(team, 1 << 20, DART_TYPE_INT, &made);
}

static void undo_memalloc(void)
{
    assert(dart_team_memfree(made) == DART_OK);
}

/* More than the list of segments has room for. */
#define SEGMENTS 40

static dart_gptr_t segments[SEGMENTS];
static int segments_count;

static void undo_segments(void)
{
    while (segments_count)
        assert(dart_team_memfree(segments[--segments_count]) == DART_OK);
}

static dart_ret_t run_segments(void)
{
    dart_ret_t ret = DART_OK;

    while (!ret && segments_count < SEGMENTS) {
        ret = dart_team_memalloc_aligned(team, 1, DART_TYPE_INT,
                                         &segments[segments_count]);
        segments_count += !ret;
    }
    if (ret)
        undo_segments();
    return ret;
}

static dart_ret_t run_memfree(void)
{
    long left = failing_left;

    failing_left = 0;
    assert(run_memalloc() == DART_OK);
    failing_left = left;
    return dart_team_memfree(made);
}

static dart_ret_t run_register(void)
{
    return dart_team_memregister(team, sizeof(own), DART_TYPE_BYTE, own, &made);
}

static void undo_register(void)
{
    barrier();
    assert(dart_team_memderegister(made) == DART_OK);
}

static dart_ret_t run_pool(void)
{
    return dart_allocator_new(1 << 16, team, &pool);
}

static void undo_pool(void)
{
    assert(dart_allocator_destroy(&pool) == DART_OK);
}

static dart_ret_t run_lock(void)
{
    return dart_team_lock_init(team, &lock);
}

static void undo_lock(void)
{
    assert(dart_team_lock_destroy(&lock) == DART_OK);
}

#define UNITS_MAX 16

static dart_ret_t run_allgatherv(void)
{
    size_t counts[UNITS_MAX], places[UNITS_MAX], sum = 0;
    int values[UNITS_MAX * UNITS_MAX], mine[UNITS_MAX];
    dart_ret_t ret;

    for (int u = 0; u < units; u++) {
        counts[u] = (size_t)u;
        places[u] = sum;
        sum += counts[u];
        mine[u] = me;
    }
    ret = dart_allgatherv(mine, counts[me], DART_TYPE_INT, values, counts,
                          places, team);
    for (int u = 0; u < units && !ret; u++) {
        for (int i = 0; i < u; i++)
            assert(values[(int)places[u] + i] == u);
    }
    return ret;
}

/* As much as a unit needs memory for that has one buffer for both; the others have
 * two. */
#define EACH 20000

static dart_ret_t run_alltoall(void)
{
    static int from[UNITS_MAX * EACH], to[UNITS_MAX * EACH];
    dart_ret_t ret;

    for (int i = 0; i < units * EACH; i++)
        from[i] = to[i] = me * 1000 + i / EACH;
    ret = dart_alltoall(me % 2 ? from : to, to, EACH, DART_TYPE_INT, team);
    for (int i = 0; i < units * EACH && !ret; i++)
        assert(to[i] == i / EACH * 1000 + me);
    return ret;
}

static const struct call collective_calls[] = {
    {"dart_team_create", run_create, undo_team},
    {"dart_team_clone", run_clone, undo_team},
    {"dart_team_destroy", run_destroy, NULL},
    {"dart_team_memalloc_aligned", run_memalloc, undo_memalloc},
    {"dart_team_memalloc_aligned, large", run_memalloc_large, undo_memalloc},
    {"dart_team_memalloc_aligned, many", run_segments, undo_segments},
    {"dart_team_memfree", run_memfree, NULL},
    {"dart_team_memregister", run_register, undo_register},
    {"dart_allocator_new", run_pool, undo_pool},
    {"dart_team_lock_init", run_lock, undo_lock},
    {"dart_allgatherv", run_allgatherv, NULL},
    {"dart_alltoall", run_alltoall, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void collective(void)
{
    for (size_t i = 0; i < COUNT(collective_calls); i++) {
        for (int unit = 0; unit<units; unit += units> 1 ? units - 1 : 1)
            together(&collective_calls[i], unit);
    }
}

/* Locks come in blocks: until one is used up, none needs memory. */
#define LOCKS_MAX 200

static void locks(void)
{
    static dart_lock_t many[LOCKS_MAX];
    const struct call call = {"dart_team_lock_init", run_lock, NULL};

    for (int unit = 0; unit < units; unit++) {
        int count = 0, ret = DART_OK;

        while (!ret && count < LOCKS_MAX) {
            failing_arm(me == unit);
            ret = dart_team_lock_init(team, &many[count]);
            failing_disarm();
            same_everywhere(&call, ret);
            assert(dart_lock_initialized(many[count]) == !ret);
            count += !ret;
        }
        assert(ret == DART_ERR_NOMEM && !many[count]);
        assert(dart_team_lock_init(team, &many[count++]) == DART_OK);
        while (count)
            assert(dart_team_lock_destroy(&many[--count]) == DART_OK);
    }
}

/* --- Threads ------------------------------------------------------------------------- */

/* Two teams of all units, each used by a thread that has no memory for the first
 * request of its call.  One unit's thread of the first team is far ahead of its
 * other one, and on the next unit it is the other way round. */
static dart_team_t teams[2];

static void *register_without(void *arg)
{
    int which = *(int *)arg;
    const struct timespec nap = {0, (me + which) % 2 ? 300000000 : 0};
    dart_gptr_t gptr;

    nanosleep(&nap, NULL);
    failing_arm(1);
    assert(dart_team_memregister(teams[which], sizeof(own), DART_TYPE_BYTE, own,
                                 &gptr) == DART_ERR_NOMEM);
    assert(failing_disarm());
    return NULL;
}

static void threads(void)
{
    int numbers[2] = {0, 1};
    dart_gptr_t gptr;
    pthread_t other;

    for (int i = 0; i < 2; i++) {
        assert(dart_team_clone(DART_TEAM_ALL, &teams[i]) == DART_OK);
        /* What is made with the first. */
        assert(dart_team_memregister(teams[i], sizeof(own), DART_TYPE_BYTE, own,
                                     &gptr) == DART_OK);
    }
    assert(!pthread_create(&other, NULL, register_without, &numbers[1]));
    register_without(&numbers[0]);
    assert(!pthread_join(other, NULL));
    for (int i = 0; i < 2; i++)
        assert(dart_team_destroy(&teams[i]) == DART_OK);
}

/* --- The node's memory is used up ------------------------------------------------ */

#define PIECES_MAX 100000

static dart_gptr_t pieces[PIECES_MAX];
static dart_gptr_t *kept;
static dart_lock_t *many_locks;

/* Down to the smallest; *@largest_out is what the first piece has. */
static int fill(size_t *largest_out)
{
    int count = 0;

    *largest_out = 0;
    for (size_t bytes = (size_t)8 << 20; bytes >= 16; bytes /= 2) {
        while (count < PIECES_MAX &&
               dart_memalloc(bytes, DART_TYPE_BYTE, &pieces[count]) == DART_OK)
            if (!count++)
                *largest_out = bytes;
        assert(DART_GPTR_ISNULL(pieces[count]));
    }
    assert(count < PIECES_MAX);
    return count;
}

/* What the calls without memory say they say on all units, and what went before
 * them can be given back. */
static void full(void)
{
    const struct call allocation = {"dart_team_memalloc_aligned", NULL, NULL};
    const struct call lock_made = {"dart_team_lock_init", NULL, NULL};
    int own, allocated = 0, locked = 0;
    size_t largest;
    dart_ret_t ret;

    ret = run_memalloc_large();
    assert(ret == DART_OK);
    kept[allocated++] = made;
    own = fill(&largest);
    barrier();
    while (!ret && allocated < PIECES_MAX) {
        ret = run_memalloc();
        same_everywhere(&allocation, (int)ret);
        if (!ret)
            kept[allocated++] = made;
    }
    assert(ret == DART_ERR_NOMEM && DART_GPTR_ISNULL(made));
    assert(run_pool() == DART_ERR_NOMEM && !pool);
    ret = DART_OK;
    while (!ret && locked < PIECES_MAX) {
        ret = dart_team_lock_init(team, &many_locks[locked]);
        same_everywhere(&lock_made, (int)ret);
        locked += !ret;
    }
    assert(ret == DART_ERR_NOMEM && !many_locks[locked]);
    barrier();
    while (locked)
        assert(dart_team_lock_destroy(&many_locks[--locked]) == DART_OK);
    while (allocated)
        assert(dart_team_memfree(kept[--allocated]) == DART_OK);
    while (own)
        assert(dart_memfree(pieces[--own]) == DART_OK);
    barrier();
    /* What a unit had it can have again. */
    if (largest) {
        assert(dart_memalloc(largest, DART_TYPE_BYTE, pieces) == DART_OK);
        assert(dart_memfree(*pieces) == DART_OK);
    }
    assert(run_lock() == DART_OK);
    undo_lock();
}

/* --- Start ---------------------------------------------------------------------- */

static dart_ret_t run_init(void)
{
    return dart_init(NULL, NULL);
}

static void undo_init(void)
{
    assert(dart_exit() == DART_OK);
}

static void restart_all(void)
{
    const struct call call = {"dart_init", run_init, undo_init};

    for (int unit = 0; unit<units; unit += units> 1 ? units - 1 : 1)
        together(&call, unit);
}

static void restart(void)
{
    assert(dart_exit() == DART_OK);
    twice(restart_all);
    assert(dart_init(NULL, NULL) == DART_OK);
}

/* The first dart_init of the process.  What the library below had no memory for
 * it does not try again. */
static int start(long n, int unit)
{
    const char *rank = getenv("PMI_RANK");
    dart_config_t *config;
    bool here = (rank ? atoi(rank) : 0) == unit, reached;
    int up;
    dart_ret_t ret;

    dart_config(&config);
    config->log_enabled = 0;
    if (here)
        failing_arm(n);
    ret = dart_init(NULL, NULL);
    reached = failing_disarm();
    assert(ret == DART_OK || ret == DART_ERR_NOMEM);
    assert(dart_initialized() == !ret);
    if (here && !reached)
        puts("no request");
    if (here && reached)
        puts(ret ? "refused" : "did without");
    MPI_Initialized(&up);
    if (ret == DART_OK)
        assert(dart_exit() == DART_OK);
    else
        assert(dart_exit() == DART_ERR_NOTINIT);
    if (up)
        MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int level = MPI_THREAD_SINGLE;

    failing_begin();
    if (!strcmp(mode, "start") && argc == 4)
        return start(atol(argv[2]), atoi(argv[3]));
    if (!strcmp(mode, "threads"))
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    check_begin();
    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    if (!strcmp(mode, "collective")) {
        locks();
        twice(collective);
    } else if (!strcmp(mode, "full")) {
        kept = calloc(PIECES_MAX, sizeof(*kept));
        many_locks = calloc(PIECES_MAX, sizeof(dart_lock_t));
        assert(kept && many_locks);
        full();
        free(kept);
        free(many_locks);
    } else if (!strcmp(mode, "threads")) {
        threads();
    } else if (!strcmp(mode, "restart")) {
        restart();
    } else {
        assert(!"a mode");
    }
    check_end();
    if (!strcmp(mode, "threads"))
        MPI_Finalize();
    return 0;
}
