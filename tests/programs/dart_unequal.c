/*
 * Units take their registrations back when they like: one sooner than others,
 * or never; what is registered then has one number on all units all the same.
 */
#include "tests/programs/dart_check.h"

#define MANY 40

static dart_gptr_t give(dart_team_t team, long *value)
{
    dart_gptr_t gptr;

    assert(dart_team_memregister(team, 1, DART_TYPE_LONG, value, &gptr) ==
           DART_OK);
    return gptr;
}

/* All read what all have, in a team of all units. */
static void all_read(dart_gptr_t gptr, long base)
{
    int segment = gptr.segid, lowest, highest;

    MPI_Allreduce(&segment, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&segment, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    assert(lowest == highest && lowest < 0);
    for (int unit = 0; unit < units; unit++) {
        long value = -1;
        assert(dart_get_blocking(&value, on_unit(gptr, unit), 1, DART_TYPE_LONG,
                                 DART_TYPE_LONG) == DART_OK);
        assert(value == base + unit);
    }
    barrier();
}

/* Unit u has given back the first u of some before there are more. */
static void sooner_and_later(dart_team_t team)
{
    static long values[MANY], more[MANY];
    dart_gptr_t gptr[MANY], others[MANY];

    for (int i = 0; i < MANY; i++) {
        values[i] = 1000 * i + me;
        gptr[i] = give(team, &values[i]);
    }
    for (int i = 0; i < MANY; i++)
        all_read(gptr[i], 1000 * i);
    for (int i = 0; i < me; i++)
        assert(dart_team_memderegister(gptr[i]) == DART_OK);
    for (int i = 0; i < MANY; i++) {
        more[i] = 1000000 + 1000 * i + me;
        others[i] = give(team, &more[i]);
        all_read(others[i], 1000000 + 1000 * i);
    }
    for (int i = 0; i < MANY; i++) {
        all_read(others[i], 1000000 + 1000 * i);
        if (me + i < MANY)
            assert(dart_team_memderegister(gptr[me + i]) == DART_OK);
    }
    for (int i = MANY - 1; i >= 0; i--)
        assert(dart_team_memderegister(others[i]) == DART_OK);
    assert(dart_team_memderegister(others[0]) == DART_ERR_INVAL);
}

/* The owner of a node's table is the first to go; the others still read. */
static void owner_first(dart_team_t team)
{
    long value = 7 + me, got = 0;
    dart_gptr_t gptr = give(team, &value);

    barrier();
    if (me == 0)
        assert(dart_team_memderegister(gptr) == DART_OK);
    for (int i = 0; i < 20; i++) {
        long other = 70 + me;
        dart_gptr_t next = give(team, &other);
        all_read(next, 70);
        assert(dart_team_memderegister(next) == DART_OK);
    }
    if (me > 0) {
        assert(dart_get_blocking(&got, on_unit(gptr, units - 1), 1,
                                 DART_TYPE_LONG, DART_TYPE_LONG) == DART_OK);
        assert(got == 7 + units - 1);
    }
    barrier();
    if (me > 0)
        assert(dart_team_memderegister(gptr) == DART_OK);
}

/* The last unit leaves some to the end of the team, or of all. */
static void left(dart_team_t team)
{
    static long values[3];

    for (int i = 0; i < 3; i++) {
        dart_gptr_t gptr = give(team, &values[i]);
        barrier();
        if (me < units - 1)
            assert(dart_team_memderegister(gptr) == DART_OK);
    }
}

int main(void)
{
    dart_team_t team;

    check_begin();
    sooner_and_later(DART_TEAM_ALL);
    owner_first(DART_TEAM_ALL);
    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    sooner_and_later(team);
    owner_first(team);
    left(team);
    assert(dart_team_destroy(&team) == DART_OK);
    left(DART_TEAM_ALL);
    assert(dart_exit() == DART_OK);
    check_begin();
    owner_first(DART_TEAM_ALL);
    left(DART_TEAM_ALL);
    check_end();
    return 0;
}
