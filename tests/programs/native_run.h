/* native_run.h - regions with a counter, and the functions that native_run.c runs
 * on them. */
#ifndef DRASYNC_TESTS_NATIVE_RUN_H
#define DRASYNC_TESTS_NATIVE_RUN_H

#include <string.h>

#include "native_check.h"

/* In each region: what functions add up, and in which order they came. */
struct counter {
    uint64_t sum;
    uint64_t last[64]; /* of each rank */
    struct item {
        struct item *next;
        uint64_t value;
    } * items;
};

struct add {
    uint64_t rank, number;
};

static struct counter *counter_of(drasync_region_t region)
{
    void *root;

    OK(drasync_get_root(region, &root));
    return root;
}

/* A region of rank @owner, with a counter. */
static drasync_region_t region_of(int owner)
{
    drasync_region_t region = NULL;
    void *p;

    if (check_rank == owner) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, sizeof(struct counter), &p));
        memset(p, 0, sizeof(struct counter));
        OK(drasync_set_root(region, p));
        OK(drasync_release(region));
    }
    check_share(&region, owner);
    return region;
}

static uint64_t sum_of(drasync_region_t region)
{
    uint64_t sum;

    OK(drasync_acquire(region, DRASYNC_READ));
    sum = counter_of(region)->sum;
    OK(drasync_release(region));
    return sum;
}

/* Messages that have come to the node where this runs, its own among them. */
static int received(drasync_region_t region, const void *arg, size_t bytes,
                    void *answer, size_t answer_bytes)
{
    struct drasync_stats stats;

    (void)region;
    (void)arg;
    OK(drasync_get_stats(&stats));
    CHECK(bytes == 0 && answer_bytes == sizeof(stats.messages_received));
    memcpy(answer, &stats.messages_received, answer_bytes);
    return 0;
}

/* Each rank's numbers come in order. */
static int add(drasync_region_t region, const void *arg, size_t bytes,
               void *answer, size_t answer_bytes)
{
    struct counter *c = counter_of(region);
    const struct add *a = arg;

    CHECK(bytes == sizeof(*a));
    CHECK((uintptr_t)arg % 8 == 0);
    CHECK(a->number == c->last[a->rank] + 1);
    c->last[a->rank] = a->number;
    c->sum++;
    if (answer_bytes) {
        CHECK(answer_bytes == sizeof(c->sum));
        memcpy(answer, &c->sum, sizeof(c->sum));
    }
    return 0;
}

/* The same for @count at once. */
static int add_batch(drasync_region_t region, const void *args, size_t bytes,
                     size_t count)
{
    struct counter *c = counter_of(region);
    const struct add *a = args;

    CHECK(bytes == sizeof(*a));
    CHECK(count > 0);
    CHECK((uintptr_t)args % 8 == 0);
    for (size_t i = 0; i < count; i++, a++) {
        CHECK(a->number == c->last[a->rank] + 1);
        c->last[a->rank] = a->number;
        c->sum++;
    }
    return 0;
}

/* Add up arguments of 3 bytes, each at the next multiple of 8; without any,
 * return how many there are. */
static int add_small(drasync_region_t region, const void *args, size_t bytes,
                     size_t count)
{
    const unsigned char *from = args;

    CHECK((bytes != 0) == (args != NULL));
    if (!bytes)
        return (int)count;
    CHECK(bytes == 3);
    for (size_t i = 0; i < count; i++)
        counter_of(region)->sum += from[i * 8] + from[i * 8 + 2];
    return 0;
}

/* The number in @arg is what it returns. */
static int give(drasync_region_t region, const void *arg, size_t bytes,
                void *answer, size_t answer_bytes)
{
    int result;

    (void)region;
    (void)answer;
    (void)answer_bytes;
    CHECK(bytes == sizeof(result));
    memcpy(&result, arg, sizeof(result));
    return result;
}

/* The argument, backwards. */
static int turn(drasync_region_t region, const void *arg, size_t bytes,
                void *answer, size_t answer_bytes)
{
    const unsigned char *from = arg;
    unsigned char *to = answer;

    (void)region;
    CHECK(bytes == answer_bytes);
    CHECK((bytes != 0) == (arg != NULL) && (bytes != 0) == (answer != NULL));
    for (size_t i = 0; i < bytes; i++) {
        CHECK(to[i] == 0);
        to[i] = from[bytes - 1 - i];
    }
    return 0;
}

/* Allocate one more item; with an odd value, free one. */
static int grow(drasync_region_t region, const void *arg, size_t bytes,
                void *answer, size_t answer_bytes)
{
    struct counter *c = counter_of(region);
    struct item *item;
    void *p;

    (void)answer;
    (void)answer_bytes;
    OK(drasync_alloc(region, sizeof(*item), &p));
    item = p;
    CHECK(bytes == sizeof(item->value));
    memcpy(&item->value, arg, bytes);
    item->next = c->items;
    c->items = item;
    if (item->value % 2) {
        c->items = item->next;
        OK(drasync_free(item));
    }
    return 0;
}

/* Everything that it may not do; on another node it has nothing else. */
static int misbehave(drasync_region_t region, const void *arg, size_t bytes,
                     void *answer, size_t answer_bytes)
{
    drasync_function_t f;
    drasync_request_t request = NULL;
    drasync_region_t other;
    void *p;

    (void)bytes;
    (void)answer;
    (void)answer_bytes;
    memcpy(&other, arg, sizeof(other));
    OK(drasync_register("give", give, &f));
    CODE(drasync_acquire(other, DRASYNC_WRITE), DRASYNC_ERUNNING);
    CODE(drasync_try_acquire(region, DRASYNC_READ), DRASYNC_ERUNNING);
    CODE(drasync_iacquire(other, DRASYNC_READ, &request), DRASYNC_ERUNNING);
    CODE(drasync_release(region), DRASYNC_ERUNNING);
    CODE(drasync_delete(region), DRASYNC_ERUNNING);
    CODE(drasync_new_region(&other), DRASYNC_ERUNNING);
    CODE(drasync_run(region, f, DRASYNC_WRITE, &bytes, 4, NULL, 0),
         DRASYNC_ERUNNING);
    CODE(drasync_run_ff(region, f, DRASYNC_WRITE, &bytes, 4), DRASYNC_ERUNNING);
    CODE(drasync_run_flush(), DRASYNC_ERUNNING);
    CODE(drasync_publish("name", region), DRASYNC_ERUNNING);
    CODE(drasync_new_subregion(region, &other), DRASYNC_ERUNNING);
    OK(drasync_alloc(region, 100, &p));
    OK(drasync_free(p));
    return 7;
}

/* A function may return what drasync_wait() also says of time: @gives does. */
static void wait_for_result(drasync_region_t region, drasync_function_t gives,
                            int result)
{
    drasync_request_t request;

    OK(drasync_irun(region, gives, DRASYNC_READ, &result, sizeof(result), NULL,
                    0, &request));
    CODE(drasync_wait(&request, DRASYNC_FOREVER), result);
    CHECK(!request);
}

#endif /* DRASYNC_TESTS_NATIVE_RUN_H */
