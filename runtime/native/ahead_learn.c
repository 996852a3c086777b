/*
 * Asks ahead what the engines of ahead/ find out from this rank's acquires.
 *
 * Those come from steps alone: what a lease lets the rank take again costs no
 * message, and is not looked at.  One mutex orders the engines' calls; it is held
 * while hints are asked, which takes locks of trees, so nobody takes it with one.
 */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/native/ahead.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

bool native_ahead_learns;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Under the mutex. */
static struct ahead_phases *phases; /* NULL: no iteration was begun */
static struct ahead_follow *follow; /* NULL: DRASYNC_AHEAD is not auto */
static bool begun, said;

void native_ahead_learn_start(void)
{
    native_ahead_learns =
        runtime.options.ahead != RUNTIME_AHEAD_OFF && runtime.nodes > 1;
    /* Where there is no memory for it, nothing is found out. */
    if (native_ahead_learns && runtime.options.ahead == RUNTIME_AHEAD_AUTO)
        follow = calloc(1, sizeof(*follow));
}

int native_iteration(void)
{
    int err = 0;

    pthread_mutex_lock(&mutex);
    if (native_ahead_learns && !phases)
        phases = calloc(1, sizeof(*phases));
    if (phases)
        ahead_phases_iteration(phases);
    else if (native_ahead_learns)
        err = DRASYNC_ENOMEM;
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

/* Hints for what follows the last acquire; but what a hint was given for before,
 * by whomever, is on its way. */
static void ask_next(void)
{
    enum drasync_mode mode;
    uint64_t address;

    while (ahead_follow_hint(follow, &address, &mode))
        ahead_follow_answer(follow, native_ahead_is_told(address)
                                        ? AHEAD_HERE
                                        : native_ahead_ask(address, mode, 1));
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
    if (phases) {
        ahead_phases_acquired(phases, &a);
    } else if (follow) {
        ahead_follow_acquired(follow, &a);
        ask_next();
    }
    pthread_mutex_unlock(&mutex);
}
