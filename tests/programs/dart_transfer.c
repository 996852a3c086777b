/* dart_transfer: put and get in all forms and shapes, handles and flushes. */
#include <pthread.h>

#include "dart_forms.h"

static dart_gptr_t take(dart_team_t team, size_t bytes)
{
    dart_gptr_t gptr;

    assert(dart_team_memalloc_aligned(team, bytes, DART_TYPE_BYTE, &gptr) ==
           DART_OK);
    return gptr;
}

/* The beginning of each unit's part. */
static dart_gptr_t *parts_of(dart_gptr_t gptr, int size)
{
    dart_gptr_t *parts = calloc((size_t)size, sizeof(*parts));

    assert(parts);
    for (int u = 0; u < size; u++)
        parts[u] = on_unit(gptr, u);
    return parts;
}

/* --- What every call refuses ------------------------------------------------------ */

/* All transfers return @ret for these arguments, and the handle is none. */
static void all_return(dart_ret_t ret, dart_gptr_t gptr, void *buffer,
                       size_t nelem, dart_datatype_t src, dart_datatype_t dst)
{
    dart_handle_t handle = (dart_handle_t)&gptr;

    assert(dart_put(gptr, buffer, nelem, src, dst) == ret);
    assert(dart_get(buffer, gptr, nelem, src, dst) == ret);
    assert(dart_put_blocking(gptr, buffer, nelem, src, dst) == ret);
    assert(dart_get_blocking(buffer, gptr, nelem, src, dst) == ret);
    assert(dart_put_handle(gptr, buffer, nelem, src, dst, &handle) == ret);
    assert(handle == DART_HANDLE_NULL);
    handle = (dart_handle_t)&gptr;
    assert(dart_get_handle(buffer, gptr, nelem, src, dst, &handle) == ret);
    assert(handle == DART_HANDLE_NULL);
}

static void flushes_return(dart_ret_t one, dart_ret_t all, dart_gptr_t gptr)
{
    assert(dart_flush(gptr) == one);
    assert(dart_flush_local(gptr) == one);
    assert(dart_flush_all(gptr) == all);
    assert(dart_flush_local_all(gptr) == all);
}

static void outside(void)
{
    dart_gptr_t gptr = {.unitid = 0, .segid = 1, .teamid = DART_TEAM_ALL};
    dart_handle_t handle = DART_HANDLE_NULL;
    int32_t done = 1;
    int value = 1;

    all_return(DART_ERR_NOTINIT, gptr, &value, 1, DART_TYPE_INT, DART_TYPE_INT);
    flushes_return(DART_ERR_NOTINIT, DART_ERR_NOTINIT, gptr);
    assert(dart_wait(&handle) == DART_ERR_NOTINIT);
    assert(dart_waitall(&handle, 1) == DART_ERR_NOTINIT);
    assert(dart_wait_local(&handle) == DART_ERR_NOTINIT);
    assert(dart_waitall_local(&handle, 1) == DART_ERR_NOTINIT);
    assert(dart_test(&handle, &done) == DART_ERR_NOTINIT && done == 0);
    assert(dart_testall(&handle, 1, &done) == DART_ERR_NOTINIT);
    assert(dart_test_local(&handle, &done) == DART_ERR_NOTINIT);
    assert(dart_testall_local(&handle, 1, &done) == DART_ERR_NOTINIT);
    assert(dart_handle_free(&handle) == DART_ERR_NOTINIT);
}

