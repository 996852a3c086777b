/*
 * Memory and addresses run out: an error at the call, nothing changed, and
 * after something is given back all goes on.
 *
 * native_exhaust memory    with DRASYNC_MEMORY=64M
 * native_exhaust space     with DRASYNC_SPACE=64M
 */
#include "native_check.h"

#define BLOCK ((size_t)1 << 20)

/* Allocate blocks until there are no more; their number. */
static int fill(drasync_region_t r, int error)
{
    int count = 0, err;
    void *v;

    while ((err = drasync_alloc(r, BLOCK, &v)) == 0) {
        memset(v, count + 1, BLOCK);
        count++;
        CHECK(count < 1000);
    }
    if (err != error)
        fprintf(stderr, "%d blocks, then:\n", count);
    CODE(err, error);
    return count;
}

/* Each rank in turn takes all there is of its node, twice. */
static void take_all(int error)
{
    for (int rank = 0; rank < check_ranks; rank++) {
        for (int round = 0; round < 2 && rank == check_rank; round++) {
            drasync_region_t r, s;
            int err, made = 0;
            void *v;

            OK(drasync_new_region(&r));
            CHECK(fill(r, error) > 4);
            /* Regions too, and the region is as usable as before. */
            while ((err = drasync_new_subregion(r, &s)) == 0)
                CHECK(made++ < 100000);
            CHECK(err == error || err == DRASYNC_ENOMEM);
            OK(drasync_set_root(r, r));
            OK(drasync_get_root(r, &v));
            CHECK(v == r);
            OK(drasync_delete(r));
        }
        check_barrier();
    }
}

/* A writer that cannot split gets no hold; when there is room, it does. */
static void split(void)
{
    drasync_region_t r = NULL, filler;
    int err;
    void *v;

    if (check_ranks < 2)
        return;
    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, 16 * BLOCK, &v));
        memset(v, 1, 16 * BLOCK);
        OK(drasync_set_root(r, v));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    if (check_rank == 1)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_new_region(&filler));
        fill(filler, DRASYNC_ENOMEM);
        err = drasync_acquire(r, DRASYNC_WRITE);
        /* On another node the reader has its own copy. */
        if (err) {
            CODE(err, DRASYNC_ENOMEM);
            CODE(drasync_release(r), DRASYNC_ENOTHELD);
        } else {
            OK(drasync_release(r));
        }
        OK(drasync_delete(filler));
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        memset(v, 2, 16 * BLOCK);
        OK(drasync_release(r));
    }
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_get_root(r, &v));
        CHECK(((char *)v)[0] == 1 && ((char *)v)[16 * BLOCK - 1] == 1);
        OK(drasync_release(r));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

/* A node without room for a region's data is told so, and nothing is lost. */
static void fetch(void)
{
    drasync_region_t r = NULL, filler;
    struct drasync_stats stats;
    void *v;

    OK(drasync_get_stats(&stats));
    if (stats.nodes < 2)
        return;
    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, 16 * BLOCK, &v));
        memset(v, 3, 16 * BLOCK);
        OK(drasync_set_root(r, v));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    if (check_rank == 1) {
        OK(drasync_new_region(&filler));
        fill(filler, DRASYNC_ENOMEM);
        CODE(drasync_acquire(r, DRASYNC_READ), DRASYNC_ENOMEM);
        CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_ENOMEM);
        CODE(drasync_release(r), DRASYNC_ENOTHELD);
        OK(drasync_delete(filler));
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        CHECK(((char *)v)[0] == 3 && ((char *)v)[16 * BLOCK - 1] == 3);
        OK(drasync_delete(r));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    int space;

    check_start(&argc, &argv);
    space = argc > 1 && !strcmp(argv[1], "space");
    take_all(space ? DRASYNC_ENOSPACE : DRASYNC_ENOMEM);
    if (!space) {
        split();
        fetch();
    }
    return check_end("exhaust");
}
