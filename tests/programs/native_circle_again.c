/*
 * A region that refers to itself ends in drasync_collect(), and the next one has
 * its address: two ranks of a node, which both read and write it, see that one's
 * data, although the rank that collects had another version of the first one in
 * its view than the one that ended.
 */
#include "native_check.h"

#define ROUNDS 2000
#define VISITS 3

static drasync_region_t make(int round)
{
    drasync_region_t made;
    void *v;

    OK(drasync_new_region(&made));
    OK(drasync_alloc(made, 2000, &v));
    *(int *)v = round;
    OK(drasync_set_root(made, v));
    OK(drasync_manage(made));
    OK(drasync_link(made, made));
    OK(drasync_release(made));
    return made;
}

static void visit(drasync_region_t r, int round, enum drasync_mode mode)
{
    void *v;

    OK(drasync_acquire(r, mode));
    OK(drasync_get_root(r, &v));
    CHECK(*(int *)v == round);
    OK(drasync_release(r));
}

int main(int argc, char **argv)
{
    drasync_region_t r = NULL;

    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank == 0)
            r = make(round);
        check_share(&r, 0);
        for (int i = 0; i < VISITS; i++)
            visit(r, round,
                  (round + i + check_rank) % 2 ? DRASYNC_WRITE : DRASYNC_READ);
        check_barrier();
        if (check_rank == 0) {
            OK(drasync_unref(r));
            OK(drasync_collect());
        }
        check_barrier();
    }
    return check_end("circle again");
}
