/*
 * Holds below other holds of the same rank: what they see, and which of them a
 * release gives back.
 *
 * native_covered [STORY], 2 ranks and more; above_left: 3 and more
 */
#include <time.h>

#include "native_check.h"

static drasync_region_t root, part;
static int *number;

static void make(void)
{
    void *v = NULL;

    if (check_rank == 0) {
        OK(drasync_new_region(&root));
        OK(drasync_new_subregion(root, &part));
        OK(drasync_alloc(part, sizeof(int), &v));
        *(int *)v = 1;
        OK(drasync_release(root));
    }
    check_share(&root, 0);
    check_share(&part, 0);
    check_share(&v, 0);
    number = v;
}

/* Rank 0 writes while rank 1 reads, so in frames that rank 1 has not mapped.  Then
 * that one has a request for all of it, and asks for the part before it looks what
 * came of the request. */
static void below_request(void)
{
    const struct timespec pause = {.tv_nsec = 30000000};
    drasync_request_t request;

    if (check_rank == 1)
        OK(drasync_acquire(root, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(root, DRASYNC_WRITE));
        *number = 2;
    }
    check_barrier();
    if (check_rank == 1) {
        CHECK(*number == 1);
        OK(drasync_release(root));
        OK(drasync_iacquire(root, DRASYNC_READ, &request));
    }
    check_barrier();
    if (check_rank == 0) {
        nanosleep(&pause, NULL);
        OK(drasync_release(root));
    }
    if (check_rank == 1) {
        OK(drasync_acquire(part, DRASYNC_READ));
        CHECK(*number == 2);
        OK(drasync_release(part));
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        CHECK(*number == 2);
        OK(drasync_release(root));
    }
    check_barrier();
}

static void check_holds(int writes, int reads)
{
    struct drasync_info info;

    OK(drasync_get_info(part, &info));
    CHECK(info.held_write == writes && info.held_read == reads);
}

/* READ is given back, as nobody has taken yet what the request got. */
static void before_request(void)
{
    drasync_request_t request;

    if (check_rank == 0) {
        OK(drasync_acquire(root, DRASYNC_WRITE));
        OK(drasync_acquire(part, DRASYNC_READ));
        OK(drasync_iacquire(part, DRASYNC_WRITE, &request));
        OK(drasync_release(part));
        check_holds(1, 0);
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        OK(drasync_release(root));
        *number = 3;
        OK(drasync_release(part));
        check_holds(0, 0);
    }
    check_barrier();
}

static void waits(void)
{
    const struct timespec pause = {.tv_nsec = 30000000};

    nanosleep(&pause, NULL);
    check_barrier();
}

/* Rank 1 asks twice for all of it, and rank 2 between.  It has both at once, so the
 * end of the first hold leaves it the second one, and one below. */
static void above_left(void)
{
    drasync_request_t first, second;

    if (check_rank == 0)
        OK(drasync_acquire(root, DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_iacquire(root, DRASYNC_WRITE, &first));
    waits();
    if (check_rank == 2)
        OK(drasync_iacquire(root, DRASYNC_WRITE, &first));
    waits();
    if (check_rank == 1)
        OK(drasync_iacquire(root, DRASYNC_READ, &second));
    waits();
    if (check_rank == 0)
        OK(drasync_release(root));
    if (check_rank == 1) {
        OK(drasync_wait(&first, DRASYNC_FOREVER));
        OK(drasync_acquire(part, DRASYNC_WRITE));
        OK(drasync_release(root));
        OK(drasync_wait(&second, DRASYNC_FOREVER));
        OK(drasync_release(part));
        OK(drasync_release(root));
    }
    if (check_rank == 2) {
        OK(drasync_wait(&first, DRASYNC_FOREVER));
        OK(drasync_release(root));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    make();
    for (int i = 0; i < 3; i++) {
        if (check_rank == 0) {
            OK(drasync_acquire(root, DRASYNC_WRITE));
            *number = 1;
            OK(drasync_release(root));
        }
        check_barrier();
        if (argc < 2 || !strcmp(argv[1], "below_request"))
            below_request();
        if (argc < 2 || !strcmp(argv[1], "before_request"))
            before_request();
        if (argc > 1 && !strcmp(argv[1], "above_left"))
            above_left();
    }
    if (check_rank == 0)
        OK(drasync_delete(root));
    return check_end("covered");
}
