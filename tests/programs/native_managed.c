/*
 * Managed regions: references that are taken, given on and given back, weak
 * handles, what is called at the end, and every misuse.
 */
#include "native_managed.h"

/* --- Misuse --------------------------------------------------------------- */

static void after_end(drasync_region_t region, void *arg)
{
    /* Nothing is there any more. */
    int err = drasync_acquire(region, DRASYNC_READ);

    if (err != DRASYNC_ENOREGION)
        CODE(err, DRASYNC_EDELETED);
    (*(int *)arg)++;
}

static void misuse(void)
{
    drasync_region_t region, below, nothing = NULL, got;
    drasync_weak_t weak, wrong;
    int ends = 0;

    OK(drasync_new_region(&region));
    CODE(drasync_ref(region), DRASYNC_EINVAL);
    CODE(drasync_unref(region), DRASYNC_EINVAL);
    CODE(drasync_ref_give(region, 0), DRASYNC_EINVAL);
    CODE(drasync_weak(region, &weak), DRASYNC_EINVAL);
    CODE(drasync_on_end(region, after_end, &ends), DRASYNC_EINVAL);
    OK(drasync_new_subregion(region, &below));
    CODE(drasync_manage(below), DRASYNC_EINVAL);
    CODE(drasync_manage(nothing), DRASYNC_ENOREGION);
    OK(drasync_manage(region));
    CODE(drasync_manage(region), DRASYNC_EMANAGED);
    CODE(drasync_delete(region), DRASYNC_EMANAGED);
    OK(drasync_ref(region));
    CODE(drasync_ref_give(region, -1), DRASYNC_EINVAL);
    CODE(drasync_ref_give(region, check_ranks), DRASYNC_EINVAL);
    CODE(drasync_on_end(region, NULL, NULL), DRASYNC_EINVAL);
    CODE(drasync_weak(region, NULL), DRASYNC_EINVAL);
    OK(drasync_on_end(region, after_end, &ends));
    OK(drasync_weak(region, &weak));
    wrong = weak;
    wrong.word[0] ^= 4;
    CODE(drasync_weak_lock(&wrong, &got), DRASYNC_EINVAL);
    wrong = (drasync_weak_t){{0, 0}};
    CODE(drasync_weak_lock(&wrong, &got), DRASYNC_EINVAL);
    CODE(drasync_weak_lock(NULL, &got), DRASYNC_EINVAL);
    OK(drasync_release(region));
    OK(drasync_weak_lock(&weak, &got));
    CHECK(got == region);
    OK(drasync_unref(region));
    OK(drasync_unref(region));
    CHECK(!ends);
    OK(drasync_unref(region));
    CHECK(ends == 1);
    CODE(drasync_unref(region), DRASYNC_EINVAL);
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
}

/* What a link has is not the program's to give back. */
static void one_too_many(void)
{
    struct node *node;
    drasync_region_t from = make(&node, 12), to = make(&node, 13), got;
    drasync_weak_t weak = node->weak;

    OK(drasync_acquire(from, DRASYNC_WRITE));
    OK(drasync_link(from, to));
    OK(drasync_release(from));
    OK(drasync_unref(to));
    CODE(drasync_unref(to), DRASYNC_EINVAL);
    CODE(drasync_ref_give(to, (check_rank + 1) % check_ranks), DRASYNC_EINVAL);
    OK(drasync_weak_lock(&weak, &got));
    read_it(to, 13);
    OK(drasync_unref(to));
    OK(drasync_unref(from));
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
}

/* --- One region and all ranks --------------------------------------------- */

