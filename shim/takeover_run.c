/* What our MPI_Init and MPI_Finalize do beside the real ones. */
#include "shim/takeover.h"

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>

#include "runtime/process.h"
#include "runtime/start.h"
#include "runtime/stop.h"
#include "transport/boot.h"

/* How deep this thread is in calls of ours that nest. */
static _Thread_local int init_depth, finalize_depth;

/* We asked MPI for more than the program did. */
static bool raised;
static int asked_level;

/* Do we have a part in the MPI_Init that is going on?  Said by the outermost
 * call, for those below. */
static bool taking_part;

static int lower(int a, int b)
{
    return a < b ? a : b;
}

/*
 * At the start of the outermost call: do we have a part in this?  Not in a
 * program that does not refer to us, nor on an MPI whose arguments we cannot
 * read, which the first call of ours will report.
 */
static bool begin(int level)
{
    char why[256];

    if (atomic_load(&runtime.state) == RUNTIME_STARTING) {
        /* The runtime itself starts MPI. */
        asked_level = BOOT_MULTIPLE;
        return true;
    }
    if (!drasync_takeover_wanted() || boot_find(false, why, sizeof(why)))
        return false;
    asked_level = level;
    start_before_mpi();
    return true;
}

/* MPI is up. */
static void started(void)
{
    if (atomic_load(&runtime.state) == RUNTIME_IDLE)
        runtime_start(); /* says by itself why it could not */
}

/* The library has started MPI at a first call; now the program wants it. */
static bool already_started(int level)
{
    static bool seen;

    if (init_depth || seen || !runtime_started_mpi() || boot_finalized())
        return false;
    seen = raised = true;
    asked_level = level;
    return true;
}

static int raise_level(int *argc, char ***argv)
{
    int (*init)(int *, char ***, int, int *), level;

    init = (__typeof__(init))boot_symbol("PMPI_Init_thread");
    raised = true;
    return init(argc, argv, MPI_THREAD_MULTIPLE, &level);
}

int drasync_takeover_init(int (*next)(int *, char ***), int *argc, char ***argv)
{
    bool outermost = init_depth == 0;
    int err;

    if (already_started(BOOT_SINGLE))
        return MPI_SUCCESS;
    if (!next)
        next = (__typeof__(next))boot_symbol("PMPI_Init");
    if (!next)
        return MPI_ERR_OTHER;
    if (outermost)
        taking_part = begin(BOOT_SINGLE);
    if (!taking_part)
        return next(argc, argv);

    init_depth++;
    err = boot_is_mpi((const void *)next) ? raise_level(argc, argv)
                                          : next(argc, argv);
    init_depth--;
    if (outermost && !err)
        started();
    return err;
}

int drasync_takeover_init_thread(int (*next)(int *, char ***, int, int *),
                                 int *argc, char ***argv, int required,
                                 int *provided)
{
    bool outermost = init_depth == 0;
    int err, level = BOOT_SINGLE;

    if (already_started(required)) {
        *provided = lower(required, boot_thread_level());
        return MPI_SUCCESS;
    }
    if (!next)
        next = (__typeof__(next))boot_symbol("PMPI_Init_thread");
    if (!next)
        return MPI_ERR_OTHER;
    if (outermost)
        taking_part = begin(required);
    if (!taking_part)
        return next(argc, argv, required, provided);

    raised = true;
    init_depth++;
    err = next(argc, argv, BOOT_MULTIPLE, &level);
    init_depth--;
    if (outermost && !err) {
        if (provided)
            *provided = lower(asked_level, level);
        started();
    } else if (provided) {
        *provided = level;
    }
    return err;
}

int drasync_takeover_finalize(int (*next)(void))
{
    int err;

    if (!next)
        next = (__typeof__(next))boot_symbol("PMPI_Finalize");
    if (!next)
        return MPI_ERR_OTHER;
    if (finalize_depth == 0) {
        stop_at_finalize();
        if (stop_leaves_mpi())
            return MPI_SUCCESS;
    }
    finalize_depth++;
    err = next();
    finalize_depth--;
    return err;
}

void *drasync_takeover_disconnect(void *(*next)(void *), void *endpoint)
{
    void *ucx;

    if (boot_left())
        return NULL; /* as from UCX: done, nothing to wait for */
    if (!next) {
        /* An MPI that a plug-in loaded for itself. */
        ucx = dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
        next = ucx ? (__typeof__(next))dlsym(ucx, "ucp_disconnect_nb") : NULL;
    }
    return next ? next(endpoint) : NULL;
}

int drasync_takeover_query_thread(int (*next)(int *), int *provided)
{
    if (!next)
        next = (__typeof__(next))boot_symbol("PMPI_Query_thread");
    if (!next)
        return MPI_ERR_OTHER;
    int err = next(provided);
    if (!err && raised)
        *provided = lower(*provided, asked_level);
    return err;
}
