/*
 * A writer whose regions have readers goes on in new frames: the current copies
 * that somebody pins are copied once, and the protocol is told.
 *
 * Memory is reserved and copied without the lock of the tree: the WRITE hold
 * keeps the extents as they are, and proto_copying() the copies.  Another thread
 * of the rank that is granted WRITE meanwhile is told to split as well, also
 * when the last reader has ended: it waits here for the first one, and finds
 * nothing left to copy.
 */
#include <pthread.h>
#include <stdlib.h>

#include "memory/grow.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/wait.h"

/* A region whose current copy is pinned, and the frames to go on with. */
struct split {
    struct proto_region *region;
    uint64_t address;
    struct native_memory *memory;
    struct native_plan plan;
    struct proto_copy *copy;
    struct native_frames *to;
};

struct splits {
    struct split *list;
    size_t count, room;
};

static int splits_add(struct splits *splits, struct proto_region *r,
                      struct proto_copy *copy)
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
        .copy = copy,
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
            err = splits_add(splits, r, copy);
    }
    return err;
}

/* Under the lock: what the frames will be, and those that are there. */
static int splits_plan(struct splits *splits)
{
    int err = 0;

    for (uint64_t i = 0; i < splits->count && !err; i++) {
        struct split *s = &splits->list[i];

        native_frames_fix(s->copy->frames);
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

    return err ? err : native_frames_copy(s->to, s->copy->frames);
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

/* What was not entered. */
static void splits_undo(const struct splits *splits)
{
    for (uint64_t i = 0; i < splits->count; i++) {
        native_plan_free(&splits->list[i].plan);
        if (splits->list[i].to)
            native_frames_free(splits->list[i].to);
    }
}

static void splits_begin(const struct splits *splits)
{
    for (uint64_t i = 0; i < splits->count; i++)
        proto_copying(splits->list[i].region, splits->list[i].copy);
}

/* From here on a region that was deleted meanwhile gives its pages to others. */
static void splits_end(const struct splits *splits)
{
    for (uint64_t i = 0; i < splits->count; i++) {
        const struct split *s = &splits->list[i];
        struct proto_effects *effects = native_effects();

        proto_copied(&native.node, s->region, s->copy, effects);
        native_do(effects, NULL);
    }
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
    splits_begin(&splits);
    if (!err)
        err = splits_plan(&splits);
    native_unlock(&tree);
    for (uint64_t i = 0; i < splits.count && !err; i++)
        err = split_copy(&splits.list[i]);
    if (native_lock(address, &tree)) {
        free(splits.list);
        return DRASYNC_EPEER;
    }
    if (!err)
        err = splits_enter(&splits);
    splits_undo(&splits);
    splits_end(&splits);
    free(splits.list);
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
        if (err && native_trim())
            err = split_once(address);
        /* A thread that serves other nodes does not wait: it may be the
         * progress thread, which has to send that data. */
        if (err && !native_running.server)
            err = wait_yielding(all_sent, &address) ? split_once(address)
                                                    : DRASYNC_EPEER;
    }
    pthread_mutex_unlock(&mutex);
    return err == DRASYNC_ENOSPACE ? DRASYNC_ENOMEM : err;
}
