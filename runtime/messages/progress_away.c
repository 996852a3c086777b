#include "runtime/messages/progress_away.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "drasync.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"

#define PROGRESS_AWAY_US      1000
#define PROGRESS_AWAY_NEAR_US 200
#define PROGRESS_AWAY_LONG_US 100000

static int timer = -1;
static _Atomic uint64_t until_us; /* when it ends */

int away_open(void)
{
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return timer < 0 ? DRASYNC_ENOMEM : 0;
}

void away_close(void)
{
    if (timer >= 0)
        close(timer);
    timer = -1;
}

/* Also forgets that it has ended. */
static void set(uint64_t us)
{
    const struct itimerspec time = {
        .it_value = {.tv_sec = (time_t)(us / 1000000),
                     .tv_nsec = (long)(us % 1000000) * 1000}};

    atomic_store(&until_us, us);
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

static uint64_t length_us(bool longer)
{
    if (longer)
        return PROGRESS_AWAY_LONG_US;
    return progress_on_sockets() ? PROGRESS_AWAY_US : PROGRESS_AWAY_NEAR_US;
}

void away_push(uint64_t now, bool longer)
{
    uint64_t us = length_us(longer), until = atomic_load(&until_us);

    if (until < now + us / 4 || until > now + us)
        set(now + us);
}

void away_end(void)
{
    set(1);
}

void away_begin(uint64_t now, bool longer)
{
    set(now + length_us(longer));
}

int away_alarm(uint64_t us)
{
    set(runtime_now_us() + us);
    return timer;
}

void away_wait(void)
{
    struct pollfd fd = {.fd = timer, .events = POLLIN};
    int saved = errno;

    poll(&fd, 1, -1);
    errno = saved;
}
