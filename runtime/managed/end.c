/* The end of a managed region at the nodes that want to know of it. */
#include "runtime/managed/state.h"

#include "memory/control.h"
#include "runtime/process.h"

void managed_ended(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();
    struct managed_call *call = e->calls, *next;

    e->calls = NULL;
    if (call && !lock_take(&shared->list)) {
        for (; call; call = next) {
            next = call->next;
            call->next = shared->rank[call->local].due;
            shared->rank[call->local].due = call;
            atomic_fetch_add_explicit(&shared->counts.due, 1,
                                      memory_order_relaxed);
        }
        lock_give(&shared->list);
    }
    managed_drop(e);
}

static struct managed_call *next_due(void)
{
    struct managed_shared *shared = managed_get();
    struct managed_call *call;

    if (lock_take(&shared->list))
        return NULL;
    call = shared->rank[runtime.local].due;
    if (call) {
        shared->rank[runtime.local].due = call->next;
        atomic_fetch_sub_explicit(&shared->counts.due, 1, memory_order_relaxed);
    }
    lock_give(&shared->list);
    return call;
}

/* Does this thread make calls just now?  A function may give a reference back, and
 * so make calls due: these are for the loop that called it, however long the chain
 * is. */
static _Thread_local bool calling __attribute__((tls_model("initial-exec")));

static bool is_due(struct managed_shared *shared)
{
    return shared &&
           atomic_load_explicit(&shared->counts.due, memory_order_relaxed);
}

void managed_call_due(void)
{
    struct managed_shared *shared = managed_get();
    struct managed_call *call;

    if (!is_due(shared) || calling)
        return;
    calling = true;
    while (is_due(shared) && (call = next_due())) {
        struct managed_call now = *call;

        control_free(&runtime.space, call);
        now.call((drasync_region_t)(uintptr_t)now.address, now.arg);
    }
    calling = false;
}
