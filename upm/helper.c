/* The thread that arms units anew, and samples: see state.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "upm/intercept.h"
#include "upm/signals.h"
#include "upm/state.h"

/*
 * Units are armed again after this time, and later if that costs more than 5 % of
 * a processor.
 */
#define REARM_NS_MIN 10000000
#define REARM_SHARE  20

static pthread_t helper;
static bool running; /* there is a thread to be joined */
static bool stopping;
static pthread_cond_t changed;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Count what was seen, and let the next accesses be seen too.  Returns when to do
 * that again, in ns. */
static uint64_t rearm(void)
{
    uint64_t spent_ns = upm.source->spent_ns ? upm.source->spent_ns() : 0;
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i)); i++)
        upm.stats.counted += upm_area_collect(area);
    upm_arm();
    uint64_t rest_ns = spent_ns * REARM_SHARE;
    return rest_ns > REARM_NS_MIN ? rest_ns : REARM_NS_MIN;
}

static void *help(void *argument)
{
    uint64_t sample_due = now_ns(), arm_due = now_ns() + REARM_NS_MIN;

    pthread_mutex_lock(&upm.lock);
    while (!stopping) {
        uint64_t now = now_ns(), due = UINT64_MAX;

        if (upm.sample_ms) {
            if (sample_due <= now) {
                upm_sample_step();
                now = now_ns();
                sample_due = now + (uint64_t)upm.sample_ms * 1000000;
            }
            due = sample_due;
        } else {
            sample_due = now;
        }
        if (upm.source && upm.source->rearms) {
            if (arm_due <= now)
                arm_due = now + rearm();
            due = arm_due < due ? arm_due : due;
        }
        if (due == UINT64_MAX) {
            pthread_cond_wait(&changed, &upm.lock);
            continue;
        }
        struct timespec until = {.tv_sec = (time_t)(due / 1000000000),
                                 .tv_nsec = (long)(due % 1000000000)};
        pthread_cond_timedwait(&changed, &upm.lock, &until);
    }
    pthread_mutex_unlock(&upm.lock);
    return argument;
}

int upm_helper_start(void)
{
    pthread_condattr_t attributes;
    sigset_t before;

    if (running) {
        pthread_cond_signal(&changed);
        return 0;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    stopping = false;
    /* The program's handlers are for its own threads. */
    upm_signals_block(&before);
    int err = upm_thread_create(&helper, NULL, help, NULL);
    upm_signals_restore(&before);
    running = !err;
    return err ? -EAGAIN : 0;
}

void upm_unlock(void)
{
    bool over = running && !stopping && !upm.sample_ms &&
                !(upm.source && upm.source->rearms);
    pthread_t thread = helper;

    if (over) {
        stopping = true;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&upm.lock);
    if (!over)
        return;
    pthread_join(thread, NULL);
    pthread_mutex_lock(&upm.lock);
    running = false;
    /* Who came meanwhile and wanted the helper found it still there. */
    if (upm.sample_ms || (upm.source && upm.source->rearms))
        upm_helper_start();
    pthread_mutex_unlock(&upm.lock);
}

void upm_helper_forked(void)
{
    running = false;
}