/* Pointers to nothing that is there; @gptr has 8 longs on each unit. */
static void wrong_pointers(dart_gptr_t gptr)
{
    dart_datatype_t type = DART_TYPE_LONG;
    const int strange_units[] = {units, 1 << 20, -1};
    const int16_t strange_teams[] = {77, DART_TEAM_NULL, INT16_MAX, INT16_MIN};
    const int16_t strange_segments[] = {999, -1, INT16_MAX, INT16_MIN};
    long values[16] = {0};

    for (size_t i = 0; i < 3; i++) {
        dart_gptr_t bad = on_unit(gptr, strange_units[i]);
        all_return(DART_ERR_INVAL, bad, values, 1, type, type);
        flushes_return(DART_ERR_INVAL, DART_OK, bad);
        bad.segid = DART_SEGMENT_LOCAL;
        all_return(DART_ERR_INVAL, bad, values, 1, type, type);
    }
    for (size_t i = 0; i < 4; i++) {
        dart_gptr_t bad = gptr;
        bad.teamid = strange_teams[i];
        all_return(DART_ERR_INVAL, bad, values, 1, type, type);
        flushes_return(DART_ERR_INVAL, DART_ERR_INVAL, bad);
        bad = gptr;
        bad.segid = strange_segments[i];
        all_return(DART_ERR_INVAL, bad, values, 1, type, type);
        flushes_return(DART_ERR_INVAL, DART_ERR_INVAL, bad);
    }
    all_return(DART_ERR_INVAL, DART_GPTR_NULL, values, 1, type, type);
    all_return(DART_ERR_INVAL, DART_GPTR_NULL, NULL, 0, type, type);
    flushes_return(DART_ERR_INVAL, DART_ERR_INVAL, DART_GPTR_NULL);
    for (int u = 0; u < units; u++) {
        dart_gptr_t own = on_unit(gptr, u);
        all_return(DART_ERR_INVAL, own, values, 9, type, type);
        all_return(DART_ERR_INVAL, at_offset(own, 8), values, 8, type, type);
        all_return(DART_ERR_INVAL, at_offset(own, 57), values, 1, type, type);
        all_return(DART_ERR_INVAL, at_offset(own, 64), values, 1, type, type);
        all_return(DART_ERR_INVAL, at_offset(own, 65), values, 0, type, type);
        all_return(DART_ERR_INVAL, at_offset(own, SIZE_MAX), values, 1, type,
                   type);
        all_return(DART_OK, at_offset(own, 64), values, 0, type, type);
        all_return(DART_OK, own, NULL, 0, type, type);
        all_return(DART_ERR_INVAL, own, NULL, 1, type, type);
        own.segid = DART_SEGMENT_LOCAL;
        all_return(DART_ERR_INVAL, at_offset(own, UINT64_C(1) << 62), values, 1,
                   type, type);
        all_return(DART_ERR_INVAL, at_offset(own, SIZE_MAX), values, 1, type,
                   type);
    }
}

/* Types that are none, or do not fit each other or the count. */
static void wrong_types(dart_gptr_t gptr)
{
    const size_t lengths[] = {1, 2}, offsets[] = {0, 4}, far[] = {0, 7};
    dart_datatype_t pairs, some, beyond, gone, custom;
    long values[16] = {0};

    assert(dart_type_create_strided(DART_TYPE_LONG, 3, 2, &pairs) == DART_OK);
    assert(dart_type_create_indexed(DART_TYPE_LONG, 2, lengths, offsets,
                                    &some) == DART_OK);
    assert(dart_type_create_indexed(DART_TYPE_LONG, 2, lengths, far, &beyond) ==
           DART_OK);
    assert(dart_type_create_custom(sizeof(long), &custom) == DART_OK);
    assert(dart_type_create_strided(DART_TYPE_LONG, 3, 2, &gone) == DART_OK);
    dart_datatype_t freed = gone;
    assert(dart_type_destroy(&gone) == DART_OK);
    const dart_datatype_t none[] = {DART_TYPE_UNDEFINED, DART_TYPE_LAST, -1,
                                    gone, freed};

    for (int u = 0; u < units; u++) {
        dart_gptr_t at = on_unit(gptr, u);
        for (size_t i = 0; i < 5; i++) {
            all_return(DART_ERR_INVAL, at, values, 1, none[i], DART_TYPE_LONG);
            all_return(DART_ERR_INVAL, at, values, 1, DART_TYPE_LONG, none[i]);
            all_return(DART_ERR_INVAL, at, values, 0, none[i], none[i]);
        }
        all_return(DART_ERR_INVAL, at, values, 1, DART_TYPE_LONG,
                   DART_TYPE_ULONG);
        all_return(DART_ERR_INVAL, at, values, 2, DART_TYPE_INT, pairs);
        all_return(DART_ERR_INVAL, at, values, 1, custom, DART_TYPE_LONG);
        all_return(DART_ERR_INVAL, at, values, 1, pairs, DART_TYPE_LONG);
        all_return(DART_ERR_INVAL, at, values, 3, DART_TYPE_LONG, pairs);
        all_return(DART_ERR_INVAL, at, values, 4, pairs, some);
        all_return(DART_ERR_INVAL, at, values, SIZE_MAX, DART_TYPE_LONG,
                   DART_TYPE_LONG);
        all_return(DART_ERR_INVAL, at, values, SIZE_MAX - 1, pairs, pairs);
        /* Its gaps count, but for the last one. */
        assert(dart_put_blocking(at, values, 6, DART_TYPE_LONG, pairs) ==
               DART_OK);
        assert(dart_put_blocking(at, values, 8, DART_TYPE_LONG, pairs) ==
               DART_ERR_INVAL);
        assert(dart_put_blocking(at, values, 3, DART_TYPE_LONG, some) ==
               DART_OK);
        assert(dart_get_blocking(values, at, 3, beyond, DART_TYPE_LONG) ==
               DART_ERR_INVAL);
    }
    assert(dart_type_destroy(&pairs) == DART_OK);
    assert(dart_type_destroy(&some) == DART_OK);
    assert(dart_type_destroy(&beyond) == DART_OK);
    assert(dart_type_destroy(&custom) == DART_OK);
}

