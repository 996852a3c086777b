/* The end, in order or not: see stop.h. */
#include "runtime/stop.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/death.h"
#include "runtime/death_watch.h"
#include "runtime/messages/link_watch.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/stats.h"
#include "runtime/survive.h"
#include "runtime/wait.h"
#include "runtime/waits.h"

static pthread_mutex_t stop_mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t process;
static bool leaves_mpi;

static int count_modules(void)
{
    int count = 0;

    while (runtime_modules[count])
        count++;
    return count;
}

/* How often a rank with an engine of its own looks at it at the end. */
#define STOP_PUSH_US 1000

/*
 * Where there is one node: if all its ranks are in finalize, or buried, that
 * ends.
 *
 * Dekker's pair among the ranks of a node, sequentially consistent: a rank
 * stores its state (wait_for_all(), or bury() of survive.c for one that died),
 * then reads all others' here.  So the last of them sees all.  Acquire: what
 * each did before that store comes before `stopped`.
 */
static void stop_look(void)
{
    struct runtime_shared *shared = runtime.shared;

    for (uint32_t i = 0; i < shared->locals; i++) {
        uint32_t state = atomic_load(&shared->ranks[i].state);

        if (state != RUNTIME_RANK_QUIESCED && state != RUNTIME_RANK_BURIED &&
            state != RUNTIME_RANK_STOPPED)
            return;
    }
    atomic_store(&shared->stopped, 1);
    doorbell_ring(&shared->stop_doorbell);
}

/*
 * Nothing is in flight afterwards, on any node; or DRASYNC_EPEER.
 *
 * The addition to `quiesced` (release) pairs with node_quiet() of quiesce.c,
 * which then sees as pending all that this rank has queued.  The wake may miss
 * a progress thread that is about to sleep: that looks again when its timer
 * ends, after PROGRESS_SLEEP_US_MAX at most.  `stopped` (acquire) pairs with
 * stop_look(), or progress_main() of progress_thread.c: all that came before is
 * seen.
 */
static int wait_for_all(void)
{
    struct runtime_shared *shared = runtime.shared;
    int err = 0;

    atomic_store(&runtime_self()->state, RUNTIME_RANK_QUIESCED);
    atomic_fetch_add(&shared->quiesced, 1);
    if (runtime.nodes > 1)
        outbox_wake();
    else
        stop_look();
    while (!err) {
        uint32_t seen = doorbell_read(&shared->stop_doorbell);
        if (atomic_load(&shared->stopped))
            return 0;
        /* What others send to this rank itself may need it to be taken. */
        bool own = progress_own_push();
        err =
            doorbell_wait(&shared->stop_doorbell, seen,
                          own ? runtime_now_us() + STOP_PUSH_US : WAIT_FOREVER);
        if (own && err == DRASYNC_EAGAIN)
            err = 0;
    }
    return err;
}

static int stop_all(void)
{
    int count = count_modules(), err;

    for (int i = count - 1; i >= 0; i--) {
        if (runtime_modules[i]->quiesce)
            runtime_modules[i]->quiesce();
    }
    err = wait_for_all();
    link_watch_stop();
    progress_join();
    for (int i = count - 1; i >= 0; i--) {
        if (runtime_modules[i]->stop)
            runtime_modules[i]->stop();
    }
    if (runtime.options.stats)
        stats_print();
    if (runtime.options.stats == RUNTIME_STATS_WAITS)
        waits_print();
    /* Before the process ends: is_dead() of death.c looks at it after that. */
    atomic_store(&runtime_self()->state, RUNTIME_RANK_STOPPED);
    death_watch_stop();
    death_stop();
    leaves_mpi = survive_any();
    boot_close(runtime_boot, err != 0 || leaves_mpi);
    runtime_boot = NULL;
    return err;
}

/* The exchanges on `state` choose which of runtime_stop() and stop_alone() ends
 * the runtime.  Acquire pairs with the store in runtime_start(): what it
 * started, maybe in another thread, is seen. */
int runtime_stop(void)
{
    int err = 0, running = RUNTIME_RUNNING;

    pthread_mutex_lock(&stop_mutex);
    if (atomic_compare_exchange_strong(&runtime.state, &running,
                                       RUNTIME_STOPPING)) {
        err = stop_all();
        atomic_store(&runtime.state, RUNTIME_STOPPED);
    } else if (running == RUNTIME_CHILD) {
        err = DRASYNC_ENOTREADY;
    }
    pthread_mutex_unlock(&stop_mutex);
    return err;
}

void stop_at_finalize(void)
{
    int idle = RUNTIME_IDLE;

    /* A first call after MPI_Finalize must not start anything. */
    if (atomic_compare_exchange_strong(&runtime.state, &idle, RUNTIME_STOPPED))
        return;
    /* MPI_Finalize would wait for the dead ranks. */
    if (runtime_stop() == DRASYNC_EPEER)
        runtime_end_job();
}

bool stop_leaves_mpi(void)
{
    return leaves_mpi;
}

void stop_alone(void)
{
    int running = RUNTIME_RUNNING;

    if (!atomic_compare_exchange_strong(&runtime.state, &running,
                                        RUNTIME_STOPPED))
        return;
    for (int i = count_modules() - 1; i >= 0; i--)
        if (runtime_modules[i]->leave)
            runtime_modules[i]->leave();
    progress_abandon();
    /* Before the process ends, as in stop_all(). */
    atomic_store(&runtime_self()->state, RUNTIME_RANK_EXITED);
}

static void at_exit(int status, void *unused)
{
    const char *why;

    (void)unused;
    if (getpid() != process || atomic_load(&runtime.state) == RUNTIME_CHILD)
        return;
    if (runtime_serving && !boot_finalized() && !survive_wanted(&why)) {
        /* The function's region stays held, so others would wait for it for
         * ever.  (With DRASYNC_ON_DEATH=continue this exit counts as a
         * death.) */
        runtime_poison("rank %d called exit(%d) in a function that "
                       "drasync_run ran",
                       runtime.rank, status);
        boot_abort(status ? status : 1);
    } else if (runtime_serving || !runtime_started_mpi() || boot_finalized()) {
        stop_alone();
    } else if (status == 0 && survive_any()) {
        stop_at_finalize();
    } else if (status == 0) {
        boot_end_mpi();
    } else {
        boot_abort(status);
    }
}

static void in_child(void)
{
    atomic_store(&runtime.state, RUNTIME_CHILD);
}

void stop_watch_process(void)
{
    static bool done;

    process = getpid();
    if (done)
        return;
    done = true;
    on_exit(at_exit, NULL);
    pthread_atfork(NULL, NULL, in_child);
    survive_tells(stop_look);
}
