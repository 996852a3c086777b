/*
 * Every error of drasync.h that one rank or two can provoke, on any number of
 * ranks, one node or several.  Each case leaves nothing behind.
 */
#include "native_check.h"

/* An address inside the range of regions that is no region's. */
static drasync_region_t stranger(drasync_region_t region)
{
    return (drasync_region_t)((char *)region + ((uintptr_t)1 << 24));
}

static void arguments(void)
{
    drasync_region_t r, none = NULL;
    drasync_request_t request = NULL;
    struct drasync_info info;
    int local, done;
    void *p;

    OK(drasync_new_region(&r));
    CODE(drasync_new_region(NULL), DRASYNC_EINVAL);
    CODE(drasync_new_subregion(r, NULL), DRASYNC_EINVAL);
    CODE(drasync_acquire(r, (enum drasync_mode)0), DRASYNC_EINVAL);
    CODE(drasync_acquire(r, (enum drasync_mode)3), DRASYNC_EINVAL);
    CODE(drasync_iacquire(r, DRASYNC_READ, NULL), DRASYNC_EINVAL);
    CODE(drasync_test(&request, &done), DRASYNC_EINVAL);
    CODE(drasync_test(NULL, &done), DRASYNC_EINVAL);
    CODE(drasync_wait(&request, 0), DRASYNC_EINVAL);
    CODE(drasync_cancel(&request), DRASYNC_EINVAL);
    CODE(drasync_alloc(r, 8, NULL), DRASYNC_EINVAL);
    CODE(drasync_realloc(NULL, 8, r, NULL), DRASYNC_EINVAL);
    CODE(drasync_get_root(r, NULL), DRASYNC_EINVAL);
    CODE(drasync_region_of(r, NULL), DRASYNC_EINVAL);
    CODE(drasync_get_info(r, NULL), DRASYNC_EINVAL);
    CODE(drasync_get_stats(NULL), DRASYNC_EINVAL);
    CODE(drasync_lookup("x", 0, NULL), DRASYNC_EINVAL);

    CODE(drasync_new_subregion(none, &r), DRASYNC_ENOREGION);
    CODE(drasync_delete(none), DRASYNC_ENOREGION);
    CODE(drasync_acquire(none, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_release(none), DRASYNC_ENOREGION);
    CODE(drasync_alloc(none, 8, &p), DRASYNC_ENOREGION);
    CODE(drasync_alloc((drasync_region_t)UINTPTR_MAX, 8, &p),
         DRASYNC_ENOREGION);
    CODE(drasync_set_root(none, NULL), DRASYNC_ENOREGION);
    CODE(drasync_get_root(none, &p), DRASYNC_ENOREGION);
    CODE(drasync_region_of(&local, &none), DRASYNC_ENOREGION);
    CODE(drasync_get_info((drasync_region_t)(void *)&local, &info),
         DRASYNC_ENOREGION);
    CODE(drasync_acquire((drasync_region_t)(void *)&local, DRASYNC_WRITE),
         DRASYNC_ENOREGION);
    CODE(drasync_acquire((drasync_region_t)((char *)r + 16), DRASYNC_READ),
         DRASYNC_ENOREGION);
    CODE(drasync_publish("x", none), DRASYNC_ENOREGION);
    CODE(drasync_free(&local), DRASYNC_ENOOBJECT);
    OK(drasync_free(NULL));
    OK(drasync_delete(r));
}

/* What the home of an address answers about addresses nobody uses. */
static void strangers(void)
{
    drasync_region_t r;

    OK(drasync_new_region(&r));
    CODE(drasync_acquire(stranger(r), DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_acquire(stranger(r), DRASYNC_WRITE), DRASYNC_ENOREGION);
    CODE(drasync_delete(stranger(r)), DRASYNC_ENOREGION);
    OK(drasync_delete(r));
    CODE(drasync_acquire(r, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_release(r), DRASYNC_ENOREGION);
    CODE(drasync_delete(r), DRASYNC_ENOREGION);
}

static void holds(void)
{
    drasync_region_t r, s, t;
    struct drasync_info info;
    void *p;

    OK(drasync_new_region(&r));
    OK(drasync_new_subregion(r, &s));
    OK(drasync_new_subregion(s, &t));
    /* The hold of the root covers s and t; none was taken on them. */
    CODE(drasync_release(s), DRASYNC_ENOTHELD);
    OK(drasync_alloc(t, 100, &p));
    OK(drasync_acquire(r, DRASYNC_WRITE));
    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_acquire(t, DRASYNC_WRITE));
    OK(drasync_get_info(r, &info));
    CHECK(info.held_write == 2 && info.held_read == 1);
    CHECK(info.parent == NULL && info.subregions == 1);
    OK(drasync_release(t));
    OK(drasync_release(r));
    /* What was taken last. */
    OK(drasync_get_info(r, &info));
    CHECK(info.held_write == 2 && info.held_read == 0);
    OK(drasync_release(r));
    OK(drasync_release(r));
    OK(drasync_acquire(r, DRASYNC_READ));
    /* Only READ is there, on r. */
    OK(drasync_get_info(r, &info));
    CHECK(info.held_write == 0 && info.held_read == 1);
    CODE(drasync_alloc(s, 8, &p), DRASYNC_ENOTHELD);
    CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_EUPGRADE);
    CODE(drasync_acquire(t, DRASYNC_WRITE), DRASYNC_EUPGRADE);
    CODE(drasync_delete(r), DRASYNC_EUPGRADE);
    OK(drasync_acquire(t, DRASYNC_READ));
    OK(drasync_release(t));
    OK(drasync_release(r));
    CODE(drasync_release(r), DRASYNC_ENOTHELD);

    OK(drasync_acquire(s, DRASYNC_READ));
    CODE(drasync_acquire(r, DRASYNC_READ), DRASYNC_EORDER);
    CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_EORDER);
    CODE(drasync_new_subregion(s, &t), DRASYNC_ENOTHELD);
    CODE(drasync_set_root(s, NULL), DRASYNC_ENOTHELD);
    OK(drasync_get_root(s, &p));
    CHECK(p == NULL);
    OK(drasync_release(s));
    CODE(drasync_get_root(s, &p), DRASYNC_ENOTHELD);
    CODE(drasync_alloc(r, 8, &p), DRASYNC_ENOTHELD);
    OK(drasync_delete(r));
    CODE(drasync_get_info(s, &info), DRASYNC_ENOREGION);
}

