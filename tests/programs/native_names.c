/*
 * native_names
 *   A region is deleted, by another thread, while drasync_publish() is on its
 *   way to the table of names: nobody has the name afterwards.
 * native_names homes   3 ranks, each a node
 *   Rank 1 publishes what rank 2 made, and deletes it: nobody has the name
 *   afterwards.  Of what never had a name rank 0, which has the names, does not
 *   hear when it is deleted.
 * native_names chunk   3 ranks, each a node, and a small DRASYNC_SPACE
 *   The same, of a region whose address is of a manager.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

static uint64_t messages_received(void)
{
    struct drasync_stats stats;

    OK(drasync_get_stats(&stats));
    return stats.messages_received;
}

#define NAMELESS     200
#define MESSAGES_MAX 50 /* of barriers, and of what is at the start */

/* Of addresses that a manager gave, and whose home only that knows, if this
 * node's own are used up: DRASYNC_SPACE is small. */
static drasync_region_t far_region(bool chunk)
{
    struct drasync_stats stats;
    drasync_region_t r;

    do {
        OK(drasync_new_region(&r));
        OK(drasync_get_stats(&stats));
        OK(drasync_release(r));
    } while (chunk && !stats.chunk_requests);
    return r;
}

/* Rank 2 makes regions, which rank 1 deletes. */
static void nameless(void)
{
    uint64_t before = messages_received();
    drasync_region_t r;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < NAMELESS; i++) {
        if (check_rank == 2) {
            OK(drasync_new_region(&r));
            OK(drasync_give(r, 1, 0));
        } else if (check_rank == 1) {
            OK(drasync_take(2, 0, DRASYNC_FOREVER, &r, NULL));
            OK(drasync_delete(r));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* So that what the homes have to say has been said. */
    for (int i = 0; i < 20 && check_rank == 0; i++)
        usleep(10000);
    if (check_rank == 0)
        CHECK(messages_received() - before < MESSAGES_MAX);
}

static void homes(bool chunk)
{
    drasync_region_t made = NULL, found;
    int err = 0;

    if (check_rank == 2)
        made = far_region(chunk);
    MPI_Bcast(&made, sizeof(made), MPI_BYTE, 2, MPI_COMM_WORLD);
    if (check_rank == 1) {
        OK(drasync_publish("far", made));
        OK(drasync_lookup("far", 0, &found));
        CHECK(found == made);
        OK(drasync_acquire(made, DRASYNC_WRITE));
        OK(drasync_delete(made));
        /* The home learns of it, and tells rank 0. */
        for (int i = 0; i < 1000 && !err; i++) {
            err = drasync_lookup("far", 0, &found);
            usleep(10000);
        }
        CODE(err, DRASYNC_EAGAIN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!chunk)
        nameless();
}

int main(int argc, char **argv)
{
    drasync_region_t made, found;

    check_start_threads(&argc, &argv);
    OK(drasync_init());
    if (argc > 1 && (!strcmp(argv[1], "homes") || !strcmp(argv[1], "chunk"))) {
        homes(!strcmp(argv[1], "chunk"));
        return check_end("names");
    }
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
