/*
 * A circle that nobody refers to or holds any more has ended when
 * drasync_collect() returns, whatever other ranks search for meanwhile, on its
 * node and on others.  It is held when it is searched for first, which may take
 * parts of it to another node.  In one round of all it may be left: if a rank that
 * holds a part is not scheduled for 50 ms.
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

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, left = 0, lefts;

    check_start(&argc, &argv);
    for (int i = 0; i < rounds; i++)
        left += once();
    MPI_Allreduce(&left, &lefts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(lefts <= 1);
    wait_for_ends();
    return check_end("circle soon");
}
