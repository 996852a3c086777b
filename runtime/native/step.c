/*
 * Steps of the protocol: lock the trees, let the step run, do what it says,
 * unlock.
 */
#include <stdlib.h>

#include "runtime/messages/messages.h"
#include "runtime/native/ahead.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/services/names.h"
#include "runtime/thread.h"

/* A pointer, as everything here that is a thread's own: the library's
 * thread-local storage must fit into what the loader has left where the library
 * is loaded at run time. */
static _Thread_local struct proto_effects *thread_effects;

/* For a thread that has no memory for effects of its own: a step that has any
 * fails, and the job ends.  Each under the lock of its stripe. */
static struct proto_effects no_effects[NATIVE_STRIPES];

static int stripe_of(uint64_t tree)
{
    return (int)space_page_hash(tree, 5);
}

_Static_assert(NATIVE_STRIPES == 1 << 5, "stripe_of() keeps 5 bits");
_Static_assert(NATIVE_STRIPES <= RUNTIME_TREE_LOCKS, "as many locks");

/* A record that is about to be another region's has no tree as yet. */
#define NO_TREE UINT64_MAX

/* The tree that @region, the record of @address, is in; without a record, the
 * one that it would be the root of.  Read without a lock: may be anything that
 * was true at some time. */
__attribute__((no_sanitize("thread"))) static uint64_t
tree_of(const struct proto_region *region, uint64_t address)
{
    const struct proto_region *root;

    if (!region)
        return address;
    root = *(struct proto_region *const volatile *)&region->root;
    return root ? *(const volatile uint64_t *)&root->address : NO_TREE;
}

int native_lock_for(enum native_for what, uint64_t address,
                    struct native_tree *tree)
{
    for (;;) {
        struct proto_region *region = native_find(address);
        uint64_t guess = tree_of(region, address);
        int stripe = stripe_of(guess);
        int err = lock_take(&runtime.shared->trees[stripe]);

        if (err)
            return err;
        tree->region = native_find(address);
        /* A rank that died with the table's lock hides what is there. */
        if (!tree->region && atomic_load(runtime_poisoned)) {
            lock_give(&runtime.shared->trees[stripe]);
            return DRASYNC_EPEER;
        }
        /* With another tree, or none, another lock guards it. */
        if (tree->region == region && guess != NO_TREE &&
            tree_of(region, address) == guess) {
            tree->stripe = stripe;
            native_pool_use(stripe);
            if (native.shared->leases[stripe].count)
                native_lease_settle(
                    &native.shared->leases[stripe], region, what,
                    what == NATIVE_FOR_REQUEST ? tree->from
                                               : NATIVE_KEEP_GIVES);
            return 0;
        }
        lock_give(&runtime.shared->trees[stripe]);
    }
}

int native_lock(uint64_t address, struct native_tree *tree)
{
    return native_lock_for(NATIVE_FOR_ALL, address, tree);
}

struct proto_region *native_find_in(const struct native_tree *tree,
                                    uint64_t address)
{
    struct proto_region *region = native_find(address);

    return tree->stripe < 0 ||
                   stripe_of(tree_of(region, address)) == tree->stripe
               ? region
               : NULL;
}

struct proto_region *native_next_covered(const struct proto_region *top,
                                         const struct proto_region *at)
{
    struct proto_region *r = proto_next(top, at);

    while (r && (r->dead || r->gone || !r->owned))
        r = proto_next(top, r);
    return r;
}

static int lock_all(struct native_tree *tree)
{
    tree->region = NULL;
    tree->stripe = -1;
    for (int i = 0; i < NATIVE_STRIPES; i++) {
        int err = lock_take(&runtime.shared->trees[i]);

        if (!err)
            continue;
        while (i-- > 0)
            lock_give(&runtime.shared->trees[i]);
        return err;
    }
    native_pool_use(-1);
    for (int i = 0; i < NATIVE_STRIPES; i++)
        if (native.shared->leases[i].count)
            native_lease_settle(&native.shared->leases[i], NULL, NATIVE_FOR_ALL,
                                NATIVE_KEEP_GIVES);
    return 0;
}

static struct proto_region *find_in(void *tree, uint64_t address)
{
    return native_find_in(tree, address);
}

/* One that does not wait is to be answered by what is true; what is asked ahead
 * ends no lease that would be kept from a request. */
