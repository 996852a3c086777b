/* When the progress thread sleeps, for how long, and what wakes it: see
 * progress_idle.h. */
#include "runtime/messages/progress_idle.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/shared.h"
#include "transport/sockets.h"

/* After traffic the thread polls for this long, longer while somebody here
 * waits for another node, or data is on its way; then it sleeps, for a part of
 * the time since.  Where sockets wake it it need not poll for what comes next;
 * and who computes on its core would lose that time, as a thread with a short
 * slice gets the core back at once when it yields.  Between two segments of data
 * it polls so long even if others want the core. */
#define PROGRESS_POLL_US         500
#define PROGRESS_POLL_US_WOKEN   30
#define PROGRESS_MOVES_US        20
#define PROGRESS_SLEEP_PART      16
#define PROGRESS_SLEEP_US_MIN    50
#define PROGRESS_SLEEP_US_WOKEN  2000
#define PROGRESS_SLEEP_US_WAITED 1000
#define PROGRESS_SLEEP_US_MAX    10000

/* Where what is urgent comes no later than this after the last, a few times, it
 * pays to poll for it; and one of them that comes later is forgiven so often. */
#define PROGRESS_SOON_US  60
#define PROGRESS_PAYS_MAX 3

/* After messages that may be late have woken it, it does not listen to sockets for
 * the first of these; from the PROGRESS_CALMth time in a row on for twice as long
 * each time, up to the second, or up to the third where threads that wait take what
 * is urgent by themselves. */
#define PROGRESS_CALM              8
#define PROGRESS_DEAF_US_MIN       50
#define PROGRESS_DEAF_US_MAX       500
#define PROGRESS_DEAF_US_TAKEN_MAX 2000

/* After progress_serve() it sleeps for no longer than this where sockets do not
 * wake it, and this long is what they bring taken for one-sided operations: so
 * long after the last of them, and after the last such call. */
#define PROGRESS_SERVE_SLEEP_US 50
#define PROGRESS_SERVE_US       10000
#define PROGRESS_SERVE_US_MAX   1000000

/* A yield that takes this long means that the core is wanted by others.  That
 * is believed for a while, and longer each time it proves true again: a thread
 * that computes is asked seldom, one that spun at a barrier is soon forgotten.
 * The progress thread believes it sooner where sockets wake it: its slice is
 * short, so who computes has the core for not much longer than that at a time.
 */
#define PROGRESS_YIELD_US_MAX   300
#define PROGRESS_YIELD_US_WOKEN 50
#define PROGRESS_WANTED_US_MIN  1000
#define PROGRESS_WANTED_US_MAX  100000

/* How far a helper pushes the timer: over sockets, elsewhere, and one that
 * says when it ends. */
#define PROGRESS_AWAY_US      1000
#define PROGRESS_AWAY_NEAR_US 200
#define PROGRESS_AWAY_LONG_US 100000

/* While a thread is inside MPI and something moved not longer ago it sleeps for
 * PROGRESS_SLEEP_US_MIN. */
#define PROGRESS_INSIDE_FOR_US 10000

/* What another thread's turn may take, if that sends a little; then twice as
 * long. */
#define PROGRESS_REST_NS 30000

/* Who gets the core soon after waking: Linux since 6.12, else no harm. */
#define PROGRESS_SLICE_NS 100000

static _Atomic uint64_t active_us; /* when something last moved */
static _Atomic uint64_t told_us;   /* progress_serve() was called, or 0; */
static _Atomic uint64_t serve_us;  /* and until then it matters */

/* --- The timer ------------------------------------------------------------ */

static int timer = -1; /* read elsewhere by the progress thread only */
static _Atomic uint64_t until_us; /* when it ends; ENDED: it has */
static pthread_mutex_t timing = PTHREAD_MUTEX_INITIALIZER;

#define ENDED 1

int idle_open(void)
{
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return timer < 0
               ? refused_by_system("no timer for the progress thread", errno)
               : 0;
}

/* Also forgets that it has ended.  The kernel and `until_us` agree, so that
 * nobody need set it twice: that leaves a virtual machine, for some 8 us.  Who
 * sets it without the turns may come after idle_close(). */
