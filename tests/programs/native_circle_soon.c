/*
 * A circle that nobody refers to or holds any more has ended when
 * drasync_collect() returns, whatever other ranks search for meanwhile, on its
 * node and on others, and however long its data takes to come.  It is held when it
 * is searched for first, which may take parts of it to another node.
 */
#include "native_managed.h"

/* Is it left? */
static int once(void)
{
    drasync_weak_t weak;
    drasync_region_t first = ring(&weak, 3), got;
    int err;

    OK(drasync_acquire(first, DRASYNC_READ));
    OK(drasync_unref(first));
    OK(drasync_collect());
    OK(drasync_ref(first));
    OK(drasync_release(first));
    OK(drasync_collect());
    read_it(first, 30);
    OK(drasync_unref(first));
    OK(drasync_collect());
    err = drasync_weak_lock(&weak, &got);
    CHECK(err == 0 || err == DRASYNC_EDELETED);
    if (!err)
        OK(drasync_unref(got));
    return !err;
}

/* Much of the circle is at another node, which takes a while to bring here. */
static void large(void)
{
    const size_t bytes = (size_t)256 << 20;
    drasync_region_t first = NULL, got;
    drasync_weak_t weak;
    void *v;

    if (check_rank == 0)
        first = ring(&weak, 3);
    check_share(&first, 0);
    if (check_rank == check_ranks - 1) { /* of another node, if there is one */
        OK(drasync_acquire(first, DRASYNC_WRITE));
        OK(drasync_alloc(first, bytes, &v));
        memset(v, 1, bytes);
        OK(drasync_release(first));
    }
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_unref(first));
        OK(drasync_collect());
        CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, left = 0, lefts;

    check_start(&argc, &argv);
    for (int i = 0; i < rounds; i++)
        left += once();
    MPI_Allreduce(&left, &lefts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(lefts == 0);
    wait_for_ends();
    large();
    return check_end("circle soon");
}
