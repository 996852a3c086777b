/*
 * dart_register: memory that the program has already, private and of regions.
 *
 * dart_register [forbidden]   the kernel lets no process copy from another
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "dart_forms.h"
#include "dart_updates.h"
#include "drasync.h"
#include "forbid_process_vm.h"

static dart_gptr_t give(dart_team_t team, void *address, size_t bytes)
{
    dart_gptr_t gptr;

    assert(dart_team_memregister(team, bytes, DART_TYPE_BYTE, address, &gptr) ==
           DART_OK);
    assert(gptr.unitid == 0 && gptr.segid < 0 && gptr.flags == 0);
    assert(gptr.teamid == team && gptr.addr_or_offs.offset == 0);
    return gptr;
}

/* When nobody uses it any more. */
static void take_back(dart_gptr_t gptr)
{
    barrier();
    assert(dart_team_memderegister(gptr) == DART_OK);
}

/* --- All transfers and updates -------------------------------------------------- */

/* @address has all_bytes(), aligned to 16. */
static size_t all_bytes(void)
{
    return sizeof(struct board) +
           (SLOT_BYTES + UPDATE_SLOT_BYTES) * (size_t)units;
}

static void use(char *address, int rounds)
{
    dart_gptr_t *parts = calloc((size_t)units, sizeof(*parts));
    size_t slots = SLOT_BYTES * (size_t)units;
    dart_gptr_t gptr = give(DART_TEAM_ALL, address, all_bytes());

    assert(parts && address_of(gptr) == address);
    for (int u = 0; u < units; u++)
        parts[u] = on_unit(gptr, u);
    owners_see(parts, address);
    any_transfers(parts, units, me, rounds, 3);
    for (int u = 0; u < units; u++)
        parts[u] = at_offset(on_unit(gptr, u), slots);
    updates_together(parts, (struct board *)(void *)(address + slots),
                     rounds / 10);
    if (rounds > 30)
        updates_alone(
            at_offset(parts[(me + 1) % units],
                      sizeof(struct board) + UPDATE_SLOT_BYTES * (size_t)me),
            (uint64_t)me);
    take_back(gptr);
    free(parts);
}

static void private_memory(int rounds)
{
    char *address = aligned_alloc(64, (all_bytes() + 63) / 64 * 64), *pages;

    assert(address);
    use(address, rounds);
    free(address);
    pages = mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(pages != MAP_FAILED);
    use(pages, 10);
    munmap(pages, all_bytes());
}

/* Of the program's own regions, and of what DART itself allocated. */
static void memory_of_regions(void)
{
    size_t room = all_bytes() + 4096;
    drasync_region_t region;
    dart_gptr_t own, team;
    void *object, *private;

    assert(drasync_new_region(&region) == 0);
    assert(drasync_alloc(region, room, &object) == 0);
    use(object, 30);
    use((char *)object + 208, 10);
    /* One unit has private memory. */
    private = aligned_alloc(64, (room + 63) / 64 * 64);
    assert(private);
    use(me == units - 1 ? private : object, 10);
    free(private);
    assert(drasync_delete(region) == 0);

    assert(dart_memalloc(room, DART_TYPE_BYTE, &own) == DART_OK);
    use(address_of(own), 10);
    assert(dart_memfree(own) == DART_OK);
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, room, DART_TYPE_BYTE,
                                      &team) == DART_OK);
    use((char *)address_of(team) + 16, 10);
    assert(dart_team_memfree(team) == DART_OK);
}

/* --- Bounds and addresses ------------------------------------------------------- */

/* Unit u has u longs; the first has nothing. */
static void of_different_sizes(void)
{
    dart_gptr_t gptr;
    long values[8] = {0}, seen = -1;

    for (int i = 0; i < 8; i++)
        values[i] = me * 10 + i;
    gptr = give(DART_TEAM_ALL, me ? values : NULL, (size_t)me * 8);
    for (int u = 0; u < units; u++) {
        dart_gptr_t end = at_offset(on_unit(gptr, u), (size_t)u * 8);
        if (u) {
            assert(dart_get_blocking(&seen, at_offset(end, (size_t)-8), 1,
                                     DART_TYPE_LONG,
                                     DART_TYPE_LONG) == DART_OK);
            assert(seen == u * 10 + u - 1);
        }
        assert(dart_get_blocking(&seen, end, 1, DART_TYPE_LONG,
                                 DART_TYPE_LONG) == DART_ERR_INVAL);
        assert(dart_put_blocking(end, &seen, 1, DART_TYPE_LONG,
                                 DART_TYPE_LONG) == DART_ERR_INVAL);
        assert(dart_accumulate(end, &seen, 1, DART_TYPE_LONG, DART_OP_SUM) ==
               DART_ERR_INVAL);
        assert(dart_put_blocking(end, NULL, 0, DART_TYPE_LONG,
                                 DART_TYPE_LONG) == DART_OK);
    }
    take_back(gptr);
}