static void set_timer(uint64_t us)
{
    const struct itimerspec time = {
        .it_value = {.tv_sec = (time_t)(us / 1000000),
                     .tv_nsec = (long)(us % 1000000) * 1000}};

    pthread_mutex_lock(&timing);
    atomic_store(&until_us, us);
    if (timer >= 0)
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
    pthread_mutex_unlock(&timing);
}

static uint64_t away_us(bool longer)
{
    if (longer)
        return PROGRESS_AWAY_LONG_US;
    return progress_on_sockets() ? PROGRESS_AWAY_US : PROGRESS_AWAY_NEAR_US;
}

/* Does the timer end about @us from @now, or up to @less sooner?  The caller may
 * have slept since. */
static bool ends_in(uint64_t us, uint64_t less, uint64_t until, uint64_t now)
{
    return until >= now + us - less && until <= now + us + us / 4;
}

void idle_push(uint64_t now, bool longer)
{
    uint64_t us = away_us(longer), until = atomic_load(&until_us);

    /* Where it has ended the thread is about to set it by itself. */
    if (until > now && !ends_in(us, us - us / 4, until, now))
        set_timer(now + us);
}

void idle_soon(uint64_t now)
{
    if (atomic_load(&until_us) > now + PROGRESS_AWAY_US)
        set_timer(now + PROGRESS_AWAY_US);
}

/* Threads that are inside MPI.  Relaxed: advice on how long to sleep, and the
 * timer that was set before is moved by who enters. */
static _Atomic int32_t insiders;

static bool inside_matters(uint64_t now)
{
    return atomic_load_explicit(&insiders, memory_order_relaxed) > 0 &&
           now - idle_noted() < PROGRESS_INSIDE_FOR_US;
}

void idle_inside(bool inside)
{
    atomic_fetch_add_explicit(&insiders, inside ? 1 : -1, memory_order_relaxed);
    if (!inside)
        return;
    uint64_t now = runtime_now_us(), soon = now + PROGRESS_SLEEP_US_MIN;

    if (inside_matters(now) && atomic_load(&until_us) > soon)
        set_timer(soon);
}

/*
 * Who has read ENDED has done so before the thread set the timer again; what it
 * wrote before that, the thread then sees before it sleeps (sleep_for()).
 */
void idle_end(void)
{
    if (atomic_load(&until_us) != ENDED)
        set_timer(ENDED);
}

void idle_set(uint64_t now, bool longer)
{
    uint64_t us = away_us(longer);

    /* It is about to sleep, so not much sooner. */
    if (!ends_in(us, us / 4, atomic_load(&until_us), now))
        set_timer(now + us);
}

/* --- Sockets -------------------------------------------------------------- */

/* MPI's sets of sockets, in one of ours; -1: none.  Changed with the turns; who
 * reads it without them needs nothing else with it, so relaxed would do. */
#define SETS_MAX 4
static int sets[SETS_MAX], sets_count;
static _Atomic int sockets = -1;

static void sockets_set(int operation, uint32_t events)
{
    for (int i = 0; i < sets_count; i++) {
        struct epoll_event event = {.events = events};

        /* One that was closed has left by itself. */
        epoll_ctl(sockets, operation, sets[i], &event);
    }
}

void idle_listen(void)
{
    if (sockets >= 0)
        return;
    sets_count = sockets_find_sets(sets, SETS_MAX);
    if (sets_count)
        sockets = epoll_create1(EPOLL_CLOEXEC);
    if (sockets >= 0)
        sockets_set(EPOLL_CTL_ADD, EPOLLIN);
}

void idle_nap(void)
{
    struct pollfd fd = {.fd = sockets, .events = POLLIN};
    int saved = errno;

    poll(&fd, 1, IDLE_NAP_MS);
    errno = saved;
}

bool progress_on_sockets(void)
{
    return sockets >= 0;
}

bool idle_mute(void)
{
    if (sockets < 0)
        return false;
    sockets_set(EPOLL_CTL_MOD, 0);
    return true;
}

