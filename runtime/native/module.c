/* Start and end of the native regions on a rank. */
#include <pthread.h>
#include <stdlib.h>

#include "memory/control.h"
#include "runtime/check/check.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/native/ahead.h"
#include "runtime/native/claim.h"
#include "runtime/native/give.h"
#include "runtime/native/guard.h"
#include "runtime/native/map.h"
#include "runtime/native/naming.h"
#include "runtime/native/objects.h"
#include "runtime/native/recycle.h"
#include "runtime/native/request.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/thread.h"

struct native native;

/* What a thread keeps: one wait. */
static _Thread_local struct native_wait *kept_wait;
static pthread_mutex_t waits_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct native_wait *waits_free;

static void waits_push(struct native_wait *wait)
{
    pthread_mutex_lock(&waits_mutex);
    wait->next = waits_free;
    waits_free = wait;
    pthread_mutex_unlock(&waits_mutex);
}

/* In the order that thread.h gives. */
static void thread_ends(void)
{
    run_thread_ends();
    native_magazines_thread_ends();
    native_lease_leave();
    if (kept_wait)
        waits_push(kept_wait);
    kept_wait = NULL;
    native_effects_free();
    native_mapping_forget();
    native_lease_forget();
    native_requests_forget();
    native_taken_thread_ends();
}

struct native_wait *native_wait_take(void)
{
    struct native_wait *wait = kept_wait;
    void *v;

    if (wait) {
        kept_wait = NULL;
    } else {
        pthread_mutex_lock(&waits_mutex);
        wait = waits_free;
        if (wait)
            waits_free = wait->next;
        pthread_mutex_unlock(&waits_mutex);
    }
    if (!wait) {
        if (control_alloc_zero(&runtime.space, sizeof(*wait), &v))
            return NULL;
        wait = v;
    }
    waiter_reset(&wait->waiter);
    wait->slot = NULL;
    wait->served = false;
    return wait;
}

void native_wait_give(struct native_wait *wait)
{
    if (kept_wait) {
        waits_push(wait);
        return;
    }
    if (thread_watch()) {
        waits_push(wait);
        return;
    }
    kept_wait = wait;
}

static int native_start_leader(void)
{
    struct native_shared *shared;
    void *run, *give;
    int err = native_shared_new(&shared);

    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_NATIVE],
                     (void *)shared);
    if (!err)
        err = run_shared_new(&run);
    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_RUN], run);
    if (!err)
        err = give_shared_new(&give);
    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_GIVE], give);
    return err;
}

static bool each_turn(void)
{
    bool kept = native_keep_turn();

    run_send_turn();
    return run_serve_turn() || kept;
}

static int native_start(void)
{
    struct proto_env env;

    native.shared =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_NATIVE]);
    native.self = runtime_self();
    native.rank = runtime.rank;
    /* The calls of Myrmics have no holds that a program could mix up. */
    native.check = runtime.options.check != 0;
    native.objects = runtime.options.check & OPTIONS_CHECK_NOTES;
    native.threads =
        native.check && runtime.options.myrmics != RUNTIME_MYRMICS_MOVE;
    /* The first thread, so that another one that takes something is a second. */
    native_taken_by_several();
    if (native.check)
        native_guard_start();
    native_env_fill(&env);
    proto_node_open(&native.node, &env);
    if (runtime.options.fanout)
        native.node.fanout = runtime.options.fanout;
    if (runtime.options.ahead == RUNTIME_AHEAD_AUTO)
        native.node.subscribe = PROTO_SUBSCRIBE;
    native_wire_start();
    native_claim_start();
    native_naming_start();
    native_magazines_start();
    give_start();
    native_lease_start();
    run_serve_start();
    run_send_start();
    if (runtime.leader)
        runtime_each_turn(each_turn);
    return 0;
}

/* What this rank holds here ends, as by a release. */
static void end_in_tree(uint64_t address, void *arg)
{
    struct native_found *found = NULL;
    struct proto_effects *effects;
    struct native_tree tree;

    (void)arg;
    if (!address || native_lock(address, &tree))
        return;
    if (tree.region && tree.region->root == tree.region) {
        if (native.objects)
            found = native_objects_look(tree.region, CHECK_AT_END);
        effects = native_effects();
        proto_end_rank(&native.node, native.rank, tree.region, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
    native_objects_end(found);
}

static int native_idle(void)
{
    return run_serve_idle();
}

static void native_quiesce(void)
{
    run_quiesce();
    if (native.check)
        check_holds_left();
    native_requests_end();
    give_end();
    native_recycle_clear_all();
    native_magazines_end_all();
    native_each(end_in_tree, NULL);
    native_lease_count();
}

const struct runtime_module native_module = {
    .name = "native",
    .start_leader = native_start_leader,
    .start = native_start,
    .quiesce = native_quiesce,
    .thread_ends = thread_ends,
    .idle = native_idle,
    .rank_died = native_rank_died,
};
