/*
 * Regions whose handles ranks find in another region: no call tells who learnt
 * of them from whom.  One rank makes a region, the next but one reads it, the
 * next deletes it, and then its address is used again.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native_check.h"

#define ROUNDS 30

enum { NONE, MADE, READ_IT, DELETED };

static drasync_region_t board;
static struct round {
    drasync_region_t region;
    long *object;
    int state;
} * rounds;

/* Look until round @i has come to @state. */
static struct round wait_until(int i, int state)
{
    for (;;) {
        struct round round;

        OK(drasync_acquire(board, DRASYNC_READ));
        round = rounds[i];
        OK(drasync_release(board));
        if (round.state >= state)
            return round;
        sched_yield();
    }
}

static void tell(int i, struct round round, int state)
{
    round.state = state;
    OK(drasync_acquire(board, DRASYNC_WRITE));
    rounds[i] = round;
    OK(drasync_release(board));
}

static void take_part(int i)
{
    struct round round;
    void *object;

    switch ((check_rank + i) % 3) {
    case 0:
        if (i)
            wait_until(i - 1, DELETED);
        OK(drasync_new_region(&round.region));
        OK(drasync_alloc(round.region, 1000, &object));
        round.object = object;
        *round.object = i;
        OK(drasync_release(round.region));
        tell(i, round, MADE);
        break;
    case 1:
        round = wait_until(i, MADE);
        OK(drasync_acquire(round.region, DRASYNC_READ));
        CHECK(*round.object == i);
        OK(drasync_release(round.region));
        tell(i, round, READ_IT);
        break;
    default:
        round = wait_until(i, READ_IT);
        OK(drasync_acquire(round.region, DRASYNC_WRITE));
        OK(drasync_delete(round.region));
        tell(i, round, DELETED);
        break;
    }
}

int main(int argc, char **argv)
{
    void *object;

    check_start(&argc, &argv);
    CHECK(check_ranks == 3);
    if (check_rank == 0) {
        OK(drasync_new_region(&board));
        OK(drasync_alloc(board, ROUNDS * sizeof(*rounds), &object));
        memset(object, 0, ROUNDS * sizeof(*rounds));
        rounds = object;
        OK(drasync_release(board));
    }
    check_share(&board, 0);
    check_share(&rounds, 0);
    for (int i = 0; i < ROUNDS; i++)
        take_part(i);
    /* A child's end writes nothing of it. */
    if (!fork()) {
        for (int i = 0; i < 16; i++)
            CHECK(open("child", O_CREAT | O_WRONLY | O_APPEND, 0600) >= 0);
        exit(0);
    }
    wait(NULL);
    return check_end("handles");
}
