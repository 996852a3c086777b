/*
 * What DRASYNC_MYRMICS=move does and refuses, and the task calls, which are
 * refused always.  Usage: myrmics_move SCENARIO, two workers or more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* The last worker has sent a region to worker 0, which never takes it. */
static rid_t gone(void **object)
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

static void touch(void)
{
    void *object;

    if (gone(&object))
        touch_it(object);
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

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"round_trip", round_trip},
    {"part_away", part_away},
    {"alloc_elsewhere", alloc_elsewhere},
    {"send_twice", send_twice},
    {"free_elsewhere", free_elsewhere},
    {"send_root", send_root},
    {"child_away", child_away},
    {"touch", touch},
    {"spawn", spawn},
    {"wait_on", wait_on},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0)
            scenarios[i].run();
    sys_barrier();
    if (me == 0)
        printf("ok %s\n", argc > 1 ? argv[1] : "");
    MPI_Finalize();
    return 0;
}