static void wrong_handles(dart_gptr_t gptr)
{
    dart_handle_t none[2] = {DART_HANDLE_NULL, DART_HANDLE_NULL};
    int32_t done = 0;
    long value = 0;

    assert(dart_put_handle(gptr, &value, 1, DART_TYPE_LONG, DART_TYPE_LONG,
                           NULL) == DART_ERR_INVAL);
    assert(dart_get_handle(&value, gptr, 1, DART_TYPE_LONG, DART_TYPE_LONG,
                           NULL) == DART_ERR_INVAL);
    assert(dart_wait(NULL) == DART_ERR_INVAL);
    assert(dart_wait_local(NULL) == DART_ERR_INVAL);
    assert(dart_waitall(NULL, 1) == DART_ERR_INVAL);
    assert(dart_waitall_local(NULL, 1) == DART_ERR_INVAL);
    assert(dart_waitall(NULL, 0) == DART_OK);
    assert(dart_waitall_local(NULL, 0) == DART_OK);
    assert(dart_test(NULL, &done) == DART_ERR_INVAL);
    assert(dart_test_local(NULL, &done) == DART_ERR_INVAL);
    assert(dart_testall(NULL, 1, &done) == DART_ERR_INVAL);
    assert(dart_testall_local(NULL, 1, &done) == DART_ERR_INVAL);
    assert(dart_test(none, NULL) == DART_ERR_INVAL);
    assert(dart_test_local(none, NULL) == DART_ERR_INVAL);
    assert(dart_testall(none, 2, NULL) == DART_ERR_INVAL);
    assert(dart_testall_local(none, 2, NULL) == DART_ERR_INVAL);
    assert(done == 0);
    assert(dart_testall(NULL, 0, &done) == DART_OK && done == 1);
    done = 0;
    assert(dart_testall_local(none, 2, &done) == DART_OK && done == 1);
    done = 0;
    assert(dart_test(none, &done) == DART_OK && done == 1);
    assert(dart_wait(none) == DART_OK && dart_wait_local(none) == DART_OK);
    assert(dart_handle_free(none) == DART_OK);
}

/* --- Many at a time ------------------------------------------------------------------ */

/* @gptr has a long on each unit for each of @MANY of each unit. */
#define MANY 300

static dart_gptr_t place_of(dart_gptr_t gptr, int owner, int writer, int i)
{
    return at_offset(on_unit(gptr, owner),
                     sizeof(long) * (size_t)MANY * (size_t)writer +
                         sizeof(long) * (size_t)i);
}

static long value_of(int owner, int writer, int i, int turn)
{
    return ((long)turn * 10 + owner) * 1000000 + writer * 1000 + i;
}

static void see(dart_gptr_t gptr, int turn)
{
    const long *mine = address_of(gptr);

    for (int u = 0; u < units; u++)
        for (int i = 0; i < MANY; i++)
            assert(mine[u * MANY + i] == value_of(me, u, i, turn));
}

