/* The calls of upmlib.h beside the paper's six: tuning, statistics, the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "upm/state.h"
#include "upmlib.h"

static int not_started(const char *call)
{
    return upm_fail(-EPERM, "%s: call upmlib_init() first", call);
}

int upmlib_sample(unsigned interval_ms)
{
    int err = 0;

    pthread_mutex_lock(&upm.lock);
    if (!upm.started) {
        err = not_started("upmlib_sample");
    } else if (interval_ms > UPM_SAMPLE_MS_MAX) {
        err = upm_fail(-EINVAL, "upmlib_sample(%u): at most %d ms", interval_ms,
                       UPM_SAMPLE_MS_MAX);
    } else if (!upm_idle()) {
        upm_stop_look();
        upm.sample_ms = interval_ms;
        if (interval_ms)
            upm.paused = true;
        err = upm_count();
        if (!err && interval_ms && upm_helper_start())
            err = upm_fail(-EAGAIN, "upmlib_sample: no thread can be started");
        if (err)
            upm.sample_ms = 0;
        upm_arm();
    }
    upm_unlock();
    return err;
}

int upmlib_set(int option, long value)
{
    char why[UPM_LINE_BYTES];
    int err = 0;

    pthread_mutex_lock(&upm.lock);
    if (!upm.started) {
        err = not_started("upmlib_set");
    } else if (option == UPMLIB_SOURCE && upm_area_next(0)) {
        err = upm_fail(-EBUSY, "the source can be set before the first "
                               "upmlib_memrefcnt() only");
    } else {
        err = upm_options_set(&upm.options, option, value, why);
        if (err)
            upm_fail(err, "upmlib_set: %s", why);
    }
    upm_unlock();
    return err;
}

static const char *why_idle(void)
{
    if (!upm.started)
        return "upmlib_init() was not called";
    if (upm.forked)
        return "this is a child of fork()";
    if (upm.host.nodes < 2)
        return upm.host.why;
    return upm.options.source == UPMLIB_SOURCE_NONE ? "UPM_SOURCE is none"
                                                    : NULL;
}

int upmlib_get_stats(struct upmlib_stats *stats)
{
    if (!stats)
        return upm_fail(-EINVAL, "upmlib_get_stats(NULL)");
    pthread_mutex_lock(&upm.lock);
    *stats = upm.stats;
    stats->counting = upm.source != NULL;
    stats->off = upm.iterative.off;
    stats->source = upm_source_by_number(upm.options.source)->name;
    stats->why = why_idle();
    pthread_mutex_unlock(&upm.lock);
    return 0;
}

/* UPM_STATS=1: once, when the program or the use of the library ends. */
static void print_stats(void)
{
    const struct upmlib_stats *stats = &upm.stats;
    const char *why = why_idle();

    if (!upm.started || !upm.options.stats || upm.forked)
        return;
    upm.options.stats = false;
    fprintf(stderr,
            "upmlib: %u nodes, %u areas, %" PRIu64 " pages; source %s counted "
            "%" PRIu64 "; moved %" PRIu64 ", stayed %" PRIu64
            ", frozen %" PRIu64 ", replayed %" PRIu64 ", undone %" PRIu64
            ", sampled %" PRIu64 "; %" PRIu64 " iterations%s%s%s\n",
            stats->nodes, stats->areas, stats->pages,
            upm_source_by_number(upm.options.source)->name, stats->counted,
            stats->moved, stats->stayed, stats->frozen, stats->replayed,
            stats->undone, stats->sampled, stats->iterations,
            upm.iterative.off ? ", then off" : "",
            why ? "; nothing done: " : "", why ? why : "");
}

void upmlib_end(void)
{
    struct upm_area *area;

    pthread_mutex_lock(&upm.lock);
    if (upm.started) {
        print_stats();
        upm.sample_ms = 0;
        upm.paused = true;
        upm.recording = upm.discovers = false;
        upm_count();
        while ((area = upm_area_next(0)))
            upm_forget(area);
        upm_replay_clear(&upm.replay);
        upm.started = false;
    }
    upm_unlock();
}

__attribute__((destructor)) static void at_exit(void)
{
    /* Another thread may be in the library: then the line is lost. */
    if (pthread_mutex_trylock(&upm.lock))
        return;
    print_stats();
    pthread_mutex_unlock(&upm.lock);
}