static void objects(void)
{
    drasync_region_t r, s, found;
    struct drasync_info info;
    char *p, *q, *end;
    void *v, *w;

    OK(drasync_new_region(&r));
    OK(drasync_new_subregion(r, &s));
    OK(drasync_alloc(r, 48, &v));
    p = v;
    CHECK((uintptr_t)p % 16 == 0);
    memset(p, 7, 48);
    OK(drasync_alloc(r, 0, &v));
    OK(drasync_alloc(r, 0, &w));
    CHECK(v && w && v != w);
    OK(drasync_free(v));
    CODE(drasync_free(v), DRASYNC_EFREED);
    OK(drasync_free(w));
    CODE(drasync_free(p + 1), DRASYNC_EALIGN);
    CODE(drasync_free(p + 16), DRASYNC_EFREED);
    OK(drasync_region_of(p + 5, &found));
    CHECK(found == r);
    OK(drasync_realloc(p, 100000, s, &v));
    q = v;
    for (int i = 0; i < 48; i++)
        CHECK(q[i] == 7);
    CODE(drasync_free(p), DRASYNC_EFREED);
    OK(drasync_region_of(q + 99999, &found));
    CHECK(found == s);
    OK(drasync_realloc(q, 10, NULL, &v));
    OK(drasync_region_of(v, &found));
    CHECK(found == s && ((char *)v)[9] == 7);
    OK(drasync_set_root(s, v));
    OK(drasync_get_root(s, &w));
    CHECK(v == w);
    OK(drasync_get_info(s, &info));
    CHECK(info.parent == r && info.used_bytes >= 10);
    CHECK(info.reserved_bytes >= info.used_bytes && info.extents > 0);

    OK(drasync_release(r));
    CODE(drasync_free(v), DRASYNC_ENOTHELD);
    CODE(drasync_realloc(v, 20, NULL, &w), DRASYNC_ENOTHELD);
    OK(drasync_acquire(r, DRASYNC_READ));
    CODE(drasync_free(v), DRASYNC_ENOTHELD);
    OK(drasync_release(r));
    OK(drasync_acquire(s, DRASYNC_WRITE));
    CODE(drasync_realloc(v, 20, r, &w), DRASYNC_ENOTHELD);
    CHECK(((char *)v)[9] == 7);
    OK(drasync_free(v));
    /* A large one: many extents, whole and writable. */
    OK(drasync_alloc(s, (size_t)24 << 20, &v));
    end = (char *)v + ((size_t)24 << 20);
    for (p = v; p < end; p += 4096)
        *p = 1;
    end[-1] = 1;
    OK(drasync_free(v));
    OK(drasync_release(s));
    OK(drasync_delete(r));
}