/* By handles, then without, to all units; then all are read. */
static void many(void)
{
    dart_gptr_t gptr = take(DART_TEAM_ALL, sizeof(long) * MANY * (size_t)units);
    size_t n = MANY * (size_t)units;
    dart_handle_t *handles = calloc(n, sizeof(*handles));
    long *values = calloc(n, sizeof(*values));

    assert(handles && values);
    for (int turn = 0; turn < 4; turn++) {
        int32_t done = 0;

        for (size_t i = 0; i < n; i++) {
            int u = (int)i % units, at = (int)i / units;
            dart_gptr_t to = place_of(gptr, u, me, at);

            values[i] = value_of(u, me, at, turn);
            if (turn < 2)
                assert(dart_put_handle(to, &values[i], 1, DART_TYPE_LONG,
                                       DART_TYPE_LONG, &handles[i]) == DART_OK);
            else
                assert(dart_put(to, &values[i], 1, DART_TYPE_LONG,
                                DART_TYPE_LONG) == DART_OK);
        }
        if (turn == 0)
            assert(dart_waitall(handles, n) == DART_OK);
        while (turn == 1 && !done)
            assert(dart_testall(handles, n, &done) == DART_OK);
        for (int u = 0; turn == 2 && u < units; u++)
            assert(dart_flush(on_unit(gptr, u)) == DART_OK);
        if (turn == 3)
            assert(dart_flush_all(gptr) == DART_OK);
        for (size_t i = 0; i < n; i++)
            assert(handles[i] == DART_HANDLE_NULL);
        barrier();
        see(gptr, turn);
        memset(values, 0, n * sizeof(*values));
        for (size_t i = 0; i < n; i++) {
            dart_gptr_t from =
                place_of(gptr, (int)i % units, me, (int)i / units);

            if (turn < 2)
                assert(dart_get_handle(&values[i], from, 1, DART_TYPE_LONG,
                                       DART_TYPE_LONG, &handles[i]) == DART_OK);
            else
                assert(dart_get(&values[i], from, 1, DART_TYPE_LONG,
                                DART_TYPE_LONG) == DART_OK);
        }
        if (turn < 2)
            assert(dart_waitall_local(handles, n) == DART_OK);
        else
            assert(dart_flush_local_all(gptr) == DART_OK);
        for (size_t i = 0; i < n; i++)
            assert(values[i] ==
                   value_of((int)i % units, me, (int)i / units, turn));
        barrier();
    }
    free(handles);
    free(values);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* More than goes at once, from odd addresses to odd offsets, and back. */
static void sizes(void)
{
    enum { MOST = 3 << 20 };
    static const size_t all[] = {1,    2,    3,     7,     8,      9,
                                 15,   16,   17,    63,    64,     65,
                                 4095, 4096, 65536, 65537, 262145, MOST};
    dart_gptr_t gptr = take(DART_TEAM_ALL, MOST + 8);
    char *from = malloc(MOST + 8), *back = malloc(MOST + 8);
    uint64_t random = (uint64_t)me;

    assert(from && back);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        dart_gptr_t to = on_unit(gptr, (me + 1) % units);
        size_t n = all[i];

        to = at_offset(to, i % 5);
        fill((unsigned char *)from, n + 8, &random);
        memset(back, 0, n + 8);
        assert(dart_put_blocking(to, from + i % 3, n, DART_TYPE_BYTE,
                                 DART_TYPE_BYTE) == DART_OK);
        assert(dart_get_blocking(back + i % 7, to, n, DART_TYPE_BYTE,
                                 DART_TYPE_BYTE) == DART_OK);
        assert(memcmp(back + i % 7, from + i % 3, n) == 0);
    }
    free(from);
    free(back);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* A buffer that is the target itself, or another place of it. */
static void to_itself(void)
{
    dart_gptr_t gptr = on_unit(take(DART_TEAM_ALL, 4096), me);
    char *mine = address_of(gptr), before[4096];
    uint64_t random = 7;

    fill((unsigned char *)mine, 4096, &random);
    assert(dart_put_blocking(gptr, mine, 4096, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(dart_get_blocking(mine + 2048, gptr, 2048, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(memcmp(mine, mine + 2048, 2048) == 0);
    /* And parts that overlap. */
    memcpy(before, mine, 4096);
    assert(dart_put_blocking(at_offset(gptr, 100), mine, 3000, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(memcmp(mine + 100, before, 3000) == 0);
    memcpy(mine, before, 4096);
    assert(dart_get_blocking(mine, at_offset(gptr, 100), 3000, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(memcmp(mine, before + 100, 3000) == 0);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* A type may go while it is used. */
static void types_that_go(void)
{
    dart_gptr_t gptr = take(DART_TEAM_ALL, 8 * 200);
    dart_gptr_t to = on_unit(gptr, (me + 1) % units);
    dart_handle_t handle;
    dart_datatype_t type;
    long values[100], seen[200];

    for (int i = 0; i < 100; i++)
        values[i] = me * 100 + i;
    assert(dart_type_create_strided(DART_TYPE_LONG, 2, 1, &type) == DART_OK);
    assert(dart_put_handle(to, values, 100, DART_TYPE_LONG, type, &handle) ==
           DART_OK);
    assert(dart_type_destroy(&type) == DART_OK);
    assert(dart_wait(&handle) == DART_OK);
    assert(dart_get_blocking(seen, to, 200, DART_TYPE_LONG, DART_TYPE_LONG) ==
           DART_OK);
    for (int i = 0; i < 100; i++)
        assert(seen[2 * i] == values[i]);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* --- Teams ------------------------------------------------------------------------- */

/* The units from the second on, or every other one; DART_TEAM_NULL elsewhere. */
static dart_team_t some(int first, int step)
{
    dart_team_t team;
    dart_group_t group;

    assert(dart_group_create(&group) == DART_OK);
    for (int u = first; u < units; u += step)
        assert(dart_group_addmember(group, DART_GLOBAL_UNIT_ID(u)) == DART_OK);
    assert(dart_team_create(DART_TEAM_ALL, group, &team) == DART_OK);
    assert(dart_group_destroy(&group) == DART_OK);
    return team;
}

/* Units have other numbers here; and again, when the team is another. */
static void in_team(int first, int step)
{
    for (int turn = 0; turn < 3; turn++) {
        dart_team_t team = some(first, step), gone = team;
        dart_gptr_t gptr, *parts;
        dart_team_unit_t unit;
        size_t size;
        long value = 1;

        if (team == DART_TEAM_NULL)
            continue;
        assert(dart_team_size(team, &size) == DART_OK);
        assert(dart_team_myid(team, &unit) == DART_OK);
        assert(unit.id == (me - first) / step);
        gptr = take(team, SLOT_BYTES * size);
        parts = parts_of(gptr, (int)size);
        any_transfers(parts, (int)size, unit.id, 10, (uint64_t)turn);
        gptr = at_offset(parts[unit.id], SLOT_BYTES * (size_t)unit.id);
        if (turn)
            assert(dart_team_memfree(gptr) == DART_OK);
        all_return(turn ? DART_ERR_INVAL : DART_OK, gptr, &value, 1,
                   DART_TYPE_LONG, DART_TYPE_LONG);
        assert(dart_team_destroy(&team) == DART_OK);
        gptr.teamid = gone;
        all_return(DART_ERR_INVAL, gptr, &value, 1, DART_TYPE_LONG,
                   DART_TYPE_LONG);
        flushes_return(DART_ERR_INVAL, DART_ERR_INVAL, gptr);
        free(parts);
    }
    barrier();
}

/* --- Threads ------------------------------------------------------------------------ */

static dart_gptr_t *thread_parts;

static void *in_thread(void *thread)
{
    int number = *(int *)thread;

    any_transfers(thread_parts, units, me * 2 + number, 40,
                  (uint64_t)number + 10);
    return NULL;
}

static void threads(void)
{
    dart_gptr_t gptr = take(DART_TEAM_ALL, 2 * SLOT_BYTES * (size_t)units);
    int numbers[2] = {0, 1};
    pthread_t other;

    thread_parts = parts_of(gptr, units);
    assert(!pthread_create(&other, NULL, in_thread, &numbers[1]));
    in_thread(&numbers[0]);
    assert(!pthread_join(other, NULL));
    free(thread_parts);
    assert(dart_team_memfree(gptr) == DART_OK);
}

/* A team's memory, and what units have allocated for themselves. */
static void forms(void)
{
    size_t bytes = SLOT_BYTES * (size_t)units;
    dart_gptr_t gptr = take(DART_TEAM_ALL, bytes), own;
    dart_gptr_t *parts = parts_of(gptr, units);

    owners_see(parts, address_of(gptr));
    any_transfers(parts, units, me, 200, 1);
    assert(dart_team_memfree(gptr) == DART_OK);

    assert(dart_memalloc(bytes, DART_TYPE_BYTE, &own) == DART_OK);
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, parts, sizeof(own), MPI_BYTE,
                  MPI_COMM_WORLD);
    owners_see(parts, address_of(own));
    any_transfers(parts, units, me, 50, 2);
    barrier();
    assert(dart_memfree(own) == DART_OK);
    free(parts);
}

int main(void)
{
    dart_handle_t handle;
    dart_gptr_t gptr;
    static long value;

    outside();
    check_begin();
    gptr = take(DART_TEAM_ALL, 64);
    wrong_pointers(gptr);
    wrong_types(gptr);
    wrong_handles(gptr);
    barrier();
    forms();
    many();
    sizes();
    to_itself();
    types_that_go();
    if (units > 1)
        in_team(1, 1);
    in_team(0, 2);
    threads();
    /* What is left under way is completed by dart_exit. */
    assert(dart_get_handle(&value, on_unit(gptr, (me + 1) % units), 1,
                           DART_TYPE_LONG, DART_TYPE_LONG, &handle) == DART_OK);
    assert(dart_handle_free(&handle) == DART_OK);
    check_end();
    outside();
    return 0;
}
