/*
 * Every call of the DART interface that needs dart_init() says so: before it,
 * between two of them and after the last.  With an argument: dart_abort() with
 * that status, "before" or after dart_init().
 */
#include <string.h>

#include "tests/programs/dart_check.h"
#include "dash/dart/if/dart_locality.h"

#define OUTSIDE(call) assert((call) == DART_ERR_NOTINIT)

static dart_gptr_t segment; /* what is left of a former run */
static dart_gptr_t heap;
static dart_team_t team = DART_TEAM_ALL;
static dart_lock_t lock;
static dart_allocator_t pool;

static void groups_and_teams(void)
{
    dart_global_unit_t unit;
    dart_team_unit_t local;
    dart_group_t group = NULL;
    dart_team_t other = team;
    size_t size;

    OUTSIDE(dart_myid(&unit));
    OUTSIDE(dart_size(&size));
    OUTSIDE(dart_group_create(&group));
    assert(!group);
    OUTSIDE(dart_team_get_group(team, &group));
    assert(!group);
    OUTSIDE(dart_team_create(team, group, &other));
    assert(other == DART_TEAM_NULL);
    OUTSIDE(dart_team_clone(team, &other));
    other = team;
    OUTSIDE(dart_team_destroy(&other));
    OUTSIDE(dart_team_myid(team, &local));
    OUTSIDE(dart_team_size(team, &size));
    OUTSIDE(dart_team_unit_l2g(team, DART_TEAM_UNIT_ID(0), &unit));
    OUTSIDE(dart_team_unit_g2l(team, DART_GLOBAL_UNIT_ID(0), &local));
}

static void memory(void)
{
    dart_gptr_t gptr = segment;
    uint16_t flags = 7;
    void *address = &flags;
    long value;

    OUTSIDE(dart_gptr_getaddr(segment, &address));
    assert(!address);
    OUTSIDE(dart_gptr_setaddr(&gptr, &value));
    OUTSIDE(dart_gptr_getflags(segment, &flags));
    OUTSIDE(dart_gptr_setflags(&gptr, 1));
    OUTSIDE(dart_memalloc(1, DART_TYPE_INT, &gptr));
    assert(DART_GPTR_ISNULL(gptr));
    OUTSIDE(dart_memfree(heap));
    OUTSIDE(dart_team_memalloc_aligned(team, 1, DART_TYPE_INT, &gptr));
    assert(DART_GPTR_ISNULL(gptr));
    OUTSIDE(dart_team_memfree(segment));
    OUTSIDE(dart_team_memregister(team, 1, DART_TYPE_LONG, &value, &gptr));
    assert(DART_GPTR_ISNULL(gptr));
    OUTSIDE(
        dart_team_memregister_aligned(team, 1, DART_TYPE_LONG, &value, &gptr));
    assert(DART_GPTR_ISNULL(gptr));
    OUTSIDE(dart_team_memderegister(segment));

    dart_allocator_t other = NULL;
    OUTSIDE(dart_allocator_new(100, team, &other));
    assert(!other);
    if (pool) {
        OUTSIDE(dart_allocator_alloc(1, DART_TYPE_INT, &gptr, pool));
        gptr = segment;
        OUTSIDE(dart_allocator_free(&gptr, pool));
        OUTSIDE(dart_allocator_destroy(&pool)); /* and has freed it */
        assert(!pool);
    }
}

static void transfers(void)
{
    const dart_datatype_t type = DART_TYPE_LONG;
    dart_handle_t handle, handles[1] = {NULL};
    long value = 5, other = 6;
    int32_t done = 1;

    OUTSIDE(dart_get(&value, segment, 1, type, type));
    OUTSIDE(dart_put(segment, &value, 1, type, type));
    OUTSIDE(dart_get_blocking(&value, segment, 1, type, type));
    OUTSIDE(dart_put_blocking(segment, &value, 1, type, type));
    handle = (dart_handle_t)&value;
    OUTSIDE(dart_get_handle(&value, segment, 1, type, type, &handle));
    assert(handle == DART_HANDLE_NULL);
    handle = (dart_handle_t)&value;
    OUTSIDE(dart_put_handle(segment, &value, 1, type, type, &handle));
    assert(handle == DART_HANDLE_NULL);
    OUTSIDE(dart_accumulate(segment, &value, 1, type, DART_OP_SUM));
    OUTSIDE(
        dart_accumulate_blocking_local(segment, &value, 1, type, DART_OP_SUM));
    OUTSIDE(dart_fetch_and_op(segment, &value, &other, type, DART_OP_SUM));
    OUTSIDE(dart_compare_and_swap(segment, &value, &value, &other, type));
    OUTSIDE(dart_flush(segment));
    OUTSIDE(dart_flush_all(segment));
    OUTSIDE(dart_flush_local(segment));
    OUTSIDE(dart_flush_local_all(segment));
    OUTSIDE(dart_wait(&handle));
    OUTSIDE(dart_wait_local(&handle));
    OUTSIDE(dart_waitall(handles, 1));
    OUTSIDE(dart_waitall_local(handles, 1));
    OUTSIDE(dart_test(&handle, &done));
    OUTSIDE(dart_test_local(&handle, &done));
    OUTSIDE(dart_testall(handles, 1, &done));
    OUTSIDE(dart_testall_local(handles, 1, &done));
    OUTSIDE(dart_handle_free(&handle));
    assert(value == 5 && other == 6);
}

