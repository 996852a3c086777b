/*
 * Random families of regions that go from worker to worker, with nothing that
 * all wait for.  Every worker runs the same random script and does what concerns
 * it.  Usage: myrmics_handover SEED STEPS
 *
 * A family is a tree of regions and a list of objects through all of them.  One
 * worker has it: it adds regions and objects, frees objects, moves them to
 * another region, frees a subregion, and hands the family on by sys_send() and a
 * message with the addresses.  In the end the worker that has it frees it, or
 * another one that was told its number and knows nothing else.  So regions
 * consist of what several workers cut, and their addresses are in use again, by
 * each of these, before all others have heard that they were free.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics.h"

#define WORKERS_MAX 16
#define FAMILIES    8
#define REGIONS_MAX 12
#define OBJECTS_MAX 60
#define TAG_FAMILY  1
#define TAG_NUMBER  2

struct object {
    struct object *next;
    uint32_t region; /* index in the family */
    uint32_t stamp;
    uint64_t size; /* of `bytes` */
    unsigned char bytes[];
};

/* What goes beside a send. */
struct family {
    struct object *first;
    rid_t rids[REGIONS_MAX]; /* [0] is the top; 0: there is none */
    uint32_t objects;
};

/* What the script knows of it. */
struct fate {
    int alive, owner;
    int parents[REGIONS_MAX]; /* -1: there is no such region */
};

static MPI_Comm comm;
static int me, workers;
static uint64_t script, hash = 14695981039346656037u;
static unsigned seed, step;
static struct family families[FAMILIES];
static struct fate fates[FAMILIES];