static void addresses(void)
{
    long values[8] = {0}, *found;
    dart_gptr_t gptr, own, other;
    void *address;
    uint16_t flags;

    assert(dart_team_memregister_aligned(DART_TEAM_ALL, 8, DART_TYPE_LONG,
                                         values, &gptr) == DART_OK);
    own = on_unit(gptr, me);
    assert(dart_gptr_setaddr(&own, &values[3]) == DART_OK);
    assert(own.addr_or_offs.offset == 24);
    assert(dart_gptr_getaddr(own, &address) == DART_OK);
    found = address;
    assert(found == &values[3]);
    assert(dart_gptr_setaddr(&own, &values[8]) == DART_OK);
    assert(dart_gptr_setaddr(&own, (char *)&values[8] + 1) == DART_ERR_INVAL);
    assert(dart_gptr_setaddr(&own, (void *)((uintptr_t)values - 1)) ==
           DART_ERR_INVAL);
    assert(dart_gptr_setaddr(&own, NULL) == DART_ERR_INVAL);
    assert(own.addr_or_offs.offset == 64);
    if (units > 1) {
        other = on_unit(gptr, (me + 1) % units);
        address = values;
        assert(dart_gptr_getaddr(other, &address) == DART_OK && !address);
        assert(dart_gptr_setaddr(&other, values) == DART_ERR_INVAL);
    }
    other = on_unit(gptr, units);
    assert(dart_gptr_getaddr(other, &address) == DART_ERR_INVAL);
    assert(dart_gptr_setflags(&gptr, 0xabcd) == DART_OK && gptr.flags == 0xcd);
    assert(dart_gptr_getflags(gptr, &flags) == DART_OK && flags == 0xabcd);
    assert(dart_flush(own) == DART_OK && dart_flush_all(own) == DART_OK);
    assert(dart_team_memfree(gptr) == DART_ERR_INVAL);
    take_back(gptr);
    assert(dart_team_memderegister(gptr) == DART_ERR_INVAL);
    assert(dart_gptr_getaddr(gptr, &address) == DART_ERR_INVAL && !address);
    assert(dart_put_blocking(on_unit(gptr, me), values, 1, DART_TYPE_LONG,
                             DART_TYPE_LONG) == DART_ERR_INVAL);
}

/* The same memory several times, whole and in part, in teams. */
static void several_times(void)
{
    long values[8] = {0}, one = 1;
    dart_gptr_t twice[2], part, in_team;
    dart_team_t team;

    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    twice[0] = give(DART_TEAM_ALL, values, sizeof(values));
    twice[1] = give(DART_TEAM_ALL, values, sizeof(values));
    part = give(DART_TEAM_ALL, &values[2], 8);
    in_team = give(team, values, sizeof(values));
    assert(twice[0].segid != twice[1].segid && part.segid != twice[1].segid);
    take_back(twice[0]);
    barrier();
    for (int u = 0; u < units; u++) {
        const dart_gptr_t all[3] = {twice[1], part, in_team};
        for (int i = 0; i < 3; i++) {
            dart_gptr_t gptr = on_unit(all[i], u);
            assert(dart_accumulate(at_offset(gptr, i == 1 ? 0 : 16), &one, 1,
                                   DART_TYPE_LONG, DART_OP_SUM) == DART_OK);
        }
    }
    barrier();
    assert(values[2] == 3 * units);
    take_back(part);
    take_back(twice[1]);
    /* What is left goes with the team. */
    assert(dart_team_destroy(&team) == DART_OK);
    barrier();
    assert(dart_accumulate(on_unit(in_team, me), &one, 1, DART_TYPE_LONG,
                           DART_OP_SUM) == DART_ERR_INVAL);
}

/* --- What is refused --------------------------------------------------------------- */

/* Refused on all, if the last unit has this. */
static void refused(dart_ret_t ret, size_t nelem, dart_datatype_t type,
                    void *address)
{
    static long good[4];
    bool last = me == units - 1;
    dart_gptr_t gptr = {.unitid = 0};

    assert(dart_team_memregister(DART_TEAM_ALL, last ? nelem : 4,
                                 last ? type : DART_TYPE_LONG,
                                 last ? address : good, &gptr) == ret);
    assert(DART_GPTR_ISNULL(gptr));
    gptr.unitid = 0;
    assert(dart_team_memregister_aligned(DART_TEAM_ALL, last ? nelem : 4,
                                         last ? type : DART_TYPE_LONG,
                                         last ? address : good, &gptr) == ret);
    assert(DART_GPTR_ISNULL(gptr));
}

