/*
 * dart_team: teams, through the interface alone.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "dash/dart/if/dart.h"

/* More than MPI has. */
#define COMMS_MAX 10000

static size_t units;
static int me;

/* The units of @bits. */
static dart_group_t group_of(unsigned bits)
{
    dart_group_t g;

    assert(dart_group_create(&g) == DART_OK);
    for (int i = 0; i < 31; i++) {
        if (bits >> i & 1)
            assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(i)) == DART_OK);
    }
    return g;
}

static dart_ret_t create(dart_team_t parent, unsigned bits, dart_team_t *team)
{
    dart_group_t g = group_of(bits);
    dart_ret_t ret = dart_team_create(parent, g, team);

    assert(dart_group_destroy(&g) == DART_OK);
    return ret;
}

/* The team is the units of @bits; its collectives work. */
static void check(dart_team_t team, unsigned bits)
{
    dart_team_unit_t mine, local;
    dart_global_unit_t global;
    dart_group_t g;
    size_t size, members;
    int sum = 0, one = 1, place = 0;

    assert(dart_team_myid(team, &mine) == DART_OK);
    assert(dart_team_size(team, &size) == DART_OK);
    assert((int)size == __builtin_popcount(bits));
    for (int i = 0; i < (int)units; i++) {
        assert(dart_team_unit_g2l(team, DART_GLOBAL_UNIT_ID(i), &local) ==
               DART_OK);
        if (!(bits >> i & 1)) {
            assert(local.id == DART_UNDEFINED_UNIT_ID);
            continue;
        }
        assert(local.id == place && (i != me || mine.id == place));
        assert(dart_team_unit_l2g(team, DART_TEAM_UNIT_ID(place), &global) ==
               DART_OK);
        assert(global.id == i);
        place++;
    }
    assert(dart_team_get_group(team, &g) == DART_OK);
    assert(dart_group_size(g, &members) == DART_OK && members == size);
    assert(dart_group_destroy(&g) == DART_OK);
    assert(dart_allreduce(&one, &sum, 1, DART_TYPE_INT, DART_OP_SUM, team) ==
           DART_OK);
    assert(sum == (int)size);
    assert(dart_barrier(team) == DART_OK);
}

/* One unit has taken all communicators that MPI has: nobody gets a team. */
static void no_communicator(void)
{
    static MPI_Comm own[COMMS_MAX];
    int count = 0;
    dart_team_t team = 5;

    if (me == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (count < COMMS_MAX && !MPI_Comm_dup(MPI_COMM_SELF, &own[count]))
            count++;
        assert(count < COMMS_MAX);
    }
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_ERR_NOMEM);
    assert(team == DART_TEAM_NULL);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&own[i]);
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK && team == 1);
    check(team, (1u << units) - 1);
    assert(dart_team_destroy(&team) == DART_OK);
}

static void subsets(void)
{
    unsigned all = (1u << units) - 1;

    for (unsigned bits = 1; bits <= all; bits++) {
        dart_team_t team = 5, inner;

        assert(create(DART_TEAM_ALL, bits, &team) == DART_OK);
        assert((team != DART_TEAM_NULL) == (bits >> me & 1));
        if (team == DART_TEAM_NULL)
            continue;
        assert(team == 1); /* the number was given back */
        check(team, bits);
        /* Its first member alone, under it. */
        assert(create(team, bits & -bits, &inner) == DART_OK);
        if (inner != DART_TEAM_NULL) {
            assert(inner == 2);
            check(inner, bits & -bits);
            assert(dart_team_destroy(&inner) == DART_OK);
        }
        assert(dart_team_clone(team, &inner) == DART_OK && inner == 2);
        check(inner, bits);
        assert(dart_team_destroy(&inner) == DART_OK);
        assert(dart_team_destroy(&team) == DART_OK && team == DART_TEAM_NULL);
        assert(dart_team_destroy(&team) == DART_OK);
    }
}

/* Each unit alone, all in one call; and everybody without a group. */
static void at_once(void)
{
    dart_team_t team;

    assert(create(DART_TEAM_ALL, 1u << me, &team) == DART_OK);
    check(team, 1u << me);
    assert(dart_team_destroy(&team) == DART_OK);
    assert(create(DART_TEAM_ALL, 0, &team) == DART_OK);
    assert(team == DART_TEAM_NULL);
    assert(dart_team_create(DART_TEAM_ALL, NULL, &team) == DART_OK);
    assert(team == DART_TEAM_NULL);
    /* Who is not in it need not name it. */
    if (me == 0)
        assert(create(DART_TEAM_ALL, 1, &team) == DART_OK);
    else
        assert(dart_team_create(DART_TEAM_ALL, NULL, &team) == DART_OK);
    assert((team != DART_TEAM_NULL) == (me == 0));
    assert(dart_team_destroy(&team) == DART_OK);
}