static void names(void)
{
    char name[80], longest[DRASYNC_NAME_MAX + 2];
    drasync_region_t r, found;

    OK(drasync_new_region(&r));
    memset(longest, 'n', sizeof(longest));
    longest[DRASYNC_NAME_MAX + 1] = 0;
    CODE(drasync_publish(longest, r), DRASYNC_EINVAL);
    CODE(drasync_publish("", r), DRASYNC_EINVAL);
    CODE(drasync_publish(NULL, r), DRASYNC_EINVAL);
    CODE(drasync_lookup("", 0, &found), DRASYNC_EINVAL);
    longest[DRASYNC_NAME_MAX] = 0;
    longest[0] = (char)('a' + check_rank % 26);
    longest[1] = (char)('a' + check_rank / 26);
    OK(drasync_publish(longest, r));
    CODE(drasync_publish(longest, r), DRASYNC_EEXIST);
    OK(drasync_lookup(longest, 0, &found));
    CHECK(found == r);
    snprintf(name, sizeof(name), "second/%d", check_rank);
    CODE(drasync_lookup(name, 0, &found), DRASYNC_EAGAIN);
    CODE(drasync_lookup(name, 2000, &found), DRASYNC_EAGAIN);
    OK(drasync_publish(name, r));
    OK(drasync_lookup(name, DRASYNC_FOREVER, &found));
    CHECK(found == r);
    OK(drasync_delete(r));
    CODE(drasync_lookup(name, 0, &found), DRASYNC_EAGAIN);
    CODE(drasync_lookup(longest, 0, &found), DRASYNC_EAGAIN);
    OK(drasync_new_region(&r));
    OK(drasync_publish(name, r));
    OK(drasync_delete(r));

    /* Everybody waits for what the last rank publishes later. */
    if (check_rank == check_ranks - 1) {
        OK(drasync_new_region(&r));
        OK(drasync_publish("awaited", r));
    }
    OK(drasync_lookup("awaited", DRASYNC_FOREVER, &found));
    check_barrier();

    /* One that somebody else holds for WRITE, and nobody here has met. */
    if (check_rank == check_ranks - 1) {
        OK(drasync_delete(r));
        OK(drasync_new_region(&r));
    }
    check_share(&r, check_ranks - 1);
    if (check_rank == 0)
        OK(drasync_publish("held elsewhere", r));
    OK(drasync_lookup("held elsewhere", DRASYNC_FOREVER, &found));
    CHECK(found == r);
    check_barrier();
    if (check_rank == check_ranks - 1)
        OK(drasync_delete(r));
}

static int gone(int err)
{
    return err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION;
}

/* A request that is given up gives back what it was granted, and no other
 * hold. */
static void given_up(void)
{
    drasync_region_t r = NULL;
    drasync_request_t request = NULL;
    struct drasync_info info;

    OK(drasync_new_region(&r));
    for (int mode = DRASYNC_READ; mode <= DRASYNC_WRITE; mode++) {
        OK(drasync_iacquire(r, (enum drasync_mode)mode, &request));
        OK(drasync_cancel(&request));
        OK(drasync_get_info(r, &info));
        CHECK(info.held_write == 1 && info.held_read == 0);
    }
    OK(drasync_release(r));
    CODE(drasync_release(r), DRASYNC_ENOTHELD);
    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_iacquire(r, DRASYNC_READ, &request));
    OK(drasync_cancel(&request));
    OK(drasync_get_info(r, &info));
    CHECK(info.held_write == 0 && info.held_read == 1);
    OK(drasync_release(r));
    CODE(drasync_release(r), DRASYNC_ENOTHELD);
    OK(drasync_delete(r));
}

/* What only another rank can provoke. */
static void between_ranks(void)
{
    drasync_region_t r = NULL, s = NULL;
    drasync_request_t request = NULL;
    struct drasync_info info;
    int done = 0;

    if (check_ranks < 2)
        return;
    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_new_subregion(r, &s));
    }
    check_share(&r, 0);
    check_share(&s, 0);
    if (check_rank == 1) {
        CODE(drasync_try_acquire(r, DRASYNC_WRITE), DRASYNC_EAGAIN);
        CODE(drasync_try_acquire(s, DRASYNC_READ), DRASYNC_EAGAIN);
        CODE(drasync_acquire_timed(s, DRASYNC_WRITE, 3000), DRASYNC_EAGAIN);
        CODE(drasync_delete(r), DRASYNC_EBUSY);
        CODE(drasync_delete(s), DRASYNC_EBUSY);
        CODE(drasync_release(r), DRASYNC_ENOTHELD);
        CODE(drasync_publish("", r), DRASYNC_EINVAL);
        OK(drasync_iacquire(s, DRASYNC_WRITE, &request));
        OK(drasync_test(&request, &done));
        CHECK(!done && request);
        CODE(drasync_wait(&request, 1000), DRASYNC_EAGAIN);
        OK(drasync_cancel(&request));
        CHECK(!request);
        OK(drasync_iacquire(s, DRASYNC_WRITE, &request));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_release(r));
    if (check_rank == 1) {
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        CHECK(!request);
        OK(drasync_get_info(s, &info));
        CHECK(info.held_write == 1 && info.owned_here);
    }
    check_barrier();
    if (check_rank == 0) {
        /* Rank 1 holds a part. */
        CODE(drasync_try_acquire(r, DRASYNC_WRITE), DRASYNC_EAGAIN);
        CODE(drasync_delete(r), DRASYNC_EBUSY);
    }
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(s));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_delete(r));
    }
    check_barrier();
    if (check_rank == 1) {
        /* Another node may still be forgetting it. */
        CHECK(gone(drasync_acquire(s, DRASYNC_READ)));
        CHECK(gone(drasync_acquire(r, DRASYNC_WRITE)));
    }
    check_barrier();
}

