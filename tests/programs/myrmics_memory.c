/* Allocation by Myrmics calls: sizes, reallocation, what is left. */
#include "myrmics_semantics.h"

#include <string.h>

/* Sizes, numbers of objects and regions, and questions. */

struct node {
    struct node *next;
    uint64_t value;
};

static void realloc_moves(void)
{
    struct {
        rid_t to;
        char *object;
    } control, theirs;
    rid_t from = sys_ralloc(0, 0);
    char *object, *again;

    control.to = sys_ralloc(0, 0);
    object = sys_realloc(NULL, 1000, from);
    CHECK(is_aligned(object));
    fill(object, 1000, 1);
    object = sys_realloc(object, 5000, from);
    CHECK(filled(object, 1000, 1));
    fill(object, 5000, 2);
    object = sys_realloc(object, 300, from);
    CHECK(filled(object, 296, 2));
    again = sys_realloc(object, 300, control.to);
    CHECK(again != object && filled(again, 296, 2));
    CHECK(sys_alloc(64, from) != NULL);
    /* It went with the region it is in now. */
    sys_rfree(from);
    CHECK(filled(again, 296, 2));
    control.object = sys_realloc(again, 400000, control.to);
    CHECK(filled(control.object, 296, 2));
    fill(control.object, 400000, 3);
    theirs = control;
    if (me == 0)
        tell(PARTNER, &control, sizeof control);
    if (me == PARTNER)
        hear(0, &theirs, sizeof theirs);
    transfer(theirs.to, 0, PARTNER);
    CHECK(filled(theirs.object, 400000, 3));
    CHECK(sys_realloc(control.object, 0, control.to) == NULL);
}

/* Whoever can name an object can resize it, also one that was never sent: its
 * bytes are not said, but it is a new one then, and the old one is gone. */
static void realloc_told(void)
{
    char *object = NULL;

    if (me == 0)
        object = sys_alloc(100, 0);
    share(0, &object, sizeof object);
    if (me == workers - 1) {
        object = sys_realloc(object, 30000, 0);
        CHECK(is_aligned(object));
        fill(object, 30000, 4);
        object = sys_realloc(object, 100, sys_ralloc(0, 0));
        CHECK(filled(object, 96, 4));
        sys_free(object);
    }
}

/* An object is freed by who received it, and then its region by another. */
static void free_then_rfree(void)
{
    struct {
        rid_t region;
        void *object;
    } sent = {0, NULL};
    rid_t own = sys_ralloc(0, 0);
    int done = 1;

    for (int i = 0; i < 30; i++) {
        if (me == 0) {
            sent.region = sys_ralloc(0, 0);
            sent.object = sys_alloc(100, sent.region);
        }
        share(0, &sent, sizeof sent);
        transfer(sent.region, 0, PARTNER);
        if (me == PARTNER)
            sys_free(sent.object);
        share(PARTNER, &done, sizeof done);
        if (me == workers - 1)
            sys_rfree(sent.region);
        /* What PARTNER freed goes to worker 0 with this at the latest. */
        if (me == PARTNER) {
            sys_send(own, me);
            CHECK(sys_recv(own, me) == own);
        }
        share(workers - 1, &done, sizeof done);
    }
}

static void zero(void)
{
    rid_t region = sys_ralloc(0, 0), empty[3];

    CHECK(sys_alloc(0, 0) == NULL);
    CHECK(sys_alloc(0, region) == NULL);
    CHECK(sys_realloc(NULL, 0, region) == NULL);
    CHECK(sys_realloc(sys_alloc(64, region), 0, region) == NULL);
    empty[0] = sys_ralloc(region, 0);
    empty[1] = sys_ralloc(empty[0], 99);
    empty[2] = region;
    /* An empty subtree goes over as well as any. */
    if (me == 0)
        tell(PARTNER, empty, sizeof empty);
    if (me == PARTNER)
        hear(0, empty, sizeof empty);
    transfer(empty[2], 0, PARTNER);
    sys_barrier();
    sys_rfree(region);
}

/*
 * Every worker allocates and frees at random in two regions of all, and frees
 * some of its neighbour's objects as the neighbour goes on.
 */
static void churn(void)
{
    enum { LIVE = 500, GIVEN = 40, ROUNDS = 20 };
    char *object[LIVE] = {NULL}, *given[GIVEN];
    unsigned char mark[LIVE];
    rid_t region = 0;
    uint32_t random = (uint32_t)me + 1;

    if (me == 0)
        region = sys_ralloc(0, 0);
    share(0, &region, sizeof region);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < steps / ROUNDS; i++) {
            uint32_t at, size;

            random = random * 1664525 + 1013904223;
            at = (random >> 8) % LIVE;
            size = (random >> 4) % (i % 8 ? 500 : 40000) + 100;
            if (object[at]) {
                CHECK(filled(object[at], 100, mark[at]));
                sys_free(object[at]);
            }
            mark[at] = (unsigned char)random;
            object[at] = sys_alloc(size, random & 64 ? region : 0);
            CHECK(is_aligned(object[at]));
            fill(object[at], 100, mark[at]);
        }
        for (int i = 0; i < GIVEN; i++) {
            given[i] = object[i];
            object[i] = NULL;
        }
        tell((me + 1) % workers, given, sizeof given);
        hear((me + workers - 1) % workers, given, sizeof given);
        for (int i = 0; i < GIVEN; i++)
            if (given[i])
                sys_free(given[i]);
    }
    for (int i = 0; i < LIVE; i++)
        if (object[i])
            sys_free(object[i]);
    sys_barrier();
    if (me == 0)
        sys_rfree(region);
}

