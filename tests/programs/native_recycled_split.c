/*
 * A region that was written beside its readers twice is deleted, and a new one made
 * of it: what is written to that is all there when it is written beside readers.
 *
 * native_recycled_split      2 ranks of a node
 */
#include "native_check.h"

enum { OBJECTS = 24, BYTES = 64 };

/* Rank 1 READs @r when @writes is called with WRITE of it, by rank 0. */
static void beside_reader(drasync_region_t r, void (*writes)(void))
{
    if (check_rank == 1)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        writes();
    }
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(r));
    check_barrier();
}

static char *object[OBJECTS];

static void change_first(void)
{
    object[0][0]++;
}

static void look(void)
{
    for (int i = 0; i < OBJECTS; i++)
        for (int b = 0; b < BYTES; b++)
            CHECK(object[i][b] == 'a' + i);
}

int main(int argc, char **argv)
{
    drasync_region_t old = NULL, new = NULL;

    check_start(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&old));
        OK(drasync_alloc(old, 16, (void **)&object[0]));
        memset(object[0], 0, 16);
        OK(drasync_release(old));
    }
    check_share(&old, 0);
    for (int i = 0; i < 2; i++) {
        beside_reader(old, change_first);
        if (check_rank == 0 && i == 0)
            OK(drasync_release(old));
        check_barrier();
    }
    if (check_rank == 0) {
        OK(drasync_delete(old));
        OK(drasync_new_region(&new));
        for (int i = 0; i < OBJECTS; i++) {
            OK(drasync_alloc(new, BYTES, (void **)&object[i]));
            memset(object[i], 'a' + i, BYTES);
        }
        OK(drasync_release(new));
    }
    check_share(&new, 0);
    beside_reader(new, look);
    if (check_rank == 0)
        OK(drasync_release(new));
    return check_end("recycled_split");
}