void idle_unmute(void)
{
    sockets_set(EPOLL_CTL_MOD, EPOLLIN);
}

bool idle_away(void)
{
    struct pollfd fds[] = {{.fd = timer, .events = POLLIN},
                           {.fd = sockets, .events = POLLIN}};
    int saved = errno;

    poll(fds, 2, -1);
    errno = saved;
    return fds[1].revents != 0;
}

void idle_close(void)
{
    pthread_mutex_lock(&timing);
    if (timer >= 0)
        close(timer);
    timer = -1;
    pthread_mutex_unlock(&timing);
    if (sockets >= 0)
        close(sockets);
    sockets = -1;
}

/* --- Sleeping ------------------------------------------------------------- */

void idle_note(uint64_t now)
{
    atomic_store(&active_us, now);
}

uint64_t idle_noted(void)
{
    return atomic_load(&active_us);
}

/*
 * For @us, unless something happens that the caller of @since_us does not know.
 * True if @watch was readable, which may be -1.
 *
 * Each step here is in the reverse order of the one it pairs with, and both are
 * sequentially consistent, so one of the two sees the other:
 *   timer, then `active_us`   who ends helping: idle_note(), then idle_end()
 *   `asleep`, then `head`     who queues: `head`, then `asleep` (outbox_wake())
 *   `asleep`, then `chores`   who begins one: `chores`, then `asleep`
 */
static bool sleep_for(uint64_t us, uint64_t since_us, uint32_t how, int watch)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    uint64_t now = runtime_now_us(), until = atomic_load(&until_us);

    /* One that ends a little sooner does as well where sockets end the sleep: to
     * set it takes as long as all else that is done here. */
    if (!progress_on_sockets() || until <= now + us / 4 || until > now + us)
        set_timer(now + us);
    atomic_store(&box->asleep, how);
    if (!atomic_load(&box->head) && !atomic_load(&box->chores) &&
        atomic_load(&active_us) == since_us)
        return outbox_sleep(timer, watch);
    atomic_store(&box->asleep, OUTBOX_AWAKE);
    return false;
}

/* What came since the progress thread last slept. */
static struct {
    bool moved;         /* in its turns */
    bool urgent;        /* in its turns */
    bool taken;         /* something urgent, in turns of others */
    uint64_t count;     /* of what is urgent, so far */
    uint64_t urgent_us; /* when the thread found something urgent last */
    int pays;           /* does it come so soon after another that one polls? */
} brought;

void idle_turned(uint64_t now, bool moved, uint64_t before, uint64_t urgent)
{
    brought.moved |= moved;
    brought.taken |= before != brought.count;
    brought.urgent |= urgent != before;
    brought.count = urgent;
    if (urgent == before)
        return;
    if (now - brought.urgent_us > PROGRESS_SOON_US)
        brought.pays = brought.pays > 0 ? brought.pays - 1 : 0;
    else if (brought.pays < PROGRESS_PAYS_MAX)
        brought.pays++;
    brought.urgent_us = now;
}

/*
 * Much that comes on sockets is the program's own, or may be late.  If only such
 * messages woke the thread PROGRESS_CALM times in a row, it does not listen for a
 * while, and longer each time, until something urgent has come in its own turns.
 * What threads that wait take by themselves is no reason to listen: it would have
 * come without this thread, which takes the core from them while they compute.
 * @needed: somebody waits for another node, or data is under way.
 */
static void sleep_idle(uint64_t us, uint64_t since_us, bool needed)
{
    static uint64_t deaf_us;
    static uint32_t calm; /* so often */
    static bool woke, deaf;
    uint32_t how = us > PROGRESS_SLEEP_US_MIN ? OUTBOX_SLEEPS : OUTBOX_NAPS;
    bool again = woke || (deaf && brought.moved);

    if (brought.urgent)
        calm = 0;
    else if (again && calm < PROGRESS_CALM)
        calm++;
    deaf = again && !brought.urgent && !needed;
    if (calm < PROGRESS_CALM)
        deaf_us = PROGRESS_DEAF_US_MIN / 2;
    if (deaf) {
        uint64_t us_max =
            brought.taken ? PROGRESS_DEAF_US_TAKEN_MAX : PROGRESS_DEAF_US_MAX;

        deaf_us = deaf_us * 2 < us_max ? deaf_us * 2 : us_max;
        us = us < deaf_us ? us : deaf_us;
    }
    brought.moved = brought.urgent = brought.taken = false;
    woke = sleep_for(us, since_us, how, deaf ? -1 : sockets);
}

