/*
 * What becomes of gifts, by FORM.  left: nobody takes them before MPI_Finalize.
 * giver: who should give dies; taker: who was given dies.  nomem: the taker's
 * node has no memory for the data at first.  2 ranks.
 */
#include <signal.h>
#include <unistd.h>

#include "native_check.h"

#define BYTES ((size_t)3 << 20)

static drasync_region_t made(void)
{
    drasync_region_t region;

    OK(drasync_new_region(&region));
    return region;
}

/* Nobody holds it. */
static void left(void)
{
    drasync_region_t region;

    if (check_rank == 1)
        return;
    region = made();
    for (int i = 0; i < 3; i++) {
        OK(drasync_give(region, 1, 0));
        OK(drasync_acquire(region, DRASYNC_WRITE));
    }
    OK(drasync_give(region, 1, 0));
    OK(drasync_give(made(), 1, 0));
    printf("rank 0 has it again\n");
}

static void giver_dies(void)
{
    drasync_region_t region;

    if (check_rank == 0)
        raise(SIGKILL);
    printf("rank 1: %s\n",
           drasync_errname(
               drasync_take(0, DRASYNC_ANY, DRASYNC_FOREVER, &region, NULL)));
    fflush(stdout);
    _exit(1);
}

static void taker_dies(void)
{
    drasync_region_t region;
    int err;

    /* Not before rank 0 has a region: with a death nobody makes one. */
    if (check_rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    region = made();
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    do {
        err = drasync_give(region, 1, 0);
        if (!err)
            err = drasync_acquire(region, DRASYNC_WRITE);
    } while (!err);
    printf("rank 0: %s\n", drasync_errname(err));
    fflush(stdout);
    _exit(1);
}

/* Fill this node's memory; returns how many regions that takes. */
static int fill(drasync_region_t *regions, int max)
{
    void *object;
    int count = 0;

    while (count < max && !drasync_new_region(&regions[count])) {
        if (drasync_alloc(regions[count++], (size_t)64 << 10, &object))
            break;
        memset(object, 1, (size_t)64 << 10);
    }
    return count;
}

static void nomem(void)
{
    static drasync_region_t full[4096];
    drasync_region_t region;
    int count = 0;
    void *object;

    if (check_rank == 1)
        count = fill(full, 4096);
    check_barrier();
    if (check_rank == 0) {
        region = made();
        OK(drasync_alloc(region, BYTES, &object));
        memset(object, 42, BYTES);
        OK(drasync_set_root(region, object));
        OK(drasync_give(region, 1, 0));
    } else {
        CODE(drasync_take(0, 0, DRASYNC_FOREVER, &region, NULL),
             DRASYNC_ENOMEM);
        while (count > 0)
            OK(drasync_delete(full[--count]));
        OK(drasync_take(0, 0, DRASYNC_FOREVER, &region, NULL));
        OK(drasync_get_root(region, &object));
        for (size_t i = 0; i < BYTES; i++)
            CHECK(((unsigned char *)object)[i] == 42);
        OK(drasync_release(region));
    }
    check_end("nomem");
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "left";

    check_start(&argc, &argv);
    if (!strcmp(form, "giver")) {
        giver_dies();
    } else if (!strcmp(form, "taker")) {
        taker_dies();
    } else if (!strcmp(form, "nomem")) {
        nomem();
    } else {
        left();
        MPI_Finalize();
    }
    return 0;
}