/* It goes from rank to rank, each of which gives it on; the last one ends it. */
static void chain(void)
{
    const int from = (check_rank + check_ranks - 1) % check_ranks;
    const int to = (check_rank + 1) % check_ranks;
    drasync_region_t region = NULL;
    struct node *node;

    if (check_rank == 0)
        region = make(&node, 17);
    else
        MPI_Recv(&region, sizeof(region), MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    read_it(region, 17);
    if (to != 0) {
        OK(drasync_ref_give(region, to));
        MPI_Send(&region, sizeof(region), MPI_BYTE, to, 0, MPI_COMM_WORLD);
    } else {
        OK(drasync_unref(region));
    }
    wait_for_ends();
}

/* Weak handles keep nothing, and give a reference while there is one. */
static void weak_handles(void)
{
    drasync_region_t region = NULL, got;
    drasync_weak_t weak = {{0, 0}};
    struct node *node;

    if (check_rank == 0) {
        region = make(&node, 18);
        OK(drasync_weak(region, &weak));
    }
    MPI_Bcast(&weak, sizeof(weak), MPI_BYTE, 0, MPI_COMM_WORLD);
    OK(drasync_weak_lock(&weak, &got));
    read_it(got, 18);
    OK(drasync_ref(got));
    OK(drasync_unref(got));
    OK(drasync_unref(got));
    check_barrier();
    /* Rank 0 has the first one still. */
    OK(drasync_weak_lock(&weak, &got));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_unref(region));
    read_it(got, 18);
    OK(drasync_unref(got));
    wait_for_ends();
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
    check_barrier();
    /* A later region there is another one. */
    if (check_rank == 0) {
        for (int i = 0; i < 64; i++) {
            region = make(&node, 19);
            OK(drasync_unref(region));
        }
        region = make(&node, 19);
    }
    check_barrier();
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_unref(region));
    wait_for_ends();
}

/* A hold keeps what nobody refers to, and may take a reference again. */
static void held(void)
{
    const int last = check_ranks - 1;
    struct drasync_managed_stats stats;
    drasync_region_t region = NULL;
    struct node *node;

    if (check_rank == 0)
        region = make(&node, 20);
    check_share(&region, 0);
    if (check_rank == last)
        OK(drasync_acquire(region, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_unref(region));
        OK(drasync_collect());
        OK(drasync_get_managed_stats(&stats));
        CHECK(stats.unused == 1 && stats.managed == stats.ended + 1);
    }
    check_barrier();
    if (check_rank == last) {
        OK(drasync_ref(region));
        OK(drasync_release(region));
    }
    check_barrier();
    OK(drasync_collect());
    check_barrier();
    if (check_rank == last) {
        read_it(region, 20);
        OK(drasync_unref(region));
    }
    wait_for_ends();
}

/* Of two that lingered, the first is given back: that one ends. */
static void held_two(void)
{
    const int last = check_ranks - 1;
    drasync_region_t regions[2] = {NULL, NULL};
    struct drasync_managed_stats stats;
    struct node *node;

    for (int i = 0; i < 2; i++) {
        if (check_rank == 0)
            regions[i] = make(&node, 21);
        check_share(&regions[i], 0);
        if (check_rank == last)
            OK(drasync_acquire(regions[i], DRASYNC_READ));
    }
    check_barrier();
    for (int i = 0; i < 2 && check_rank == 0; i++)
        OK(drasync_unref(regions[i]));
    check_barrier();
    if (check_rank == last)
        OK(drasync_release(regions[0]));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_collect());
        OK(drasync_get_managed_stats(&stats));
        CHECK(stats.unused == 1);
    }
    check_barrier();
    if (check_rank == last)
        OK(drasync_release(regions[1]));
    wait_for_ends();
}

/* It ends in one call, up to what is referred to. */
static void long_list(void)
{
    drasync_region_t last, first = NULL, middle = NULL;
    struct drasync_managed_stats before, after;
    struct node *node;

    OK(drasync_get_managed_stats(&before));
    for (int i = 0; i < 1000; i++) {
        last = first;
        first = make(&node, 1);
        if (i == 500)
            middle = first;
        if (!i)
            continue;
        OK(drasync_acquire(first, DRASYNC_WRITE));
        OK(drasync_link(first, last));
        OK(drasync_release(first));
        if (last != middle)
            OK(drasync_unref(last));
    }
    OK(drasync_unref(first));
    OK(drasync_get_managed_stats(&after));
    CHECK(after.ended - before.ended == 499);
    read_it(middle, 1);
    OK(drasync_unref(middle));
    OK(drasync_get_managed_stats(&after));
    CHECK(after.ended - before.ended == 1000);
}

/* Lists of regions: the end of the first is that of all, unless somebody refers
 * to one of them. */
/* Not held, or, on a node that has never met it, not known to be a region. */
static int is_refused(int err)
{
    return err == DRASYNC_ENOTHELD || err == DRASYNC_ENOREGION;
}

