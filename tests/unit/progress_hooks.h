/*
 * progress_hooks.h - the files of runtime/messages/progress*, compiled here
 * with hooks in what they call, and stubs for the rest.
 *
 * A hook runs what another thread does at that point.  The clock is the test's,
 * and the transport only tells whether it is used after it was closed.
 */
#ifndef TESTS_PROGRESS_HOOKS_H
#define TESTS_PROGRESS_HOOKS_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/timerfd.h>

#include "memory_common.h"
#include "transport/transport.h"

static int hooked_lock(pthread_mutex_t *mutex);
static int hooked_trylock(pthread_mutex_t *mutex);
static int hooked_unlock(pthread_mutex_t *mutex);
static int hooked_settime(int fd, int flags, const struct itimerspec *new,
                          struct itimerspec *old);
static int hooked_poll(struct pollfd *fds, nfds_t count, int timeout);
static int hooked_yield(void);
#define pthread_mutex_lock    hooked_lock
#define pthread_mutex_trylock hooked_trylock
#define pthread_mutex_unlock  hooked_unlock
#define timerfd_settime       hooked_settime
#define poll                  hooked_poll
#define sched_yield           hooked_yield
#include "runtime/messages/progress.c"
#include "runtime/messages/progress_idle.c"
#include "runtime/messages/progress_thread.c"
#include "runtime/messages/progress_turns.c"
#undef pthread_mutex_lock
#undef pthread_mutex_trylock
#undef pthread_mutex_unlock
#undef poll
#undef sched_yield
#undef timerfd_settime

/* Longer than the progress thread may leave a node alone. */
#define AWAY_US 1000

/* --- Hooks ---------------------------------------------------------------- */

/* Each is called once, by the thread that set it: where it locks or unlocks the
 * turns, and where it is about to set the timer. */
typedef void (*hook)(void);
static _Thread_local hook before_lock, after_unlock, before_timer;
static hook asked_still; /* by any thread */

static void call(hook *h)
{
    hook now = *h;

    *h = NULL;
    if (now)
        now();
}

static _Atomic bool closed;       /* the transport */
static _Atomic uint64_t timer_us; /* when it ends */
static _Atomic int used_closed;   /* something used what was closed */
static _Atomic bool lock_asked;   /* by the second thread */
static _Atomic bool yielded;      /* so has that */
static _Thread_local bool second; /* this is it */

static void call_before(const pthread_mutex_t *mutex)
{
    if (mutex == &turns)
        call(&before_lock);
    else if (mutex == &timing)
        call(&before_timer);
}

static int hooked_lock(pthread_mutex_t *mutex)
{
    call_before(mutex);
    if (second)
        atomic_store(&lock_asked, true);
    return pthread_mutex_lock(mutex);
}

static int hooked_trylock(pthread_mutex_t *mutex)
{
    call_before(mutex);
    return pthread_mutex_trylock(mutex);
}

static int hooked_unlock(pthread_mutex_t *mutex)
{
    int err = pthread_mutex_unlock(mutex);

    if (mutex == &turns)
        call(&after_unlock);
    return err;
}

static int hooked_yield(void)
{
    if (second)
        atomic_store(&yielded, true);
    return sched_yield();
}

static int hooked_settime(int fd, int flags, const struct itimerspec *new,
                          struct itimerspec *old)
{
    (void)fd;
    (void)flags;
    (void)old;
    if (atomic_load(&closed))
        atomic_fetch_add(&used_closed, 1);
    atomic_store(&timer_us, (uint64_t) new->it_value.tv_sec * 1000000 +
                                (uint64_t) new->it_value.tv_nsec / 1000);
    return 0;
}

static void never(const char *format)
{
    printf("Bail out! %s\n", format);
    fflush(stdout);
    _exit(1);
}

/* --- What the engine calls ------------------------------------------------ */

struct runtime runtime;
struct boot *runtime_boot;
static _Atomic uint32_t poison;
_Atomic uint32_t *runtime_poisoned = &poison;
static struct runtime_shared shared;
static _Atomic uint64_t clock_us = 1000000;

uint64_t runtime_now_us(void)
{
    return atomic_fetch_add(&clock_us, 1);
}

static uint64_t now(void)
{
    return atomic_load(&clock_us);
}

/* For how long the progress thread would sleep that now begins to. */
static _Atomic uint64_t slept_us;
static _Atomic int sleeps;

static void sleep_begins(void)
{
    uint64_t until = atomic_load(&timer_us), from = now();

    atomic_store(&slept_us, until > from ? until - from : 0);
    atomic_fetch_add(&sleeps, 1);
}

static sem_t awake;

/* Without a progress thread: a thread that naps too often polls no more. */
#define NAPS_MAX 100
static int naps;

static int hooked_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    (void)fds;
    (void)count;
    if (timeout == IDLE_NAP_MS) {
        if (++naps > NAPS_MAX)
            never("a thread that waits polls no more");
        return 0;
    }
    sleep_begins();
    sem_wait(&awake);
    return 1;
}

