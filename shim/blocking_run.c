/* What a thread does for other nodes and ranks while it waits inside MPI: see
 * blocking.h. */
#include "shim/blocking.h"

#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/wait.h"
#include "runtime/waiting.h"
#include "transport/boot.h"

bool drasync_blocking_polls(void)
{
    return ((runtime.leader && runtime.nodes > 1) || runtime.crowded) &&
           atomic_load_explicit(&runtime.state, memory_order_relaxed) ==
               RUNTIME_RUNNING;
}

bool drasync_blocking_all_poll(void)
{
    return (runtime.nodes == runtime.ranks || runtime.all_crowded) &&
           runtime.all_direct;
}

bool drasync_blocking_until(bool (*over)(void *arg), void *arg)
{
    return progress_help_until(over, arg) ||
           (runtime.crowded && wait_yielding(over, arg));
}

/* Of this thread, which may be counted only since it entered. */
static void count_inside(bool enters)
{
    _Atomic uint32_t *count = waiting_inside_mpi;
    uint32_t calls =
        count ? atomic_load_explicit(count, memory_order_relaxed) : 0;

    if (count && (enters || calls))
        atomic_store_explicit(count, enters ? calls + 1 : calls - 1,
                              memory_order_relaxed);
}

/* Of several threads inside MPI the last to come counts. */
uint32_t drasync_blocking_enter(enum waiting_mpi_call call, int peer)
{
    struct waiting_rank *self = waiting_self;
    uint32_t outer =
        atomic_load_explicit(&self->mpi_call, memory_order_relaxed);

    atomic_store_explicit(&self->mpi_peer, peer, memory_order_relaxed);
    atomic_store_explicit(&self->mpi_call, call, memory_order_relaxed);
    count_inside(true);
    return outer;
}

void drasync_blocking_leave(const uint32_t *outer)
{
    count_inside(false);
    atomic_store_explicit(&waiting_self->mpi_call, *outer,
                          memory_order_relaxed);
}

void drasync_blocking_inside(bool inside)
{
    progress_inside(inside);
}

void drasync_blocking_find(struct drasync_blocking_call *call, void *next,
                           const char *name, const char *own)
{
    /* A plug-in may have loaded an MPI for itself: then none is next. */
    if (!next)
        next = boot_symbol(name);
    atomic_store_explicit(&call->own,
                          boot_is_mpi(next) ? boot_symbol(own) : NULL,
                          memory_order_relaxed);
    atomic_store_explicit(&call->next, next, memory_order_release);
}

void drasync_blocking_look(void)
{
    runtime_look(runtime_now_us());
}