static enum native_for message_for(const struct proto_message *message)
{
    bool asks = message->type == PROTO_REQUEST ||
                (message->type == PROTO_LOCATE && message->ticket);

    bool ahead = message->type == PROTO_REQUEST && message->flags & PROTO_AHEAD;

    /* What is written under a lease is no version before that has ended. */
    if (message->type == PROTO_REQUEST && message->flags & PROTO_NEWER)
        return NATIVE_FOR_ALL;
    return asks && (ahead || !(message->flags & PROTO_NOWAIT))
               ? NATIVE_FOR_REQUEST
               : NATIVE_FOR_ALL;
}

int native_lock_message(const struct proto_message *message,
                        struct native_tree *tree)
{
    uint64_t address = proto_message_tree(message);
    int err;

    tree->from = message->flags & PROTO_KEEPS && message->type == PROTO_REQUEST
                     ? (int)message->node
                     : NATIVE_KEEP_GIVES;
    if (address != PROTO_TREE_ALL) {
        err = native_lock_for(message_for(message), address, tree);
        if (err ||
            proto_message_tree_enough(message, tree->region, find_in, tree))
            return err;
        native_unlock(tree);
    }
    err = lock_all(tree);
    /* Its pools have what the last such step gave back. */
    if (!err)
        native_pool_use(stripe_of(message->root));
    return err;
}

void native_unlock(const struct native_tree *tree)
{
    native_pool_shed();
    if (tree->stripe >= 0) {
        lock_give(&runtime.shared->trees[tree->stripe]);
        return;
    }
    for (int i = NATIVE_STRIPES; i-- > 0;)
        lock_give(&runtime.shared->trees[i]);
}

static void *grow_never(void *old, size_t size_bytes)
{
    (void)old;
    (void)size_bytes;
    return NULL;
}

struct proto_effects *native_effects(void)
{
    struct proto_effects *effects = thread_effects;

    if (!effects) {
        effects = calloc(1, sizeof(*effects));
        if (!effects) {
            effects = &no_effects[native_pool_used()];
            effects->grow = grow_never;
        } else {
            effects->grow = realloc;
            thread_effects = effects;
            /* Goes with the thread; where that cannot be watched, a leak. */
            thread_watch();
        }
    }
    proto_effects_clear(effects);
    return effects;
}

void native_effects_soon(struct proto_effects *effects)
{
    for (size_t i = 0; i < effects->count; i++)
        effects->effect[i].soon = effects->effect[i].kind == PROTO_SEND;
}

void native_effects_free(void)
{
    if (!thread_effects)
        return;
    proto_effects_free(thread_effects, free);
    free(thread_effects);
    thread_effects = NULL;
}

static void wake(const struct proto_effect *e)
{
    struct native_wait *wait = e->waiter;

    wait->split = e->split || native_read_splits(e->hold);
    wait->incarnation = e->incarnation;
    wait->unsettled = e->unsettled;
    wait->waited = e->waited;
    if (e->region) {
        wait->incarnation = e->region->incarnation;
        wait->layout = e->region->root->layout;
        wait->version = proto_seen_version(e->region, e->hold);
    }
    /* The wait may be gone as soon as it is woken. */
    bool served = wait->served;
    waiter_wake(&wait->waiter, e->kind == PROTO_FAILED ? e->error : 0);
    if (served)
        runtime_nudge();
}

/* May the region that is gone have names that nobody else withdraws?  One node
 * tells the manager: the home, which whoever publishes has told (naming.c). */
static bool to_withdraw(const struct proto_effect *e)
{
    const struct native_memory *memory = e->memory;

    return e->kind == PROTO_GONE && memory && e->dead && memory->home &&
           memory->named;
}

static void withdraw_names(const struct proto_effects *effects)
{
    struct names_region few[8], *regions = few;
    size_t count = 0, n = 0;

    for (size_t i = 0; i < effects->count; i++)
        count += to_withdraw(&effects->effect[i]);
    if (!count)
        return;
    if (count > 8)
        regions = malloc(count * sizeof(*regions));
    if (!regions) {
        runtime_no_memory("withdraw the names of regions");
        return;
    }
    for (size_t i = 0; i < effects->count; i++) {
        const struct proto_effect *e = &effects->effect[i];
        const struct native_memory *memory = e->memory;

        if (to_withdraw(e))
            regions[n++] =
                (struct names_region){e->address, memory->incarnation};
    }
    /* The step cannot be undone, and a name that stays is a lie. */
    if (names_withdraw(regions, count) == DRASYNC_ENOMEM)
        runtime_no_memory("withdraw the names of regions");
    if (regions != few)
        free(regions);
}

