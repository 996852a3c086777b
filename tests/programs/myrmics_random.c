/*
 * A random region program with its oracle inside: every worker runs the same
 * random script, does what the script says that it does, and keeps a model of
 * what every worker has.  Usage: myrmics_random SEED ROUNDS
 *
 * A round: regions and objects are made, resized and freed by everybody at
 * once; then perhaps a region is freed; then data is written, sent and received
 * in some order, with sends that are received rounds later, or when their
 * region is gone; then everything that is there is compared with the model.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics.h"

#define WORKERS_MAX 16
#define REGIONS_MAX 48
#define OBJECTS_MAX 1500
#define CHANGES     40 /* in a round */
#define MOVES       80
#define QUEUE_MAX   4096

struct region {
    rid_t rid;
    int parent;
    int live;
    int maker; /* who alone knows its number in this round; -1: all */
    unsigned serial;
};

struct object {
    unsigned char *ptr;
    size_t size;
    int region;
    int live;
    int maker;
    int sent; /* somebody else may have it */
    unsigned serial;
};

struct item {
    int object;
    unsigned serial, stamp;
};

struct version {
    int region;
    unsigned serial;
    rid_t rid;
    int count;
    struct item *items;
};

struct queue {
    struct version *versions;
    int first, last;
};

static MPI_Comm comm; /* of the workers: the baseline has other ranks too */
static int me, workers;
static uint64_t script;
static unsigned seed, round_now, stamps, serials;
static struct region regions[REGIONS_MAX];
static struct object objects[OBJECTS_MAX];
static unsigned view[WORKERS_MAX][OBJECTS_MAX]; /* stamp; 0: has it not */
static struct queue queues[WORKERS_MAX][WORKERS_MAX];
static uint64_t news[CHANGES], hash = 14695981039346656037u;
static unsigned long operations;