static void collectives(void)
{
    const dart_team_unit_t root = {0};
    const dart_global_unit_t unit = {0};
    const dart_datatype_t type = DART_TYPE_LONG;
    const size_t count = 1, place = 0;
    long value = 5, other = 6;

    OUTSIDE(dart_barrier(team));
    OUTSIDE(dart_bcast(&value, 1, type, root, team));
    OUTSIDE(dart_scatter(&value, &other, 1, type, root, team));
    OUTSIDE(dart_gather(&value, &other, 1, type, root, team));
    OUTSIDE(dart_allgather(&value, &other, 1, type, team));
    OUTSIDE(dart_allgatherv(&value, 1, type, &other, &count, &place, team));
    OUTSIDE(dart_allreduce(&value, &other, 1, type, DART_OP_SUM, team));
    OUTSIDE(dart_alltoall(&value, &other, 1, type, team));
    OUTSIDE(dart_reduce(&value, &other, 1, type, DART_OP_SUM, root, team));
    OUTSIDE(dart_send(&value, 1, type, 0, unit));
    OUTSIDE(dart_recv(&other, 1, type, 0, unit));
    OUTSIDE(dart_sendrecv(&value, 1, type, 0, unit, &other, 1, type, 0, unit));
    assert(value == 5 && other == 6);
}

static void add(const void *in, void *inout, size_t len, void *data)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)data;
}

static void types_and_operations(void)
{
    const size_t length = 1, offset = 0;
    dart_datatype_t type;
    dart_operation_t op;

    OUTSIDE(dart_type_create_strided(DART_TYPE_INT, 2, 1, &type));
    OUTSIDE(
        dart_type_create_indexed(DART_TYPE_INT, 1, &length, &offset, &type));
    OUTSIDE(dart_type_create_custom(24, &type));
    type = DART_TYPE_LAST + 1;
    OUTSIDE(dart_type_destroy(&type));
    OUTSIDE(dart_op_create(add, NULL, true, DART_TYPE_INT, false, &op));
    op = DART_OP_LAST + 1;
    OUTSIDE(dart_op_destroy(&op));
}

static void locks_and_locality(void)
{
    dart_domain_locality_t *domain;
    dart_unit_locality_t *unit;
    dart_lock_t other = lock;
    int32_t had = 1;

    OUTSIDE(dart_team_lock_init(team, &other));
    assert(other == DART_LOCK_NULL);
    other = lock;
    OUTSIDE(dart_team_lock_destroy(&other));
    OUTSIDE(dart_lock_acquire(lock));
    OUTSIDE(dart_lock_try_acquire(lock, &had));
    assert(had == 0);
    OUTSIDE(dart_lock_release(lock));
    assert(!dart_lock_initialized(lock));

    OUTSIDE(dart_team_locality_init(team));
    OUTSIDE(dart_team_locality_finalize(team));
    OUTSIDE(dart_domain_team_locality(team, ".", &domain));
    OUTSIDE(dart_unit_locality(team, DART_TEAM_UNIT_ID(0), &unit));
}

static void outside(void)
{
    dart_config_t *config;

    assert(!dart_initialized());
    dart_config(&config);
    config->log_enabled = 0;
    groups_and_teams();
    memory();
    transfers();
    collectives();
    types_and_operations();
    locks_and_locality();
    OUTSIDE(dart_exit());
}

/* Something of each kind, for the calls that come too late. */
static void inside(void)
{
    check_begin();
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 4, DART_TYPE_LONG,
                                      &segment) == DART_OK);
    assert(dart_memalloc(4, DART_TYPE_LONG, &heap) == DART_OK);
    assert(dart_team_lock_init(DART_TEAM_ALL, &lock) == DART_OK);
    assert(dart_allocator_new(1000, DART_TEAM_ALL, &pool) == DART_OK);
    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    assert(dart_init(NULL, NULL) == DART_ERR_OTHER);
    assert(dart_exit() == DART_OK);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (argc == 2)
            check_begin();
        dart_abort(atoi(argv[1]));
    }
    outside();
    inside();
    outside();
    inside();
    outside();
    if (me == 0)
        puts("ok");
    return 0;
}
