/*
 * MPI's windows, for transfers by MPI's one-sided operations.  Where MPI runs
 * over sockets, and DRASYNC_RMA says nothing else, transfers are messages
 * instead (runtime/rma/far.h): docs/dart.md, "Transfers", says why there are
 * both.
 */
#include "fronts/dart/window.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fronts/dart/handle.h"
#include "fronts/dart/team.h"

/* How often dart_exit tries to complete what has no memory for its messages. */
#define SETTLE_TRIES_MAX 10000
#define SETTLE_NAP_US    1000

MPI_Win window_mpi = MPI_WIN_NULL;
bool window_by_messages, window_moves_own;
_Atomic unsigned char *window_used;

static MPI_Comm comm = MPI_COMM_NULL;

/* [2 * nodes] Nodes in the order of first use: those that a flush of all has
 * taken upon itself, and then those that window_used names. */
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;
static int *nodes_used, nodes_count;

/* One flush of all at a time: who finds nothing to do returns when what another
 * thread took upon itself is done. */
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;

static dart_ret_t mpi_ret(int err)
{
    return err == MPI_SUCCESS ? DART_OK : DART_ERR_OTHER;
}

/* --- Start and end -------------------------------------------------------------- */

static void free_lists(void)
{
    free((void *)window_used);
    free(nodes_used);
    window_used = NULL;
    nodes_used = NULL;
    nodes_count = 0;
}

dart_ret_t window_start(void)
{
    size_t nodes = (size_t)front_job->nodes;
    bool leader = front_job->local == 0;
    int bad;

    if (nodes == 1)
        return DART_OK;
    window_by_messages = rma_far_used();
    window_moves_own = window_by_messages && !leader;
    if (window_by_messages)
        return rma_far_open() ? DART_ERR_NOMEM : DART_OK;
    window_used = calloc(nodes, sizeof(*window_used));
    nodes_used = malloc(2 * nodes * sizeof(*nodes_used));
    nodes_count = 0;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comm)) {
        free_lists();
        return DART_ERR_OTHER;
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    bad = !window_used || !nodes_used;
    if (MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, comm) || bad)
        goto free_comm;
    if (MPI_Win_create(leader ? front_job->window : NULL,
                       leader ? (MPI_Aint)front_job->window_bytes : 0, 1,
                       MPI_INFO_NULL, comm, &window_mpi))
        goto free_comm;
    MPI_Win_set_errhandler(window_mpi, MPI_ERRORS_RETURN);
    if (MPI_Win_lock_all(MPI_MODE_NOCHECK, window_mpi))
        goto free_window;
    return DART_OK;

free_window:
    MPI_Win_free(&window_mpi);
free_comm:
    MPI_Comm_free(&comm);
    free_lists();
    return front_fail(bad ? DART_ERR_NOMEM : DART_ERR_OTHER,
                      "dart_init: MPI has no window for the nodes' memory");
}

void window_stop(void)
{
    window_by_messages = window_moves_own = false;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Win_unlock_all(window_mpi);
    MPI_Win_free(&window_mpi);
    MPI_Comm_free(&comm);
    free_lists();
}

/* Messages that leave give their memory back. */
static void flush_patiently(void)
{
    const struct timespec nap = {0, SETTLE_NAP_US * 1000};
    dart_ret_t ret = window_flush_all();

    for (int i = 0; i < SETTLE_TRIES_MAX && ret == DART_ERR_NOMEM; i++) {
        rma_glance();
        nanosleep(&nap, NULL);
        ret = window_flush_all();
    }
    if (ret)
        front_fail(ret, "dart_exit: what this unit has put may be incomplete");
}

void window_settle(void)
{
    if (front_job->nodes == 1)
        return;
    handles_stop();
    flush_patiently();
    team_agree(team_find(DART_TEAM_ALL), DART_OK);
}

/* --- What is under way ------------------------------------------------------------ */

void window_use_first(int node)
{
    pthread_mutex_lock(&nodes_lock);
    if (window_used[node] != WINDOW_NOW) {
        nodes_used[nodes_count++] = node;
        atomic_store(&window_used[node], WINDOW_NOW);
    }
    pthread_mutex_unlock(&nodes_lock);
}

static dart_ret_t messages_ret(int err)
{
    return err ? front_fail(front_error(err), "transfers between nodes: %s",
                            drasync_strerror(err))
               : DART_OK;
}

/*
 * MPICH 4.0.2 over UCX keeps one note for each target: nothing to flush, or to
 * flush remotely, or locally too.  It is not kept well.  A put that is complete
 * locally at once replaces the note of a get that is not, so that a local flush
 * does not wait for the get: we always flush remotely.  And the end of a flush
 * takes away the note of what another thread has begun meanwhile, so that the
 * other thread's flush returns at once: flushes come one at a time and, once two
 * threads have flushed, each begins something itself first, which makes the note.
 */
static dart_ret_t flush_window(int node)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Thread_local char self; /* its address tells threads apart */
    static const char *first;
    static bool several;
    int target = window_target(node), err = MPI_SUCCESS;
    char byte;

    pthread_mutex_lock(&lock);
    if (!first)
        first = &self;
    several = several || first != &self;
    if (several)
        err = MPI_Get(&byte, 1, MPI_BYTE, target, 0, 1, MPI_BYTE, window_mpi);
    if (!err)
        err = MPI_Win_flush(target, window_mpi);
    pthread_mutex_unlock(&lock);
    return mpi_ret(err);
}

static dart_ret_t flush_node(int node, bool there)
{
    int err = 0;

    if (!window_by_messages)
        return flush_window(node);
    if (there)
        err = rma_far_flush_begin(node);
    return messages_ret(err ? err : rma_far_flush_end(node));
}

dart_ret_t window_flush(int node)
{
    return flush_node(node, true);
}

dart_ret_t window_flush_local(int node)
{
    return flush_node(node, false);
}

/* Flush the nodes that are in the list, and take them from it; what is begun from
 * here on puts them behind these. */
static dart_ret_t flush_used(void)
{
    dart_ret_t ret = DART_OK;
    int count;

    pthread_mutex_lock(&flush_lock);
    pthread_mutex_lock(&nodes_lock);
    count = nodes_count;
    for (int i = 0; i < count; i++)
        atomic_store(&window_used[nodes_used[i]], WINDOW_EVER);
    pthread_mutex_unlock(&nodes_lock);
    for (int i = 0; i < count; i++) {
        dart_ret_t one = flush_window(nodes_used[i]);
        ret = one ? one : ret;
    }
    pthread_mutex_lock(&nodes_lock);
    nodes_count -= count;
    memmove(nodes_used, nodes_used + count,
            (size_t)nodes_count * sizeof(*nodes_used));
    pthread_mutex_unlock(&nodes_lock);
    pthread_mutex_unlock(&flush_lock);
    return ret;
}

static dart_ret_t flush_all(bool there)
{
    if (front_job->nodes == 1)
        return DART_OK;
    return window_by_messages ? messages_ret(rma_far_flush_all(there))
                              : flush_used();
}

dart_ret_t window_flush_all(void)
{
    return flush_all(true);
}

dart_ret_t window_flush_local_all(void)
{
    return flush_all(false);
}
