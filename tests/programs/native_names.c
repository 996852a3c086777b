/*
 * A region is deleted, by another thread, while drasync_publish() is on its way to
 * the table of names: nobody has the name afterwards.
 */
#include <pthread.h>
#include <stdbool.h>

#include "native_check.h"
#include "runtime/services/names.h"

int __real_names_publish(const char *name, uint64_t address,
                         uint64_t incarnation);
int __wrap_names_publish(const char *name, uint64_t address,
                         uint64_t incarnation);

static bool deletes;

static void *delete_it(void *it)
{
    OK(drasync_delete(it));
    return NULL;
}

int __wrap_names_publish(const char *name, uint64_t address,
                         uint64_t incarnation)
{
    pthread_t thread;

    if (deletes) {
        CHECK(!pthread_create(&thread, NULL, delete_it,
                              (void *)(uintptr_t)address));
        CHECK(!pthread_join(thread, NULL));
    }
    return __real_names_publish(name, address, incarnation);
}

int main(int argc, char **argv)
{
    drasync_region_t made, found;

    check_start_threads(&argc, &argv);
    OK(drasync_init());
    if (check_rank == check_ranks - 1) {
        OK(drasync_new_region(&made));
        OK(drasync_release(made));
        deletes = true;
        CODE(drasync_publish("n", made), DRASYNC_ENOREGION);
        deletes = false;
        CODE(drasync_lookup("n", 0, &found), DRASYNC_EAGAIN);
        OK(drasync_new_region(&made));
        OK(drasync_publish("n", made));
        OK(drasync_lookup("n", 0, &found));
        CHECK(found == made);
        OK(drasync_delete(made));
        CODE(drasync_lookup("n", 0, &found), DRASYNC_EAGAIN);
    }
    return check_end("names");
}
