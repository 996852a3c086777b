/*
 * Threads of a leader that do the progress thread's work, in the orders in
 * which they can meet it, each other, and MPI_Finalize.
 *
 * The files themselves are compiled here.  The progress thread that they start
 * ends at once; the test plays its part, and drives the others: at named points
 * (a mutex, the timer, what an engine asks of its transport) a hook runs what
 * another thread does just then.  The clock is the test's.
 */
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
#define pthread_mutex_lock    hooked_lock
#define pthread_mutex_trylock hooked_trylock
#define pthread_mutex_unlock  hooked_unlock
#define timerfd_settime       hooked_settime
#define poll                  hooked_poll
#include "runtime/messages/progress.c"
#include "runtime/messages/progress_idle.c"
#undef pthread_mutex_lock
#undef pthread_mutex_trylock
#undef pthread_mutex_unlock
#undef poll
#undef timerfd_settime

/* Longer than the progress thread may leave a node alone. */
#define AWAY_US 1000

/* --- Hooks ---------------------------------------------------------------- */

/* Each is called once, by the thread that set it. */
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
static _Thread_local bool second; /* this is it */

static int hooked_lock(pthread_mutex_t *mutex)
{
    call(&before_lock);
    if (second)
        atomic_store(&lock_asked, true);
    return pthread_mutex_lock(mutex);
}

static int hooked_trylock(pthread_mutex_t *mutex)
{
    call(&before_lock);
    return pthread_mutex_trylock(mutex);
}

static int hooked_unlock(pthread_mutex_t *mutex)
{
    int err = pthread_mutex_unlock(mutex);

    call(&after_unlock);
    return err;
}

static int hooked_settime(int fd, int flags, const struct itimerspec *new,
                          struct itimerspec *old)
{
    (void)fd;
    (void)flags;
    (void)old;
    call(&before_timer);
    if (atomic_load(&closed))
        atomic_fetch_add(&used_closed, 1);
    atomic_store(&timer_us, (uint64_t) new->it_value.tv_sec * 1000000 +
                                (uint64_t) new->it_value.tv_nsec / 1000);
    return 0;
}

/* --- What the engine calls ------------------------------------------------ */

struct runtime runtime;
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

static int hooked_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    (void)fds;
    (void)count;
    (void)timeout;
    sleep_begins();
    sem_wait(&awake);
    return 1;
}

