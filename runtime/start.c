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
#include "memory/lock.h"
#include "memory/os.h"
#include "runtime/death.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"

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
}

void start_refused(bool failed, const char *line)
{
    int64_t lowest = failed ? runtime.rank : runtime.ranks;

    if (boot_min(runtime_boot, BOOT_ALL, &lowest))
        return;
    if (lowest == runtime.rank)
        runtime_say("cannot start: %s", line);
    boot_barrier(runtime_boot, BOOT_ALL);
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
    err = boot_open(stop_at_finalize, &runtime_boot);
    if (err) {
        runtime_say("cannot start: %s", mpi_failure(err));
        return err;
    }
    runtime.rank = boot_rank(runtime_boot);
    runtime.ranks = boot_ranks(runtime_boot);
    return 0;
}

/* All that is mapped, reserved and sent begins at a page of ours. */
static int start_pages(void)
{
    uint64_t bytes = os_page_bytes();
    int refused = bytes == OS_PAGE_BYTES ? 0 : DRASYNC_ESTART;
    int err = runtime_agree(refused);
    char line[256];

    if (!err || err == DRASYNC_EPEER)
        return err;
    snprintf(line, sizeof(line),
             "pages of memory have %" PRIu64 " bytes here (getconf PAGESIZE), "
             "and DRASync works with pages of %u; use a kernel with such pages",
             bytes, OS_PAGE_BYTES);
    start_refused(refused, line);
    return err;
}

/* Variables that nobody reads are named once: by rank 0. */
static void name_unknown_options(void)
{
    char line[OPTIONS_LINE_BYTES];
    size_t at = 0;

    while (runtime.rank == 0 && options_unknown(&at, line, sizeof(line)))
        runtime_say("%s", line);
}

/* Rank 0's options count. */
static int start_options(void)
{
    struct runtime_options own;
    char line[OPTIONS_LINE_BYTES];
    int refused = options_read(&own, line, sizeof(line));
    int err = runtime_agree(refused);

    name_unknown_options();
    if (err) {
        if (err != DRASYNC_EPEER)
            start_refused(refused, line);
        return err == DRASYNC_EINVAL ? DRASYNC_ESTART : err;
    }
    runtime.options = own;
    err = boot_bcast(runtime_boot, BOOT_ALL, &runtime.options, sizeof(own));
    if (!err && options_differ(&own, &runtime.options, line, sizeof(line)))
        runtime_say("%s", line);
    return err;
}

/* Do the ranks of this host outnumber its processors?  @keys: [ranks] */
static int start_crowded(uint64_t host_key, uint64_t *keys)
{
    long here = 0;
    int err = boot_allgather(runtime_boot, BOOT_ALL, &host_key, keys,
                             sizeof(host_key));

    for (int i = 0; i < runtime.ranks && !err; i++)
        here += keys[i] == host_key;
    runtime.crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
    lock_set_spins(runtime.crowded ? 0 : LOCK_SPINS);
    return err;
}

/* @keys: [ranks] */
static int start_split(uint64_t host_key, uint64_t *keys)
{
    int err =
        boot_split(runtime_boot, (int)runtime.options.node_ranks, host_key,
                   runtime.node_of, runtime.local_of, &runtime.nodes);
    if (err)
        return err;
    runtime.node = runtime.node_of[runtime.rank];
    runtime.local = runtime.local_of[runtime.rank];
    runtime.leader = runtime.local == 0;
    runtime.locals = 0;
    for (int i = 0; i < runtime.ranks; i++) {
        runtime.locals += runtime.node_of[i] == runtime.node;
        if (runtime.local_of[i] == 0)
            runtime.leader_of[runtime.node_of[i]] = i;
    }
    return start_crowded(host_key, keys);
}

static int start_nodes(uint64_t host_key)
{
    size_t ranks = (size_t)runtime.ranks;
    uint64_t *keys = malloc(ranks * sizeof(*keys));
    int err;

    runtime.node_of = calloc(ranks, sizeof(int));
    runtime.local_of = calloc(ranks, sizeof(int));
    runtime.leader_of = calloc(ranks, sizeof(int));
    err = runtime_agree(!keys || !runtime.node_of || !runtime.local_of ||
                              !runtime.leader_of
                          ? DRASYNC_ENOMEM
                          : 0);
    if (!err)
        err = start_split(host_key, keys);
    free(keys);
    return err;
}

static int start_threads_allowed(void)
{
    int err = 0;

    if (runtime.nodes > 1 && boot_thread_level() < BOOT_MULTIPLE)
        err = DRASYNC_ETHREAD;
    if (err && runtime.leader)
        runtime_say("cannot start: MPI gives no MPI_THREAD_MULTIPLE, which "
                    "several nodes need (call drasync_init before MPI_Init, or "
                    "start MPI with MPI_Init_thread)");
    return runtime_agree(err);
}

static int start_modules(void)
{
    const struct runtime_module *const *m;
    int err = 0;

    if (runtime.leader)
        err = start_shared();
    for (m = runtime_modules; *m && !err && runtime.leader; m++) {
        if ((*m)->start_leader)
            err = (*m)->start_leader();
    }
    if (err)
        err = refused_shared(err);
    err = runtime_agree(err);
    if (err)
        return err;

    runtime.shared = control_user(&runtime.space);
    err = control_check(&runtime.space);
    runtime_poisoned = control_poison_flag(&runtime.space);
    if (!err && runtime.shared->magic != RUNTIME_MAGIC)
        err = DRASYNC_EINTERNAL;
    if (!err)
        runtime_self()->pid = getpid();
    /* Others may ask for it from here on. */
    err = runtime_agree(err);
    for (m = runtime_modules; *m && !err; m++) {
        if ((*m)->start)
            err = (*m)->start();
    }
    return runtime_agree(err);
}

static int start_steps(void)
{
    int err = start_pages();

    if (!err)
        err = start_options();
    if (!err)
        err = start_nodes(runtime.host_key);
    if (!err)
        err = start_threads_allowed();
    if (!err)
        err = start_memory();
    if (!err)
        err = start_modules();
    if (!err) {
        err = runtime_agree(progress_start(runtime_boot));
        if (err)
            progress_undo();
    }
    /* start_boot() has said what failed there. */
    if (err == DRASYNC_EPEER && runtime_boot && boot_failure())
        runtime_say("cannot start: %s", boot_failure());
    if (err)
        return err;
    atomic_store(&runtime_self()->state, RUNTIME_RANK_RUNNING);
    start_watch_process();
    /* Nobody goes on before all nodes listen. */
    return boot_barrier(runtime_boot, BOOT_ALL);
}

static int start_all(void)
{
    int err = start_boot();

    if (!err)
        err = runtime_agree(start_host_key(&runtime.host_key));
    if (!err)
        err = death_start(runtime_boot, runtime.host_key);
    if (err)
        return err;
    err = start_steps();
    death_started();
    if (err)
        death_stop();
    return err;
}

int runtime_start(void)
{
    int state, err = 0;

    pthread_mutex_lock(&start_mutex);
    state = atomic_load(&runtime.state);
    if (state == RUNTIME_IDLE) {
        gethostname(runtime.host, sizeof(runtime.host) - 1);
        runtime_poison_tells(outbox_wake);
        atomic_store(&runtime.state, RUNTIME_STARTING);
        err = start_all();
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
    return atomic_load(runtime_poisoned) ? DRASYNC_EPEER : 0;
}
