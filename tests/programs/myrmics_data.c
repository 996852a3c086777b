/* Data that Myrmics calls send: what arrives, and from whom. */
#include "myrmics_semantics.h"

#include <string.h>

struct node {
    struct node *next;
    uint64_t value;
};

static void root(void)
{
    void *objects[64];
    int i;

    for (i = 0; i < 64; i++) {
        objects[i] = sys_alloc(100, 0);
        CHECK(is_aligned(objects[i]));
        fill(objects[i], 100, (uint64_t)(me * 64 + i));
    }
    check_apart(objects, 64, 100);
    sys_barrier();
    for (i = 0; i < 64; i++) {
        CHECK(filled(objects[i], 100, (uint64_t)(me * 64 + i)));
        sys_free(objects[i]);
    }
}

/* All allocate in one region; then worker 0 gets everybody's objects, one
 * worker after the other, and its own stay as they were. */
static void shared(void)
{
    void *objects[64], *theirs[64];
    rid_t region = 0;
    int i, j;

    if (me == 0)
        region = sys_ralloc(0, 99);
    share(0, &region, sizeof region);
    for (i = 0; i < 64; i++) {
        objects[i] = sys_alloc(72, region);
        CHECK(is_aligned(objects[i]));
        fill(objects[i], 72, (uint64_t)(me * 64 + i));
    }
    check_apart(objects, 64, 72);
    for (j = 1; j < workers; j++) {
        transfer(region, j, 0);
        if (me == j)
            tell(0, objects, sizeof objects);
        if (me != 0)
            continue;
        hear(j, theirs, sizeof theirs);
        for (i = 0; i < 64; i++) {
            CHECK(filled(theirs[i], 72, (uint64_t)(j * 64 + i)));
            CHECK(filled(objects[i], 72, (uint64_t)i));
        }
    }
    sys_barrier();
    if (me == workers - 1)
        sys_rfree(region);
}

static void subregion_by_other(void)
{
    struct {
        struct node *head;
        rid_t sub;
    } control;
    rid_t region = 0;
    struct node *node;
    uint64_t i;

    if (me == 0)
        region = sys_ralloc(0, 99);
    share(0, &region, sizeof region);
    if (me == PARTNER) {
        control.sub = sys_ralloc(region, 0);
        control.head = NULL;
        for (i = 0; i < 100; i++) {
            node = sys_alloc(sizeof *node, i % 2 ? region : control.sub);
            node->next = control.head;
            node->value = i;
            control.head = node;
        }
        tell(0, &control, sizeof control);
    }
    transfer(region, PARTNER, 0);
    if (me == 0) {
        hear(PARTNER, &control, sizeof control);
        for (node = control.head, i = 100; node; node = node->next)
            CHECK(node->value == --i);
        CHECK(i == 0);
        node = sys_alloc(sizeof *node, control.sub);
        CHECK(is_aligned(node));
        sys_rfree(region);
    }
}

static void freed_by_other(void)
{
    void *objects[200], *fresh[100];
    rid_t region = 0;
    int i, j;

    if (me > 1)
        return;
    if (me == 0) {
        region = sys_ralloc(0, 0);
        for (i = 0; i < 200; i++) {
            objects[i] = sys_alloc(128, region);
            fill(objects[i], 128, (uint64_t)i);
        }
        tell(PARTNER, &region, sizeof region);
        tell(PARTNER, objects, sizeof objects);
    } else {
        hear(0, &region, sizeof region);
        hear(0, objects, sizeof objects);
    }
    transfer(region, 0, PARTNER);
    if (me == PARTNER) {
        for (i = 0; i < 100; i++)
            sys_free(objects[i]);
        for (i = 0; i < 100; i++) {
            fresh[i] = sys_alloc(128, region);
            fill(fresh[i], 128, (uint64_t)(1000 + i));
            for (j = 100; j < 200; j++)
                CHECK(fresh[i] != objects[j]);
        }
        for (i = 100; i < 200; i++)
            CHECK(filled(objects[i], 128, (uint64_t)i));
        tell(0, fresh, sizeof fresh);
    }
    if (me == 0) {
        hear(PARTNER, fresh, sizeof fresh);
        /* What it allocates now is neither's, and stays when data comes. */
        for (i = 0; i < 50; i++) {
            objects[i] = sys_alloc(128, region);
            fill(objects[i], 128, (uint64_t)(2000 + i));
        }
    }
    transfer(region, PARTNER, 0);
    if (me == 0) {
        for (i = 0; i < 50; i++)
            CHECK(filled(objects[i], 128, (uint64_t)(2000 + i)));
        for (i = 0; i < 100; i++)
            CHECK(filled(fresh[i], 128, (uint64_t)(1000 + i)));
        for (i = 100; i < 200; i++)
            CHECK(filled(objects[i], 128, (uint64_t)i));
        sys_rfree(region);
    }
}

