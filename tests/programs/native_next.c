/*
 * Four ranks, two on a node: while rank 0 waits for a region, and rank 1 has said
 * that it will want a part of it, the last rank, on the other node, deletes it,
 * makes another, which may have its addresses, or those of one before, and tells
 * rank 1.  That acquires or deletes the new one, whatever its own node still knows of the old
 * ones.
 */
#include <time.h>

#include "native_check.h"

#define ROUNDS 600

struct pair {
    drasync_region_t whole, part;
};

static void nap(int round)
{
    const struct timespec t = {.tv_nsec = round % 3 ? round % 7 * 10000
                                                    : round % 2 * 400000};

    nanosleep(&t, NULL);
}

/* Each part has a number. */
static struct pair make(int number)
{
    struct pair p;
    void *v;

    OK(drasync_new_region(&p.whole));
    OK(drasync_new_subregion(p.whole, &p.part));
    OK(drasync_alloc(p.part, sizeof(int), &v));
    *(int *)v = number;
    OK(drasync_set_root(p.part, v));
    OK(drasync_release(p.whole));
    return p;
}

/* Others may wait for it at this moment: that is no hold. */
static void delete_it(drasync_region_t region)
{
    int err = drasync_delete(region);

    while (err == DRASYNC_EBUSY)
        err = drasync_delete(region);
    CODE(err, DRASYNC_OK);
}

static void wait_for(drasync_region_t region)
{
    int err = drasync_acquire(region, DRASYNC_READ);

    /* 0: it came late, and had the next one. */
    CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION || err == 0);
    if (!err)
        OK(drasync_release(region));
}

static void look(const struct pair *next, int round)
{
    drasync_region_t region = round % 2 ? next->whole : next->part;
    drasync_request_t request;
    void *v;

    if (round % 5) {
        OK(drasync_acquire(region, round % 3 ? DRASYNC_WRITE : DRASYNC_READ));
    } else {
        OK(drasync_iacquire(region, DRASYNC_WRITE, &request));
        OK(drasync_wait(&request, DRASYNC_FOREVER));
    }
    OK(drasync_get_root(next->part, &v));
    CHECK(*(int *)v == round);
    OK(drasync_release(region));
}

int main(int argc, char **argv)
{
    struct pair old = {0}, next = {0};
    int last;

    check_start(&argc, &argv);
    last = check_ranks - 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank == last)
            old = make(-1);
        MPI_Bcast(&old, sizeof(old), MPI_BYTE, last, MPI_COMM_WORLD);
        if (check_rank == 0 && round % 4) {
            wait_for(old.whole);
        } else if (check_rank == last) {
            nap(round);
            delete_it(old.whole);
            next = make(round);
            MPI_Send(&next, sizeof(next), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else if (check_rank == 1) {
            drasync_ahead(old.part, DRASYNC_READ);
            MPI_Recv(&next, sizeof(next), MPI_BYTE, last, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            if (round % 6 == 5)
                delete_it(next.whole);
            else
                look(&next, round);
        }
        check_barrier();
        if (check_rank == last && round % 6 != 5)
            delete_it(next.whole);
        check_barrier();
    }
    return check_end("next");
}
