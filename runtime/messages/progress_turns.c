/* How the threads that use a transport take turns, and how one helps: see
 * progress_turns.h, whose numbers stand here beside what keeps them true. */
#include "runtime/messages/progress_turns.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "runtime/messages/progress_idle.h"
#include "runtime/messages/progress_state.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* How often the progress thread looks for the end of another thread's turn
 * before it sleeps on the mutex. */
#define TRIES_MAX 4

/* So often the core is offered to a thread that waits in turns_take(). */
#define YIELDS_MAX 100

enum { FREE, SHORT, LONG };

static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool open;
static _Atomic uint32_t helped;
static _Atomic uint32_t wanted; /* threads in turns_take() */
static _Atomic uint32_t ending; /* helpers that have given the turns */
static pthread_mutex_t muting = PTHREAD_MUTEX_INITIALIZER;
static bool muted;                 /* idle_mute(); with `muting` */
static _Thread_local bool turning; /* this thread has the turns, */
static _Thread_local bool helping; /* and helps */

void turns_open(void)
{
    /* Release: who sees it sees `progress.thread`, without the turns too. */
    atomic_store_explicit(&open, true, memory_order_release);
}

bool turns_opened(void)
{
    /* Acquire: pairs with turns_open().  That it is still so, only the turns
     * can say; relaxed would do with them, as the mutex orders it (1). */
    return atomic_load_explicit(&open, memory_order_acquire);
}

void turns_close(void)
{
    /* The mutex orders it: who takes the turns after us sees it (1). */
    atomic_store_explicit(&open, false, memory_order_relaxed);
    pthread_mutex_lock(&turns);
    pthread_mutex_unlock(&turns);
    /* Acquire: what helpers did with the timer and the sockets is over. */
    while (atomic_load_explicit(&ending, memory_order_acquire))
        sched_yield();
    doorbell_ring(&progress.bell);
}

void turns_refuse(void)
{
    atomic_store_explicit(&open, false, memory_order_relaxed);
}

/* With the mutex: true, with the turns; or false, without it. */
static bool begin(void)
{
    turning = turns_opened();
    if (!turning)
        pthread_mutex_unlock(&turns);
    return turning;
}

bool turns_try(void)
{
    return turns_opened() && !pthread_mutex_trylock(&turns) && begin();
}

/* `wanted` is advice to the helper, so relaxed: it sees it a turn later. */
bool turns_take(void)
{
    if (!turns_opened())
        return false;
    if (pthread_mutex_trylock(&turns)) {
        atomic_fetch_add_explicit(&wanted, 1, memory_order_relaxed);
        pthread_mutex_lock(&turns);
        atomic_fetch_sub_explicit(&wanted, 1, memory_order_relaxed);
    }
    return begin();
}

void turns_give(void)
{
    turning = false;
    pthread_mutex_unlock(&turns);
    /* A mutex goes to who asks next, which may be who has just had it. */
    for (int i = 0; i < YIELDS_MAX && turns_wanted(); i++)
        sched_yield();
}

bool turns_mine(void)
{
    return turning;
}

bool turns_helping(void)
{
    return helping;
}

bool turns_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed) > 0;
}

/*
 * 3.  Sequentially consistent: the timer is set, then `helped` read; the helper
 * in turns_help_end() writes `helped`, then ends the timer.  So either the
 * change is seen here, or the timer that is slept on is ended.
 */
static void keep_away(void)
{
    uint32_t how;

    while ((how = atomic_load(&helped)) != FREE) {
        idle_set(runtime_now_us(), how == LONG);
        /* What woke us is the helper's, but that has yet to run: it waits for
         * the turns that we gave, or for our core. */
        if (atomic_load(&helped) == how && idle_away())
            sched_yield();
    }
}

/* Who has the turns may be sending what it will then help with, and would have
 * to wake us if we slept on the mutex. */
void turns_take_kept(void)
{
    keep_away();
    for (int i = 0; pthread_mutex_trylock(&turns); i++) {
        if (i == TRIES_MAX) {
            pthread_mutex_lock(&turns);
            break;
        }
        idle_rest(i);
        keep_away();
    }
    turning = true;
}

/* 4.  Whoever changed `helped` last comes last, or finds it done.  Relaxed: what
 * each has changed before it came here, the mutex shows to the next. */
static void mute(void)
{
    pthread_mutex_lock(&muting);
    bool quiet = atomic_load_explicit(&helped, memory_order_relaxed) != FREE;
    if (quiet && !muted)
        muted = idle_mute();
    else if (!quiet && muted) {
        idle_unmute();
        muted = false;
    }
    pthread_mutex_unlock(&muting);
}

bool turns_help(void)
{
    uint32_t none = FREE;

    /* 2 and 5.  Sequentially consistent: `remote_waits` was added to before
     * (runtime_wait_remote()), turns_help_end() does it in reverse. */
    if (turning || !turns_opened() ||
        !atomic_compare_exchange_strong(&helped, &none, SHORT))
        return false;
    pthread_mutex_lock(&turns);
    if (!begin()) {
        atomic_store(&helped, FREE);
        return false;
    }
    helping = true;
    if (progress.thread)
        mute();
    return true;
}

/* 2: only the helper writes `helped` now.  The progress thread that reads it in
 * keep_away() sets the timer by it, and nothing else. */
void turns_help_long(void)
{
    atomic_store_explicit(&helped, LONG, memory_order_relaxed);
}

bool turns_helps_long(void)
{
    return atomic_load_explicit(&helped, memory_order_relaxed) == LONG;
}

/*
 * 5.  Sequentially consistent: `helped`, then what others count themselves in.
 * progress_join() closes the timer and the sockets when nobody is `ending`.
 */
void turns_help_end(uint32_t own, bool more)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    helping = false;
    more |= atomic_exchange(&helped, FREE) == LONG;
    if (!progress.thread) {
        turns_give();
        doorbell_ring(&progress.bell); /* 6 */
        return;
    }
    more |=
        atomic_load(&box->remote_waits) > own || atomic_load(&box->pending) > 0;
    /* What wakes the progress thread comes after that: it may run on our core,
     * and would find the turns taken, yield, and wait for our next pause. */
    atomic_fetch_add_explicit(&ending, 1, memory_order_relaxed);
    turns_give();
    mute();
    if (more)
        idle_end();
    atomic_fetch_sub_explicit(&ending, 1, memory_order_release);
}
