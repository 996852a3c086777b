/* Runs on this node, by the thread that asked for them: see run.h. */
#include <sched.h>
#include <string.h>

#include "memory/space.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

static int take(uint64_t address, enum drasync_mode mode, uint64_t timeout_us)
{
    if (native_lease_take_own(address, mode))
        return 0;
    return native_acquire((drasync_region_t)(uintptr_t)address, mode,
                          timeout_us);
}

static void give(uint64_t address)
{
    int how = native_lease_give_own(address);

    if (how == NATIVE_LEASE_LEFT)
        native_lease_left(address);
    else if (how)
        native_release((drasync_region_t)(uintptr_t)address);
}

/*
 * Threads of a rank have its holds in common, so a hold does not keep a function
 * that another thread runs out.  A tree does: regions with something in common
 * are of one tree.  Whoever has it waits for nothing, since a function may not,
 * so it has it for a moment.
 */
#define TREES (1 << 6)

static struct {
    _Alignas(64) _Atomic bool taken;
} trees[TREES];

/* The region is held, so its record stays, and the root's. */
static _Atomic bool *enter_tree(uint64_t address)
{
    const struct proto_region *region = native_find(address);
    uint64_t root = region ? region->root->address : address;
    _Atomic bool *taken = &trees[space_page_hash(root, 6)].taken;

    /* Acquire, with the release of leave_tree(). */
    while (atomic_exchange_explicit(taken, true, memory_order_acquire))
        sched_yield();
    return taken;
}

static void leave_tree(_Atomic bool *taken)
{
    atomic_store_explicit(taken, false, memory_order_release);
}

int run_here(uint64_t address, const struct run_work *work, void *answer,
             uint64_t timeout_us, bool *done_out)
{
    _Alignas(16) unsigned char copy[DRASYNC_RUN_BYTES_MAX];
    const void *arg = work->arg_bytes ? work->arg : NULL;
    int result = take(address, work->mode, timeout_us);
    _Atomic bool *tree;

    *done_out = result != DRASYNC_EAGAIN;
    if (result)
        return result;
    /* The function may change what the argument was taken from. */
    if (arg)
        arg = memcpy(copy, arg, work->arg_bytes);
    if (work->answer_bytes)
        memset(answer, 0, work->answer_bytes);
    tree = enter_tree(address);
    result = run_function_call(
        work->function, (drasync_region_t)(uintptr_t)address, arg,
        work->arg_bytes, work->answer_bytes ? answer : NULL,
        work->answer_bytes);
    leave_tree(tree);
    give(address);
    return result;
}

/* The runs of @g, with the region held (@err 0) or not; those that ask begin
 * with @q.  The first that asks behind them. */
static struct run_request *group_here(struct run_caller *c, uint64_t address,
                                      const struct run_group *g,
                                      const char *args, struct run_request *q,
                                      int err)
{
    const struct drasync_function *f = run_function_find(g->function);
    drasync_region_t region = (drasync_region_t)(uintptr_t)address;
    const void *arg = g->arg_bytes ? args : NULL;
    struct run_request *next;

    if (!g->asks) {
        run_error(c, err ? err
                         : run_function_calls(f, region, args, g->arg_bytes,
                                              g->count));
        return q;
    }
    for (uint32_t i = 0; i < g->count; i++, q = next) {
        next = q->next;
        if (!err)
            run_request_end(
                q, run_function_call(f, region, arg, g->arg_bytes,
                                     g->answer_bytes ? q->answer : NULL,
                                     g->answer_bytes));
        else
            run_request_end(q, err);
        args += RUN_PADDED(g->arg_bytes);
        arg = g->arg_bytes ? args : NULL;
    }
    return q;
}

bool run_own(struct run_caller *c, struct run_stream *s, uint64_t timeout_us)
{
    const char *at = (const char *)s->bytes, *end = at + s->used, *args;
    struct run_request *q = s->requests;
    const struct run_group *g;
    _Atomic bool *tree = NULL;
    int err, locked;

    /* Nobody else takes it now; this thread alone adds to it. */
    atomic_store_explicit(&s->flying, true, memory_order_relaxed);
    run_stream_end(s);
    run_unlock(c);
    err =
        take(s->address, s->writes ? DRASYNC_WRITE : DRASYNC_READ, timeout_us);
    if (!err)
        tree = enter_tree(s->address);
    while (err != DRASYNC_EAGAIN && (g = run_group_next(&at, end, &args)))
        q = group_here(c, s->address, g, args, q, err);
    if (tree) {
        leave_tree(tree);
        give(s->address);
    }
    locked = run_lock(c);
    atomic_store_explicit(&s->flying, false, memory_order_relaxed);
    /* Poisoned: without the lock nothing more is touched. */
    if (!locked && err != DRASYNC_EAGAIN)
        run_stream_taken(c, s);
    return err != DRASYNC_EAGAIN && !locked;
}

void run_own_all(struct run_caller *c, uint64_t timeout_us)
{
    struct run_stream *s = c->busy;

    while (s) {
        if (!atomic_load_explicit(&s->flying, memory_order_acquire) &&
            run_where(s->address, s) == runtime.node &&
            run_own(c, s, timeout_us))
            s = c->busy; /* it may be another list */
        else
            s = s->next;
    }
}
