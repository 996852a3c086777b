/* Start and end of replicated regions, and the barrier of all workers. */
#include <string.h>
#include <unistd.h>

#include "runtime/check/check.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/replica/cache.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/state.h"
#include "runtime/replica/wire.h"
#include "runtime/say.h"
#include "runtime/survive.h"
#include "runtime/waiting.h"

static struct replica_job job;

int replica_enter(const struct replica_job **job_out)
{
    int err = runtime_enter();

    *job_out = &job;
    if (!err)
        survive_bind(SURVIVE_MYRMICS);
    if (!err && job.check && !job.move)
        check_open_all();
    return err;
}

int replica_rank(void)
{
    return runtime_running() ? runtime.rank : -1;
}

const char *replica_trouble(void)
{
    const char *text = runtime_poison_text();

    return text[0] ? text : drasync_strerror(DRASYNC_EPEER);
}

void replica_end_job(void)
{
    if (atomic_load(&runtime.state) == RUNTIME_CHILD)
        _exit(1);
    runtime_end_job();
}

int replica_wait(struct doorbell *doorbell, uint32_t seen, int remote)
{
    int err;

    if (remote)
        runtime_remote_wait(1);
    err = doorbell_wait(doorbell, seen, WAIT_FOREVER);
    if (remote)
        runtime_remote_wait(-1);
    return err;
}

static int barrier_wait(struct replica_barrier *barrier, uint32_t generation)
{
    for (;;) {
        uint32_t seen = doorbell_read(&barrier->doorbell);
        int err;

        if (atomic_load(&barrier->generation) != generation)
            return 0;
        err = replica_wait(&barrier->doorbell, seen, runtime.nodes > 1);
        if (err)
            return err;
    }
}

int replica_barrier(void)
{
    struct replica_barrier *barrier = &replica_shared()->barrier;
    uint32_t generation = atomic_load(&barrier->generation);
    struct waiting w = {.what = WAITING_BARRIER};
    int err = replica_flush_frees();

    if (err)
        return err;
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 ==
        (uint32_t)runtime.locals) {
        atomic_store(&barrier->arrived, 0);
        if (runtime.nodes == 1)
            replica_barrier_release();
        else
            replica_wire_barrier();
    }
    waiting_begin(&w);
    err = barrier_wait(barrier, generation);
    waiting_end(&w);
    return err;
}

/* --- The module ----------------------------------------------------------- */

static int inbox_open(struct replica_inbox *inbox)
{
    void *queues;
    int err;

    err = control_alloc_zero(
        &runtime.space, (size_t)runtime.ranks * sizeof(struct replica_queue),
        &queues);
    if (err)
        return err;
    inbox->queues = queues;
    return lock_init(&inbox->lock, REPLICA_RANK_INBOX,
                     control_poison_flag(&runtime.space));
}

/* What is made here stays: if the start fails, the node's memory goes. */
static int start_leader(void)
{
    struct replica_shared *shared;
    void *ptr;
    int err;

    err = control_alloc_zero(&runtime.space,
                             sizeof(*shared) + (size_t)runtime.locals *
                                                   sizeof(shared->inboxes[0]),
                             &ptr);
    if (err)
        return err;
    shared = ptr;
    err = lock_init(&shared->lock, REPLICA_RANK_DIRECTORY,
                    control_poison_flag(&runtime.space));
    for (int i = 0; i < runtime.locals && !err; i++)
        err = inbox_open(&shared->inboxes[i]);
    if (err)
        return err;
    atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_REPLICA], ptr);
    return replica_dir_open();
}

static int start(void)
{
    job.rank = runtime.rank;
    job.ranks = runtime.ranks;
    job.move = runtime.options.myrmics == RUNTIME_MYRMICS_MOVE;
    job.check = runtime.options.check != 0;
    job.pages = runtime.space.pages;
    job.base = runtime.space.base;
    replica_dir_attach();
    replica_caches_open();
    frames_on_forget(replica_mapping_clear);
    if (runtime.nodes > 1)
        replica_wire_open();
    return 0;
}

static void quiesce(void)
{
    replica_caches_close();
    replica_flush_frees();
}

const struct runtime_module replica_module = {
    .name = "replica",
    .start_leader = start_leader,
    .start = start,
    .quiesce = quiesce,
    .thread_ends = replica_caches_thread_ends,
};
