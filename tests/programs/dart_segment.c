/* dart_segment: allocations of a team. */
#include <pthread.h>

#include "dart_check.h"
#include "drasync.h"

static dart_gptr_t take(size_t nelem, dart_datatype_t dtype)
{
    dart_gptr_t gptr;

    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, nelem, dtype, &gptr) ==
           DART_OK);
    assert(gptr.unitid == 0 && gptr.segid > 0 && gptr.flags == 0);
    assert(gptr.teamid == DART_TEAM_ALL && gptr.addr_or_offs.offset == 0);
    assert((uintptr_t)address_of(gptr) % 64 == 0);
    return gptr;
}

static void give(dart_gptr_t gptr)
{
    assert(dart_team_memfree(gptr) == DART_OK);
}

static long get_long(dart_gptr_t gptr)
{
    long value = -1;

    assert(dart_get_blocking(&value, gptr, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
           DART_OK);
    return value;
}

/* Each unit finds in all parts what their units have put there. */
static void all_see_all(size_t n)
{
    dart_gptr_t gptr = take(n, DART_TYPE_LONG);
    long *own = address_of(gptr);
    size_t step = n / 50 + 1;

    for (size_t i = 0; i < n; i++)
        own[i] = me * 1000000 + (long)i;
    barrier();
    for (int u = 0; u < units; u++) {
        for (size_t i = 0; i < n; i += step)
            assert(get_long(at_offset(on_unit(gptr, u), i * 8)) ==
                   u * 1000000 + (long)i);
    }
    give(gptr);
}

static void numbers(void)
{
    dart_gptr_t a = take(10, DART_TYPE_INT), b = take(10, DART_TYPE_INT), c;
    int16_t first = a.segid, lowest;

    assert(b.segid != first);
    lowest = first;
    MPI_Bcast(&lowest, sizeof(lowest), MPI_BYTE, 0, MPI_COMM_WORLD);
    assert(lowest == first);
    give(a);
    c = take(10, DART_TYPE_INT);
    assert(c.segid == first);
    give(b);
    give(c);
    a = take(1, DART_TYPE_INT);
    assert(a.segid == first);
    give(a);
}

static void none(void)
{
    dart_gptr_t gptr = take(0, DART_TYPE_INT);
    int value = 5;

    assert(dart_get_blocking(&value, on_unit(gptr, units - 1), 0, DART_TYPE_INT,
                             DART_TYPE_INT) == DART_OK);
    assert(dart_put_blocking(on_unit(gptr, units - 1), NULL, 0, DART_TYPE_INT,
                             DART_TYPE_INT) == DART_OK);
    assert(dart_get_blocking(&value, on_unit(gptr, units - 1), 1, DART_TYPE_INT,
                             DART_TYPE_INT) == DART_ERR_INVAL);
    give(gptr);
    /* Some have nothing. */
    gptr = take(me % 2 ? 0 : 8, DART_TYPE_LONG);
    if (me % 2 == 0)
        *(long *)address_of(gptr) = me;
    barrier();
    assert(get_long(gptr) == 0);
    give(gptr);
}

static void addresses(void)
{
    dart_gptr_t gptr = take(8, DART_TYPE_LONG), set = gptr, bad = gptr;
    drasync_region_t region;
    void *address = &gptr;
    uint16_t flags = 1;

    assert(drasync_region_of(address_of(gptr), &region) == 0);
    if (units > 1) {
        assert(dart_gptr_getaddr(on_unit(gptr, (me + 1) % units), &address) ==
               DART_OK);
        assert(address == NULL);
        set = on_unit(set, (me + 1) % units);
        assert(dart_gptr_setaddr(&set, address_of(gptr)) == DART_ERR_INVAL);
    }
    set = on_unit(gptr, me);
    assert(dart_gptr_setaddr(&set, (char *)address_of(gptr) + 64) == DART_OK);
    assert(set.addr_or_offs.offset == 64);
    assert(address_of(set) == (char *)address_of(gptr) + 64);
    assert(dart_gptr_setaddr(&set, (char *)address_of(gptr) + 65) ==
           DART_ERR_INVAL);
    assert(dart_gptr_setaddr(&set, (char *)address_of(gptr) - 1) ==
           DART_ERR_INVAL);
    bad = on_unit(bad, units);
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL && !address);
    bad = gptr;
    bad.segid = 999;
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);
    assert(dart_gptr_getflags(bad, &flags) == DART_ERR_INVAL && flags == 0);
    bad.segid = INT16_MIN;
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);
    bad = gptr;
    bad.teamid = 77;
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);
    bad.teamid = INT16_MIN;
    assert(dart_gptr_getaddr(bad, &address) == DART_ERR_INVAL);

    assert(dart_gptr_getflags(gptr, &flags) == DART_OK && flags == 0);
    assert(dart_gptr_setflags(&gptr, 0x1234) == DART_OK);
    assert(gptr.flags == 0x34);
    assert(dart_gptr_getflags(gptr, &flags) == DART_OK && flags == 0x1234);
    assert(dart_gptr_getflags(gptr, NULL) == DART_ERR_INVAL);
    assert(dart_gptr_setflags(NULL, 1) == DART_ERR_INVAL);
    give(gptr);
    gptr = take(8, DART_TYPE_LONG);
    assert(dart_gptr_getflags(gptr, &flags) == DART_OK && flags == 0);
    give(gptr);
}

