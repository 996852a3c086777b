/*
 * A thread saves a region again and again while another one of its rank writes it,
 * then a part of it: save_threads FILE.  Both get what they ask for.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "native_check.h"

#define WRITES  400
#define SAVES   3
#define OBJECTS 50

static drasync_region_t tree, part;
static char path[4096];
static _Atomic bool over;
static _Atomic int saves;

static void *saves_it(void *unused)
{
    while (!atomic_load(&over)) {
        OK(drasync_save(tree, path));
        atomic_fetch_add(&saves, 1);
    }
    return unused;
}

static void writes(drasync_region_t region)
{
    for (int i = 0; i < WRITES || atomic_load(&saves) < SAVES; i++) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        for (volatile int k = 0; k < 10000; k++)
            continue;
        OK(drasync_release(region));
    }
}

static void beside(drasync_region_t region)
{
    pthread_t thread;

    atomic_store(&over, false);
    atomic_store(&saves, 0);
    CHECK(!pthread_create(&thread, NULL, saves_it, NULL));
    writes(region);
    atomic_store(&over, true);
    CHECK(!pthread_join(thread, NULL));
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    snprintf(path, sizeof(path), "%s.%d", argc > 1 ? argv[1] : "save_threads",
             check_rank);
    OK(drasync_new_region(&tree));
    OK(drasync_new_subregion(tree, &part));
    for (int i = 0; i < OBJECTS; i++) {
        void *v;

        OK(drasync_alloc(i % 2 ? tree : part, 10000, &v));
        memset(v, i, 10000);
    }
    OK(drasync_release(tree));
    beside(tree);
    beside(part);
    OK(drasync_delete(tree));
    return check_end("threads");
}