void progress_serve(void)
{
    uint64_t now = runtime_now_us();

    atomic_store(&told_us, now);
    atomic_store(&serve_us, now + PROGRESS_SERVE_US);
}

/*
 * The same while MPI has one-sided operations to do, which nobody tells of: all
 * that is seen is that sockets ended the sleep, and that is never in vain.
 */
static void sleep_serving(uint64_t since_us)
{
    bool listens = progress_on_sockets();
    uint64_t us = listens ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SERVE_SLEEP_US;

    if (sleep_for(us, since_us, listens ? OUTBOX_SLEEPS : OUTBOX_NAPS,
                  sockets)) {
        uint64_t now = runtime_now_us();

        idle_note(now);
        if (now - atomic_load(&told_us) < PROGRESS_SERVE_US_MAX)
            atomic_store(&serve_us, now + PROGRESS_SERVE_US);
    }
}

static bool yield_takes(uint64_t now, uint64_t us)
{
    sched_yield();
    return runtime_now_us() - now > us;
}

bool idle_yield(uint64_t now)
{
    return yield_takes(now, PROGRESS_YIELD_US_MAX);
}

/* With a short slice a thread that yields has the core again at once, whoever
 * else wants it, so this sleeps. */
void idle_rest(int times)
{
    const struct timespec time = {.tv_nsec = (long)PROGRESS_REST_NS << times};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void idle_pause(uint64_t now, uint64_t active, uint64_t mine, bool waited,
                bool moves, uint64_t due_us)
{
    static uint64_t wanted_us = PROGRESS_WANTED_US_MIN, wanted_until_us;
    uint64_t idle_us = now - active, us = idle_us / PROGRESS_SLEEP_PART;
    uint64_t us_max = waited ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SLEEP_US_MAX;
    uint64_t poll_us = PROGRESS_POLL_US, yield_us = PROGRESS_YIELD_US_MAX;

    if (progress_on_sockets()) {
        poll_us = brought.pays > 0 ? PROGRESS_POLL_US_WOKEN : 0;
        yield_us = PROGRESS_YIELD_US_WOKEN;
    }

    if (runtime.options.progress == RUNTIME_PROGRESS_SPIN) {
        sched_yield();
        return;
    }
    if ((waited ? idle_us < IDLE_POLL_WAITED_US : now - mine < poll_us) &&
        now >= wanted_until_us) {
        if (!yield_takes(now, yield_us)) {
            wanted_us = PROGRESS_WANTED_US_MIN;
            return;
        }
        wanted_until_us = runtime_now_us() + wanted_us;
        if (wanted_us < PROGRESS_WANTED_US_MAX)
            wanted_us *= 2;
        return;
    }
    /* The next segment comes sooner than we would wake. */
    if (moves && idle_us < PROGRESS_MOVES_US)
        return;
    if (now < atomic_load(&serve_us)) {
        sleep_serving(active);
        return;
    }
    if (progress_on_sockets() && us < PROGRESS_SLEEP_US_WOKEN)
        us = PROGRESS_SLEEP_US_WOKEN;
    if (due_us < now + us)
        us = due_us > now ? due_us - now : 0;
    if (us < PROGRESS_SLEEP_US_MIN || inside_matters(now))
        us = PROGRESS_SLEEP_US_MIN;
    sleep_idle(us < us_max ? us : us_max, active, waited || moves);
}

void progress_short_slice(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attr;

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) ||
        attr.policy != SCHED_OTHER)
        return;
    attr.runtime_ns = PROGRESS_SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attr, 0);
}