static void region_freed(void)
{
    struct {
        rid_t region, next;
        void *object, *fresh;
    } control;
    int i, round;

    for (round = 0; round < 5; round++) {
        memset(&control, 0, sizeof control);
        if (me == 0) {
            control.region = sys_ralloc(0, 0);
            control.object = sys_alloc(5000, control.region);
            fill(control.object, 5000, (uint64_t)round);
        }
        share(0, &control, sizeof control);
        for (i = 1; i < workers; i++)
            transfer(control.region, 0, i);
        CHECK(filled(control.object, 5000, (uint64_t)round));
        sys_barrier();
        if (me == workers - 1)
            sys_rfree(control.region);
        sys_barrier();
        /* New regions may lie where the old one was; old copies do not show. */
        if (me == 0) {
            control.next = sys_ralloc(0, 0);
            control.fresh = sys_alloc(5000, control.next);
            fill(control.fresh, 5000, (uint64_t)(100 + round));
        }
        share(0, &control, sizeof control);
        transfer(control.next, 0, workers - 1);
        if (me == workers - 1) {
            CHECK(filled(control.fresh, 5000, (uint64_t)(100 + round)));
            sys_rfree(control.next);
        }
        sys_barrier();
    }
}

static void both_write(void)
{
    rid_t region = 0;
    uint64_t *object = NULL;

    if (workers < 2 || me > 1)
        return;
    if (me == 0) {
        region = sys_ralloc(0, 0);
        object = sys_alloc(10000, region);
        *object = 1;
        sys_send(region, 1);
        *object = 2;
        tell(1, &region, sizeof region);
        tell(1, &object, sizeof object);
        hear(1, &region, sizeof region);
        CHECK(*object == 2);
        CHECK(sys_recv(region, 1) == region);
        CHECK(*object == 3);
        sys_rfree(region);
    } else {
        hear(0, &region, sizeof region);
        hear(0, &object, sizeof object);
        CHECK(sys_recv(0, 0) == region);
        CHECK(*object == 1);
        *object = 3;
        sys_send(region, 0);
        *object = 4;
        tell(0, &region, sizeof region);
    }
}

/* Everybody sends to everybody before receiving; then the same region. */
static void cross(void)
{
    struct {
        rid_t region;
        void *object;
    } mine, theirs, first = {0, NULL};
    int i;

    mine.region = sys_ralloc(0, me);
    mine.object = sys_alloc(3000, mine.region);
    fill(mine.object, 3000, (uint64_t)me);
    for (i = 0; i < workers; i++)
        if (i != me)
            sys_send(mine.region, i);
    fill(mine.object, 3000, (uint64_t)(100 + me));
    for (i = 0; i < workers; i++) {
        theirs = mine;
        share(i, &theirs, sizeof theirs);
        if (i == 0)
            first = theirs;
        if (i == me)
            continue;
        CHECK(sys_recv(theirs.region, i) == theirs.region);
        CHECK(filled(theirs.object, 3000, (uint64_t)i));
    }
    CHECK(filled(mine.object, 3000, (uint64_t)(100 + me)));
    if (me <= 1 && workers > 1) {
        fill(first.object, 3000, (uint64_t)(200 + me));
        sys_send(first.region, 1 - me);
        CHECK(sys_recv(first.region, 1 - me) == first.region);
        CHECK(filled(first.object, 3000, (uint64_t)(200 + 1 - me)));
    }
}

static void many_sends(void)
{
    struct {
        rid_t small, big;
        uint64_t *count;
        char *bytes;
    } control;
    const size_t size = 1 << 20;
    uint64_t i;

    if (workers < 2 || me > 1)
        return;
    if (me == 1) {
        hear(0, &control, sizeof control);
        for (i = 0; i < 300; i++) {
            CHECK(sys_recv(i % 2 ? 0 : control.small, 0) == control.small);
            CHECK(*control.count == i);
        }
        for (i = 0; i < 20; i++) {
            CHECK(sys_recv(control.big, 0) == control.big);
            CHECK(control.bytes[0] == (char)i &&
                  control.bytes[size - 1] == (char)i);
        }
        return;
    }
    control.small = sys_ralloc(0, 0);
    control.big = sys_ralloc(0, 0);
    control.count = sys_alloc(sizeof *control.count, control.small);
    control.bytes = sys_alloc(size, control.big);
    for (i = 0; i < 300; i++) {
        *control.count = i;
        sys_send(control.small, 1);
    }
    for (i = 0; i < 20; i++) {
        memset(control.bytes, (int)i, size);
        sys_send(control.big, 1);
    }
    /* All sends are through before the first receive starts. */
    tell(1, &control, sizeof control);
}

