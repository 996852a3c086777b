/*
 * Threads of a worker allocate and free at the same time, in one region and in
 * regions of their own, objects of each other and of other workers, while the
 * region is sent, and regions are freed.  Usage: myrmics_together ROUNDS
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

#define THREADS   4
#define OBJECTS   300
#define BYTES_MAX 3000
#define SENDS     4
#define GIVEN     500

/* How an object begins; the rest is its last byte's worth of `mark`. */
struct object {
    uint32_t bytes, mark;
};

static rid_t shared;
static int rounds;
static _Atomic(struct object *) box[OBJECTS];
static pthread_barrier_t barrier;
static _Atomic int sending;

static uint32_t next(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

static struct object *take(rid_t region, uint32_t *random)
{
    uint32_t bytes = next(random) % (next(random) % 4 ? 100 : BYTES_MAX);
    struct object *object;

    bytes += (uint32_t)sizeof(*object);
    object = sys_alloc(bytes, region);
    CHECK(object != NULL);
    *object = (struct object){bytes, next(random)};
    memset(object + 1, (int)(object->mark & 0xff), bytes - sizeof(*object));
    return object;
}

static void look(const struct object *object)
{
    const unsigned char *bytes = (const unsigned char *)(object + 1);

    for (size_t i = 0; i < object->bytes - sizeof(*object); i++)
        CHECK(bytes[i] == (object->mark & 0xff));
}

static void give(struct object *object)
{
    if (!object)
        return;
    look(object);
    object->mark++;
    sys_free(object);
}

static void replace(struct object **object, rid_t region, uint32_t *random)
{
    give(*object);
    *object = next(random) % 4 ? take(region, random) : NULL;
}

/* Objects of the region that all share go through the box: who finds one there
 * frees it, whoever's it was. */
static void work_in_turns(struct object **mine, rid_t own, uint32_t *random)
{
    for (int i = 0; i < 20 * OBJECTS; i++) {
        uint32_t at = next(random) % OBJECTS;

        replace(&mine[at], own, random);
        give(atomic_exchange(&box[at], take(shared, random)));
    }
}

static void *work(void *number)
{
    uint32_t random = (uint32_t)(uintptr_t)number * 77 + (uint32_t)me;
    struct object *mine[OBJECTS];

    for (int round = 0; round < rounds; round++) {
        rid_t own = sys_ralloc(0, 0);

        memset(mine, 0, sizeof(mine));
        pthread_barrier_wait(&barrier);
        work_in_turns(mine, own, &random);
        /* What is sent is not handed out again: each time there is more. */
        while (atomic_load(&sending)) {
            for (int i = 0; i < 10; i++)
                replace(&mine[next(&random) % OBJECTS], shared, &random);
            sched_yield();
        }
        for (int i = 0; i < OBJECTS; i++)
            if (round % 2)
                give(mine[i]);
        pthread_barrier_wait(&barrier);
        sys_rfree(own);
    }
    return NULL;
}

/* Send the region, which others of this worker use meanwhile, to worker 0.  That
 * sends it to nobody else: what comes back would cover what is newer. */
static void send_and_receive(void)
{
    for (int i = 0; i < SENDS; i++)
        if (me || workers == 1)
            sys_send(shared, 0);
    for (int from = 1; me == 0 && from < workers; from++)
        for (int i = 0; i < SENDS; i++)
            sys_recv(0, from);
}

/* Objects that the worker before made, to be freed here. */
static struct object *got[GIVEN];

static void give_objects(void)
{
    static struct object *given[GIVEN];
    uint32_t random = (uint32_t)me;

    for (int i = 0; i < GIVEN; i++)
        given[i] = take(shared, &random);
    MPI_Sendrecv(given, sizeof(given), MPI_BYTE, (me + 1) % workers, 0, got,
                 sizeof(got), MPI_BYTE, (me + workers - 1) % workers, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int level;

    rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    shared = sys_ralloc(0, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, work, (void *)i));
    for (int round = 0; round < rounds; round++) {
        atomic_store(&sending, 1);
        give_objects();
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < GIVEN; i++)
            sys_free(got[i]);
        send_and_receive();
        atomic_store(&sending, 0);
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(thread[i], NULL));
    for (int i = 0; i < OBJECTS; i++)
        give(atomic_load(&box[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    sys_rfree(shared);
    if (me == 0)
        printf("ok %d workers\n", workers);
    return MPI_Finalize();
}
