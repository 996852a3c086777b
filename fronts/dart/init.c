/*
 * dart_init and dart_exit: the parts of the front start in order and stop in
 * reverse.  MPI and the library below stay up from the first dart_init to the
 * end of the process (or to the program's MPI_Finalize), so that both can be
 * called again and again.
 */
#include <mpi.h>
#include <stdlib.h>

#include "fronts/dart/front.h"
#include "fronts/dart/message.h"
#include "fronts/dart/op.h"
#include "fronts/dart/team.h"
#include "fronts/dart/types.h"
#include "fronts/dart/window.h"

bool front_up;
const struct rma_job *front_job;

/* Each hangs on those before it.  The first has the communicator over which the
 * outcome of the others is agreed, and agrees by itself. */
static const struct part {
    dart_ret_t (*start)(void);
    void (*stop)(void);
} parts[] = {
    {team_start, team_stop},
    {types_start, types_stop},
    {ops_start, ops_stop},
    {messages_start, messages_stop},
    {locality_start, locality_stop},
    {heap_start, heap_stop},
    {window_start, window_stop},
    {NULL, segments_stop},
    {NULL, locks_stop},
    {NULL, window_settle},
};

#define PARTS ((int)(sizeof(parts) / sizeof(parts[0])))

static dart_ret_t start_part(int i)
{
    dart_ret_t ret = parts[i].start ? parts[i].start() : DART_OK, worst;

    if (i == 0)
        return ret;
    worst = team_agree(team_find(DART_TEAM_ALL), ret);
    if (worst && !ret && parts[i].stop)
        parts[i].stop();
    return worst;
}

static void stop_parts(int started)
{
    for (int i = started - 1; i >= 0; i--) {
        if (parts[i].stop)
            parts[i].stop();
    }
}

static dart_ret_t start(void)
{
    int err, i;
    dart_ret_t ret = DART_OK;

    if (front_up)
        return front_fail(
            DART_ERR_OTHER,
            "dart_init: DART runs already; dart_exit comes first");
    err = rma_enter();
    if (err)
        return front_fail(err == DRASYNC_ENOMEM ? DART_ERR_NOMEM
                                                : DART_ERR_OTHER,
                          "dart_init: cannot start: %s", drasync_strerror(err));
    front_job = rma_job();
    for (i = 0; i < PARTS && !ret; i++)
        ret = start_part(i);
    if (ret) {
        stop_parts(i - 1);
        front_job = NULL;
        return front_fail(ret, "dart_init: cannot start on some unit");
    }
    front_up = true;
    return DART_OK;
}

dart_ret_t dart_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return start();
}

dart_ret_t dart_init_thread(int *argc, char ***argv,
                            dart_thread_support_level_t *thread_safety)
{
    int level = MPI_THREAD_SINGLE;
    dart_ret_t ret;

    (void)argc;
    (void)argv;
    if (!thread_safety)
        return front_fail(DART_ERR_INVAL,
                          "dart_init_thread: nowhere to say the thread level");
    ret = start();
    if (ret)
        return ret;
    /* What the program was told, which may be less than what MPI gave us. */
    MPI_Query_thread(&level);
    *thread_safety = level == MPI_THREAD_MULTIPLE ? DART_THREAD_MULTIPLE
                                                  : DART_THREAD_SINGLE;
    return DART_OK;
}

dart_ret_t dart_exit(void)
{
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "dart_exit: DART does not run");
    front_up = false;
    if (!drasync_running())
        return front_fail(DART_ERR_NOTINIT,
                          "dart_exit: MPI_Finalize was called before it");
    stop_parts(PARTS);
    front_job = NULL;
    return DART_OK;
}

bool dart_initialized(void)
{
    return front_up;
}

void dart_abort(int errorcode)
{
    int up = 0, over = 0;

    MPI_Initialized(&up);
    MPI_Finalized(&over);
    if (up && !over)
        MPI_Abort(MPI_COMM_WORLD, errorcode);
    _Exit(errorcode);
}
