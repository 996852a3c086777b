/* Handles: waiting for single operations, and dart_flush*. */
#include "fronts/dart/handle.h"

#include <pthread.h>
#include <stdlib.h>

#include "fronts/dart/target.h"
#include "fronts/dart/window.h"
#include "memory/sanitizer.h"

/* A thread keeps so many for itself. */
#define SPARE_MAX 256

static _Thread_local struct {
    dart_handle_t first;
    unsigned count;
} spare;

static pthread_key_t spare_key;
static pthread_once_t spare_once = PTHREAD_ONCE_INIT;

/* What the program gave up while it was under way. */
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static dart_handle_t left, *left_end = &left;

/* --- Taking and giving ------------------------------------------------------------ */

/* The thread ends. */
static void spare_free(void *unused)
{
    (void)unused;
    while (spare.first) {
        dart_handle_t next = spare.first->next;
        free(spare.first);
        spare.first = next;
    }
    spare.count = 0;
}

static void spare_make_key(void)
{
    pthread_key_create(&spare_key, spare_free);
}

dart_handle_t handle_take(void)
{
    dart_handle_t handle = spare.first;

    if (!handle)
        return malloc(sizeof(*handle));
    spare.first = handle->next;
    spare.count--;
    return handle;
}

void handle_give(dart_handle_t handle)
{
    if (spare.count == SPARE_MAX) {
        free(handle);
        return;
    }
    if (!spare.first) {
        pthread_once(&spare_once, spare_make_key);
        pthread_setspecific(spare_key, &spare);
    }
    handle->next = spare.first;
    spare.first = handle;
    spare.count++;
}

/* --- Waiting ------------------------------------------------------------------------ */

/* What went wrong where, for a call that @what names. */
static dart_ret_t of_mpi(const char *what, int err)
{
    return err ? front_fail(DART_ERR_OTHER, "%s: MPI failed", what) : DART_OK;
}

static dart_ret_t of_messages(const char *what, int err)
{
    return err ? front_fail(front_error(err), "%s: transfers between nodes: %s",
                            what, drasync_strerror(err))
               : DART_OK;
}

static dart_ret_t of_flush(const char *what, dart_ret_t ret)
{
    return ret ? front_fail(ret, "%s: a flush failed", what) : DART_OK;
}

static bool is_up(const char *what, dart_ret_t *ret)
{
    *ret = front_up ? DART_OK
                    : front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    return front_up;
}

/* The buffers here may be used again. */
static dart_ret_t wait_here(const char *what, dart_handle_t handle)
{
    if (handle->copied)
        return DART_OK;
    if (handle->ticket)
        return of_messages(what, rma_far_wait(handle->node, handle->ticket));
    if (handle->by_flush)
        return of_flush(what, window_flush_local(handle->node));
    return of_mpi(what, MPI_Wait(&handle->request, MPI_STATUS_IGNORE));
}

/* The same without waiting, where MPI can tell. */
static dart_ret_t test_here(const char *what, dart_handle_t handle, int *done)
{
    *done = 1;
    if (handle->copied)
        return DART_OK;
    if (handle->ticket)
        *done = rma_far_test(handle->ticket);
    else if (handle->by_flush)
        return of_flush(what, window_flush_local(handle->node));
    else
        return of_mpi(what,
                      MPI_Test(&handle->request, done, MPI_STATUS_IGNORE));
    return DART_OK;
}

static bool by_message(const struct dart_handle_struct *handle)
{
    return handle->ticket || handle->copied;
}

/* By messages: is it done there? */
static dart_ret_t test_there(const char *what, dart_handle_t handle, int *done)
{
    int err = 0;

    if (!handle->ticket && handle->put)
        err = rma_far_cover(handle->node, &handle->ticket);
    *done = !err && (!handle->ticket || rma_far_test(handle->ticket));
    if (*done)
        handle->put = false;
    return of_messages(what, err);
}

static dart_ret_t wait_there(const char *what, dart_handle_t handle)
{
    int err = handle->ticket ? 0 : rma_far_cover(handle->node, &handle->ticket);

    if (!err && handle->ticket)
        err = rma_far_wait(handle->node, handle->ticket);
    return of_messages(what, err);
}

/* Puts of these are there; the same node again has nothing left to do. */
static dart_ret_t flush_puts(const char *what, const dart_handle_t *handles,
                             size_t n)
{
    dart_ret_t ret = DART_OK;
    int flushed = -1;

    for (size_t i = 0; i < n && !ret; i++) {
        if (!handles[i] || !handles[i]->put)
            continue;
        if (by_message(handles[i])) {
            ret = wait_there(what, handles[i]);
        } else if (handles[i]->node != flushed) {
            flushed = handles[i]->node;
            ret = of_flush(what, window_flush(flushed));
        }
    }
    return ret;
}

static void give_all(dart_handle_t *handles, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (handles[i])
            handle_give(handles[i]);
        handles[i] = DART_HANDLE_NULL;
    }
}

