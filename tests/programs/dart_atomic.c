/* dart_atomic: accumulate, fetch_and_op, compare_and_swap. */
#include "dart_updates.h"

static dart_gptr_t take(dart_team_t team, size_t bytes)
{
    dart_gptr_t gptr;

    assert(dart_team_memalloc_aligned(team, bytes, DART_TYPE_BYTE, &gptr) ==
           DART_OK);
    return gptr;
}

/* All four, on one element. */
static void all_return(dart_ret_t ret, dart_gptr_t gptr, dart_datatype_t type,
                       dart_operation_t op)
{
    /* The bytes that a long double does not use are 0 too. */
    static const long double value, compare;
    long double result = 0;

    assert(dart_accumulate(gptr, &value, 1, type, op) == ret);
    assert(dart_accumulate_blocking_local(gptr, &value, 1, type, op) == ret);
    assert(dart_fetch_and_op(gptr, &value, &result, type, op) == ret);
    if (op == DART_OP_SUM)
        assert(dart_compare_and_swap(gptr, &value, &compare, &result, type) ==
               ret);
}

static void sum_in_place(const void *in, void *inout, size_t len, void *data)
{
    (void)data;
    for (size_t i = 0; i < len; i++)
        ((long *)inout)[i] += ((const long *)in)[i];
}

static void wrong_pointers(dart_gptr_t gptr)
{
    dart_gptr_t bad = gptr;

    all_return(DART_ERR_INVAL, DART_GPTR_NULL, DART_TYPE_LONG, DART_OP_SUM);
    all_return(DART_ERR_INVAL, on_unit(gptr, units), DART_TYPE_LONG,
               DART_OP_SUM);
    bad.teamid = 77;
    all_return(DART_ERR_INVAL, bad, DART_TYPE_LONG, DART_OP_SUM);
    bad = gptr;
    bad.segid = 999;
    all_return(DART_ERR_INVAL, bad, DART_TYPE_LONG, DART_OP_SUM);
    bad.segid = -1;
    all_return(DART_ERR_INVAL, bad, DART_TYPE_LONG, DART_OP_SUM);
    for (int u = 0; u < units; u++) {
        bad = on_unit(gptr, u);
        all_return(DART_OK, at_offset(bad, 56), DART_TYPE_LONG, DART_OP_SUM);
        all_return(DART_ERR_INVAL, at_offset(bad, 57), DART_TYPE_LONG,
                   DART_OP_SUM);
        all_return(DART_ERR_INVAL, at_offset(bad, 64), DART_TYPE_BYTE,
                   DART_OP_SUM);
        all_return(DART_ERR_INVAL, at_offset(bad, SIZE_MAX), DART_TYPE_BYTE,
                   DART_OP_SUM);
        bad.segid = DART_SEGMENT_LOCAL;
        all_return(DART_ERR_INVAL, at_offset(bad, UINT64_C(1) << 62),
                   DART_TYPE_LONG, DART_OP_SUM);
    }
}

static void wrong_values(dart_gptr_t gptr)
{
    long value = 0, values[9] = {0};

    assert(dart_accumulate(gptr, NULL, 1, DART_TYPE_LONG, DART_OP_SUM) ==
           DART_ERR_INVAL);
    assert(dart_accumulate_blocking_local(gptr, NULL, 1, DART_TYPE_LONG,
                                          DART_OP_SUM) == DART_ERR_INVAL);
    assert(dart_fetch_and_op(gptr, NULL, &value, DART_TYPE_LONG, DART_OP_SUM) ==
           DART_ERR_INVAL);
    assert(dart_fetch_and_op(gptr, &value, NULL, DART_TYPE_LONG, DART_OP_SUM) ==
           DART_ERR_INVAL);
    assert(dart_fetch_and_op(gptr, NULL, &value, DART_TYPE_LONG,
                             DART_OP_NO_OP) == DART_OK);
    for (int i = 0; i < 3; i++)
        assert(dart_compare_and_swap(
                   gptr, i == 0 ? NULL : &value, i == 1 ? NULL : &value,
                   i == 2 ? NULL : &value, DART_TYPE_LONG) == DART_ERR_INVAL);
    assert(dart_accumulate(gptr, values, 9, DART_TYPE_LONG, DART_OP_SUM) ==
           DART_ERR_INVAL);
    assert(dart_accumulate(gptr, values, SIZE_MAX, DART_TYPE_LONG,
                           DART_OP_SUM) == DART_ERR_INVAL);
    assert(dart_accumulate(gptr, values, SIZE_MAX, DART_TYPE_BYTE,
                           DART_OP_SUM) == DART_ERR_INVAL);
    assert(dart_accumulate(gptr, NULL, 0, DART_TYPE_LONG, DART_OP_SUM) ==
           DART_OK);
    assert(dart_accumulate(at_offset(gptr, 64), NULL, 0, DART_TYPE_LONG,
                           DART_OP_SUM) == DART_OK);
}