static void wrong(void)
{
    long values[8] = {0};
    dart_gptr_t before = give(DART_TEAM_ALL, values, 8), gptr = before, own;
    dart_datatype_t strided;
    bool last = me == units - 1;

    take_back(before);
    assert(dart_team_memregister(77, 1, DART_TYPE_LONG, values, &gptr) ==
           DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_team_memregister(DART_TEAM_ALL, 1, DART_TYPE_LONG, values,
                                 last ? NULL : &gptr) == DART_ERR_INVAL);
    assert(dart_type_create_strided(DART_TYPE_LONG, 2, 1, &strided) == DART_OK);
    refused(DART_ERR_INVAL, 1, DART_TYPE_UNDEFINED, values);
    refused(DART_ERR_INVAL, 1, DART_TYPE_LAST, values);
    refused(DART_ERR_INVAL, 1, strided, values);
    refused(DART_ERR_INVAL, 1, DART_TYPE_LONG, NULL);
    refused(DART_ERR_NOMEM, SIZE_MAX, DART_TYPE_LONG, values);
    refused(DART_ERR_INVAL, SIZE_MAX, DART_TYPE_BYTE, values);
    refused(DART_ERR_INVAL, 1, DART_TYPE_BYTE, (void *)UINTPTR_MAX);
    assert(dart_type_destroy(&strided) == DART_OK);

    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 8, DART_TYPE_LONG, &own) ==
           DART_OK);
    assert(dart_team_memderegister(own) == DART_ERR_INVAL);
    assert(dart_team_memfree(own) == DART_OK);
    assert(dart_team_memderegister(DART_GPTR_NULL) == DART_OK);
    gptr = give(DART_TEAM_ALL, values, 8);
    assert(gptr.segid == before.segid);
    gptr.segid = (int16_t)(gptr.segid - 1);
    assert(dart_team_memderegister(gptr) == DART_ERR_INVAL);
    gptr.teamid = 77;
    assert(dart_team_memderegister(gptr) == DART_ERR_INVAL);
    take_back(before);
}

/* Regions that this unit does not hold for WRITE, or not all of the bytes. */
static void wrong_regions(void)
{
    drasync_region_t region = NULL, others;
    void *object = NULL, *shared;

    assert(drasync_new_region(&region) == 0);
    assert(drasync_alloc(region, 100, &object) == 0);
    refused(DART_ERR_INVAL, (size_t)1 << 40, DART_TYPE_BYTE, object);
    assert(drasync_release(region) == 0);
    refused(DART_ERR_INVAL, 100, DART_TYPE_BYTE, object);
    assert(drasync_acquire(region, DRASYNC_READ) == 0);
    refused(DART_ERR_INVAL, 100, DART_TYPE_BYTE, object);
    assert(drasync_release(region) == 0);
    shared = object;
    others = region;
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&others, sizeof(others), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (me == 0)
        assert(drasync_acquire(others, DRASYNC_WRITE) == 0);
    barrier();
    if (units > 1)
        refused(DART_ERR_INVAL, 100, DART_TYPE_BYTE, shared);
    if (me == 0)
        assert(drasync_release(others) == 0);
    barrier();
    assert(drasync_acquire(region, DRASYNC_WRITE) == 0);
    assert(drasync_delete(region) == 0);
    refused(DART_ERR_INVAL, 100, DART_TYPE_BYTE, object);
}

static void outside(void)
{
    dart_gptr_t gptr = {.unitid = 0};
    long value = 0;

    assert(dart_team_memregister(DART_TEAM_ALL, 1, DART_TYPE_LONG, &value,
                                 &gptr) == DART_ERR_NOTINIT);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_team_memregister_aligned(DART_TEAM_ALL, 1, DART_TYPE_LONG,
                                         &value, &gptr) == DART_ERR_NOTINIT);
    assert(dart_team_memderegister(gptr) == DART_ERR_NOTINIT);
}

int main(int argc, char **argv)
{
    static long left[4];

    outside();
    check_begin();
    if (argc > 1) {
        assert(!strcmp(argv[1], "forbidden"));
        forbid();
        private_memory(60);
        check_end();
        return 0;
    }
    of_different_sizes();
    addresses();
    several_times();
    wrong();
    wrong_regions();
    private_memory(60);
    memory_of_regions();
    /* What is left goes with dart_exit. */
    give(DART_TEAM_ALL, left, sizeof(left));
    check_end();
    outside();
    return 0;
}
