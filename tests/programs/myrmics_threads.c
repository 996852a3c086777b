/*
 * Threads of one worker allocate and free, one after the other: what a thread
 * kept at hand is there for the next one.  Usage: myrmics_threads
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "myrmics_check.h"

#define OBJECTS 60
#define BYTES   20000
#define ROUNDS  50

static rid_t region;

/* Fill @object, and see that all are distinct. */
static void take(void **object)
{
    for (int i = 0; i < OBJECTS; i++) {
        object[i] = sys_alloc(BYTES, region);
        CHECK(object[i] != NULL);
        memset(object[i], i, BYTES);
    }
    for (int i = 0; i < OBJECTS; i++)
        CHECK(((char *)object[i])[0] == i &&
              ((char *)object[i])[BYTES - 1] == i);
}

static void give(void **object)
{
    for (int i = 0; i < OBJECTS; i++)
        sys_free(object[i]);
}

static void *work(void *arg)
{
    void **object = arg;

    for (int i = 0; i < ROUNDS; i++) {
        take(object);
        give(object);
    }
    return NULL;
}

static bool is_among(void *const *all, const void *one)
{
    for (int i = 0; i < OBJECTS; i++)
        if (all[i] == one)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static void *first[OBJECTS], *later[OBJECTS];
    pthread_t thread;
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    region = sys_ralloc(0, 0);
    CHECK(!pthread_create(&thread, NULL, work, first));
    CHECK(!pthread_join(thread, NULL));
    for (int round = 0; round < 3; round++) {
        CHECK(!pthread_create(&thread, NULL, work, later));
        CHECK(!pthread_join(thread, NULL));
        for (int i = 0; i < OBJECTS; i++)
            CHECK(is_among(first, later[i]));
    }
    take(later);
    for (int i = 0; i < OBJECTS; i++)
        CHECK(is_among(first, later[i]));
    sys_rfree(region);
    if (me == 0)
        printf("ok %d workers\n", workers);
    return MPI_Finalize();
}
