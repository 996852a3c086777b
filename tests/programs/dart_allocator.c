/* dart_allocator: pools that each unit cuts up for itself. */
#include <pthread.h>

#include "dart_check.h"

#define POOL (1 << 16)

static dart_allocator_t make(size_t bytes)
{
    dart_allocator_t allocator = NULL;

    assert(dart_allocator_new(bytes, DART_TEAM_ALL, &allocator) == DART_OK);
    assert(allocator);
    return allocator;
}

static void destroy(dart_allocator_t allocator)
{
    assert(dart_allocator_destroy(&allocator) == DART_OK);
    assert(allocator == NULL);
}

/* All of the pool can be given out, in pieces of any size, and again. */
static void exhaust(size_t asked, size_t pool, size_t piece)
{
    dart_allocator_t allocator = make(asked);
    size_t n = pool / piece;
    dart_gptr_t *taken = calloc(n, sizeof(*taken)), more;
    char *seen = calloc(pool, 1);

    assert(taken && seen);
    for (int round = 0; round < 2; round++) {
        memset(seen, 0, pool);
        for (size_t i = 0; i < n; i++) {
            assert(dart_allocator_alloc(piece, DART_TYPE_BYTE, &taken[i],
                                        allocator) == DART_OK);
            assert(taken[i].unitid == me);
            size_t at = taken[i].addr_or_offs.offset;
            assert(at % piece == 0 && at < pool && !seen[at]);
            seen[at] = 1;
            memset(address_of(taken[i]), me, piece);
        }
        more.teamid = 5;
        assert(dart_allocator_alloc(1, DART_TYPE_BYTE, &more, allocator) ==
               DART_ERR_NOMEM);
        assert(DART_GPTR_ISNULL(more));
        for (size_t i = 0; i < n; i++) {
            assert(dart_allocator_free(&taken[i], allocator) == DART_OK);
            assert(DART_GPTR_ISNULL(taken[i]));
        }
    }
    assert(dart_allocator_alloc(pool, DART_TYPE_BYTE, &more, allocator) ==
           DART_OK);
    assert(dart_allocator_free(&more, allocator) == DART_OK);
    free(taken);
    free(seen);
    destroy(allocator);
}

struct use {
    dart_allocator_t allocator;
    uint64_t seed;
};

/* Pieces of many sizes at random: none lies in another. */
static void *use_at_random(void *arg)
{
    struct use *use = arg;
    uint64_t random = use->seed;
    dart_gptr_t taken[100];
    size_t bytes[100] = {0};

    for (int i = 0; i < 20000; i++) {
        size_t at = next_random(&random) % 100;
        if (bytes[at]) {
            unsigned char *p = address_of(taken[at]);
            for (size_t b = 0; b < bytes[at]; b++)
                assert(p[b] == (unsigned char)(use->seed * 100 + at));
            assert(dart_allocator_free(&taken[at], use->allocator) == DART_OK);
            bytes[at] = 0;
            continue;
        }
        size_t want = next_random(&random) % 700;
        if (dart_allocator_alloc(want, DART_TYPE_BYTE, &taken[at],
                                 use->allocator) == DART_OK) {
            assert(taken[at].addr_or_offs.offset + want <= POOL);
            memset(address_of(taken[at]), (int)(use->seed * 100 + at), want);
            bytes[at] = want;
            if (!want)
                assert(dart_allocator_free(&taken[at], use->allocator) ==
                       DART_OK);
        }
    }
    for (size_t at = 0; at < 100; at++) {
        if (bytes[at])
            assert(dart_allocator_free(&taken[at], use->allocator) == DART_OK);
    }
    return NULL;
}

static void at_random(void)
{
    struct use uses[2] = {{make(POOL), 1}, {NULL, 2}};
    pthread_t other;
    dart_gptr_t all;

    uses[1].allocator = uses[0].allocator;
    assert(!pthread_create(&other, NULL, use_at_random, &uses[0]));
    use_at_random(&uses[1]);
    assert(!pthread_join(other, NULL));
    assert(dart_allocator_alloc(POOL, DART_TYPE_BYTE, &all,
                                uses[0].allocator) == DART_OK);
    assert(dart_allocator_free(&all, uses[0].allocator) == DART_OK);
    destroy(uses[0].allocator);
}

/* What one unit takes, all can use. */
static void shared(void)
{
    dart_allocator_t allocator = make(1024);
    dart_gptr_t gptr = DART_GPTR_NULL;
    int value = me, i;

    if (me == 0)
        assert(dart_allocator_alloc((size_t)units, DART_TYPE_INT, &gptr,
                                    allocator) == DART_OK);
    MPI_Bcast(&gptr, sizeof(gptr), MPI_BYTE, 0, MPI_COMM_WORLD);
    assert(dart_put_blocking(at_offset(gptr, sizeof(int) * (size_t)me), &value,
                             1, DART_TYPE_INT, DART_TYPE_INT) == DART_OK);
    barrier();
    for (i = 0; me == 0 && i < units; i++) {
        assert(dart_get_blocking(&value, at_offset(gptr, 4 * (size_t)i), 1,
                                 DART_TYPE_INT, DART_TYPE_INT) == DART_OK);
        assert(value == i);
    }
    if (me != 0)
        assert(dart_allocator_free(&gptr, allocator) == DART_ERR_INVAL);
    else
        assert(dart_allocator_free(&gptr, allocator) == DART_OK);
    destroy(allocator);
}