static void wrong(void)
{
    dart_team_t team = 5, first, all = DART_TEAM_ALL, none = 99;
    dart_team_unit_t local = {5};
    dart_global_unit_t global = {5};
    size_t size = 5;

    assert(dart_team_create(99, NULL, &team) == DART_ERR_INVAL);
    assert(team == DART_TEAM_NULL);
    assert(dart_team_create(-7, NULL, &team) == DART_ERR_INVAL);
    assert(dart_team_create(DART_TEAM_ALL, NULL, NULL) == DART_ERR_INVAL);
    assert(dart_team_destroy(&all) == DART_ERR_INVAL && all == DART_TEAM_ALL);
    assert(dart_team_destroy(&none) == DART_ERR_INVAL && none == 99);
    assert(dart_team_destroy(NULL) == DART_ERR_INVAL);
    assert(dart_team_clone(99, &team) == DART_ERR_INVAL);
    assert(dart_team_myid(99, &local) == DART_ERR_INVAL);
    assert(local.id == DART_UNDEFINED_UNIT_ID);
    assert(dart_team_size(DART_TEAM_NULL, &size) == DART_ERR_INVAL && !size);
    assert(dart_team_size(DART_TEAM_ALL, NULL) == DART_ERR_INVAL);
    assert(dart_team_myid(DART_TEAM_ALL, NULL) == DART_ERR_INVAL);
    assert(dart_myid(NULL) == DART_ERR_INVAL);
    assert(dart_size(NULL) == DART_ERR_INVAL);
    local.id = (int)units;
    assert(dart_team_unit_l2g(DART_TEAM_ALL, local, &global) == DART_ERR_INVAL);
    assert(global.id == DART_UNDEFINED_UNIT_ID);
    local.id = -1;
    assert(dart_team_unit_l2g(DART_TEAM_ALL, local, &global) == DART_ERR_INVAL);
    assert(dart_team_unit_l2g(DART_TEAM_ALL, local, NULL) == DART_ERR_INVAL);
    global.id = (int)units;
    assert(dart_team_unit_g2l(DART_TEAM_ALL, global, &local) == DART_ERR_INVAL);
    assert(dart_team_unit_g2l(99, global, &local) == DART_ERR_INVAL);
    assert(dart_team_unit_g2l(DART_TEAM_ALL, global, NULL) == DART_ERR_INVAL);
    assert(dart_barrier(99) == DART_ERR_INVAL);
    if (units < 2)
        return;
    /* A member from outside the parent. */
    assert(create(DART_TEAM_ALL, 1, &first) == DART_OK);
    if (me == 0) {
        assert(create(first, 3, &team) == DART_ERR_INVAL);
        assert(dart_team_destroy(&first) == DART_OK);
    }
    /* Members that name different members, or no group. */
    assert(create(DART_TEAM_ALL, me == 0 ? 1 : 3, &team) == DART_ERR_INVAL);
    assert(team == DART_TEAM_NULL);
    assert(create(DART_TEAM_ALL, me == 0 ? 3 : 0, &team) == DART_ERR_INVAL);
    /* Wrong on one unit: on all. */
    assert(dart_team_create(DART_TEAM_ALL, NULL, me ? &team : NULL) ==
           DART_ERR_INVAL);
    assert(create(DART_TEAM_ALL, 1, &team) == DART_OK);
    assert(dart_team_destroy(&team) == DART_OK);
}

/* A thread that makes teams under a team of its own, beside another. */
static void *make(void *parent)
{
    dart_team_t under = *(dart_team_t *)parent, teams[4];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            assert(dart_team_clone(under, &teams[i]) == DART_OK);
        for (int i = 0; i < 4; i++) {
            check(teams[i], (1u << units) - 1);
            assert(dart_team_destroy(&teams[i]) == DART_OK);
        }
    }
    return NULL;
}

static void threads(void)
{
    dart_team_t parents[2];
    pthread_t thread;

    assert(dart_team_clone(DART_TEAM_ALL, &parents[0]) == DART_OK);
    assert(dart_team_clone(DART_TEAM_ALL, &parents[1]) == DART_OK);
    assert(!pthread_create(&thread, NULL, make, &parents[0]));
    make(&parents[1]);
    assert(!pthread_join(thread, NULL));
}

int main(void)
{
    dart_thread_support_level_t level;
    dart_config_t *config;
    dart_global_unit_t id;
    dart_team_t left;

    dart_config(&config);
    config->log_enabled = 0;
    assert(dart_init_thread(NULL, NULL, &level) == DART_OK);
    assert(dart_size(&units) == DART_OK && dart_myid(&id) == DART_OK);
    me = id.id;
    check(DART_TEAM_ALL, (1u << units) - 1);
    subsets();
    at_once();
    wrong();
    no_communicator();
    if (level == DART_THREAD_MULTIPLE)
        threads();
    /* What is left goes with dart_exit. */
    assert(dart_team_clone(DART_TEAM_ALL, &left) == DART_OK);
    assert(dart_exit() == DART_OK);
    assert(dart_team_destroy(&left) == DART_ERR_NOTINIT);
    assert(dart_barrier(DART_TEAM_ALL) == DART_ERR_NOTINIT);
    assert(dart_init(NULL, NULL) == DART_OK);
    assert(dart_team_destroy(&left) == DART_ERR_INVAL);
    assert(dart_exit() == DART_OK);
    if (me == 0)
        printf("ok\n");
    return 0;
}
