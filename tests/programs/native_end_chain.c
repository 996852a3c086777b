/*
 * Regions that end one by one, as the function that is called at the end of each
 * gives back the reference to the next: on a small stack, however many they are.
 */
#include <pthread.h>

#include "native_check.h"

#define REGIONS 20000

static drasync_region_t chain[REGIONS];
static int ended;

static void at_end(drasync_region_t region, void *arg)
{
    size_t i = (size_t)(uintptr_t)arg;

    CHECK(region == chain[i]);
    ended++;
    if (i + 1 < REGIONS)
        OK(drasync_unref(chain[i + 1]));
}

static void *begins(void *unused)
{
    OK(drasync_unref(chain[0]));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_attr_t small;
    pthread_t thread;

    check_start_threads(&argc, &argv);
    for (size_t i = 0; i < REGIONS; i++) {
        OK(drasync_new_region(&chain[i]));
        OK(drasync_manage(chain[i]));
        OK(drasync_on_end(chain[i], at_end, (void *)(uintptr_t)i));
        OK(drasync_release(chain[i]));
    }
    CHECK(!pthread_attr_init(&small));
    CHECK(!pthread_attr_setstacksize(&small, 512 << 10));
    CHECK(!pthread_create(&thread, &small, begins, NULL));
    CHECK(!pthread_join(thread, NULL));
    CHECK(ended == REGIONS);
    return check_end("chain");
}