static dart_ret_t wait_all(const char *what, dart_handle_t *handles, size_t n,
                           bool there)
{
    dart_ret_t ret;

    if (!handles && n)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    if (!is_up(what, &ret))
        return ret;
    for (size_t i = 0; i < n && !ret; i++) {
        if (handles[i])
            ret = wait_here(what, handles[i]);
    }
    if (!ret && there)
        ret = flush_puts(what, handles, n);
    if (!ret)
        give_all(handles, n);
    return ret;
}

/* Those that are done stay until all are. */
static dart_ret_t test_all(const char *what, dart_handle_t *handles, size_t n,
                           int32_t *result, bool there)
{
    int all = 1;
    dart_ret_t ret;

    if (result)
        *result = 0;
    if (!result || (!handles && n))
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    if (!is_up(what, &ret))
        return ret;
    for (size_t i = 0; i < n && !ret; i++) {
        int done = 1;
        if (handles[i])
            ret = there && by_message(handles[i])
                      ? test_there(what, handles[i], &done)
                      : test_here(what, handles[i], &done);
        all &= done;
    }
    if (!ret && all && there)
        ret = flush_puts(what, handles, n);
    if (ret)
        return ret;
    if (all)
        give_all(handles, n);
    *result = all;
    return DART_OK;
}

dart_ret_t dart_wait(dart_handle_t *handle)
{
    return wait_all("dart_wait", handle, 1, true);
}

dart_ret_t dart_waitall(dart_handle_t handles[], size_t n)
{
    return wait_all("dart_waitall", handles, n, true);
}

dart_ret_t dart_wait_local(dart_handle_t *handle)
{
    return wait_all("dart_wait_local", handle, 1, false);
}

dart_ret_t dart_waitall_local(dart_handle_t handles[], size_t n)
{
    return wait_all("dart_waitall_local", handles, n, false);
}

dart_ret_t dart_test_local(dart_handle_t *handle, int32_t *result)
{
    return test_all("dart_test_local", handle, 1, result, false);
}

dart_ret_t dart_test(dart_handle_t *handleptr, int32_t *is_finished)
{
    return test_all("dart_test", handleptr, 1, is_finished, true);
}

dart_ret_t dart_testall_local(dart_handle_t handles[], size_t n,
                              int32_t *result)
{
    return test_all("dart_testall_local", handles, n, result, false);
}

dart_ret_t dart_testall(dart_handle_t handles[], size_t n, int32_t *is_finished)
{
    return test_all("dart_testall", handles, n, is_finished, true);
}

/* --- Giving up ------------------------------------------------------------------------ */

/* Give back the oldest that are done; @all: wait for all. */
static void left_reap(bool all)
{
    while (left) {
        dart_handle_t next = left->next;
        int done = 1;

        if (all)
            MPI_Wait(&left->request, MPI_STATUS_IGNORE);
        else
            MPI_Test(&left->request, &done, MPI_STATUS_IGNORE);
        if (!done)
            return;
        handle_give(left);
        left = next;
    }
    left_end = &left;
}

/* MPI forbids freeing such a request: it is kept until it is done. */
dart_ret_t dart_handle_free(dart_handle_t *handle)
{
    dart_ret_t ret;

    if (!is_up("dart_handle_free", &ret) || !handle || !*handle)
        return ret;
    if ((*handle)->by_flush || by_message(*handle)) {
        handle_give(*handle);
    } else {
        pthread_mutex_lock(&left_lock);
        left_reap(false);
        (*handle)->next = NULL;
        *left_end = *handle;
        left_end = &(*handle)->next;
        pthread_mutex_unlock(&left_lock);
    }
    *handle = DART_HANDLE_NULL;
    return DART_OK;
}

void handles_stop(void)
{
    pthread_mutex_lock(&left_lock);
    left_reap(true);
    pthread_mutex_unlock(&left_lock);
}

/* --- Flush ------------------------------------------------------------------------------ */

/* What was copied on the node is there in order: stores before this are seen by
 * whoever sees one after it. */
static void fence(void)
{
#if SANITIZER_THREAD
    /* GCC's knows no fences; it sees what goes through one word. */
    static _Atomic int word;

    atomic_fetch_add(&word, 0);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static dart_ret_t flush(const char *what, dart_gptr_t gptr, bool all,
                        dart_ret_t (*one)(int node), dart_ret_t (*every)(void))
{
    int node = 0;
    dart_ret_t ret =
        all ? target_segment(what, gptr) : target_node(what, gptr, &node);

    if (ret)
        return ret;
    fence();
    if (all)
        return every();
    return node == front_job->node ? DART_OK : one(node);
}

dart_ret_t dart_flush(dart_gptr_t gptr)
{
    return flush("dart_flush", gptr, false, window_flush, window_flush_all);
}

dart_ret_t dart_flush_all(dart_gptr_t gptr)
{
    return flush("dart_flush_all", gptr, true, window_flush, window_flush_all);
}

dart_ret_t dart_flush_local(dart_gptr_t gptr)
{
    return flush("dart_flush_local", gptr, false, window_flush_local,
                 window_flush_local_all);
}

dart_ret_t dart_flush_local_all(dart_gptr_t gptr)
{
    return flush("dart_flush_local_all", gptr, true, window_flush_local,
                 window_flush_local_all);
}
