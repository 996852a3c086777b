/* What a front must know of the job, and where memory lies. */
#include "memory/control.h"
#include "memory/frames.h"
#include "runtime/modules.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/rma/state.h"
#include "runtime/shared.h"
#include "runtime/survive.h"

static struct rma_job job;

int rma_enter(void)
{
    int err = runtime_start();

    if (!err)
        err = runtime_enter();
    if (!err)
        survive_bind(SURVIVE_DART);
    return err;
}

int rma_running(void)
{
    int state = atomic_load(&runtime.state);

    return state == RUNTIME_IDLE || state == RUNTIME_STARTING
               ? DRASYNC_ENOTREADY
               : runtime_enter();
}

const struct rma_job *rma_job(void)
{
    return &job;
}

/* --- Places --------------------------------------------------------------- */

/* How [@at, @at + @bytes) lies to the range at @base. */
enum side { OUTSIDE, INSIDE, ACROSS };

static enum side side_of(uintptr_t at, size_t bytes, const char *base,
                         uint64_t base_bytes)
{
    uint64_t from = at - (uintptr_t)base;

    if (from < base_bytes)
        return bytes <= base_bytes - from ? INSIDE : ACROSS;
    return at < (uintptr_t)base && bytes > (uintptr_t)base - at ? ACROSS
                                                                : OUTSIDE;
}

int rma_place_of(const void *address, size_t bytes, uint64_t *place_out)
{
    uintptr_t at = (uintptr_t)address;
    enum side data, window;

    /* The unit may give it to MPI. */
    frames_catch_up(&runtime.space);
    if (!address || at & RMA_PRIVATE || bytes > RMA_PRIVATE - at)
        return DRASYNC_EINVAL;
    data = side_of(at, bytes, job.data, job.data_bytes);
    window = side_of(at, bytes, job.window, job.window_bytes);
    if (data == ACROSS || window == ACROSS)
        return DRASYNC_EINVAL;
    if (data == INSIDE)
        return native_place(address, bytes, place_out);
    *place_out =
        window == INSIDE ? at - (uintptr_t)job.window : RMA_PRIVATE | at;
    return 0;
}

/* --- Start and end -------------------------------------------------------- */

static int rma_start_leader(void)
{
    void *shared;
    int err =
        control_alloc_zero(&runtime.space, sizeof(struct rma_shared), &shared);

    if (!err)
        err = rma_shared_init(shared, control_poison_flag(&runtime.space));
    if (!err)
        err = rma_peers_init(shared, runtime.locals,
                             control_poison_flag(&runtime.space));
    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_RMA], shared);
    return err;
}

static int rma_start(void)
{
    const struct space *space = &runtime.space;
    int err;

    rma_shared = atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_RMA]);

    job = (struct rma_job){
        .rank = runtime.rank,
        .ranks = runtime.ranks,
        .node = runtime.node,
        .nodes = runtime.nodes,
        .local = runtime.local,
        .locals = runtime.locals,
        .crowded = runtime.crowded,
        .node_of = runtime.node_of,
        .local_of = runtime.local_of,
        .leader_of = runtime.leader_of,
        .window = space->window,
        .window_bytes =
            space->layout.data_bytes + space->layout.alternate_bytes,
        .data = space->base,
        .data_bytes = space->layout.data_bytes,
    };
    rma_far_start();
    err = rma_wire_start();
    return err ? err : rma_data_start();
}

static void rma_quiesce(void)
{
    rma_far_quiesce();
    rma_agent_leave();
}

static void rma_stop(void)
{
    rma_data_stop();
    rma_far_stop();
    rma_wire_stop();
    rma_shared = NULL;
}

const struct runtime_module rma_module = {
    .name = "rma",
    .start_leader = rma_start_leader,
    .start = rma_start,
    .quiesce = rma_quiesce,
    .leave = rma_agent_leave,
    .stop = rma_stop,
};
