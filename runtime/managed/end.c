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
            call->next = shared->due[call->local];
            shared->due[call->local] = call;
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
    call = shared->due[runtime.local];
    if (call) {
        shared->due[runtime.local] = call->next;
        atomic_fetch_sub_explicit(&shared->counts.due, 1, memory_order_relaxed);
    }
    lock_give(&shared->list);
    return call;
}

void managed_call_due(void)
{
    struct managed_shared *shared = managed_get();
    struct managed_call *call;

    while (shared &&
           atomic_load_explicit(&shared->counts.due, memory_order_relaxed) &&
           (call = next_due())) {
        struct managed_call now = *call;

        control_free(&runtime.space, call);
        now.call((drasync_region_t)(uintptr_t)now.address, now.arg);
    }
}
