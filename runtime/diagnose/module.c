/* Start and end of what looks after waits. */
#include "memory/control.h"
#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/asked.h"
#include "runtime/diagnose/facts.h"
#include "runtime/diagnose/stall.h"
#include "runtime/diagnose/threads.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "runtime/wait.h"

static struct waiting_rank *before;

static int diagnose_start_leader(void)
{
    struct facts_shared *shared;
    void *v;
    int err = control_alloc_zero(
        &runtime.space,
        sizeof(*shared) + (size_t)runtime.locals * sizeof(*shared->ranks), &v);

    if (err)
        return err;
    shared = v;
    shared->shape = facts_shape();
    if (runtime.options.check & OPTIONS_CHECK_DEADLOCK) {
        err = control_alloc_zero(
            &runtime.space, (size_t)runtime.locals * sizeof(*shared->mpi), &v);
        if (err)
            return err;
        shared->mpi = v;
    }
    atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE], shared);
    return 0;
}

static int diagnose_start(void)
{
    struct facts_shared *shared =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE]);

    ask_start();
    facts_gift_left = native_gift_left;
    before = waiting_self;
    waiting_self = &shared->ranks[runtime.local];
    waiting_self->mpi_thread = threads_of_mpi();
    if (shared->mpi)
        waiting_mpi_self = &shared->mpi[runtime.local];
    wait_slept = stall_slept;
    return asked_start();
}

/* Nobody is to be told that it waits, or takes it for a part of a ring.  What it
 * was writing when it died stays unreadable. */
static void diagnose_rank_died(int rank)
{
    struct facts_shared *shared =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE]);
    struct waiting_rank *dead = &shared->ranks[runtime.local_of[rank]];

    for (int i = 0; i < WAITING_THREADS; i++)
        dead->slots[i].seen.what = WAITING_NOTHING;
    for (int i = 0; i < WAITING_HOLDS; i++)
        atomic_store_explicit(&dead->holds[i].address, 0, memory_order_relaxed);
    atomic_store_explicit(&dead->mpi_call, WAITING_MPI_NONE,
                          memory_order_relaxed);
}

/* Memory stays mapped, and a thread may be on its way out of MPI: what it notes
 * there stays, too. */
static void diagnose_stop(void)
{
    asked_stop();
    wait_slept = NULL;
    waiting_self = before;
}

const struct runtime_module diagnose_module = {
    .name = "diagnose",
    .start_leader = diagnose_start_leader,
    .start = diagnose_start,
    .stop = diagnose_stop,
    .rank_died = diagnose_rank_died,
};
