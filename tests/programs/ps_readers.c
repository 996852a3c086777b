/*
 * What drasync-ps says of READ holds: of one that a thread has, also where others
 * of its rank had it before, and nothing of one that was given back, which its
 * rank keeps as a lease.  Run with two ranks of a node: ps_readers DRASYNC-PS
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

static const char *ps;
static drasync_region_t shared_region;

/* How many holds of @mode does it list of this job? */
static int holds(const char *mode)
{
    char line[1024], wanted[32];
    int count = 0;
    FILE *out;

    snprintf(line, sizeof(line), "%s %d", ps, (int)getpid());
    snprintf(wanted, sizeof(wanted), " for %s of region ", mode);
    fflush(NULL);
    out = popen(line, "r");
    CHECK(out != NULL);
    while (fgets(line, sizeof(line), out))
        count += strstr(line, wanted) != NULL;
    CHECK(pclose(out) == 0);
    return count;
}

static void read_once(void)
{
    OK(drasync_acquire(shared_region, DRASYNC_READ));
    OK(drasync_release(shared_region));
}

static void *other_thread(void *unused)
{
    for (int i = 0; i < 10; i++)
        read_once();
    return unused;
}

static void expect(int expected)
{
    check_barrier();
    if (!check_rank)
        CHECK(holds("READ") == expected && holds("WRITE") == 0);
    check_barrier();
}

int main(int argc, char **argv)
{
    pthread_t thread;

    ps = argc > 1 ? argv[1] : "drasync-ps";
    check_start_threads(&argc, &argv);
    if (!check_rank) {
        OK(drasync_new_region(&shared_region));
        OK(drasync_release(shared_region));
    }
    MPI_Bcast(&shared_region, sizeof(shared_region), MPI_BYTE, 0,
              MPI_COMM_WORLD);
    if (check_rank)
        read_once();
    expect(0);
    /* Several threads: a lease that they share. */
    CHECK(!pthread_create(&thread, NULL, other_thread, NULL));
    for (int i = 0; i < 10; i++)
        read_once();
    CHECK(!pthread_join(thread, NULL));
    expect(0);
    if (check_rank)
        OK(drasync_acquire(shared_region, DRASYNC_READ));
    expect(1);
    if (check_rank)
        OK(drasync_release(shared_region));
    expect(0);
    return check_end("ps");
}