/* Did a sleep end by what came on sockets; does it always? */
static bool listened, readable;

bool outbox_sleep(int alarm, int watch)
{
    (void)alarm;
    sleep_begins();
    listened = watch >= 0;
    atomic_store(&shared.outbox.asleep, OUTBOX_AWAKE);
    return listened && readable;
}

static int wakes;

void outbox_wake(void)
{
    wakes += atomic_exchange(&shared.outbox.asleep, OUTBOX_AWAKE) != 0;
}

static void use_transport(void)
{
    if (atomic_load(&closed))
        atomic_fetch_add(&used_closed, 1);
}

static int fake_send(struct transport *t, int to,
                     const struct transport_message *message)
{
    (void)t;
    (void)to;
    (void)message;
    use_transport();
    return 0;
}

static _Thread_local hook polled;

static int fake_poll(struct transport *t)
{
    (void)t;
    call(&polled);
    use_transport();
    return 0;
}

static int flushed;

/* What waits to go with others leaves. */
static int fake_flush(struct transport *t, bool all)
{
    (void)all;
    t->soon = t->late = 0;
    flushed++;
    return 1;
}

static bool fake_still(const struct transport *t)
{
    (void)t;
    call(&asked_still);
    return true;
}

static void fake_close(struct transport *t)
{
    (void)t;
    atomic_store(&closed, true);
}

static const struct transport_ops fake_ops = {
    .send = fake_send,
    .poll = fake_poll,
    .flush = fake_flush,
    .still = fake_still,
    .close = fake_close,
};
static struct transport fake = {.ops = &fake_ops};

int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user, bool few,
                   struct transport **out)
{
    (void)boot;
    (void)data;
    (void)events;
    (void)user;
    (void)few;
    *out = &fake;
    return 0;
}

int outbox_drain(struct transport *t)
{
    (void)t;
    return 0;
}

bool outbox_empty(void)
{
    return true;
}

static bool all_over;

bool shutdown_over(void)
{
    /* The thread ends that progress_start() makes. */
    return all_over || !turns_helping();
}

int refused_by_system(const char *what, int error)
{
    (void)error;
    never(what);
    return 0;
}

void doorbell_ring(struct doorbell *d)
{
    atomic_fetch_add(&d->rings, 1);
}

/* Sleeps until the bell has rung; if the helper of the test has ended without
 * that, it never would. */
static _Atomic bool asks, ended, forgotten;

int doorbell_wait(struct doorbell *d, uint32_t seen, uint64_t deadline_us)
{
    (void)deadline_us;
    atomic_store(&asks, true);
    while (doorbell_read(d) == seen) {
        if (atomic_load(&ended) && doorbell_read(d) == seen) {
            atomic_store(&forgotten, true);
            return DRASYNC_EPEER;
        }
        sched_yield();
    }
    return 0;
}

int runtime_send(const struct runtime_message *message)
{
    (void)message;
    never("a leader's");
    return 0;
}

int runtime_wait_remote(struct waiter *w, uint64_t deadline_us, int *result_out)
{
    (void)w;
    (void)deadline_us;
    (void)result_out;
    never("a leader's");
    return 0;
}

/* Both are of progress_own_beside(), which is not tested here. */
int waiter_wait_any(struct waiter *const *waiters, int count,
                    uint64_t deadline_us)
{
    (void)waiters;
    (void)count;
    (void)deadline_us;
    never("a rank's that waits for its node");
    return 0;
}

int wait_check(uint64_t since_us)
{
    (void)since_us;
    never("a rank's that waits for its node");
    return 0;
}

void runtime_poison(const char *format, ...)
{
    never(format);
}

void runtime_die(const char *format, ...)
{
    never(format);
    _exit(1);
}

void runtime_say(const char *format, ...)
{
    never(format);
}

/* --- Threads -------------------------------------------------------------- */

static void *run(void *what)
{
    second = true;
    ((hook)(uintptr_t)what)();
    return NULL;
}

static pthread_t spawn(hook what)
{
    pthread_t other;

    REQUIRE(!pthread_create(&other, NULL, run, (void *)(uintptr_t)what));
    return other;
}

/* All of it, on another thread. */
static void elsewhere(hook what)
{
    REQUIRE(!pthread_join(spawn(what), NULL));
}

static void start(void)
{
    static int node_of[2] = {0, 1};

    runtime.nodes = 2;
    runtime.node_of = runtime.leader_of = node_of;
    runtime.leader = true;
    runtime.shared = &shared;
    shared.locals = 1;
    atomic_store(&closed, false);
    atomic_store(&shared.outbox.remote_waits, 0);
    atomic_store(&shared.outbox.asleep, OUTBOX_AWAKE);
    atomic_store(&shared.stopped, 0);
    REQUIRE(!progress_start(NULL));
    while (!atomic_load(&shared.stopped))
        sched_yield(); /* the thread ends */
    idle_set(now(), false);
}

/* Has the progress thread been told to come? */
static bool told(void)
{
    return atomic_load(&timer_us) <= now();
}

#endif /* TESTS_PROGRESS_HOOKS_H */
