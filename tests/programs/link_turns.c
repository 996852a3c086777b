/*
 * Ranks take WRITE of a region in turn until somebody removes a file, into which
 * rank 0 writes now and then how many turns there were.
 *
 * link_turns FILE
 */
#include <unistd.h>

#include "native_check.h"

static void say_turns(const char *file, int turns)
{
    FILE *f = fopen(file, "r+"); /* not made again */

    if (!f)
        return;
    fprintf(f, "%d\n", turns);
    CHECK(!fclose(f));
}

int main(int argc, char **argv)
{
    drasync_region_t region = NULL;
    int *turn = NULL, over = 0;

    check_start(&argc, &argv);
    CHECK(argc == 2);
    if (check_rank == 0) {
        void *v;

        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, 2 * sizeof(int), &v));
        turn = v;
        turn[0] = turn[1] = 0;
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_share(&turn, 0);
    while (!over) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        if (turn[0] % check_ranks == check_rank)
            turn[0]++;
        if (check_rank == 0 && turn[0] % 100 == 1) {
            say_turns(argv[1], turn[0]);
            turn[1] = access(argv[1], F_OK) != 0;
        }
        over = turn[1];
        OK(drasync_release(region));
    }
    return check_end("turns");
}