bool outbox_sleep(int alarm, int watch)
{
    (void)alarm;
    (void)watch;
    sleep_begins();
    atomic_store(&shared.outbox.asleep, OUTBOX_AWAKE);
    return false;
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

static int fake_poll(struct transport *t)
{
    (void)t;
    use_transport();
    return 0;
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
    .flush = fake_poll,
    .still = fake_still,
    .close = fake_close,
};
static struct transport fake = {.ops = &fake_ops};
const struct transport_events dispatch_events;

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

int boot_barrier(struct boot *boot, enum boot_scope scope)
{
    (void)boot;
    (void)scope;
    return 0;
}

bool boot_neighbours(const struct boot *boot)
{
    (void)boot;
    return true; /* no sockets to listen to */
}

int boot_min(struct boot *boot, enum boot_scope scope, int64_t *value)
{
    (void)boot;
    (void)scope;
    (void)value;
    return 0;
}

int sockets_find_sets(int *fds, int max)
{
    (void)fds;
    (void)max;
    return 0;
}

int dispatch_send(struct transport *t, int node,
                  const struct transport_message *message)
{
    return transport_send(t, node, message);
}

int dispatch_answer(struct transport *t, int rank,
                    const struct transport_message *message)
{
    return transport_send(t, rank, message);
}

void dispatch_publish(const struct transport_counters *counters)
{
    (void)counters;
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

bool shutdown_over(void)
{
    return true; /* so the thread ends that progress_start() makes */
}

int shutdown_advance(struct transport *t)
{
    (void)t;
    return 0;
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

void doorbell_ring(struct doorbell *d)
{
    (void)d;
}

static void never(const char *format)
{
    printf("Bail out! %s\n", format);
    _exit(1);
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

const char *runtime_poison_text(void)
{
    return "";
}

const char *drasync_strerror(int err)
{
    (void)err;
    return "";
}

/* --- Threads -------------------------------------------------------------- */

static void *run(void *what)
{
    second = true;
    ((hook)(uintptr_t)what)();
    return NULL;
}

static pthread_t begin(hook what)
{
    pthread_t other;

    REQUIRE(!pthread_create(&other, NULL, run, (void *)(uintptr_t)what));
    return other;
}

/* All of it, on another thread. */
static void elsewhere(hook what)
{
    REQUIRE(!pthread_join(begin(what), NULL));
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

/* What a thread does that waits for another node, and sleeps in the end. */
static struct waiter nothing;

static void wait_remote(void)
{
    atomic_fetch_add(&shared.outbox.remote_waits, 1);
    progress_help(&nothing, UINT64_MAX);
}

/* --- A second thread waits while one helps -------------------------------- */

static int asked;

/* For some milliseconds, then the second thread comes and is refused. */
static bool over_late(void *arg)
{
    (void)arg;
    if (++asked == 1)
        atomic_fetch_add(&clock_us, 10 * AWAY_US);
    else if (asked == 3)
        elsewhere(wait_remote);
    return asked == 3;
}

static bool over_soon(void *arg)
{
    (void)arg;
    if (++asked == 2)
        elsewhere(wait_remote);
    return asked >= 2;
}

static bool over_alone(void *arg)
{
    (void)arg;
    return ++asked == 2;
}

static void second_waits(void)
{
    start();
    asked = 0;
    REQUIRE(progress_help_until(over_late, NULL));
    tap_ok(told(), "who has helped for long calls the progress thread, though "
                   "another thread was refused meanwhile");
    progress_join();

    start();
    asked = 0;
    REQUIRE(progress_help_until(over_soon, NULL));
    tap_ok(told(), "and so does who helped shortly, if another thread waits "
                   "for another node");
    progress_join();

    start();
    asked = 0;
    REQUIRE(progress_help_until(over_alone, NULL));
    tap_ok(!told(), "if none does, the progress thread is left alone");
    progress_join();
}

/* --- A second thread comes while one ends --------------------------------- */

static pthread_t comer;
static _Atomic bool refused, helps;

static void comes(void)
{
    wait_remote();
    atomic_store(&refused, true);
}

/* Until it is refused, or has the next turn. */
static void let_come(void)
{
    comer = begin(comes);
    while (!atomic_load(&refused) && !atomic_load(&lock_asked))
        sched_yield();
    atomic_store(&helps, !atomic_load(&refused));
}

static struct waiter woken = {.word = 2};

static void second_comes(void)
{
    start();
    atomic_store(&lock_asked, false);
    atomic_fetch_add(&shared.outbox.remote_waits, 1); /* this thread's */
    asked_still = let_come;
    progress_help(&woken, UINT64_MAX);
    bool called = told();
    pthread_join(comer, NULL);
    tap_ok(called || atomic_load(&helps),
           "who comes while another one ends helps, or the progress thread "
           "does");
    progress_join();
}

/* --- The progress thread and those who help ------------------------------- */

static sem_t at_timer, go_on;
static pthread_t thread_played;

static void at_long_timer(void)
{
    sem_post(&at_timer);
    sem_wait(&go_on);
}

static void keeps_away(void)
{
    before_timer = at_long_timer;
    take_turns();
    give_turns();
}

static bool over_long(void *arg)
{
    (void)arg;
    if (++asked == 1)
        atomic_fetch_add(&clock_us, 10 * AWAY_US);
    if (asked == 3) {
        thread_played = begin(keeps_away);
        sem_wait(&at_timer);
    }
    return asked == 3;
}

/* The next one helps, and the thread goes on. */
static bool over_next(void *arg)
{
    (void)arg;
    if (++asked == 2) {
        int before = atomic_load(&sleeps);

        sem_post(&go_on);
        while (atomic_load(&sleeps) == before)
            sched_yield();
    }
    return asked == 2;
}

static void one_after_another(void)
{
    start();
    sem_init(&at_timer, 0, 0);
    sem_init(&go_on, 0, 0);
    asked = 0;
    REQUIRE(progress_help_until(over_long, NULL));
    asked = 0;
    REQUIRE(progress_help_until(over_next, NULL));
    tap_ok(atomic_load(&slept_us) <= AWAY_US,
           "the progress thread does not keep away for the long time of one "
           "who has ended, while the next one helps shortly");
    for (int i = 0; i < 10; i++)
        sem_post(&awake);
    pthread_join(thread_played, NULL);
    progress_join();
}

static bool over_at_once(void *arg)
{
    (void)arg;
    return true;
}

static void helps_and_calls(void)
{
    atomic_store(&shared.outbox.remote_waits, 1);
    REQUIRE(progress_help_until(over_at_once, NULL));
}

static void help_at_timer(void)
{
    elsewhere(helps_and_calls);
}

static void called_before_sleep(void)
{
    uint64_t since;

    start();
    since = now();
    idle_note(since);
    atomic_fetch_add(&clock_us, 100 * AWAY_US);
    atomic_store(&sleeps, 0);
    before_timer = help_at_timer;
    idle_pause(now(), since, false, false);
    tap_ok(!atomic_load(&sleeps) || atomic_load(&slept_us) == 0,
           "the progress thread, called when it is about to sleep, does not");
    progress_join();
}

/* --- MPI_Finalize, meanwhile ---------------------------------------------- */

static void finalize_here(void)
{
    elsewhere(progress_join);
}

static void send_one(void)
{
    const struct runtime_message message = {.node = 1};
    int err;

    tap_ok(!progress_send(&message, &err),
           "what is sent during MPI_Finalize is not sent on a transport that "
           "is closed");
}

static void finalized(void)
{
    start();
    before_lock = finalize_here;
    send_one();

    start();
    before_lock = finalize_here;
    progress_glance();
    tap_ok(!atomic_load(&used_closed), "nor is it looked at");

    start();
    before_lock = finalize_here;
    progress_help(&nothing, now() + AWAY_US);
    tap_ok(!atomic_load(&used_closed), "nor does anybody help");

    start();
    asked = 0;
    before_lock = finalize_here;
    tap_ok(!progress_help_until(over_soon, NULL) && !atomic_load(&used_closed),
           "which that thread is told");

    start();
    atomic_store(&shared.outbox.remote_waits, 2);
    after_unlock = finalize_here;
    progress_help(&woken, UINT64_MAX);
    tap_ok(!atomic_load(&used_closed),
           "who ends helping has called the progress thread before that ends");
}

int main(void)
{
    sem_init(&awake, 0, 0);
    second_waits();
    second_comes();
    one_after_another();
    called_before_sleep();
    finalized();
    return tap_end();
}