static void gone(const struct proto_effect *e)
{
    if (e->memory)
        native_memory_free(e->memory, e->dead);
}

static void do_one(struct proto_effects *effects, size_t i,
                   struct native_arrival *arrival)
{
    struct proto_effect *e = &effects->effect[i];

    switch (e->kind) {
    case PROTO_SEND:
        /* Marked for native_do(): a TRANSFER whose data moves. */
        e->data = native_wire_send(effects, i);
        break;
    case PROTO_GRANTED:
    case PROTO_FAILED:
        wake(e);
        break;
    case PROTO_ARRIVING:
        native_wire_arriving(arrival, e);
        break;
    case PROTO_EXPECT:
        native_wire_expect(arrival, e);
        break;
    case PROTO_EXTENT:
        native_extent_back(e->address, e->pages);
        break;
    case PROTO_POISONED:
        runtime_poison("%s", e->why ? e->why : "the protocol gave up");
        break;
    case PROTO_SHIP:        /* goes with its SEND */
    case PROTO_ASKED_AHEAD: /* these are done before the others */
    case PROTO_COPY_RELEASED:
    case PROTO_GONE:
        break;
    }
}

/* A TRANSFER of regions of which nothing was to be sent after all. */
static bool transfer_without_data(const struct proto_effects *effects, size_t i)
{
    const struct proto_effect *e = &effects->effect[i];

    return e->kind == PROTO_SEND && !e->data && i + 1 < effects->count &&
           e[1].kind == PROTO_SHIP;
}

static bool any(const struct proto_effects *effects,
                enum proto_effect_kind kind)
{
    return effects->kinds & 1u << kind;
}

/* Those have left at once: each is a step of its own, which takes the effects
 * over. */
static void transfers_left(struct proto_effects *effects)
{
    struct left {
        uint64_t root, ticket;
        uint32_t node;
    } few[8], *left = few;
    size_t count = 0, n = 0;

    for (size_t i = 0; any(effects, PROTO_SHIP) && i < effects->count; i++)
        count += transfer_without_data(effects, i);
    if (!count)
        return;
    if (count > 8)
        left = malloc(count * sizeof(*left));
    if (!left) {
        runtime_no_memory("do a step of the protocol");
        return;
    }
    for (size_t i = 0; i < effects->count; i++) {
        const struct proto_message *m;

        if (!transfer_without_data(effects, i))
            continue;
        m = proto_effect_message(effects, i);
        left[n++] = (struct left){m->root, m->ticket, effects->effect[i].node};
    }
    for (size_t i = 0; i < n; i++)
        native_wire_left(left[i].root, left[i].node, left[i].ticket);
    if (left != few)
        free(left);
}

void native_do(struct proto_effects *effects, struct native_arrival *arrival)
{
    if (effects->failed) {
        runtime_no_memory("do a step of the protocol");
        return;
    }
    /* First, so that what arrives finds these frames free; and records go
     * before their extents come back. */
    for (size_t i = 0; any(effects, PROTO_COPY_RELEASED) && i < effects->count;
         i++)
        if (effects->effect[i].kind == PROTO_COPY_RELEASED &&
            effects->effect[i].frames)
            native_frames_free(effects->effect[i].frames);
    for (size_t i = 0; any(effects, PROTO_ASKED_AHEAD) && i < effects->count;
         i++)
        if (effects->effect[i].kind == PROTO_ASKED_AHEAD)
            native_ahead_ended(&effects->effect[i]);
    if (any(effects, PROTO_GONE))
        withdraw_names(effects);
    for (size_t i = 0; any(effects, PROTO_GONE) && i < effects->count; i++)
        if (effects->effect[i].kind == PROTO_GONE)
            gone(&effects->effect[i]);
    for (size_t i = 0; i < effects->count; i++)
        do_one(effects, i, arrival);
    transfers_left(effects);
}
