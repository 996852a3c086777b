/* A dead rank is buried, and the others go on: see survive.h. */
#include "runtime/survive.h"

#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

static void nothing(void)
{
}

static void (*buried)(void) = nothing;

void survive_tells(void (*tell)(void))
{
    buried = tell;
}

bool survive_wanted(const char **why_out)
{
    *why_out = "";
    if (runtime.options.on_death != RUNTIME_ON_DEATH_CONTINUE)
        return false;
    if (runtime.nodes > 1)
        *why_out = "; DRASYNC_ON_DEATH=continue goes on with ranks of one node "
                   "only, and this job has several";
    else if (atomic_load(runtime_poisoned))
        *why_out = " inside a call, with a lock that others need, so "
                   "DRASYNC_ON_DEATH=continue does not go on";
    else
        switch ((enum survive_bound)atomic_load(&runtime.shared->bound)) {
        case SURVIVE_FREE:
            return true;
        case SURVIVE_MYRMICS:
            *why_out = "; DRASYNC_ON_DEATH=continue does not go on in a job "
                       "that makes Myrmics' calls";
            break;
        case SURVIVE_DART:
            *why_out = "; DRASYNC_ON_DEATH=continue does not go on in a job "
                       "that makes DART's calls";
            break;
        case SURVIVE_NO_WATCH:
            *why_out = "; DRASYNC_ON_DEATH=continue does not go on, as a rank "
                       "could not start the thread that looks after deaths";
            break;
        }
    return false;
}

static void bury(struct runtime_rank *dead, const char *who)
{
    uint32_t state = atomic_load(&dead->state);

    if (state == RUNTIME_RANK_BURIED || state == RUNTIME_RANK_STOPPED)
        return;
    for (int i = 0; runtime_modules[i]; i++)
        if (runtime_modules[i]->rank_died)
            runtime_modules[i]->rank_died(dead->rank);
    if (atomic_load(runtime_poisoned))
        return;
    atomic_store(&dead->state, RUNTIME_RANK_BURIED);
    atomic_fetch_add(&runtime.shared->buried, 1);
    runtime_say("%s %s; DRASYNC_ON_DEATH=continue: the others go on", who,
                state == RUNTIME_RANK_EXITED ? "left without MPI_Finalize"
                                             : "died");
    buried();
}

void survive_bury(int rank, const char *who)
{
    struct runtime_shared *shared = runtime.shared;

    if (lock_take(&shared->death_lock))
        return; /* the job ends */
    bury(&shared->ranks[runtime.local_of[rank]], who);
    lock_give(&shared->death_lock);
}

bool survive_any(void)
{
    return runtime.shared && atomic_load(&runtime.shared->buried);
}