static int *number_in(drasync_region_t r)
{
    void *v;

    OK(drasync_get_root(r, &v));
    return v;
}

/* Rank 1 puts a number where rank 0 does not wait for it. */
static void put(drasync_region_t r, int number)
{
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        *number_in(r) = number;
        OK(drasync_release(r));
    }
    check_barrier();
}

/* Rank 0 asks for a region and one below it, both held by rank 1, at once. */
static void both(enum drasync_mode above, int below_first)
{
    drasync_region_t top = NULL, first = NULL, r = NULL;
    drasync_request_t request[2] = {0};
    void *v;

    if (check_rank == 1) {
        OK(drasync_new_region(&top));
        OK(drasync_new_subregion(top, &first));
        OK(drasync_new_subregion(top, &r));
        OK(drasync_alloc(r, sizeof(int), &v));
        *(int *)v = 1;
        OK(drasync_set_root(r, v));
        OK(drasync_acquire(first, DRASYNC_WRITE));
        if (below_first)
            OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_release(top));
    }
    check_share(&top, 1);
    check_share(&first, 1);
    check_share(&r, 1);
    if (check_rank == 0) {
        if (below_first)
            OK(drasync_iacquire(r, DRASYNC_READ, &request[0]));
        OK(drasync_iacquire(top, above, &request[1]));
        if (!below_first)
            OK(drasync_iacquire(r, DRASYNC_READ, &request[0]));
    }
    check_barrier();
    if (check_rank == 1 && below_first)
        OK(drasync_release(r));
    if (check_rank == 0 && below_first)
        OK(drasync_wait(&request[0], DRASYNC_FOREVER));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(first));
    if (check_rank == 0) {
        CODE(drasync_wait(&request[1], DRASYNC_FOREVER),
             below_first ? DRASYNC_EORDER : 0);
        if (!below_first) {
            OK(drasync_wait(&request[0], DRASYNC_FOREVER));
            OK(drasync_release(top));
        }
        CHECK(*number_in(r) == 1);
    }
    put(r, 2);
    if (check_rank == 0) {
        CHECK(*number_in(r) == 1);
        OK(drasync_release(r));
        /* The request that failed may be on its way still. */
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_delete(top));
    }
    check_barrier();
}

static void above_and_below(void)
{
    for (int i = 0; i < 4 && check_ranks > 1; i++)
        both(i % 2 ? DRASYNC_READ : DRASYNC_WRITE, i / 2);
}

static void texts(void)
{
    CHECK(!strcmp(drasync_errname(DRASYNC_EAGAIN), "DRASYNC_EAGAIN"));
    CHECK(!strcmp(drasync_strerror(0), "success"));
    CHECK(drasync_strerror(-999) && drasync_errname(77));
    CHECK(!strcmp(drasync_version(), DRASYNC_VERSION));
}

int main(int argc, char **argv)
{
    static void (*const together[])(void) = {
        texts,    arguments,     objects,         names,
        given_up, between_ranks, above_and_below,
    };
    /* These look at addresses after deletion, which another rank might use. */
    static void (*const in_turn[])(void) = {strangers, holds};
    struct drasync_stats stats;

    check_start(&argc, &argv);
    for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
        together[i]();
        check_barrier();
    }
    for (size_t i = 0; i < sizeof(in_turn) / sizeof(in_turn[0]); i++)
        for (int rank = 0; rank < check_ranks; rank++) {
            if (rank == check_rank)
                in_turn[i]();
            check_barrier();
        }
    OK(drasync_get_stats(&stats));
    CHECK(stats.rank == check_rank && stats.ranks == check_ranks);
    CHECK(stats.allocations > 0 && stats.frees > 0 && stats.acquires > 0);
    /* Finalized, every call says so. */
    check_barrier();
    OK(drasync_finalize());
    CODE(drasync_acquire(NULL, DRASYNC_READ), DRASYNC_ENOTREADY);
    CHECK(!drasync_running());
    return check_end("contract");
}