static void fail(const char *what, int object)
{
    fprintf(stderr, "worker %d seed %u round %u: %s, %d\n", me, seed, round_now,
            what, object);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

/* Of the script: the same on all workers. */
static unsigned pick(unsigned below)
{
    script = script * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((script >> 33) % below);
}

/* --- What objects hold --- */

static unsigned char byte_at(unsigned stamp, size_t at)
{
    return (unsigned char)((stamp * 2654435761u) >> 24 ^ at * 37 ^ at >> 7);
}

/* All of a small object, samples of a large one. */
static size_t step_for(size_t size)
{
    return size > 4096 ? 61 : 1;
}

static void put(int o, unsigned stamp)
{
    size_t size = objects[o].size;

    for (size_t i = 0; i < size; i += step_for(size))
        objects[o].ptr[i] = byte_at(stamp, i);
    objects[o].ptr[size - 1] = byte_at(stamp, size - 1);
}

static void check(int o)
{
    unsigned stamp = view[me][o];
    size_t size = objects[o].size;

    for (size_t i = 0; i < size; i += step_for(size))
        if (objects[o].ptr[i] != byte_at(stamp, i))
            fail("wrong data", o);
    if (objects[o].ptr[size - 1] != byte_at(stamp, size - 1))
        fail("wrong data at the end", o);
}

/* --- Picking --- */

static int pick_region(int actor, int root_too)
{
    for (int tries = 0; tries < 100; tries++) {
        int r = (int)pick(REGIONS_MAX);

        if (regions[r].live && (r || root_too) &&
            (regions[r].maker < 0 || regions[r].maker == actor))
            return r;
    }
    return root_too ? 0 : -1;
}

static int pick_object(int actor)
{
    for (int tries = 0; tries < 200; tries++) {
        int o = (int)pick(OBJECTS_MAX);

        if (objects[o].live &&
            (objects[o].maker < 0 || objects[o].maker == actor))
            return o;
    }
    return -1;
}

static size_t pick_size(void)
{
    unsigned kind = pick(100);

    if (kind < 80)
        return 1 + pick(600);
    if (kind < 97)
        return 1 + pick(20000);
    return 1 + pick(700000);
}

static int is_below(int r, int top)
{
    while (r > 0 && r != top)
        r = regions[r].parent;
    return r == top;
}

/* --- Making and freeing --- */

static void forget(int o)
{
    objects[o].live = 0;
    for (int w = 0; w < workers; w++)
        view[w][o] = 0;
}

static int new_object(int actor, int region, size_t size)
{
    for (int o = 0; o < OBJECTS_MAX; o++)
        if (!objects[o].live && !objects[o].ptr) {
            objects[o].live = 1;
            objects[o].size = size;
            objects[o].region = region;
            objects[o].maker = actor;
            objects[o].sent = 0;
            objects[o].serial = ++serials;
            view[actor][o] = ++stamps;
            return o;
        }
    return -1;
}

static void make_region(int actor, int change)
{
    int parent = pick_region(actor, 1), r = 1;

    while (r < REGIONS_MAX && (regions[r].live || regions[r].rid))
        r++;
    if (r == REGIONS_MAX)
        return;
    regions[r].live = 1;
    regions[r].parent = parent;
    regions[r].maker = actor;
    regions[r].serial = ++serials;
    if (actor == me) {
        regions[r].rid = sys_ralloc(regions[parent].rid, (int)pick(2));
        news[change] = regions[r].rid;
    } else {
        pick(2);
        regions[r].rid = (rid_t)-1; /* to be told */
    }
}

static void make_object(int actor, int change)
{
    int region = pick_region(actor, 1);
    size_t size = pick_size();
    int o = new_object(actor, region, size);

    if (o < 0)
        return;
    objects[o].ptr = (unsigned char *)1; /* to be told */
    if (actor == me) {
        objects[o].ptr = sys_alloc(size, regions[region].rid);
        if ((uintptr_t)objects[o].ptr % 64)
            fail("misaligned", o);
        put(o, view[me][o]);
        news[change] = (uint64_t)(uintptr_t)objects[o].ptr;
    }
}

static void make_batch(int actor)
{
    int region = pick_region(actor, 1), count = 2 + (int)pick(20);
    size_t size = 1 + pick(200);
    void *batch[32];

    /* Nobody else is told of these: they stay until the region goes. */
    if (actor != me)
        return;
    sys_balloc(size, regions[region].rid, count, batch);
    for (int i = 0; i < count; i++)
        memset(batch[i], 0xee, size);
    for (int i = 0; i < count; i += 2)
        sys_free(batch[i]);
}

static void free_object(int actor)
{
    int o = pick_object(actor);

    if (o < 0)
        return;
    if (actor == me)
        sys_free(objects[o].ptr);
    forget(o);
}

static void resize_object(int actor, int change)
{
    int o = pick_object(actor), region = pick_region(actor, 1), n;
    size_t size = pick_size(), kept;
    unsigned stamp;

    /* One that others have too, only into another region: it is not said whose
     * bytes count if it stays where it is. */
    if (o < 0 || !view[actor][o] ||
        (objects[o].sent && objects[o].region == region))
        return;
    n = new_object(actor, region, size);
    if (n < 0)
        return;
    kept = size < objects[o].size ? size : objects[o].size;
    stamp = view[actor][o];
    objects[n].ptr = (unsigned char *)1;
    if (actor == me) {
        check(o);
        objects[n].ptr = sys_realloc(objects[o].ptr, size, regions[region].rid);
        for (size_t i = 0; i < kept; i += step_for(objects[o].size))
            if (objects[n].ptr[i] != byte_at(stamp, i))
                fail("lost by sys_realloc", o);
        put(n, view[me][n]);
        news[change] = (uint64_t)(uintptr_t)objects[n].ptr;
    }
    forget(o);
}

static void change_things(void)
{
    int made[CHANGES];

    memset(news, 0, sizeof(news));
    for (int c = 0; c < CHANGES; c++) {
        int actor = (int)pick((unsigned)workers);
        unsigned what = pick(100), before = serials;

        if (what < 12)
            make_region(actor, c);
        else if (what < 62)
            make_object(actor, c);
        else if (what < 70)
            make_batch(actor);
        else if (what < 85)
            free_object(actor);
        else
            resize_object(actor, c);
        made[c] = serials != before ? (int)serials : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, news, CHANGES, MPI_UINT64_T, MPI_BOR, comm);
    for (int c = 0; c < CHANGES; c++) {
        for (int r = 0; made[c] && r < REGIONS_MAX; r++)
            if (regions[r].serial == (unsigned)made[c])
                regions[r].rid = (rid_t)news[c];
        for (int o = 0; made[c] && o < OBJECTS_MAX; o++)
            if (objects[o].serial == (unsigned)made[c])
                objects[o].ptr = (unsigned char *)(uintptr_t)news[c];
    }
    for (int r = 0; r < REGIONS_MAX; r++)
        regions[r].maker = -1;
    for (int o = 0; o < OBJECTS_MAX; o++) {
        objects[o].maker = -1;
        if (!objects[o].live)
            objects[o].ptr = NULL;
    }
    operations += CHANGES;
}

static void free_region(void)
{
    int actor = (int)pick((unsigned)workers), top = pick_region(actor, 0);
    int below[REGIONS_MAX];

    if (top < 0)
        return;
    if (actor == me)
        sys_rfree(regions[top].rid);
    for (int r = 1; r < REGIONS_MAX; r++)
        below[r] = regions[r].live && is_below(r, top);
    for (int o = 0; o < OBJECTS_MAX; o++)
        if (objects[o].live && objects[o].region && below[objects[o].region]) {
            forget(o);
            objects[o].ptr = NULL;
        }
    for (int r = 1; r < REGIONS_MAX; r++)
        if (below[r]) {
            regions[r].live = 0;
            regions[r].rid = 0;
        }
    MPI_Barrier(comm);
    operations++;
}

/* --- Data --- */

static void write_object(void)
{
    int actor = (int)pick((unsigned)workers), o = pick_object(actor);

    if (o < 0 || !view[actor][o])
        return;
    if (actor == me)
        check(o);
    view[actor][o] = ++stamps;
    if (actor == me)
        put(o, stamps);
}

static void send_region(void)
{
    int from = (int)pick((unsigned)workers), to = (int)pick((unsigned)workers);
    int region = pick_region(from, pick(20) == 0), count = 0;
    struct queue *queue = &queues[from][to];
    struct version *version;

    if (region < 0 || queue->last == QUEUE_MAX)
        return;
    version = &queue->versions[queue->last++];
    version->region = region;
    version->serial = regions[region].serial;
    version->rid = regions[region].rid;
    version->items = malloc(OBJECTS_MAX * sizeof(struct item));
    for (int o = 0; o < OBJECTS_MAX; o++)
        if (objects[o].live && view[from][o] &&
            is_below(objects[o].region, region)) {
            version->items[count].object = o;
            version->items[count].serial = objects[o].serial;
            version->items[count++].stamp = view[from][o];
            objects[o].sent = 1;
        }
    version->count = count;
    version->items =
        realloc(version->items, (size_t)(count + 1) * sizeof(struct item));
    if (from == me)
        sys_send(version->rid, to);
}

static void recv_region(int from, int to)
{
    struct queue *queue = &queues[from][to];
    struct version *version = &queue->versions[queue->first++];
    rid_t got;

    if (to == me) {
        got = sys_recv(version->rid && seed % 2 ? version->rid : 0, from);
        if (got != version->rid)
            fail("another region received", version->region);
    }
    for (int i = 0; i < version->count; i++) {
        struct item *item = &version->items[i];

        if (objects[item->object].live &&
            objects[item->object].serial == item->serial)
            view[to][item->object] = item->stamp;
    }
    free(version->items);
    if (queue->first == queue->last)
        queue->first = queue->last = 0;
}

static void move_things(int all)
{
    for (int m = 0; m < MOVES; m++) {
        unsigned what = pick(10);
        int from = (int)pick((unsigned)workers);
        int to = (int)pick((unsigned)workers);

        if (what < 4)
            write_object();
        else if (what < 7)
            send_region();
        else if (queues[from][to].first < queues[from][to].last)
            recv_region(from, to);
    }
    for (int from = 0; all && from < workers; from++)
        for (int to = 0; to < workers; to++)
            while (queues[from][to].first < queues[from][to].last)
                recv_region(from, to);
    operations += MOVES;
}

static void check_all(void)
{
    for (int o = 0; o < OBJECTS_MAX; o++) {
        if (objects[o].live && view[me][o])
            check(o);
        for (int w = 0; w < workers; w++)
            hash = (hash ^ view[w][o]) * 1099511628211u;
    }
}

static void make_comm(void)
{
    int ranks[WORKERS_MAX];
    MPI_Group all, group;

    for (int i = 0; i < workers; i++)
        ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, workers, ranks, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;

    MPI_Init(&argc, &argv);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    script = seed * 7919u + 1;
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    if (workers > WORKERS_MAX)
        fail("too many workers", workers);
    make_comm();
    for (int i = 0; i < workers; i++)
        for (int j = 0; j < workers; j++)
            queues[i][j].versions = malloc(QUEUE_MAX * sizeof(struct version));
    regions[0].live = 1;
    regions[0].maker = -1;
    for (round_now = 1; round_now <= rounds; round_now++) {
        change_things();
        if (pick(3) == 0)
            free_region();
        move_things(round_now % 8 == 0 || round_now == rounds);
        check_all();
        /* What is looked at here, another may free in the next round. */
        MPI_Barrier(comm);
    }
    sys_barrier();
    if (me == 0)
        printf("myrmics_random seed=%u workers=%d operations=%lu hash=%016llx "
               "ok\n",
               seed, workers, operations, (unsigned long long)hash);
    for (int i = 0; i < workers; i++)
        for (int j = 0; j < workers; j++)
            free(queues[i][j].versions);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
