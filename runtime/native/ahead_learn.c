/*
 * Asks ahead what the engine of ahead/ finds out from this rank's acquires, once
 * the program has begun an iteration.
 *
 * Those come from steps alone: what a lease lets the rank take again costs no
 * message, and is not looked at.  One mutex orders the engine's calls; it is held
 * while hints are asked, which takes locks of trees, so nobody takes it with one.
 */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/native/ahead.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

_Atomic bool native_ahead_learns;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Under the mutex. */
static struct ahead_phases *phases; /* NULL: no iteration was begun */
static bool begun, said;

int native_iteration(void)
{
    bool learns =
        runtime.options.ahead != RUNTIME_AHEAD_OFF && runtime.nodes > 1;
    int err = 0;

    pthread_mutex_lock(&mutex);
    if (learns && !phases)
        phases = calloc(1, sizeof(*phases));
    if (phases)
        ahead_phases_iteration(phases);
    else if (learns)
        err = DRASYNC_ENOMEM;
    /* Relaxed: a thread that sees it later has its acquires noted later. */
    atomic_store_explicit(&native_ahead_learns, phases != NULL,
                          memory_order_relaxed);
    begun |= !err;
    pthread_mutex_unlock(&mutex);
    return err;
}

/* Hints for the phase after the one that begins. */
static void replay(void)
{
    struct ahead_note *note;

    while ((note = ahead_phases_hint(phases)))
        ahead_phases_answer(phases, note,
                            native_ahead_ask(note->address,
                                             (enum drasync_mode)note->mode,
                                             note->times));
    if (phases->full && !said) {
        runtime_say("drasync_phase: the phases of rank %d acquire more than %d "
                    "regions of other nodes; some are not asked ahead",
                    runtime.rank, AHEAD_NOTES_MAX);
        said = true;
    }
}

int native_phase(int phase)
{
    int err = 0;

    pthread_mutex_lock(&mutex);
    if (!begun)
        err = DRASYNC_EPHASE;
    else if (phases && ahead_phases_begin(phases, phase))
        replay();
    pthread_mutex_unlock(&mutex);
    return err;
}

void native_ahead_acquired(const struct native_pending *q, bool waits)
{
    const struct ahead_acquire a = {
        .address = q->address,
        .mode = q->mode,
        .away = q->away,
        .waits = waits,
    };

    pthread_mutex_lock(&mutex);
    ahead_phases_acquired(phases, &a);
    pthread_mutex_unlock(&mutex);
}