/* A list that goes round; each worker, every time, changes and extends it. */
static void relay(void)
{
    struct {
        rid_t region;
        struct node *head;
    } control = {0, NULL};
    int turn, rounds = 4 * workers;
    struct node *node;
    uint64_t seen;

    if (me == 0)
        control.region = sys_ralloc(0, 0);
    for (turn = 0; turn < rounds; turn++) {
        int from = turn % workers, to = (turn + 1) % workers;

        if (me == from) {
            seen = 0;
            for (node = control.head; node; node = node->next) {
                CHECK(node->value % 1000 == (uint64_t)turn);
                node->value++;
                seen++;
            }
            CHECK(seen == (uint64_t)turn);
            node = sys_alloc(sizeof *node, control.region);
            node->next = control.head;
            node->value = (uint64_t)(turn + 1);
            control.head = node;
            tell(to, &control, sizeof control);
        }
        if (me == to)
            hear(from, &control, sizeof control);
        transfer(control.region, from, to);
    }
    if (me == rounds % workers)
        sys_rfree(control.region);
}

/* Worker 0 sends the same to everybody, changes it half way once, and in every
 * second round not at all; what others do with theirs stays with them. */
static void to_all(void)
{
    struct {
        rid_t region;
        unsigned char *small, *big;
    } it = {0, NULL, NULL};
    const size_t small = 200, big = 300000;
    int round, w, late = workers / 2 + 1;

    for (round = 0; round < 12; round++) {
        uint64_t seed = (uint64_t)(round / 2);

        if (me == 0 && round % 4 == 0) {
            it.region = sys_ralloc(0, 0);
            it.small = sys_alloc(small, it.region);
            it.big = sys_alloc(big, it.region);
        }
        share(0, &it, sizeof it);
        if (me == 0 && round % 2 == 0) {
            fill(it.small, small, seed);
            fill(it.big, big, seed);
        }
        for (w = 1; w < workers && me == 0; w++) {
            if (round == 5 && w == late)
                fill(it.small, small, 99);
            sys_send(it.region, w);
        }
        if (me != 0) {
            CHECK(sys_recv(it.region, 0) == it.region);
            CHECK(
                filled(it.small, small, round == 5 && me >= late ? 99 : seed));
            CHECK(filled(it.big, big, seed));
            fill(it.small, small, (uint64_t)(1000 + me));
            fill(it.big, big, (uint64_t)(1000 + me));
        }
        sys_barrier();
        CHECK(filled(it.big, big, me ? (uint64_t)(1000 + me) : seed));
        CHECK(!me || filled(it.small, small, (uint64_t)(1000 + me)));
        sys_barrier();
        if (me == 0 && round % 4 == 3)
            sys_rfree(it.region);
    }
}

static size_t size_of(int worker, int round)
{
    return 1000 + (size_t)((round * 7919 + worker * 31) % 23) * 9000;
}

/* Regions of all sizes come and go, and with them what others have of them. */
static void come_and_go(void)
{
    struct {
        rid_t region;
        char *object;
    } mine, theirs;
    int round, next = (me + 1) % workers, prev = (me + workers - 1) % workers;

    for (round = 0; round < 90 && workers > 1; round++) {
        /* Some sizes again and again, and then all of them. */
        int kind = round < 45 ? round % 3 : round;

        mine.region = sys_ralloc(0, 0);
        mine.object = sys_alloc(size_of(me, kind), mine.region);
        fill(mine.object, size_of(me, kind), (uint64_t)(me + round));
        sys_send(mine.region, next);
        tell(next, &mine, sizeof mine);
        hear(prev, &theirs, sizeof theirs);
        CHECK(sys_recv(0, prev) == theirs.region);
        CHECK(filled(theirs.object, size_of(prev, kind),
                     (uint64_t)(prev + round)));
        fill(theirs.object, size_of(prev, kind), 7);
        CHECK(filled(mine.object, size_of(me, kind), (uint64_t)(me + round)));
        sys_barrier();
        sys_rfree(round % 2 ? mine.region : theirs.region);
    }
}

const struct scenario data_scenarios[] = {
    {"root", root},
    {"shared", shared},
    {"subregion_by_other", subregion_by_other},
    {"freed_by_other", freed_by_other},
    {"region_freed", region_freed},
    {"both_write", both_write},
    {"cross", cross},
    {"many_sends", many_sends},
    {"relay", relay},
    {"to_all", to_all},
    {"come_and_go", come_and_go},
    {NULL, NULL},
};
