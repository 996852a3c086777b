/*
 * dart_destroyed: what was put into a team's memory, and not flushed, is there
 * before the team's end frees that, so it does not come into the next memory at
 * the same place.  And a type outlives the custom type that it is made of.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dash/dart/if/dart.h"

#define LONGS  64
#define ROUNDS 50

static int me, units;

static long *mine(dart_gptr_t gptr)
{
    void *address;

    gptr.unitid = (int16_t)me;
    assert(dart_gptr_getaddr(gptr, &address) == DART_OK);
    return address;
}

/* Every unit puts to the next one. */
static void put(dart_gptr_t gptr)
{
    long value = -1;

    gptr.unitid = (int16_t)((me + 1) % units);
    gptr.addr_or_offs.offset = 8 * sizeof(long);
    assert(dart_put(gptr, &value, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
           DART_OK);
}

static void team_ends(void)
{
    dart_gptr_t old, new;
    dart_team_t team;
    long *numbers;

    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    assert(dart_team_memalloc_aligned(team, LONGS, DART_TYPE_LONG, &old) ==
           DART_OK);
    assert(dart_barrier(team) == DART_OK);
    put(old);
    assert(dart_team_destroy(&team) == DART_OK);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, LONGS, DART_TYPE_LONG,
                                      &new) == DART_OK);
    numbers = mine(new);
    memset(numbers, 0, LONGS * sizeof(long));
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    assert(dart_flush_all(new) == DART_OK);
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    for (int i = 0; i < LONGS; i++)
        assert(numbers[i] == 0);
    assert(dart_team_memfree(new) == DART_OK);
}

/* To memory of another unit's own, which goes piece by piece. */
static void type_ends(void)
{
    dart_datatype_t custom, strided, longer;
    char *memory = calloc(1, 64), from[64];
    dart_gptr_t gptr;

    assert(memory);
    memset(from, 'x', sizeof(from));
    assert(dart_type_create_custom(8, &custom) == DART_OK);
    assert(dart_type_create_strided(custom, 2, 1, &strided) == DART_OK);
    assert(dart_type_destroy(&custom) == DART_OK);
    /* What may have the place of the first one. */
    assert(dart_type_create_custom(64, &longer) == DART_OK);
    assert(dart_team_memregister(DART_TEAM_ALL, 64, DART_TYPE_BYTE, memory,
                                 &gptr) == DART_OK);
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    gptr.unitid = (int16_t)((me + 1) % units);
    assert(dart_put_blocking(gptr, from, 4, strided, strided) == DART_OK);
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    for (int i = 0; i < 64; i++)
        assert(memory[i] == (i / 8 % 2 ? 0 : 'x'));
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    gptr.unitid = (int16_t)me;
    assert(dart_team_memderegister(gptr) == DART_OK);
    assert(dart_type_destroy(&strided) == DART_OK);
    assert(dart_type_destroy(&longer) == DART_OK);
    free(memory);
}

int main(int argc, char **argv)
{
    dart_global_unit_t id;
    size_t size;

    assert(dart_init(&argc, &argv) == DART_OK);
    assert(dart_myid(&id) == DART_OK);
    assert(dart_size(&size) == DART_OK);
    me = id.id;
    units = (int)size;
    for (int i = 0; i < ROUNDS; i++)
        team_ends();
    type_ends();
    assert(dart_barrier(DART_TEAM_ALL) == DART_OK);
    if (me == 0)
        puts("ok");
    assert(dart_exit() == DART_OK);
    return 0;
}
