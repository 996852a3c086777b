/* The start: what all ranks do together before any call goes on. */
#include "runtime/start.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/biased_lock.h"
#include "memory/control.h"
#include "memory/frames.h"
#include "memory/lock.h"
#include "memory/os.h"
#include "runtime/death.h"
#include "runtime/death_watch.h"
#include "runtime/messages/link_watch.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/start_facts.h"
#include "runtime/start_page.h"
#include "runtime/start_places.h"
#include "runtime/start_room.h"
#include "runtime/stop.h"
#include "runtime/waits.h"

/* Looks at a lock that another rank has, before sleeping; about 2 us. */
#define LOCK_SPINS 20

static pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool started_mpi;

bool runtime_started_mpi(void)
{
    return started_mpi;
}

void start_before_mpi(void)
{
    /* Those who use the locks open the same again, and hear what fails. */
    biased_open(BIASED_PROCESS);
    biased_open(BIASED_NODE);
    boot_before_mpi();
}

/* What MPI says of the call that failed with @err. */
static const char *mpi_failure(int err)
{
    const char *failure = err == DRASYNC_ENOMEM ? NULL : boot_failure();

    return failure ? failure : drasync_strerror(err);
}

/* MPI is up afterwards, and `runtime_boot` open. */
static int start_boot(void)
{
    char why[256];
    int err = boot_find(true, why, sizeof(why));

    if (err) {
        runtime_say("cannot start: %s", why);
        return err;
    }
    if (boot_finalized())
        return DRASYNC_ENOTREADY;
    if (!boot_initialized()) {
        start_before_mpi();
        err = boot_start_mpi();
        if (err) {
            runtime_say("cannot start: %s", mpi_failure(err));
            return err;
        }
        started_mpi = true;
    }
    err = boot_open(stop_at_finalize, death_at_start, &runtime_boot);
    if (err) {
        runtime_say("cannot start: %s", mpi_failure(err));
        return err;
    }
    runtime.rank = boot_rank(runtime_boot);
    runtime.ranks = boot_ranks(runtime_boot);
    return 0;
}

/* Is this rank's processor shared, and is each one's; has no rank a tool; has any
 * host adapters?  All ranks conclude the latter three alike. */
static void find_crowd(const struct start_facts *facts)
{
    runtime.crowded = start_crowded(facts, runtime.ranks, runtime.rank);
    runtime.all_crowded = start_all_crowded(facts, runtime.ranks);
    runtime.all_direct = true;
    for (int i = 0; i < runtime.ranks; i++) {
        runtime.all_direct &= facts[i].direct;
        runtime.adapters |= facts[i].adapters;
    }
    frames_set_adapters(runtime.adapters && runtime.nodes > 1);
    lock_set_spins(runtime.crowded ? 0 : LOCK_SPINS);
}

static void take_places(const struct start_places *places)
{
    runtime.node_of = places->node_of;
    runtime.local_of = places->local_of;
    runtime.leader_of = places->leader_of;
    runtime.nodes = places->nodes;
    runtime.node = runtime.node_of[runtime.rank];
    runtime.local = runtime.local_of[runtime.rank];
    runtime.leader = runtime.local == 0;
    runtime.locals = 0;
    for (int i = 0; i < runtime.ranks; i++)
        runtime.locals += runtime.node_of[i] == runtime.node;
}

/* Several nodes need it on all ranks. */
static int check_threads(const struct start_facts *facts)
{
    int who = 0;

    if (runtime.nodes == 1)
        return 0;
    while (who < runtime.ranks && facts[who].threads_many)
        who++;
    if (who == runtime.ranks)
        return 0;
    start_refused(who, "MPI gives no MPI_THREAD_MULTIPLE, which several nodes "
                       "need (call drasync_init before MPI_Init, or start MPI "
                       "with MPI_Init_thread)");
    return DRASYNC_ETHREAD;
}

/* Must MPI_Finalize be helped?  As all say, or nobody does it. */
static bool must_leave(const struct start_facts *facts, int hosts)
{
    unsigned all = ~0u, any = 0;

    for (int i = 0; i < runtime.ranks; i++) {
        all &= facts[i].leave;
        any |= facts[i].leave;
    }
    return (all & BOOT_LEAVE_HOSTS) && (hosts > 1 || any & BOOT_LEAVE_HOST);
}

/* Find out who is where, and join the nodes. */
static int start_nodes(const struct start_facts *facts)
{
    static void *room; /* until the next start */
    struct start_places places;

    start_room_free(room);
    room = start_room_new(start_places_bytes(runtime.ranks));
    start_places_find(facts, runtime.ranks, (int)runtime.options.node_ranks,
                      room, &places);
    take_places(&places);
    find_crowd(facts);
    int err = check_threads(facts);
    if (err)
        return err;
    struct boot_places known = {
        .host_of = places.host_of,
        .leader_of = places.leader_of,
        .node = runtime.node,
        .nodes = runtime.nodes,
        .leave = must_leave(facts, places.hosts),
    };
    for (int i = 0; i < runtime.ranks; i++)
        known.neighbours |= places.host_of[i] == places.host_of[runtime.rank] &&
                            runtime.node_of[i] != runtime.node;
    return boot_join(runtime_boot, &known);
}

/* What the ranks of a node share, filled by their leader. */
static int make_shared(const struct start_facts *facts)
{
    const struct runtime_module *const *m;
    int err = start_shared(facts);

    for (m = runtime_modules; *m && !err; m++) {
        if ((*m)->start_leader)
            err = (*m)->start_leader();
    }
    return err ? refused_shared(err) : 0;
}

