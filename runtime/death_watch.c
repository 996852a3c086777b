/* The thread that a rank's death wakes: see death_watch.h. */
#include "runtime/death_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "memory/lock.h"
#include "runtime/alive.h"
#include "runtime/death.h"
#include "runtime/peer.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/survive.h"
#include "runtime/thread.h"
#include "runtime/wait.h"

/* How often it looks, too: the system may have taken the memory that says which
 * mutexes a dead process had (for want of memory).  Where nothing else wakes it,
 * and where it is known that the process ends: */
#define WATCH_LOOK_MS   1000
#define WATCH_ALONE_MS  50
#define WATCH_ENDING_MS 2

#define WATCH_FOREVER_MS UINT64_MAX

/* How long death_watch_stop() waits before it wakes the thread, which may be just
 * about to sleep, again; then twice as long, as it may only want for a core. */
#define WATCH_STOP_NS     1000000
#define WATCH_STOP_NS_MAX 128000000

/* How long the poisoned job may take to end by itself.  Where there are several
 * nodes, their progress threads see to that first; but theirs may be who died, or
 * have left. */
#define WATCH_POISONED_MS       5000
#define WATCH_POISONED_LATER_MS 8000

/* The thread's own from when it runs. */
static struct process watched;

/* Its slot in the page of the node.  The thread changes it, under `mutex`. */
static struct runtime_rank *watched_rank;

/* Held while the thread looks, and to stop it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;

/* 1 until the thread is to end; then whoever sleeps on it is woken.  Acquire and
 * release order nothing: `mutex` does. */
static _Atomic uint32_t watching;

static bool is_watching(void)
{
    return atomic_load(&watching);
}

/* Until it is to end, but not for longer. */
static void nap(uint64_t ms)
{
    uint64_t until =
        ms == WATCH_FOREVER_MS ? WAIT_FOREVER : runtime_now_us() + ms * 1000;

    while (is_watching() && runtime_now_us() < until)
        wait_futex(&watching, 1, until);
}

/* Is it to be told already that the process begins to end?  Where the others go
 * on, what it had may be given to them only when it runs no more. */
static bool ends(void)
{
    uint32_t state = atomic_load(&watched_rank->state);
    const char *why;

    return state != RUNTIME_RANK_EXITED && state != RUNTIME_RANK_BURIED &&
           alive_fell(&watched_rank->alive) && !survive_wanted(&why) &&
           !process_dumps_core(&watched);
}

static bool has_ended(void)
{
    return ends() || process_ended(&watched) ||
           atomic_load(&watched_rank->state) == RUNTIME_RANK_STOPPED;
}

/* Wait until has_ended() may be true. */
static void wait_for_end(void)
{
    struct alive *alive = &watched_rank->alive;

    if (alive_fell(alive))
        nap(WATCH_ENDING_MS);
    else if (!alive_wait(alive, runtime_now_us() + WATCH_LOOK_MS * 1000))
        nap(WATCH_ALONE_MS);
}

enum told {
    TOLD_NOTHING,
    TOLD_ENDS,    /* the job */
    TOLD_GOES_ON, /* watch the next one */
};

static bool watch_next(void)
{
    int local = death_next(&watched);

    if (local >= 0)
        watched_rank = &runtime.shared->ranks[local];
    return local >= 0;
}

/* The death is told; not once the runtime has stopped, when it is none. */
static enum told tell(void)
{
    enum told told = TOLD_NOTHING;

    pthread_mutex_lock(&mutex);
    if (watching && death_bury())
        told = watch_next() ? TOLD_GOES_ON : TOLD_NOTHING;
    else if (watching && death_look())
        told = TOLD_ENDS;
    else if (watching && watch_next()) /* it has left */
        told = TOLD_GOES_ON;
    pthread_mutex_unlock(&mutex);
    return told;
}

static void watch_all(void)
{
    enum told told;

    do {
        while (is_watching() && !has_ended())
            wait_for_end();
        process_drop(&watched);
        told = tell();
        if (told == TOLD_GOES_ON)
            process_hold(&watched);
    } while (told == TOLD_GOES_ON);
    if (told == TOLD_NOTHING)
        return;
    nap(runtime.nodes == 1 ? WATCH_POISONED_MS : WATCH_POISONED_LATER_MS);
    if (is_watching())
        runtime_die("the job does not end by itself after: %s",
                    runtime_poison_text());
}

static void *watch(void *unused)
{
    struct alive *self = &runtime_self()->alive;

    thread_is_ours();
    pthread_setname_np(pthread_self(), "drasync-watch");
    bool stands = alive_take(self);
    watch_all();
    alive_wake(&watched_rank->alive); /* others may watch the same one */
    if (stands) {
        nap(WATCH_FOREVER_MS); /* it may watch nobody any more */
        alive_give(self);
    }
    return unused;
}

void death_watch_start(void)
{
    lock_on_death(death_told);
    if (!watch_next())
        return;
    process_hold(&watched);
    atomic_store(&watching, 1);
    if (thread_create(&thread, watch, NULL)) {
        atomic_store(&watching, 0);
        process_drop(&watched);
        alive_refuse(&runtime_self()->alive);
        survive_bind(SURVIVE_NO_WATCH);
    }
}

void death_watch_stop(void)
{
    long pause_ns = WATCH_STOP_NS;

    pthread_mutex_lock(&mutex);
    bool stops = atomic_exchange(&watching, 0);
    pthread_mutex_unlock(&mutex);
    wait_futex_wake(&watching, 1);
    while (stops) {
        struct timespec until;

        pthread_mutex_lock(&mutex);
        struct alive *alive = &watched_rank->alive;
        pthread_mutex_unlock(&mutex);
        alive_wake(alive);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += pause_ns;
        if (pause_ns < WATCH_STOP_NS_MAX)
            pause_ns *= 2;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        stops = pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT;
    }
}
