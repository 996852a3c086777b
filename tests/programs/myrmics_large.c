/*
 * Many regions, large ones, too much of everything, and a worker that is
 * killed. Usage: myrmics_large SCENARIO NUMBER
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

/* @number regions with an object each, sent in one go, read and freed. */
static void regions(long number)
{
    long **all, *last = NULL;
    uint64_t address;
    rid_t top;

    if (me == 0) {
        top = sys_ralloc(0, 0);
        all = sys_alloc((size_t)number * sizeof(*all), top);
        for (long i = 0; i < number; i++) {
            all[i] = sys_alloc(sizeof(long), sys_ralloc(top, 0));
            *all[i] = i;
        }
        sys_send(top, workers - 1);
        address = (uint64_t)(uintptr_t)all;
        MPI_Send(&address, 1, MPI_UINT64_T, workers - 1, 1, MPI_COMM_WORLD);
    }
    if (me == workers - 1) {
        MPI_Recv(&address, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        top = sys_recv(0, 0);
        all = (long **)(uintptr_t)address;
        for (long i = 0; i < number; i++) {
            CHECK(*all[i] == i && all[i] != last);
            last = all[i];
            *all[i] = -i;
        }
        sys_rfree(top);
    }
}

/* One object of @number MiB: its ends lie far apart. */
static void huge(long number)
{
    size_t size = (size_t)number << 20;
    rid_t region = sys_ralloc(0, 0);
    char *object;

    if (me != 0)
        return;
    object = sys_alloc(size, region);
    object[0] = 1;
    object[size - 1] = 2;
    CHECK(object[0] == 1 && object[size - 1] == 2);
    object = sys_realloc(object, size / 2, region);
    CHECK(object[0] == 1);
    sys_free(object);
    sys_rfree(region);
}

/* Sends of @number MiB that nobody receives, until memory is used up. */
static void flood(long number)
{
    rid_t region = sys_ralloc(0, 0);
    void *object = sys_alloc((size_t)number << 20, region);

    memset(object, 1, (size_t)number << 20);
    for (int i = 0; me == 0 && i < 100000; i++) {
        /* Each is another one. */
        *(char *)object = (char)i;
        sys_send(region, workers - 1);
    }
}

/* The last worker dies; the others wait for it. */
static void killed(long number)
{
    sys_barrier();
    if (me == workers - 1)
        raise(SIGKILL);
    if (number == 0)
        sys_recv(0, workers - 1);
    else
        sys_barrier();
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? atol(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    if (strcmp(scenario, "regions") == 0)
        regions(number);
    else if (strcmp(scenario, "huge") == 0)
        huge(number);
    else if (strcmp(scenario, "flood") == 0)
        flood(number);
    else if (strcmp(scenario, "killed") == 0)
        killed(number);
    sys_barrier();
    if (me == 0)
        printf("ok %s\n", scenario);
    MPI_Finalize();
    return 0;
}
