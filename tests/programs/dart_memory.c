/* dart_memory: a unit's own memory, and global pointers to it. */
#include <pthread.h>

#include "dart_check.h"

#define MANY 20000

static void *own_address(dart_gptr_t gptr)
{
    void *address = NULL;

    assert(dart_gptr_getaddr(gptr, &address) == DART_OK);
    return address;
}

static dart_gptr_t take(size_t nelem, dart_datatype_t dtype)
{
    dart_gptr_t gptr = DART_GPTR_NULL;

    assert(dart_memalloc(nelem, dtype, &gptr) == DART_OK);
    assert(!DART_GPTR_ISNULL(gptr));
    assert(gptr.unitid == me && gptr.segid == DART_SEGMENT_LOCAL);
    assert(gptr.teamid == DART_TEAM_ALL);
    assert((uintptr_t)own_address(gptr) % 16 == 0);
    return gptr;
}

static void outside(void)
{
    dart_gptr_t gptr = {.unitid = 0};
    void *address = &gptr;

    assert(dart_memalloc(1, DART_TYPE_INT, &gptr) == DART_ERR_NOTINIT);
    assert(DART_GPTR_ISNULL(gptr));
    gptr.teamid = DART_TEAM_ALL;
    assert(dart_memfree(gptr) == DART_ERR_NOTINIT);
    assert(dart_gptr_getaddr(gptr, &address) == DART_ERR_NOTINIT);
    assert(address == NULL);
    assert(dart_gptr_setaddr(&gptr, &gptr) == DART_ERR_NOTINIT);
}

static void few(void)
{
    dart_gptr_t a = take(3, DART_TYPE_INT), b = take(1, DART_TYPE_INT);
    dart_gptr_t none = take(0, DART_TYPE_DOUBLE);
    dart_gptr_t none_either = take(0, DART_TYPE_DOUBLE), again = a;

    assert(!DART_GPTR_EQUAL(a, b) && !DART_GPTR_EQUAL(none, none_either));
    assert((char *)own_address(a) + 16 <= (char *)own_address(b));
    memset(own_address(a), 1, 12);
    memset(own_address(b), 2, 4);
    again.addr_or_offs.offset = 0;
    assert(dart_gptr_setaddr(&again, own_address(a)) == DART_OK);
    assert(DART_GPTR_EQUAL(a, again));
    assert(dart_memfree(b) == DART_OK);
    assert(dart_memfree(a) == DART_OK);
    assert(dart_memfree(none) == DART_OK);
    assert(dart_memfree(none_either) == DART_OK);
}

static void many(void)
{
    dart_gptr_t *taken = calloc(MANY, sizeof(*taken));
    uint64_t random = (uint64_t)me;

    assert(taken);
    for (size_t i = 0; i < MANY; i++) {
        size_t bytes = 8 + next_random(&random) % 500;
        taken[i] = take(bytes, DART_TYPE_BYTE);
        memset(own_address(taken[i]), (int)i, bytes);
        memcpy(own_address(taken[i]), &i, sizeof(i));
    }
    for (size_t i = 0; i < MANY; i++) {
        assert(!memcmp(own_address(taken[i]), &i, sizeof(i)));
        assert(dart_memfree(taken[i]) == DART_OK);
    }
    free(taken);
    /* More than any fixed heap. */
    dart_gptr_t large = take(48 << 20, DART_TYPE_BYTE);
    memset(own_address(large), 1, 48 << 20);
    assert(dart_memfree(large) == DART_OK);
}

