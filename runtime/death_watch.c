/* The thread that a rank's death wakes: see death_watch.h. */
#include "runtime/death_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/survive.h"
#include "runtime/thread.h"

/* How often it looks where the system gives no pidfd. */
#define WATCH_LOOK_MS 500

/* How long the poisoned job may take to end by itself.  Where there are several
 * nodes, their progress threads see to that first; but theirs may be who died, or
 * have left. */
#define WATCH_POISONED_MS       5000
#define WATCH_POISONED_LATER_MS 8000

/* The thread's own from when it runs. */
static struct process watched;

/* Held while the thread looks, and to stop it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool watching;

static void nap(int ms)
{
    struct timespec left = {.tv_sec = ms / 1000,
                            .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) && errno == EINTR)
        continue;
}

/* Wait until the process may have ended.  Then ask process_ended(), which also
 * notices a pidfd that the program closed. */
static void wait_for_end(void)
{
    struct pollfd wait = {.fd = watched.fd, .events = POLLIN};

    if (watched.fd < 0 || poll(&wait, 1, -1) < 0)
        nap(WATCH_LOOK_MS);
}

static bool is_watching(void)
{
    pthread_mutex_lock(&mutex);
    bool still = watching;
    pthread_mutex_unlock(&mutex);
    return still;
}

enum told {
    TOLD_NOTHING,
    TOLD_ENDS,    /* the job */
    TOLD_GOES_ON, /* watch the next one */
};

/* The death is told; not once the runtime has stopped, when it is none. */
static enum told tell(void)
{
    enum told told = TOLD_NOTHING;

    pthread_mutex_lock(&mutex);
    if (watching && death_bury())
        told = death_next(&watched) ? TOLD_GOES_ON : TOLD_NOTHING;
    else if (watching && death_look())
        told = TOLD_ENDS;
    else if (watching && death_next(&watched)) /* it has left */
        told = TOLD_GOES_ON;
    pthread_mutex_unlock(&mutex);
    return told;
}

static void *watch(void *unused)
{
    enum told told;

    thread_is_ours();
    pthread_setname_np(pthread_self(), "drasync-watch");
    do {
        while (is_watching() && !process_ended(&watched))
            wait_for_end();
        process_drop(&watched);
        told = tell();
        if (told == TOLD_GOES_ON)
            process_hold(&watched);
    } while (told == TOLD_GOES_ON);
    if (told == TOLD_NOTHING)
        return unused;
    nap(runtime.nodes == 1 ? WATCH_POISONED_MS : WATCH_POISONED_LATER_MS);
    if (is_watching())
        runtime_die("the job does not end by itself after: %s",
                    runtime_poison_text());
    return unused;
}

void death_watch_start(const struct process *process)
{
    pthread_t thread;

    watched = *process;
    process_hold(&watched);
    watching = true;
    if (thread_create(&thread, watch, NULL)) {
        process_drop(&watched);
        survive_bind(SURVIVE_NO_WATCH);
    } else {
        pthread_detach(thread);
    }
}

void death_watch_stop(void)
{
    pthread_mutex_lock(&mutex);
    watching = false;
    pthread_mutex_unlock(&mutex);
}