/* This rank's part in its node: 0 or an error that has been said. */
static int start_node(const struct start_agreed *agreed)
{
    const struct start_facts *own = &agreed->facts[runtime.rank];
    const struct start_facts *leader =
        &agreed->facts[runtime.leader_of[runtime.node]];
    int files[START_FILES] = {-1, -1, -1}, err;

    if (runtime.leader) {
        err = start_page_make(own);
        if (!err)
            err = start_memory_make(agreed, files);
        if (!err)
            err = make_shared(agreed->facts);
        start_page_fill(files, err);
        return err;
    }
    close(own->page_fd);
    err = start_page_open(leader);
    if (!err)
        err = start_page_files(leader, files);
    return err ? err : start_memory_open(agreed, files);
}

static int start_modules(void)
{
    const struct runtime_module *const *m;
    int err = 0;

    runtime.shared = control_user(&runtime.space);
    runtime_poisoned = control_poison_flag(&runtime.space);
    if (runtime.shared->magic != RUNTIME_MAGIC)
        err = DRASYNC_EINTERNAL;
    for (m = runtime_modules; *m && !err; m++) {
        if ((*m)->start)
            err = (*m)->start();
    }
    return err;
}

/* What the leaders conclude together from @err, each of its node. */
static int start_leaders(int err)
{
    int64_t least = err;

    if (runtime.nodes == 1)
        return err;
    err = boot_min(runtime_boot, &least);
    if (err || least)
        return err ? err : (int)least;
    /* Nobody goes on before all nodes listen. */
    least = progress_start(runtime_boot);
    err = boot_min(runtime_boot, &least);
    if (!err)
        err = (int)least;
    if (err)
        progress_undo();
    return err;
}

static int start_steps(const struct start_agreed *agreed)
{
    int err = start_node(agreed);

    if (!err)
        err = start_modules();
    err = start_page_arrive(err);
    if (runtime.leader)
        err = start_leaders(err);
    err = start_page_conclude(err);
    if (err)
        return err;
    atomic_store(&runtime_self()->state, RUNTIME_RANK_RUNNING);
    if (runtime.options.stats == RUNTIME_STATS_WAITS)
        waits_start();
    stop_watch_process();
    death_watch_start();
    link_watch_start();
    return 0;
}

/* By the first rank: where it runs, since when, and as which process. */
static uint64_t job_key(const struct start_facts *first)
{
    uint64_t key =
        first->machine_key ^ first->start_ticks << 20 ^ (uint64_t)first->pid;

    key = (key ^ key >> 31) * UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 29;
}

/* With MPI up. */
static int start_all(void)
{
    struct start_agreed agreed;
    int err = start_agree(&agreed);

    if (err)
        return err;
    death_start(agreed.facts);
    runtime.job_key = job_key(&agreed.facts[0]);
    err = start_nodes(agreed.facts);
    if (err) {
        close(agreed.facts[runtime.rank].page_fd);
    } else {
        link_watch_hosts(agreed.facts);
        err = start_steps(&agreed);
    }
    if (err) {
        link_watch_stop();
        death_watch_stop();
        death_stop();
    }
    start_room_free(agreed.facts);
    return err;
}

int runtime_start(void)
{
    int state = RUNTIME_IDLE, err = 0;

    pthread_mutex_lock(&start_mutex);
    /* Or another thread's MPI_Finalize makes it STOPPED (stop_at_finalize()). */
    if (atomic_compare_exchange_strong(&runtime.state, &state,
                                       RUNTIME_STARTING)) {
        gethostname(runtime.host, sizeof(runtime.host) - 1);
        runtime_poison_tells(outbox_wake);
        err = start_boot();
        if (!err) {
            err = start_all();
            if (err == DRASYNC_EPEER && boot_failure())
                runtime_say("cannot start: %s", boot_failure());
        }
        if (err)
            runtime.failure = err;
        atomic_store(&runtime.state, err ? RUNTIME_FAILED : RUNTIME_RUNNING);
    } else if (state == RUNTIME_FAILED) {
        err = runtime.failure;
    } else if (state != RUNTIME_RUNNING) {
        err = DRASYNC_ENOTREADY;
    }
    pthread_mutex_unlock(&start_mutex);
    return err;
}

/*
 * Was MPI started where we took no part: with MPI's library before ours in the
 * link order, or before ours was loaded?  Then each rank makes its first call
 * when it likes, maybe while another waits for it inside MPI, and to start
 * there, which is collective, might hang.
 */
static bool start_unseen(void)
{
    static _Atomic bool said;
    int ranks;

    if (boot_find(false, NULL, 0) || !boot_initialized() || boot_finalized())
        return false;
    ranks = boot_world(&runtime.rank);
    if (ranks == 1)
        return false;
    gethostname(runtime.host, sizeof(runtime.host) - 1);
    if (!atomic_exchange(&said, true))
        runtime_say("cannot start: MPI_Init was not DRASync's, because MPI's "
                    "library comes before libdrasync in the link order, or "
                    "DRASync was loaded later. Link with mpicc-drasync, or "
                    "with -ldrasync before MPI's libraries; or call "
                    "drasync_init on all ranks after MPI_Init");
    return true;
}

_Thread_local bool runtime_serving;

int runtime_enter_slow(void)
{
    int state = atomic_load(&runtime.state);

    if (state == RUNTIME_IDLE && start_unseen())
        return DRASYNC_ENOTREADY;
    if (state == RUNTIME_IDLE || state == RUNTIME_STARTING) {
        int err = runtime_start();
        if (err)
            return err;
    } else if (state == RUNTIME_FAILED) {
        return runtime.failure;
    } else if (state != RUNTIME_RUNNING &&
               (state != RUNTIME_STOPPING || !runtime_serving)) {
        return DRASYNC_ENOTREADY;
    }
    if (!atomic_load(runtime_poisoned))
        return 0;
    death_told();
    return DRASYNC_EPEER;
}
