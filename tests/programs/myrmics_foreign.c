/*
 * DRASYNC_MYRMICS=move: a worker uses a region that another one has, which ends
 * the job with a line.  Usage: myrmics_foreign SCENARIO, three workers or more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

/* Worker 0 has a region, of which the last one was told; to others this is 0. */
static rid_t told_of(void **object)
{
    rid_t region = 0;

    if (me == 0) {
        region = sys_ralloc(0, 0);
        tell(workers - 1, region);
        tell(workers - 1, (uint64_t)(uintptr_t)sys_alloc(64, region));
    }
    if (me != workers - 1)
        return 0;
    region = (rid_t)told(0);
    *object = (void *)(uintptr_t)told(0);
    return region;
}

static void allocate(void)
{
    void *object = NULL;
    rid_t region = told_of(&object);

    if (region)
        sys_alloc(64, region);
}

static void send_it(void)
{
    void *object = NULL;
    rid_t region = told_of(&object);

    if (region)
        sys_send(region, 1);
}

static void free_in_it(void)
{
    void *object = NULL;

    if (told_of(&object))
        sys_free(object);
}

/* It has been sent on since this worker had it. */
static void sent_on(void)
{
    rid_t region = 0;

    if (me == workers - 1) {
        region = sys_ralloc(0, 0);
        sys_send(region, 0);
        tell(1, region);
        told(1);
        sys_alloc(64, region);
    } else if (me == 0) {
        sys_send(sys_recv(0, workers - 1), 1);
    } else if (me == 1) {
        region = (rid_t)told(workers - 1);
        CHECK(sys_recv(0, 0) == region);
        tell(workers - 1, 0);
    }
}

/* It was sent to worker 1, which does not receive it. */
static void on_its_way(void)
{
    rid_t region;

    if (me == 0) {
        region = sys_ralloc(0, 0);
        sys_send(region, 1);
        tell(workers - 1, region);
    }
    if (me == workers - 1)
        sys_alloc(8, (rid_t)told(0));
    told(workers - 1);
}

static const struct scenario scenarios[] = {
    {"allocate", allocate},
    {"send", send_it},
    {"free", free_in_it},
    {"sent_on", sent_on},
    {"on_its_way", on_its_way},
};

int main(int argc, char **argv)
{
    started(&argc, &argv);
    run_named(scenarios, sizeof(scenarios) / sizeof(scenarios[0]), argc, argv);
    MPI_Finalize();
    return 0;
}
