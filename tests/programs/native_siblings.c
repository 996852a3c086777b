/*
 * Rank 0 asks for a region of which rank 1 holds a part; while rank 0 waits, rank 1
 * or a third rank takes and gives back another part.  When rank 1 gives its first
 * part back too, rank 0 gets the region.
 *
 * native_siblings [SEED], 2 ranks and more
 */
#include "native_check.h"

#define SIBLINGS 3

static drasync_region_t all[1 + SIBLINGS];

static void make(void)
{
    if (check_rank == 0) {
        OK(drasync_new_region(&all[0]));
        for (int i = 1; i <= SIBLINGS; i++)
            OK(drasync_new_subregion(all[0], &all[i]));
        OK(drasync_release(all[0]));
    }
    for (int i = 0; i <= SIBLINGS; i++)
        check_share(&all[i], 0);
}

/* Rank 0 wants all of it; rank 1 has part @first, and rank @who takes part @then,
 * which comes after it. */
static void want_all(enum drasync_mode mode, enum drasync_mode part, int who,
                     int first, int then)
{
    drasync_request_t request;

    if (check_rank == 1)
        OK(drasync_acquire(all[first], DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_iacquire(all[0], mode, &request));
    check_barrier();
    if (check_rank == who) {
        OK(drasync_acquire(all[then], part));
        OK(drasync_release(all[then]));
    }
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(all[first]));
    if (check_rank == 0) {
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(all[0]));
    }
    check_barrier();
}

static void stories(void)
{
    for (int mode = DRASYNC_READ; mode <= DRASYNC_WRITE; mode++)
        for (int part = DRASYNC_READ; part <= DRASYNC_WRITE; part++)
            for (int who = 1; who < check_ranks; who++)
                for (int then = 2; then <= SIBLINGS; then++)
                    want_all((enum drasync_mode)mode, (enum drasync_mode)part,
                             who, 1, then);
}

/* One hold at a time, of anything. */
static void at_random(unsigned seed)
{
    uint64_t random = seed * 1000 + (unsigned)check_rank + 1;

    for (int i = 0; i < 5000; i++) {
        int which;

        random = random * 6364136223846793005u + 1442695040888963407u;
        which = (int)((random >> 33) % (1 + SIBLINGS));
        OK(drasync_acquire(all[which],
                           random >> 40 & 1 ? DRASYNC_WRITE : DRASYNC_READ));
        OK(drasync_release(all[which]));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    make();
    stories();
    at_random(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    if (check_rank == 0)
        OK(drasync_delete(all[0]));
    return check_end("siblings");
}
