/*
 * Two threads of a rank are told of at once: one gives back what another took,
 * which is right, and one what nobody did, which is refused.
 *
 * check_threads        with DRASYNC_CHECK
 */
#include <pthread.h>
#include <unistd.h>

#include "native_check.h"

enum { TREES = 20 };

static pthread_barrier_t together;
static drasync_region_t parts[TREES][2];

static void *give_back(void *part)
{
    const int p = part != NULL;

    for (int i = 0; i < TREES; i++) {
        int err;

        pthread_barrier_wait(&together);
        /* The other one's report is under way. */
        if (!p)
            usleep(3000);
        err = drasync_release(parts[i][p]);
        CHECK(err == (p ? DRASYNC_ENOTHELD : 0));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    check_start_threads(&argc, &argv);
    for (int i = 0; i < TREES; i++) {
        drasync_region_t top;

        OK(drasync_new_region(&top));
        OK(drasync_new_subregion(top, &parts[i][0]));
        OK(drasync_new_subregion(top, &parts[i][1]));
        OK(drasync_release(top));
        OK(drasync_acquire(parts[i][0], DRASYNC_WRITE));
    }
    pthread_barrier_init(&together, NULL, 2);
    CHECK(!pthread_create(&threads[0], NULL, give_back, NULL));
    CHECK(!pthread_create(&threads[1], NULL, give_back, &together));
    CHECK(!pthread_join(threads[0], NULL));
    CHECK(!pthread_join(threads[1], NULL));
    return check_end("check_threads");
}