static void fail(const char *what)
{
    fprintf(stderr, "worker %d seed %u step %u: %s\n", me, seed, step, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

/* Of the script: the same on all workers. */
static unsigned pick(unsigned below)
{
    script = script * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((script >> 33) % below);
}

/* --- Objects: by who has the family, with numbers of its own --- */

static unsigned char byte_at(uint32_t stamp, uint64_t at)
{
    return (unsigned char)((stamp * 2654435761u) >> 24 ^ at * 37 ^ at >> 7);
}

static uint64_t random_size(uint64_t *state)
{
    uint64_t x = *state = *state * 6364136223846793005u + 1442695040888963407u;

    x >>= 33;
    return x % 100 < 85 ? x / 128 % 300 : x / 128 % 20000;
}

static void write_bytes(struct object *o)
{
    for (uint64_t i = 0; i < o->size; i++)
        o->bytes[i] = byte_at(o->stamp, i);
}

static void check_bytes(const struct object *o, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (o->bytes[i] != byte_at(o->stamp, i))
            fail("wrong data");
}

static void check_family(const struct family *f)
{
    uint32_t count = 0;

    for (const struct object *o = f->first; o; o = o->next) {
        if (o->region >= REGIONS_MAX || !f->rids[o->region] ||
            ++count > f->objects)
            fail("a broken list");
        check_bytes(o, o->size);
        hash = (hash ^ o->stamp ^ o->size) * 1099511628211u;
    }
    if (count != f->objects)
        fail("objects are missing");
}

static void add_objects(struct family *f, uint32_t region, uint32_t stamp)
{
    uint64_t state = stamp;

    for (uint32_t i = 0; i < 12 && f->objects < OBJECTS_MAX; i++) {
        uint64_t size = random_size(&state);
        struct object *o = sys_alloc(sizeof(*o) + size, f->rids[region]);

        o->next = f->first;
        o->region = region;
        o->stamp = stamp + i;
        o->size = size;
        write_bytes(o);
        f->first = o;
        f->objects++;
    }
}

/* Free every third object, or those in regions that are gone. */
static void free_objects(struct family *f, const struct fate *gone)
{
    uint32_t at = 0;

    for (struct object **link = &f->first, *o; (o = *link);) {
        if (gone ? gone->parents[o->region] >= -1 : at++ % 3) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        f->objects--;
        if (!gone)
            sys_free(o);
    }
}

static void move_objects(struct family *f, uint32_t region, uint32_t stamp)
{
    uint64_t state = stamp;
    uint32_t at = 0;

    for (struct object **link = &f->first, *o; (o = *link); link = &o->next) {
        uint64_t size, kept;

        if (o->region == region || at++ % 4)
            continue;
        size = random_size(&state);
        kept = size < o->size ? size : o->size;
        o = sys_realloc(o, sizeof(*o) + size, f->rids[region]);
        check_bytes(o, kept);
        o->region = region;
        o->size = size;
        write_bytes(o);
        *link = o;
    }
}

/* --- Families --- */

/* A region of a family that is there; the top, if @top_too. */
static int pick_region(const struct fate *fate, int top_too)
{
    for (int tries = 0; tries < 20; tries++) {
        int r = (int)pick(REGIONS_MAX);

        if (fate->parents[r] >= -1 && (r || top_too))
            return r;
    }
    return top_too ? 0 : -1;
}

#define GONE (-2) /* in fate.parents; the top's is -1 */

static void begin(struct family *f, struct fate *fate)
{
    fate->alive = 1;
    fate->owner = (int)pick((unsigned)workers);
    fate->parents[0] = -1;
    for (int r = 1; r < REGIONS_MAX; r++)
        fate->parents[r] = GONE;
    if (fate->owner != me)
        return;
    memset(f, 0, sizeof(*f));
    f->rids[0] = sys_ralloc(0, 0);
    add_objects(f, 0, step * 64);
}

static void add_region(struct family *f, struct fate *fate)
{
    int parent = pick_region(fate, 1), r = 1;

    while (r < REGIONS_MAX && fate->parents[r] != GONE)
        r++;
    if (r == REGIONS_MAX)
        return;
    fate->parents[r] = parent;
    if (fate->owner != me)
        return;
    f->rids[r] = sys_ralloc(f->rids[parent], 0);
    add_objects(f, (uint32_t)r, step * 64);
}

static void drop_region(struct family *f, struct fate *fate)
{
    int top = pick_region(fate, 0);
    rid_t rid;

    if (top < 0)
        return;
    fate->parents[top] = GONE;
    /* Parents need not come before children here. */
    for (int again = 1; again;) {
        again = 0;
        for (int r = 1; r < REGIONS_MAX; r++)
            if (fate->parents[r] >= 0 &&
                fate->parents[fate->parents[r]] == GONE)
                again = fate->parents[r] = GONE;
    }
    if (fate->owner != me)
        return;
    rid = f->rids[top];
    free_objects(f, fate);
    for (int r = 1; r < REGIONS_MAX; r++)
        if (fate->parents[r] == GONE)
            f->rids[r] = 0;
    sys_rfree(rid);
}

static void hand_on(struct family *f, struct fate *fate)
{
    int from = fate->owner, to = (int)pick((unsigned)workers);

    fate->owner = to;
    if (from == to)
        return;
    if (me == from) {
        sys_send(f->rids[0], to);
        MPI_Send(f, sizeof(*f), MPI_BYTE, to, TAG_FAMILY, comm);
    }
    if (me == to) {
        MPI_Recv(f, sizeof(*f), MPI_BYTE, from, TAG_FAMILY, comm,
                 MPI_STATUS_IGNORE);
        if (sys_recv(step % 2 ? f->rids[0] : 0, from) != f->rids[0])
            fail("another region was received");
        check_family(f);
    }
}

static void end(struct family *f, struct fate *fate)
{
    int by = (int)pick((unsigned)workers);
    rid_t top = f->rids[0];

    fate->alive = 0;
    if (fate->owner == me) {
        check_family(f);
        if (by != me)
            MPI_Send(&top, sizeof(top), MPI_BYTE, by, TAG_NUMBER, comm);
    }
    if (by != me)
        return;
    if (by != fate->owner)
        MPI_Recv(&top, sizeof(top), MPI_BYTE, fate->owner, TAG_NUMBER, comm,
                 MPI_STATUS_IGNORE);
    sys_rfree(top);
}

static void take_step(void)
{
    unsigned which = pick(FAMILIES), what = pick(100);
    struct family *f = &families[which];
    struct fate *fate = &fates[which];

    if (!fate->alive) {
        begin(f, fate);
    } else if (what < 25) {
        add_region(f, fate);
    } else if (what < 35) {
        int r = pick_region(fate, 1);

        if (fate->owner == me)
            add_objects(f, (uint32_t)r, step * 64);
    } else if (what < 45) {
        if (fate->owner == me)
            free_objects(f, NULL);
    } else if (what < 53) {
        int r = pick_region(fate, 1);

        if (fate->owner == me)
            move_objects(f, (uint32_t)r, step * 64);
    } else if (what < 60) {
        drop_region(f, fate);
    } else if (what < 88) {
        hand_on(f, fate);
    } else {
        end(f, fate);
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
    unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 500;
    uint64_t all = 0;

    MPI_Init(&argc, &argv);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    script = seed * 7919u + 1;
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    if (workers > WORKERS_MAX)
        fail("too many workers");
    make_comm();
    for (step = 1; step <= steps; step++)
        take_step();
    for (int i = 0; i < FAMILIES; i++)
        if (fates[i].alive)
            end(&families[i], &fates[i]);
    MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, comm);
    if (me == 0)
        printf("myrmics_handover seed=%u workers=%d hash=%016llx ok\n", seed,
               workers, (unsigned long long)all);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