/* One unit's mistake is an error on all, and nothing is left behind. */
static void wrong(void)
{
    dart_gptr_t gptr, before = take(1, DART_TYPE_INT), bad;
    dart_datatype_t mine =
        me == units - 1 ? DART_TYPE_UNDEFINED : DART_TYPE_INT;
    size_t most = me == 0 ? SIZE_MAX : 1;

    give(before);
    assert(dart_team_memalloc_aligned(1234, 1, DART_TYPE_INT, &gptr) ==
           DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 1, mine, &gptr) ==
           DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 1, DART_TYPE_INT,
                                      me == 0 ? NULL : &gptr) ==
           DART_ERR_INVAL);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, most, DART_TYPE_LONG,
                                      &gptr) == DART_ERR_NOMEM);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, most, DART_TYPE_BYTE,
                                      &gptr) == DART_ERR_NOMEM);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, (size_t)1 << 43,
                                      DART_TYPE_BYTE, &gptr) == DART_ERR_NOMEM);
    assert(DART_GPTR_ISNULL(gptr));

    gptr = take(1, DART_TYPE_INT);
    assert(gptr.segid == before.segid);
    bad = gptr;
    bad.segid = 0;
    assert(dart_team_memfree(bad) == DART_ERR_INVAL);
    bad.segid = -1;
    assert(dart_team_memfree(bad) == DART_ERR_INVAL);
    bad = gptr;
    bad.teamid = 99;
    assert(dart_team_memfree(bad) == DART_ERR_INVAL);
    assert(dart_team_memderegister(gptr) == DART_ERR_INVAL);
    assert(dart_memfree(on_unit(gptr, me)) == DART_ERR_INVAL);
    give(gptr);
    assert(dart_team_memfree(gptr) == DART_ERR_INVAL);
    assert(dart_team_memfree(DART_GPTR_NULL) == DART_OK);
}

/* The addresses are not in the way of what other ranks have seen there. */
static void after_regions(void)
{
    drasync_region_t region = NULL;
    void *object = NULL;

    for (int i = 0; i < 5; i++) {
        if (me == 0) {
            assert(drasync_new_region(&region) == 0);
            assert(drasync_alloc(region, 3000, &object) == 0);
            memset(object, i, 3000);
            assert(drasync_release(region) == 0);
        }
        MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Bcast(&object, sizeof(object), MPI_BYTE, 0, MPI_COMM_WORLD);
        /* The others keep the old version while unit 0 writes a new one. */
        assert(drasync_acquire(region, DRASYNC_READ) == 0);
        barrier();
        assert(((char *)object)[7] == (char)i);
        if (me == 0) {
            assert(drasync_release(region) == 0);
            assert(drasync_acquire(region, DRASYNC_WRITE) == 0);
            memset(object, i + 1, 3000);
        }
        barrier();
        if (me != 0)
            assert(((char *)object)[7] == (char)i);
        assert(drasync_release(region) == 0);
        barrier();
        if (me == 0)
            assert(drasync_delete(region) == 0);
        barrier();
        all_see_all(300);
        dart_gptr_t a = take(1, DART_TYPE_LONG);
        dart_gptr_t b = take(1, DART_TYPE_LONG);
        give(a);
        all_see_all(20);
        give(b);
    }
}

static dart_gptr_t stable;

/* Uses a segment while others are made and freed. */
static void *use_stable(void *unused)
{
    int next = (me + 1) % units;

    (void)unused;
    for (long n = 0; n < 100; n++) {
        dart_gptr_t gptr = at_offset(on_unit(stable, next), 8);
        assert(dart_put_blocking(gptr, &n, 1, DART_TYPE_LONG, DART_TYPE_LONG) ==
               DART_OK);
        assert(get_long(gptr) == n);
    }
    return NULL;
}

static void many(void)
{
    enum { MANY = 100 };
    dart_gptr_t *taken = calloc(MANY, sizeof(*taken));
    pthread_t user;

    assert(taken);
    stable = take(2, DART_TYPE_LONG);
    assert(!pthread_create(&user, NULL, use_stable, NULL));
    for (int i = 0; i < MANY; i++) {
        taken[i] = take(1, DART_TYPE_LONG);
        *(long *)address_of(taken[i]) = i * 10 + me;
        for (int j = 0; j < i; j++)
            assert(taken[j].segid != taken[i].segid);
    }
    barrier();
    for (int i = 0; i < MANY; i++)
        assert(get_long(on_unit(taken[i], (me + 1) % units)) ==
               i * 10 + (me + 1) % units);
    for (int i = 0; i < MANY; i += 2)
        give(taken[i]);
    for (int i = 0; i < MANY; i += 2)
        taken[i] = take(2, DART_TYPE_LONG);
    for (int i = 0; i < MANY; i++)
        give(taken[i]);
    assert(!pthread_join(user, NULL));
    barrier();
    give(stable);
    free(taken);
}

int main(void)
{
    dart_gptr_t left = DART_GPTR_NULL;

    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 1, DART_TYPE_INT, &left) ==
           DART_ERR_NOTINIT);
    assert(dart_team_memfree(left) == DART_ERR_NOTINIT);
    check_begin();
    numbers();
    all_see_all(1);
    all_see_all(1000);
    all_see_all(1000000);
    none();
    addresses();
    wrong();
    after_regions();
    many();
    /* What is left goes with dart_exit. */
    for (int i = 0; i < 3; i++)
        left = take(100, DART_TYPE_INT);
    check_end();
    assert(dart_team_memfree(left) == DART_ERR_NOTINIT);
    return 0;
}