static void wrong(void)
{
    dart_allocator_t allocator = make(100), none = NULL;
    dart_gptr_t gptr, copy, inside;

    assert(dart_allocator_new(100, DART_TEAM_ALL, NULL) == DART_ERR_INVAL);
    assert(dart_allocator_new(100, 1234, &none) == DART_ERR_INVAL && !none);
    assert(dart_allocator_new(SIZE_MAX, DART_TEAM_ALL, &none) ==
           DART_ERR_NOMEM);
    assert(!none);
    assert(dart_allocator_new((size_t)1 << 46, DART_TEAM_ALL, &none) ==
           DART_ERR_NOMEM);
    assert(!none);
    assert(dart_allocator_alloc(1, DART_TYPE_INT, NULL, allocator) ==
           DART_ERR_INVAL);
    assert(dart_allocator_alloc(1, DART_TYPE_INT, &gptr, NULL) ==
           DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_allocator_alloc(1, DART_TYPE_UNDEFINED, &gptr, allocator) ==
           DART_ERR_INVAL);
    assert(dart_allocator_alloc(SIZE_MAX, DART_TYPE_INT, &gptr, allocator) ==
           DART_ERR_NOMEM);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_allocator_alloc(129, DART_TYPE_BYTE, &gptr, allocator) ==
           DART_ERR_NOMEM);

    assert(dart_allocator_alloc(32, DART_TYPE_BYTE, &gptr, allocator) ==
           DART_OK);
    inside = at_offset(gptr, 8);
    copy = gptr;
    assert(dart_allocator_free(&inside, allocator) == DART_ERR_INVAL);
    inside = at_offset(gptr, 1);
    assert(dart_allocator_free(&inside, allocator) == DART_ERR_INVAL);
    inside = at_offset(gptr, 4096);
    assert(dart_allocator_free(&inside, allocator) == DART_ERR_INVAL);
    assert(dart_allocator_free(NULL, allocator) == DART_ERR_INVAL);
    assert(dart_allocator_free(&gptr, NULL) == DART_ERR_INVAL);
    assert(dart_allocator_free(&gptr, allocator) == DART_OK);
    assert(dart_allocator_free(&copy, allocator) == DART_ERR_INVAL);
    assert(dart_allocator_free(&gptr, allocator) == DART_ERR_INVAL);
    destroy(allocator);
    assert(dart_allocator_destroy(NULL) == DART_ERR_INVAL);
    assert(dart_allocator_destroy(&none) == DART_ERR_INVAL);
}

/* A pool whose team, or with it DART, has ended is none, and what has come to its
 * number is left alone. */
static void not_a_pool(dart_allocator_t *pool, dart_team_t team,
                       dart_gptr_t block)
{
    const int one = 1;
    dart_gptr_t other, gptr;
    int value = 0;

    assert(dart_team_memalloc_aligned(team, 64, DART_TYPE_BYTE, &other) ==
           DART_OK);
    assert(other.teamid == block.teamid && other.segid == block.segid);
    assert(dart_allocator_alloc(1, DART_TYPE_INT, &gptr, *pool) ==
           DART_ERR_INVAL);
    assert(DART_GPTR_ISNULL(gptr));
    assert(dart_allocator_free(&block, *pool) == DART_ERR_INVAL);
    barrier();
    assert(dart_allocator_destroy(pool) == DART_OK && !*pool);
    other = on_unit(other, me);
    assert(dart_put_blocking(other, &one, 1, DART_TYPE_INT, DART_TYPE_INT) ==
           DART_OK);
    assert(dart_get_blocking(&value, other, 1, DART_TYPE_INT, DART_TYPE_INT) ==
           DART_OK);
    assert(value == 1);
    barrier();
    assert(dart_team_memfree(other) == DART_OK);
}

static void team_ended(void)
{
    dart_allocator_t pools[2];
    dart_gptr_t blocks[2];
    dart_team_t team, next;

    assert(dart_team_clone(DART_TEAM_ALL, &team) == DART_OK);
    for (int i = 0; i < 2; i++) {
        assert(dart_allocator_new(64, team, &pools[i]) == DART_OK);
        assert(dart_allocator_alloc(1, DART_TYPE_INT, &blocks[i], pools[i]) ==
               DART_OK);
    }
    assert(dart_team_destroy(&team) == DART_OK);
    assert(dart_allocator_alloc(1, DART_TYPE_INT, &blocks[1], pools[1]) ==
           DART_ERR_INVAL);
    assert(dart_allocator_destroy(&pools[1]) == DART_OK && !pools[1]);
    assert(dart_team_clone(DART_TEAM_ALL, &next) == DART_OK);
    not_a_pool(&pools[0], next, blocks[0]);
    assert(dart_team_destroy(&next) == DART_OK);
}

static void dart_ended(void)
{
    dart_allocator_t pool = make(64);
    dart_gptr_t block;

    assert(dart_allocator_alloc(1, DART_TYPE_INT, &block, pool) == DART_OK);
    assert(dart_exit() == DART_OK);
    assert(dart_init(NULL, NULL) == DART_OK);
    not_a_pool(&pool, DART_TEAM_ALL, block);
}

int main(void)
{
    dart_allocator_t allocator = NULL;
    dart_gptr_t gptr;

    assert(dart_allocator_new(8, DART_TEAM_ALL, &allocator) ==
           DART_ERR_NOTINIT);
    check_begin();
    exhaust(4096, 4096, 32);
    exhaust(4000, 4096, 8);
    exhaust(1024, 1024, 1024);
    exhaust(0, 8, 8);
    exhaust(1, 8, 8);
    at_random();
    shared();
    wrong();
    team_ended();
    dart_ended();
    allocator = make(64);
    check_end();
    assert(dart_allocator_alloc(1, DART_TYPE_INT, &gptr, allocator) ==
           DART_ERR_NOTINIT);
    assert(dart_allocator_free(&gptr, allocator) == DART_ERR_NOTINIT);
    assert(dart_allocator_destroy(&allocator) == DART_ERR_NOTINIT);
    assert(!allocator);
    return 0;
}