/* Of regions that the rank before has, and this node knows nothing of. */
static void links_unknown(void)
{
    drasync_region_t mine, theirs;
    struct drasync_stats stats;
    struct node *node;

    OK(drasync_get_stats(&stats));
    mine = make(&node, 23);
    MPI_Sendrecv(&mine, sizeof(mine), MPI_BYTE, (check_rank + 1) % check_ranks,
                 0, &theirs, sizeof(theirs), MPI_BYTE,
                 (check_rank + check_ranks - 1) % check_ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is_refused(drasync_link(theirs, mine)));
    CHECK(is_refused(drasync_unlink(theirs, mine)));
    OK(drasync_acquire(mine, DRASYNC_WRITE));
    if (stats.nodes == check_ranks && check_ranks > 1)
        CHECK(is_refused(drasync_link(mine, theirs)));
    CODE(drasync_unlink(mine, theirs), DRASYNC_EINVAL);
    OK(drasync_release(mine));
    check_barrier();
    OK(drasync_unref(mine));
    wait_for_ends();
}

static void links(void)
{
    drasync_region_t mine, last, first = NULL;
    struct node *node;

    /* One of each rank, each linked to that of the rank before. */
    mine = make(&node, (uint64_t)check_rank);
    CODE(drasync_link(mine, mine), DRASYNC_ENOTHELD);
    for (int rank = 0; rank < check_ranks; rank++) {
        last = first;
        first = mine;
        if (check_rank == rank && rank) {
            OK(drasync_acquire(mine, DRASYNC_WRITE));
            CODE(drasync_unlink(mine, last), DRASYNC_EINVAL);
            OK(drasync_acquire(last, DRASYNC_READ));
            OK(drasync_link(mine, last));
            OK(drasync_link(mine, last));
            OK(drasync_unlink(mine, last));
            OK(drasync_release(last));
            OK(drasync_release(mine));
        }
        check_share(&first, rank);
    }
    check_barrier();
    if (check_rank != check_ranks - 1)
        OK(drasync_unref(mine));
    check_barrier();
    for (int i = 0; i < 3; i++) {
        OK(drasync_collect());
        check_barrier();
    }
    read_it(mine, (uint64_t)check_rank);
    check_barrier();
    if (check_rank == check_ranks - 1)
        OK(drasync_unref(mine));
    wait_for_ends();
    /* Alone, since it counts what ends. */
    if (check_rank == 0)
        long_list();
    check_barrier();
}

/* They end, unless somebody refers to one part of them, or holds it. */
static void circles(void)
{
    drasync_weak_t weak[4], held_weak;
    drasync_region_t got, kept, held;

    for (int i = 0; i < 4; i++)
        OK(drasync_unref(ring(&weak[i], i + 1)));
    kept = ring(&weak[0], 5);
    held = ring(&held_weak, 3);
    OK(drasync_acquire(held, DRASYNC_READ));
    OK(drasync_unref(held));
    OK(drasync_collect());
    for (int i = 1; i < 4; i++)
        CODE(drasync_weak_lock(&weak[i], &got), DRASYNC_EDELETED);
    OK(drasync_weak_lock(&weak[0], &got));
    CHECK(got == kept);
    OK(drasync_unref(got));
    read_it(kept, 30);
    /* A hold may refer to it again. */
    OK(drasync_ref(held));
    OK(drasync_release(held));
    OK(drasync_collect());
    read_it(held, 30);
    OK(drasync_unref(held));
    OK(drasync_unref(kept));
    OK(drasync_collect());
    CODE(drasync_weak_lock(&weak[0], &got), DRASYNC_EDELETED);
    CODE(drasync_weak_lock(&held_weak, &got), DRASYNC_EDELETED);
    wait_for_ends();
}

static void count_end(drasync_region_t region, void *arg)
{
    (void)region;
    (*(int *)arg)++;
}

/* Every rank is told of the end once, whoever brings it about. */
static void told(void)
{
    drasync_region_t region = NULL;
    struct node *node;
    int ends = 0;

    if (check_rank == 0) {
        region = make(&node, 21);
        for (int rank = 1; rank < check_ranks; rank++) {
            OK(drasync_ref(region));
            OK(drasync_ref_give(region, rank));
        }
    }
    check_share(&region, 0);
    OK(drasync_on_end(region, count_end, &ends));
    check_barrier();
    CHECK(!ends);
    OK(drasync_unref(region));
    wait_for_ends();
    while (!ends)
        OK(drasync_collect());
    check_barrier();
    OK(drasync_collect());
    CHECK(ends == 1);
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    /* In turn: others might make regions at the addresses of those that ended. */
    for (int i = 0; i < check_ranks; i++) {
        if (i == check_rank) {
            misuse();
            one_too_many();
        }
        check_barrier();
    }
    wait_for_ends();
    chain();
    weak_handles();
    held();
    held_two();
    links_unknown();
    links();
    circles();
    told();
    return check_end("managed");
}
