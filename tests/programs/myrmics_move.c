/*
 * What DRASYNC_MYRMICS=move does and refuses, and the task calls, which are
 * refused always.  Usage: myrmics_move SCENARIO, two workers or more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "myrmics_check.h"

void sys_spawn(int first, ...);
void _sys_wait_on(char *file, int line, ...);

struct node {
    struct node *next;
    long value;
};

/* A list goes round; every worker adds to it and to its subregion. */
static void round_trip(void)
{
    rid_t region, sub;
    struct node **head = NULL, *node;
    uint64_t words[2];
    long count = 0;

    if (me == 0) {
        region = sys_ralloc(0, 0);
        sub = sys_ralloc(region, 0);
        head = sys_alloc(sizeof(*head), region);
        *head = NULL;
    } else {
        region = sys_recv(0, me - 1);
        MPI_Recv(words, 2, MPI_UINT64_T, me - 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        head = (struct node **)(uintptr_t)words[0];
        sub = (rid_t)words[1];
    }
    for (int i = 0; i < 1000; i++) {
        node = sys_alloc(sizeof(*node), i % 2 ? region : sub);
        CHECK((uintptr_t)node % 64 == 0);
        node->next = *head;
        node->value = me;
        *head = node;
    }
    words[0] = (uint64_t)(uintptr_t)head;
    words[1] = sub;
    sys_send(region, (me + 1) % workers);
    if (me + 1 < workers)
        MPI_Send(words, 2, MPI_UINT64_T, me + 1, 1, MPI_COMM_WORLD);
    if (me > 0)
        return;
    CHECK(sys_recv(region, workers - 1) == region);
    for (node = *head; node; node = node->next)
        count += node->value + 1;
    CHECK(count == 1000L * workers * (workers + 1) / 2);
    sys_rfree(region);
}

/* Subregions go away one by one while their parent stays. */
static void part_away(void)
{
    rid_t top, parts[64];
    long *numbers[64];
    uint64_t address;

    if (me > 0) {
        rid_t part = sys_recv(0, 0);
        long *number;

        MPI_Recv(&address, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        number = (long *)(uintptr_t)address;
        *number += me;
        *(long *)sys_alloc(100000, part) = me;
        sys_send(part, 0);
        return;
    }
    top = sys_ralloc(0, 1);
    for (int w = 1; w < workers; w++) {
        parts[w] = sys_ralloc(top, 0);
        numbers[w] = sys_alloc(sizeof(long), parts[w]);
        *numbers[w] = 100;
        sys_send(parts[w], w);
        address = (uint64_t)(uintptr_t)numbers[w];
        MPI_Send(&address, 1, MPI_UINT64_T, w, 1, MPI_COMM_WORLD);
    }
    for (int w = 1; w < workers; w++) {
        CHECK(sys_recv(parts[w], w) == parts[w]);
        CHECK(*numbers[w] == 100 + w);
    }
    sys_rfree(top);
}

/* A subregion that was freed does not keep its parent from being freed:
 * whoever freed it, and whoever was told that it is there. */
static void child_freed(void)
{
    rid_t top, sub;

    if (me == 0) {
        /* Worker 1 was told of it; its parent's owner frees it. */
        top = sys_ralloc(0, 0);
        sub = sys_ralloc(top, 0);
        sys_ralloc(sub, 0);
        sys_send(top, 1);
        sys_recv(top, 1);
        sys_rfree(sub);
        sys_send(top, 1);
        /* Worker 1 frees it, while its parent is here. */
        top = sys_ralloc(0, 0);
        sub = sys_ralloc(top, 0);
        sys_send(sub, 1);
        told(1);
        sys_rfree(top);
        /* Worker 1 frees it; its parent has gone to worker 2 before. */
        top = sys_ralloc(0, 0);
        sub = sys_ralloc(top, 0);
        sys_send(sub, 1);
        sys_send(top, 2);
    } else if (me == 1) {
        sys_send(sys_recv(0, 0), 0);
        sys_rfree(sys_recv(0, 0));
        sys_rfree(sys_recv(0, 0));
        tell(0, 0);
        sys_rfree(sys_recv(0, 0));
        tell(2, 0);
    } else if (me == 2) {
        top = sys_recv(0, 0);
        told(1);
        sys_rfree(top);
    }
}

/* What a worker owns below a region goes along with it, whoever made it and
 * whoever has what is between them. */
static void grandchild(void)
{
    rid_t top, mid, below, leaf;

    if (me == 0) {
        top = sys_ralloc(0, 0);
        mid = sys_ralloc(top, 0);
        sys_send(mid, 1);
        leaf = (rid_t)told(1);
        sys_recv(leaf, 1);
        sys_send(top, 2);
        tell(2, leaf);
        told(2);
        /* The rest comes back, and it is known again what is below it. */
        sys_recv(mid, 1);
        sys_recv(top, 2);
        sys_alloc(8, leaf);
        sys_rfree(top);
    } else if (me == 1) {
        mid = sys_recv(0, 0);
        below = sys_ralloc(mid, 0);
        leaf = sys_ralloc(below, 0);
        tell(0, leaf);
        sys_send(leaf, 0);
        sys_send(below, 2);
        tell(2, below);
        sys_send(mid, 0);
    } else if (me == 2) {
        below = (rid_t)told(1);
        sys_recv(below, 1);
        top = sys_recv(0, 0);
        leaf = (rid_t)told(0);
        sys_alloc(8, leaf);
        sys_alloc(8, below);
        sys_send(top, 0);
        tell(0, 0);
    }
}

/* A region with the number @wanted, which is free, or will be when that has come
 * from the node where it was freed; 0: this worker gets none. */
static rid_t made_again(rid_t wanted)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    rid_t made = 0;

    for (int i = 0; i < 2000 && made != wanted; i++) {
        if (i % 2)
            nanosleep(&nap, NULL);
        made = sys_ralloc(0, 0);
    }
    return made == wanted ? made : 0;
}

/* Where a freed number comes from again: the node that it came from first. */
static int maker_again(void)
{
    return getenv("DRASYNC_NODE") ? 0 : 1;
}

/* Its region is not touched by what others free. */
static void lives_on(rid_t region, int freed_by, int know)
{
    int *number = sys_alloc(sizeof(*number), region);

    *number = 42;
    if (know) {
        sys_send(region, freed_by);
        CHECK(sys_recv(0, freed_by) == region);
    }
    tell(freed_by, 0);
    told(freed_by);
    number = sys_realloc(number, 100, region);
    CHECK(*number == 42);
    sys_rfree(region);
}

/* The number of a freed subregion is that of another region: this one lives
 * on when the parent of the first is freed.  @know: who frees the parent has
 * had that other region. */
static void number_again(int know)
{
    rid_t top, sub = 0;

    if (me == 0) {
        top = sys_ralloc(0, 0);
        sub = sys_ralloc(top, 0);
        sys_send(sub, 1);
        sys_send(top, 2);
        told(1);
    } else if (me == 1) {
        sub = sys_recv(0, 0);
        sys_rfree(sub);
        tell(0, 0);
    } else if (me == 2) {
        top = sys_recv(0, 0);
        if (know)
            sys_send(sys_recv(0, maker_again()), maker_again());
        told(maker_again());
        sys_rfree(top);
        tell(maker_again(), 0);
    }
    if (me != maker_again())
        return;
    CHECK(made_again(sub));
    lives_on(sub, 2, know);
}

/*
 * Worker 1 keeps a subregion, and lends what it is below to worker 0; back, it
 * still is, and goes along the next time, though worker 0 has known its number as
 * another region's.
 */
static void kept_below(void)
{
    for (int i = 0; i < 30; i++) {
        struct {
            rid_t whole, part;
            int *in_whole, *in_part;
        } r = {0};

        if (me == 1) {
            /* Every other time the two have each other's numbers. */
            rid_t other = i % 2 ? sys_ralloc(0, 0) : 0;

            r.whole = sys_ralloc(0, 0);
            if (other)
                sys_rfree(other);
            r.part = sys_ralloc(r.whole, 0);
            r.in_whole = sys_alloc(sizeof(int), r.whole);
            r.in_part = sys_alloc(sizeof(int), r.part);
            *r.in_whole = *r.in_part = i;
        }
        MPI_Bcast(&r, sizeof(r), MPI_BYTE, 1, MPI_COMM_WORLD);
        if (me == 1) {
            sys_send(r.part, 1);
            sys_send(r.whole, 0);
            sys_recv(r.part, 1);
            sys_recv(r.whole, 0);
            CHECK(*r.in_whole == i + 1 && *r.in_part == i);
            *r.in_part = i + 2;
            sys_send(r.whole, 0);
        } else if (me == 0) {
            sys_recv(r.whole, 1);
            ++*r.in_whole;
            sys_send(r.whole, 1);
            sys_recv(r.whole, 1);
            CHECK(*r.in_whole == i + 1 && *r.in_part == i + 2);
            sys_send(r.whole, 1);
        }
        if (me == 1) {
            sys_recv(r.whole, 0);
            sys_rfree(r.whole);
        }
    }
}

static void number_again_unknown(void)
{
    number_again(0);
}

static void number_again_known(void)
{
    number_again(1);
}

/* The same, and who frees the parent has made the other region itself. */
static void number_again_own(void)
{
    rid_t top, sub, again;
    int *number;

    if (me == 0) {
        top = sys_ralloc(0, 0);
        sub = sys_ralloc(top, 0);
        sys_send(sub, 1);
        told(1);
        sys_send(top, 1);
    } else if (me == 1) {
        sub = sys_recv(0, 0);
        sys_rfree(sub);
        again = made_again(sub);
        CHECK(again);
        number = sys_alloc(sizeof(*number), again);
        tell(0, 0);
        sys_rfree(sys_recv(0, 0));
        number = sys_realloc(number, 100, again);
        CHECK(number != NULL);
        sys_rfree(again);
    }
}

/* What was sent is freed by its receiver; its pages come again, as what this
 * worker makes, and as what it gets. */
static void freed_elsewhere(void)
{
    for (int i = 0; i < 100; i++) {
        rid_t region;

        if (me == 0) {
            region = sys_ralloc(0, 0);
            for (int k = 0; k <= i % 4; k++)
                memset(sys_alloc(20000, region), 1, 20000);
            sys_send(region, 1);
        } else if (me == 1) {
            sys_rfree(sys_recv(0, 0));
        }
        /* At first worker 1 makes none, and has no use for what it freed. */
        if (me == 1 && i >= 60) {
            region = sys_ralloc(0, 0);
            memset(sys_alloc(30000, region), 1, 30000);
            sys_send(region, 0);
        } else if (me == 0 && i >= 60) {
            region = sys_recv(0, 1);
            memset(sys_alloc(50000, region), 2, 50000);
            sys_rfree(region);
        }
        sys_barrier();
    }
}

/* The last worker has sent a region to worker 0, which never takes it. */
static rid_t __attribute__((noinline)) gone(void **object)
{
    rid_t region;

    if (me != workers - 1)
        return 0;
    region = sys_ralloc(0, 0);
    *object = sys_alloc(64, region);
    memset(*object, 1, 64);
    sys_send(region, 0);
    return region;
}

static void alloc_elsewhere(void)
{
    void *object;
    rid_t region = gone(&object);

    if (region)
        sys_alloc(64, region);
}

static void send_twice(void)
{
    void *object;
    rid_t region = gone(&object);

    if (region)
        sys_send(region, 0);
}

static void free_elsewhere(void)
{
    void *object;

    if (gone(&object))
        sys_free(object);
}

static void send_root(void)
{
    if (me == workers - 1)
        sys_send(0, 0);
}

static void child_away(void)
{
    rid_t region;

    if (me != workers - 1)
        return;
    region = sys_ralloc(0, 0);
    sys_send(sys_ralloc(region, 0), 0);
    sys_rfree(region);
}

static void __attribute__((noinline)) touch_it(volatile char *object)
{
    object[3] = 2;
}

static void __attribute__((noinline)) touch(void)
{
    void *object;

    if (gone(&object))
        touch_it(object);
    __asm__ volatile(""); /* this frame stays */
}

/* It was told the address, and not sent the region. */
static void __attribute__((noinline)) touch_foreign(void)
{
    if (me == 0)
        tell(workers - 1, (uint64_t)(uintptr_t)sys_alloc(64, sys_ralloc(0, 0)));
    if (me == workers - 1)
        touch_it((char *)(uintptr_t)told(0));
    __asm__ volatile("");
}

/* A call writes there what the program told it to. */
static void __attribute__((noinline)) touch_by_call(void)
{
    void *object;

    if (gone(&object))
        sys_balloc(64, 0, 4, object);
    __asm__ volatile("");
}

static void spawn(void)
{
    if (me == workers - 1)
        sys_spawn(1, 2, 3);
}

static void wait_on(void)
{
    if (me == workers - 1)
        _sys_wait_on("task.c", 7, NULL);
}

static const struct scenario scenarios[] = {
    {"round_trip", round_trip},
    {"part_away", part_away},
    {"child_freed", child_freed},
    {"grandchild", grandchild},
    {"kept_below", kept_below},
    {"number_again_unknown", number_again_unknown},
    {"number_again_known", number_again_known},
    {"number_again_own", number_again_own},
    {"freed_elsewhere", freed_elsewhere},
    {"alloc_elsewhere", alloc_elsewhere},
    {"send_twice", send_twice},
    {"free_elsewhere", free_elsewhere},
    {"send_root", send_root},
    {"child_away", child_away},
    {"touch", touch},
    {"touch_by_call", touch_by_call},
    {"touch_foreign", touch_foreign},
    {"spawn", spawn},
    {"wait_on", wait_on},
};

int main(int argc, char **argv)
{
    started(&argc, &argv);
    run_named(scenarios, sizeof(scenarios) / sizeof(scenarios[0]), argc, argv);
    if (me == 0)
        printf("ok %s\n", argc > 1 ? argv[1] : "");
    MPI_Finalize();
    return 0;
}
