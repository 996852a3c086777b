/*
 * native_refused WAY: the last rank dies with a hold; the others do not wait for
 * it, but ask again and again, and that has an end too.  WAY is how they ask:
 * try, read, below, timed, test, wait, delete; handed, a try for what they had
 * before; or lookup, for a name that the dead rank would have given.
 */
#include <signal.h>

#include "native_check.h"

static int test(drasync_region_t r)
{
    static drasync_request_t request;
    int done = 0, err;

    if (!request)
        OK(drasync_iacquire(r, DRASYNC_WRITE, &request));
    err = drasync_test(&request, &done);
    CHECK(done ? !request : !err);
    return done ? err : DRASYNC_EAGAIN;
}

static int wait(drasync_region_t r)
{
    static drasync_request_t request;

    if (!request)
        OK(drasync_iacquire(r, DRASYNC_WRITE, &request));
    int err = drasync_wait(&request, 0);

    CHECK(!request == (err != DRASYNC_EAGAIN));
    return err;
}

/* What cannot be had is DRASYNC_EAGAIN, for a deletion too. */
static int ask(const char *way, drasync_region_t top, drasync_region_t below)
{
    int err;

    if (!strcmp(way, "try") || !strcmp(way, "handed"))
        return drasync_try_acquire(top, DRASYNC_WRITE);
    if (!strcmp(way, "read"))
        return drasync_try_acquire(top, DRASYNC_READ);
    if (!strcmp(way, "below"))
        return drasync_try_acquire(below, DRASYNC_WRITE);
    if (!strcmp(way, "timed"))
        return drasync_acquire_timed(top, DRASYNC_WRITE, 1);
    if (!strcmp(way, "test"))
        return test(top);
    if (!strcmp(way, "wait"))
        return wait(top);
    if (!strcmp(way, "lookup"))
        return drasync_lookup("nobody gives this name", 0, &top);
    CHECK(!strcmp(way, "delete"));
    err = drasync_delete(top);
    return err == DRASYNC_EBUSY ? DRASYNC_EAGAIN : err;
}

/* Ranks of a node give it to each other without steps then. */
static void hand_around(drasync_region_t r, int last)
{
    if (check_rank == last)
        OK(drasync_release(r));
    check_barrier();
    for (int i = 0; i < 1000; i++) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_release(r));
    }
    check_barrier();
    if (check_rank == last)
        OK(drasync_acquire(r, DRASYNC_WRITE));
    check_barrier();
}

/* None of the others waits for a message of this rank any more. */
static void die_when_all_are_here(void)
{
    for (int from = 0; from < check_ranks - 1; from++)
        MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    drasync_region_t top = NULL, below = NULL;
    int last, err;

    check_start(&argc, &argv);
    CHECK(argc > 1);
    last = check_ranks - 1;
    if (check_rank == last) {
        OK(drasync_new_region(&top));
        OK(drasync_new_subregion(top, &below));
    }
    check_share(&top, last);
    check_share(&below, last);
    if (!strcmp(argv[1], "handed"))
        hand_around(top, last);
    if (check_rank == last)
        die_when_all_are_here();
    CODE(ask(argv[1], top, below), DRASYNC_EAGAIN);
    MPI_Send(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD);
    while ((err = ask(argv[1], top, below)) == DRASYNC_EAGAIN)
        ;
    printf("rank %d: %s\n", check_rank, drasync_errname(err));
    fflush(stdout);
    return 1;
}