static void large(void)
{
    struct {
        rid_t region;
        char *object;
    } control = {0, NULL};
    const size_t size = (size_t)64 << 20;

    if (me > 1)
        return;
    if (me == 0) {
        control.region = sys_ralloc(0, 0);
        control.object = sys_alloc(size, control.region);
        CHECK(is_aligned(control.object));
        fill(control.object, size, 5);
        tell(PARTNER, &control, sizeof control);
    } else {
        hear(0, &control, sizeof control);
    }
    transfer(control.region, 0, PARTNER);
    if (me == PARTNER) {
        CHECK(filled(control.object, size, 5));
        sys_free(control.object);
        control.object = sys_alloc(size + 64, control.region);
        memset(control.object, 1, size + 64);
        sys_rfree(control.region);
    }
}

static void many_regions(void)
{
    enum { COUNT_MAX = 10000 };
    static rid_t regions[COUNT_MAX];
    const uint64_t count =
        steps < 2 * COUNT_MAX ? (uint64_t)steps / 2 : COUNT_MAX;
    struct {
        rid_t top;
        struct node *head;
    } control = {0, NULL};
    struct node *node;
    uint64_t i = 0;

    if (me > 1)
        return;
    if (me == 0) {
        control.top = sys_ralloc(0, 99);
        for (i = 0; i < count; i++) {
            regions[i] =
                sys_ralloc(i % 3 ? regions[i / 3] : control.top, (int)(i % 5));
            node = sys_alloc(sizeof *node, regions[i]);
            node->next = control.head;
            node->value = i;
            control.head = node;
        }
        tell(PARTNER, &control, sizeof control);
    } else {
        hear(0, &control, sizeof control);
    }
    transfer(control.top, 0, PARTNER);
    if (me == PARTNER) {
        for (node = control.head, i = count; node; node = node->next)
            CHECK(node->value == --i);
        CHECK(i == 0);
        tell(0, &i, sizeof i);
    }
    if (me == 0) {
        hear(PARTNER, &i, sizeof i);
        for (i = count - 1; i >= count / 2; i--)
            sys_rfree(regions[i]);
        sys_rfree(control.top);
    }
}

static void balloc(void)
{
    void *objects[5000], *first[64];
    rid_t region = sys_ralloc(0, 0);
    int i;

    sys_balloc(48, region, 5000, objects);
    for (i = 0; i < 5000; i++) {
        CHECK(is_aligned(objects[i]));
        fill(objects[i], 48, (uint64_t)(me * 5000 + i));
    }
    memcpy(first, objects, sizeof first);
    check_apart(first, 64, 48);
    for (i = 0; i < 5000; i += 2)
        sys_free(objects[i]);
    for (i = 1; i < 5000; i += 2)
        CHECK(filled(objects[i], 48, (uint64_t)(me * 5000 + i)));
    sys_rfree(region);
}

static void info(void)
{
    unsigned calls = 0, usec = 1000001;
    unsigned long sent = 1, received = 1;
    rid_t region;

    CHECK(me >= 0 && me < workers);
    CHECK(sys_get_num_schedulers() >= 0);
    CHECK(sys_get_worker_id() == pr_get_worker_id());
    sys_zerostats();
    region = sys_ralloc(0, 0);
    CHECK(sys_alloc(1000, region) != NULL);
    sys_send(region, (me + 1) % workers);
    sys_recv(0, (me + workers - 1) % workers);
    sys_barrier();
    sys_getstats(NULL, &usec, &calls, NULL, NULL, &sent, &received, NULL, NULL);
    CHECK(calls >= 2 && usec < 1000000);
    CHECK(sent >= 1000 && received >= 1000);
    sys_timer_reset();
    sys_timer_busy_wait_msec(2);
    CHECK(sys_timer_get_msec() >= 2 && sys_timer_get_cycles() >= 20000);
    sys_timer_busy_wait_cycles(100);
    CHECK(sys_free_timer_get_ticks() != 0 || sys_free_timer_get_cycles() != 0);
    sys_assert(region != 0);
    sys_rfree(region);
}

const struct scenario memory_scenarios[] = {
    {"realloc_moves", realloc_moves},
    {"realloc_told", realloc_told},
    {"free_then_rfree", free_then_rfree},
    {"zero", zero},
    {"churn", churn},
    {"large", large},
    {"many_regions", many_regions},
    {"balloc", balloc},
    {"info", info},
    {NULL, NULL},
};
