/*
 * dart_teams COUNT: so many teams at a time, of various members, through the
 * interface alone.  MPI's calls that make them are counted: what a team costs
 * must not grow with the number of teams.
 * dart_teams threads: teams that share a communicator, used by several threads.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dash/dart/if/dart.h"

#define NUMBERS 32768
/* MPICH has about 2,000; one for each set of members is needed besides. */
#define COMMS_MAX 200

#define THREADS 3
#define ROUNDS  40

static int units, me;
static long comms, reductions, bytes; /* so far */

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    comms++;
    return PMPI_Comm_create(comm, group, newcomm);
}

static void count_reduction(int count, MPI_Datatype datatype)
{
    int size;

    MPI_Type_size(datatype, &size);
    reductions++;
    bytes += (long)count * size;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    count_reduction(count, datatype);
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    count_reduction(count, datatype);
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm,
                           request);
}

static dart_team_t make(dart_team_t parent, unsigned bits)
{
    dart_team_t team;
    dart_group_t g;

    assert(dart_group_create(&g) == DART_OK);
    for (int i = 0; i < units; i++) {
        if (bits >> i & 1)
            assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(i)) == DART_OK);
    }
    assert(dart_team_create(parent, g, &team) == DART_OK);
    assert(dart_group_destroy(&g) == DART_OK);
    assert((team != DART_TEAM_NULL) == (bits >> me & 1));
    return team;
}

/* The team is the units of @bits, and its collective operations work. */
static void check(dart_team_t team, unsigned bits)
{
    unsigned mine = 1u << me, sum = 0;
    size_t size;

    assert(dart_team_size(team, &size) == DART_OK);
    assert((int)size == __builtin_popcount(bits));
    assert(dart_allreduce(&mine, &sum, 1, DART_TYPE_UINT, DART_OP_SUM, team) ==
           DART_OK);
    assert(sum == bits);
}

struct made {
    dart_team_t team;
    unsigned bits;
};

/* Team i: of any units, under all; of units that go apart, several in one call;
 * under a team of its own for each half of the units, at the same time. */
static struct made make_any(int i, struct made half)
{
    unsigned all = (1u << units) - 1, odd = 0xaaaaaaaau & all;
    struct made m = {DART_TEAM_NULL, 0};

    switch (i % 4) {
    case 0:
    case 1:
        m.bits = (unsigned)i % all + 1;
        m.team = make(DART_TEAM_ALL, m.bits);
        break;
    case 2:
        m.bits = me % 2 ? odd : all & ~odd;
        m.team = make(DART_TEAM_ALL, m.bits);
        break;
    default:
        /* Without its last unit now and then. */
        m.bits = half.bits;
        if (i % 8 == 3 && (m.bits & (m.bits - 1)))
            m.bits &= m.bits - 1;
        m.team = make(half.team, m.bits);
    }
    return m;
}

/* As i goes through [0, count), so does this, in another order. */
static int shuffled(int i, int count)
{
    return (int)((long)i * 7919 % count);
}

static void many(int count)
{
    static bool used[NUMBERS];
    struct made *made = calloc((size_t)count, sizeof(*made));
    unsigned all = (1u << units) - 1, low = all & ((1u << (units + 1) / 2) - 1);
    struct made half = {DART_TEAM_NULL, low >> me & 1 ? low : all & ~low};
    long before, more = 0;

    assert(made);
    half.team = make(DART_TEAM_ALL, half.bits);
    used[half.team] = true;
    bytes = reductions = 0;
    for (int i = 0; i < count; i++) {
        before = reductions;
        made[i] = make_any(i, half);
        assert(reductions - before >= 2);
        more += reductions - before - 2;
        if (made[i].team == DART_TEAM_NULL)
            continue;
        assert(!used[made[i].team]);
        used[made[i].team] = true;
    }
    /* Two reductions each, one for each new communicator, and one for each 256
     * numbers that are full; of few bytes. */
    assert(more <= comms + 2 * (count / 256 + 1));
    assert(bytes <= 100 * reductions);
    assert(comms <= COMMS_MAX);
    for (int i = 0; i < count; i += 97) {
        if (made[i].team != DART_TEAM_NULL)
            check(made[i].team, made[i].bits);
    }
    for (int i = 0; i < count; i++) {
        struct made *m = &made[shuffled(i, count)];
        assert(dart_team_destroy(&m->team) == DART_OK);
    }
    /* All numbers are free again. */
    for (int i = 0; i < 3; i++) {
        made[i].team = make(DART_TEAM_ALL, all);
        check(made[i].team, all);
    }
    for (int i = 0; i < 3; i++)
        assert(dart_team_destroy(&made[i].team) == DART_OK);
    assert(dart_team_destroy(&half.team) == DART_OK);
    free(made);
}

struct work {
    dart_team_t team;
    int number;
};

/* Sums and messages to all, by a thread whose team nobody else uses. */
static void *use(void *argument)
{
    struct work *work = argument;
    long base = 1000 * work->number;

    for (int i = 0; i < ROUNDS; i++) {
        long mine = base + me, sum = 0, from = me == i % units ? base + i : -1;
        dart_team_t inner;

        assert(dart_allreduce(&mine, &sum, 1, DART_TYPE_LONG, DART_OP_SUM,
                              work->team) == DART_OK);
        assert(sum == units * base + units * (units - 1) / 2);
        assert(dart_bcast(&from, 1, DART_TYPE_LONG,
                          DART_TEAM_UNIT_ID(i % units), work->team) == DART_OK);
        assert(from == base + i);
        if (i % 20)
            continue;
        assert(dart_team_clone(work->team, &inner) == DART_OK);
        assert(dart_barrier(inner) == DART_OK);
        assert(dart_team_destroy(&inner) == DART_OK);
    }
    return NULL;
}

/* So many teams of all units that the last ones share a communicator. */
static void threads(void)
{
    static dart_team_t teams[COMMS_MAX];
    struct work work[THREADS];
    pthread_t ids[THREADS];

    for (int i = 0; i < COMMS_MAX; i++)
        assert(dart_team_clone(DART_TEAM_ALL, &teams[i]) == DART_OK);
    assert(comms < COMMS_MAX);
    for (int i = 0; i < THREADS; i++) {
        /* Begun in another order on each unit. */
        int number = (i + me) % THREADS;
        work[i] = (struct work){teams[COMMS_MAX - 1 - number], number};
        assert(!pthread_create(&ids[i], NULL, use, &work[i]));
    }
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_join(ids[i], NULL));
    for (int i = 0; i < COMMS_MAX; i++)
        assert(dart_team_destroy(&teams[i]) == DART_OK);
}

int main(int argc, char **argv)
{
    dart_thread_support_level_t level;
    dart_global_unit_t id;
    size_t size;

    assert(argc == 2);
    assert(dart_init_thread(NULL, NULL, &level) == DART_OK);
    assert(level == DART_THREAD_MULTIPLE);
    assert(dart_size(&size) == DART_OK && dart_myid(&id) == DART_OK);
    units = (int)size;
    me = id.id;
    if (!strcmp(argv[1], "threads"))
        threads();
    else
        many(atoi(argv[1]));
    assert(dart_exit() == DART_OK);
    if (me == 0)
        printf("ok\n");
    return 0;
}