/* Types and operations that there are none of. */
static void wrong_types(dart_gptr_t gptr)
{
    const size_t lengths[] = {1}, offsets[] = {0};
    dart_operation_t own;
    dart_datatype_t made[3];

    assert(dart_type_create_strided(DART_TYPE_LONG, 2, 1, &made[0]) == DART_OK);
    assert(dart_type_create_indexed(DART_TYPE_LONG, 1, lengths, offsets,
                                    &made[1]) == DART_OK);
    assert(dart_type_create_custom(8, &made[2]) == DART_OK);
    assert(dart_op_create(sum_in_place, NULL, true, DART_TYPE_LONG, false,
                          &own) == DART_OK);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_UNDEFINED, DART_OP_SUM);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_LAST, DART_OP_SUM);
    for (int i = 0; i < 3; i++) {
        all_return(DART_ERR_INVAL, gptr, made[i], DART_OP_SUM);
        all_return(DART_ERR_INVAL, gptr, made[i], DART_OP_REPLACE);
        assert(dart_type_destroy(&made[i]) == DART_OK);
    }
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_LONG, DART_OP_UNDEFINED);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_LONG, DART_OP_LAST);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_LONG, DART_OP_MINMAX);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_LONG, own);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_DOUBLE, DART_OP_BAND);
    all_return(DART_ERR_INVAL, gptr, DART_TYPE_FLOAT, DART_OP_LXOR);
    all_return(DART_OK, gptr, DART_TYPE_LONG_DOUBLE, DART_OP_REPLACE);
    assert(dart_op_destroy(&own) == DART_OK);
}

static void wrong(void)
{
    dart_gptr_t gptr = take(DART_TEAM_ALL, 64);

    memset(address_of(gptr), 0, 64);
    barrier();
    wrong_pointers(gptr);
    for (int u = 0; u < units; u++) {
        wrong_values(on_unit(gptr, u));
        wrong_types(on_unit(gptr, u));
    }
    barrier();
    for (int i = 0; i < 64; i++)
        assert(((char *)address_of(gptr))[i] == 0);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* Of a team's memory, or of what the units have allocated for themselves. */
static void of_all_kinds(bool of_team)
{
    size_t bytes = sizeof(struct board);
    size_t slots = UPDATE_SLOT_BYTES * (size_t)units;
    dart_gptr_t *boards = calloc((size_t)units, sizeof(*boards)), own;

    assert(boards);
    bytes += slots;
    if (of_team)
        own = on_unit(take(DART_TEAM_ALL, bytes), me);
    else
        assert(dart_memalloc(bytes, DART_TYPE_BYTE, &own) == DART_OK);
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, boards, sizeof(own), MPI_BYTE,
                  MPI_COMM_WORLD);
    updates_together(boards, address_of(own), 21);
    for (int u = me; u < me + 2; u++) {
        dart_gptr_t slot = at_offset(boards[u % units], sizeof(struct board));
        updates_alone(at_offset(slot, UPDATE_SLOT_BYTES * (size_t)me),
                      (uint64_t)me);
    }
    barrier();
    assert((of_team ? dart_team_memfree(own) : dart_memfree(own)) == DART_OK);
    free(boards);
}

/* Longer than what goes at once; in a team where units have other numbers. */
static void many(void)
{
    enum { MANY = 100001 };
    int first = units > 1, size = units - first;
    dart_team_t team;
    dart_group_t group;

    assert(dart_group_create(&group) == DART_OK);
    for (int u = first; u < units; u++)
        assert(dart_group_addmember(group, DART_GLOBAL_UNIT_ID(u)) == DART_OK);
    for (int turn = 0; turn < 2; turn++) {
        assert(dart_team_create(DART_TEAM_ALL, group, &team) == DART_OK);
        if (team == DART_TEAM_NULL)
            continue;
        dart_gptr_t gptr = take(team, sizeof(double) * MANY), gone = gptr;
        double *values = malloc(sizeof(double) * MANY), *own;
        void *address;

        assert(dart_gptr_getaddr(on_unit(gptr, me - first), &address) ==
               DART_OK);
        own = address;
        for (int i = 0; i < MANY; i++) {
            own[i] = i;
            values[i] = me + i % 3;
        }
        assert(dart_barrier(team) == DART_OK);
        for (int u = 0; u < size; u++)
            assert(dart_accumulate(on_unit(gptr, u), values, MANY,
                                   DART_TYPE_DOUBLE, DART_OP_SUM) == DART_OK);
        assert(dart_barrier(team) == DART_OK);
        for (int i = 0; i < MANY; i++)
            assert(own[i] ==
                   i + size * (i % 3) + (first + units - 1) * size / 2);
        assert(dart_team_destroy(&team) == DART_OK);
        all_return(DART_ERR_INVAL, gone, DART_TYPE_LONG, DART_OP_SUM);
        free(values);
    }
    assert(dart_group_destroy(&group) == DART_OK);
    barrier();
}

static void outside(void)
{
    dart_gptr_t gptr = {.unitid = 0, .segid = 1, .teamid = DART_TEAM_ALL};

    all_return(DART_ERR_NOTINIT, gptr, DART_TYPE_LONG, DART_OP_SUM);
}

int main(void)
{
    outside();
    check_begin();
    wrong();
    of_all_kinds(true);
    of_all_kinds(false);
    many();
    check_end();
    outside();
    return 0;
}