/* What was freed last can still be read: fronts/dart/memory.c says why. */
static void late(void)
{
    dart_gptr_t own = take(1, DART_TYPE_LONG);
    dart_gptr_t *all = calloc((size_t)units, sizeof(*all));
    long value = 1000 + me, got = 0;

    assert(all);
    assert(dart_put_blocking(own, &value, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
           DART_OK);
    assert(dart_allgather(&own, all, sizeof(own), DART_TYPE_BYTE,
                          DART_TEAM_ALL) == DART_OK);
    assert(dart_memfree(own) == DART_OK);
    barrier();
    assert(dart_get_blocking(&got, all[(me + 1) % units], 1, DART_TYPE_LONG,
                             DART_TYPE_LONG) == DART_OK);
    assert(got == 1000 + (me + 1) % units);
    assert(dart_memfree(own) == DART_ERR_INVAL);
    barrier();
    free(all);
}

static void *in_thread(void *seed)
{
    uint64_t random = *(uint64_t *)seed;
    dart_gptr_t taken[64];

    for (int i = 0; i < 64; i++)
        taken[i] = take(8, DART_TYPE_BYTE);
    for (int i = 0; i < 20000; i++) {
        uint64_t at = next_random(&random) % 64;
        memcpy(own_address(taken[at]), &random, sizeof(random));
        assert(dart_memfree(taken[at]) == DART_OK);
        taken[at] = take(8 + random % 100, DART_TYPE_BYTE);
    }
    for (int i = 0; i < 64; i++)
        assert(dart_memfree(taken[i]) == DART_OK);
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    uint64_t seeds[2] = {1, 2};

    assert(!pthread_create(&other, NULL, in_thread, &seeds[0]));
    in_thread(&seeds[1]);
    assert(!pthread_join(other, NULL));
}

/* Everybody reads and writes the next unit's memory. */
static void others(void)
{
    int next = (me + 1) % units, before = (me + units - 1) % units;
    dart_gptr_t own = take(100, DART_TYPE_LONG), *all;
    long values[100], *address = own_address(own);

    all = calloc((size_t)units, sizeof(*all));
    for (int i = 0; i < 100; i++)
        address[i] = me * 1000 + i;
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE,
                  MPI_COMM_WORLD);
    assert(all[next].unitid == next);
    assert(dart_get_blocking(values, all[next], 100, DART_TYPE_LONG,
                             DART_TYPE_LONG) == DART_OK);
    for (int i = 0; i < 100; i++)
        assert(values[i] == next * 1000 + i);
    barrier();
    for (int i = 0; i < 100; i++)
        values[i] = -me * 1000 - i;
    assert(dart_put_blocking(all[next], values, 100, DART_TYPE_LONG,
                             DART_TYPE_LONG) == DART_OK);
    barrier();
    for (int i = 0; i < 100; i++)
        assert(address[i] == -before * 1000 - i);
    if (units > 1) {
        void *elsewhere = address;
        assert(dart_gptr_getaddr(all[next], &elsewhere) == DART_OK);
        assert(elsewhere == NULL);
        assert(dart_memfree(all[next]) == DART_ERR_INVAL);
        assert(dart_gptr_setaddr(&all[next], address) == DART_ERR_INVAL);
    }
    barrier();
    assert(dart_memfree(own) == DART_OK);
    free(all);
}

static void wrong(void)
{
    dart_gptr_t gptr = {.unitid = 0}, own = take(4, DART_TYPE_INT), bad;
    dart_datatype_t strided;
    void *address;
    int local;

    assert(dart_memalloc(1, DART_TYPE_INT, NULL) == DART_ERR_INVAL);
    assert(dart_memalloc(1, DART_TYPE_UNDEFINED, &gptr) == DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_memalloc(1, DART_TYPE_LAST, &gptr) == DART_ERR_INVAL);
    assert(dart_type_create_strided(DART_TYPE_INT, 2, 1, &strided) == DART_OK);
    assert(dart_memalloc(1, strided, &gptr) == DART_ERR_INVAL);
    assert(dart_type_destroy(&strided) == DART_OK);
    assert(dart_memalloc(SIZE_MAX, DART_TYPE_BYTE, &gptr) == DART_ERR_NOMEM);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_memalloc(SIZE_MAX / 2, DART_TYPE_LONG, &gptr) ==
           DART_ERR_NOMEM);
    assert(dart_memalloc((size_t)1 << 45, DART_TYPE_BYTE, &gptr) ==
           DART_ERR_NOMEM);
    assert(DART_GPTR_ISNULL(gptr));

    assert(dart_memfree(DART_GPTR_NULL) == DART_ERR_INVAL);
    assert(dart_memfree(at_offset(own, 16)) == DART_ERR_INVAL);
    assert(dart_memfree(at_offset(own, 1)) == DART_ERR_INVAL);
    bad = own;
    bad.addr_or_offs.offset = UINT64_MAX;
    assert(dart_memfree(bad) == DART_ERR_INVAL);
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);
    assert(address == NULL);
    bad = own;
    bad = on_unit(bad, units);
    assert(dart_memfree(bad) == DART_ERR_INVAL);
    bad = own;
    bad.segid = 7;
    assert(dart_memfree(bad) == DART_ERR_INVAL);
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);
    assert(dart_gptr_getaddr(own, NULL) == DART_ERR_INVAL);
    assert(dart_gptr_getaddr(DART_GPTR_NULL, &address) == DART_ERR_INVAL);
    assert(dart_gptr_setaddr(NULL, &local) == DART_ERR_INVAL);
    assert(dart_gptr_setaddr(&own, &local) == DART_ERR_INVAL);
    assert(dart_memfree(own) == DART_OK);
    assert(dart_memfree(own) == DART_ERR_INVAL);
}

int main(void)
{
    outside();
    check_begin();
    few();
    late();
    many();
    late();
    threads();
    others();
    wrong();
    check_end();
    outside();
    return 0;
}
