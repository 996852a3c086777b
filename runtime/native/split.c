/*
 * A writer whose regions have readers goes on in new frames: the current copies
 * that somebody pins are copied once, and the protocol is told.
 *
 * Memory is reserved and copied without the lock of the tree: the WRITE hold
 * keeps copies and extents as they are.
 */
#include <pthread.h>
#include <stdlib.h>

#include "memory/grow.h"
#include "runtime/native/state.h"
#include "runtime/wait.h"

/* A region whose current copy is pinned, and the frames to go on with. */
struct split {
    struct proto_region *region;
    uint64_t address;
    struct native_memory *memory;
    struct native_plan plan;
    struct native_frames *from, *to;
};

struct splits {
    struct split *list;
    size_t count, room;
};

static int splits_add(struct splits *splits, struct proto_region *r,
                      struct native_frames *from)
{
    struct split *grown;

    grown = room_for_one(splits->list, splits->count, &splits->room,
                         sizeof(*grown));
    if (!grown)
        return DRASYNC_ENOMEM;
    splits->list = grown;
    splits->list[splits->count++] = (struct split){
        .region = r,
        .address = r->address,
        .memory = r->memory,
        .from = from,
    };
    return 0;
}

static int splits_collect(struct splits *splits, struct proto_region *top)
{
    struct proto_region *r = NULL;
    int err = 0;

    while (!err && (r = native_next_covered(top, r))) {
        struct proto_copy *copy = proto_newest(r);

        if (copy && copy->frames && r->memory && (copy->pins || copy->sends))
            err = splits_add(splits, r, copy->frames);
    }
    return err;
}

/* Under the lock: what the frames will be, and those that are there. */
static int splits_plan(struct splits *splits)
{
    int err = 0;

    for (uint64_t i = 0; i < splits->count && !err; i++) {
        struct split *s = &splits->list[i];

        err = native_frames_plan(s->memory, &s->plan);
        if (!err && s->plan.primary)
            err = native_frames_make(&s->plan, &s->to);
    }
    return err;
}

/* Not under the lock: the hold keeps the copies and extents as they are. */
static int split_copy(struct split *s)
{
    int err = s->to ? 0 : native_frames_make(&s->plan, &s->to);

    return err ? err : native_frames_copy(s->to, s->from);
}

static int splits_enter(struct splits *splits)
{
    struct proto_effects *effects;
    int err = 0;

    for (uint64_t i = 0; i < splits->count && !err; i++) {
        struct split *s = &splits->list[i];

        effects = native_effects();
        err =
            proto_split(&native.node, native_rank(), s->region, s->to, effects);
        if (!err)
            s->to = NULL;
        native_do(effects, NULL);
    }
    return err;
}

static void splits_free(struct splits *splits)
{
    for (uint64_t i = 0; i < splits->count; i++) {
        native_plan_free(&splits->list[i].plan);
        if (splits->list[i].to)
            native_frames_free(splits->list[i].to);
    }
    free(splits->list);
    splits->list = NULL;
    splits->count = splits->room = 0;
}

/*
 * What is being copied: the tree, and for which rank; changed under its lock.
 * Relaxed: it is read under that lock, or by a thread that was granted WRITE
 * under it, and matters only if it was set before that.
 */
static _Atomic uint64_t copying_root;
static _Atomic int32_t copying_rank;

static void copying(uint64_t root)
{
    atomic_store_explicit(&copying_rank, native_rank(), memory_order_relaxed);
    atomic_store_explicit(&copying_root, root, memory_order_relaxed);
}

bool native_split_runs(const struct proto_region *region)
{
    uint64_t root = atomic_load_explicit(&copying_root, memory_order_relaxed);

    return root && (!region || root == region->root->address) &&
           atomic_load_explicit(&copying_rank, memory_order_relaxed) ==
               native_rank();
}

static int split_once(uint64_t address)
{
    struct splits splits = {0};
    struct native_tree tree;
    int err = native_lock(address, &tree);

    if (err)
        return err;
    err =
        tree.region ? splits_collect(&splits, tree.region) : DRASYNC_ENOREGION;
    if (!err)
        err = splits_plan(&splits);
    if (!err && splits.count)
        copying(tree.region->root->address);
    native_unlock(&tree);
    for (uint64_t i = 0; i < splits.count && !err; i++)
        err = split_copy(&splits.list[i]);
    if (native_lock(address, &tree))
        return DRASYNC_EPEER;
    if (!err)
        err = splits_enter(&splits);
    copying(0);
    splits_free(&splits);
    native_unlock(&tree);
    return err;
}

/* Is no current copy below the region at *@address, which is held for WRITE, on
 * its way to another node any more? */
static bool all_sent(void *address)
{
    struct proto_region *r = NULL;
    struct native_tree tree;
    bool sends = false;

    if (native_lock(*(const uint64_t *)address, &tree))
        return true;
    while (tree.region && !sends && (r = native_next_covered(tree.region, r))) {
        const struct proto_copy *copy = proto_newest(r);

        sends = copy && copy->sends;
    }
    native_unlock(&tree);
    return !sends;
}

/*
 * A thread of the same rank may be granted WRITE meanwhile, and finds no reader
 * if that has ended: it must not write into what is being copied.  So it comes
 * here too (native_split_runs()).
 *
 * What is only being sent needs no second copy soon: without memory for one the
 * writer waits until it has left.  That needs nothing of any rank.
 *
 * One thread at a time: the next one then finds nothing to split, instead of
 * going on with a copy that lacks what the first has written meanwhile.
 */
int native_split(uint64_t address)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int err;

    pthread_mutex_lock(&mutex);
    err = split_once(address);
    if (err == DRASYNC_ENOMEM || err == DRASYNC_ENOSPACE) {
        native_evict();
        err = split_once(address);
        /* Who serves other nodes may be the one who sends. */
        if (err && !native_running.server && wait_yielding(all_sent, &address))
            err = split_once(address);
    }
    pthread_mutex_unlock(&mutex);
    return err == DRASYNC_ENOSPACE ? DRASYNC_ENOMEM : err;
}
