#include "runtime/messages/progress_rest.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/messages/progress_away.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "transport/sockets.h"

/* After traffic the thread polls for this long, longer while somebody here
 * waits for another node, or data is on its way; then it sleeps, for a part of
 * the time since.  Between two segments of data it polls so long even if others
 * want the core. */
#define PROGRESS_POLL_US         500
#define PROGRESS_MOVES_US        20
#define PROGRESS_SLEEP_PART      16
#define PROGRESS_SLEEP_US_MIN    50
#define PROGRESS_SLEEP_US_WAITED 1000
#define PROGRESS_SLEEP_US_MAX    10000

/* After progress_serve() it sleeps for no longer than this where sockets do not
 * wake it, and this long is what they bring taken for one-sided operations: so
 * long after the last of them, and after the last such call. */
#define PROGRESS_SERVE_SLEEP_US 50
#define PROGRESS_SERVE_US       10000
#define PROGRESS_SERVE_US_MAX   1000000

/* A yield that takes this long means that the core is wanted by others.  That
 * is believed for a while, and longer each time it proves true again: a thread
 * that computes is asked seldom, one that spun at a barrier is soon forgotten.
 */
#define PROGRESS_YIELD_US_MAX  300
#define PROGRESS_WANTED_US_MIN 1000
#define PROGRESS_WANTED_US_MAX 100000

static _Atomic uint64_t active_us; /* when something last moved */
static _Atomic uint64_t told_us;   /* progress_serve() was called, or 0; */
static _Atomic uint64_t serve_us;  /* and until then it matters */

/* MPI's sets of sockets, in one of ours; -1: none. */
#define SETS_MAX 4
static int sets[SETS_MAX], sets_count, ears = -1;

static void ears_set(int operation, uint32_t events)
{
    for (int i = 0; i < sets_count; i++) {
        struct epoll_event event = {.events = events};

        /* One that was closed has left by itself. */
        epoll_ctl(ears, operation, sets[i], &event);
    }
}

void rest_listen(void)
{
    sets_count = sockets_find_sets(sets, SETS_MAX);
    if (sets_count)
        ears = epoll_create1(EPOLL_CLOEXEC);
    if (ears >= 0)
        ears_set(EPOLL_CTL_ADD, EPOLLIN);
}

void rest_deaf(void)
{
    if (ears >= 0)
        close(ears);
    ears = -1;
}

bool progress_on_sockets(void)
{
    return ears >= 0;
}

bool rest_hush(void)
{
    bool listens = ears >= 0 &&
                   atomic_load(&runtime.shared->outbox.asleep) != OUTBOX_AWAKE;

    if (listens)
        ears_set(EPOLL_CTL_MOD, 0);
    return listens;
}

void rest_unhush(void)
{
    ears_set(EPOLL_CTL_MOD, EPOLLIN);
}

void rest_note(uint64_t now)
{
    atomic_store(&active_us, now);
}

uint64_t rest_noted(void)
{
    return atomic_load(&active_us);
}

/*
 * For @us, unless something happens that the caller of @since_us does not know,
 * or comes from another node.  Much that comes is the program's own: where it
 * wakes us in vain, we do not listen for a while, and longer each time.
 */
static void sleep_us(uint64_t us, uint64_t since_us)
{
    static uint64_t vain_since_us, deaf_us;
    static bool vain;
    struct runtime_outbox *box = &runtime.shared->outbox;
    uint32_t how = us > PROGRESS_SLEEP_US_MIN ? OUTBOX_SLEEPS : OUTBOX_NAPS;
    int listen = ears;

    if (vain_since_us != since_us)
        deaf_us = 0;
    else if (vain) {
        deaf_us = deaf_us ? 2 * deaf_us : PROGRESS_SLEEP_US_MIN;
        if (deaf_us > us)
            deaf_us = us;
        us = deaf_us;
        listen = -1;
    }
    vain = false;
    /* The alarm first: who helps notes that, and then may end the alarm. */
    int alarm = away_alarm(us);
    atomic_store(&box->asleep, how);
    if (!atomic_load(&box->head) && atomic_load(&active_us) == since_us)
        vain = outbox_sleep(alarm, listen);
    else
        atomic_store(&box->asleep, OUTBOX_AWAKE);
    vain_since_us = since_us;
}

void progress_serve(void)
{
    uint64_t now = runtime_now_us();

    atomic_store(&told_us, now);
    atomic_store(&serve_us, now + PROGRESS_SERVE_US);
}

/*
 * The same while MPI has one-sided operations to do, which nobody tells us of:
 * we only see that something woke us, and that is never in vain.
 */
static void sleep_serving(uint64_t since_us)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    bool listens = progress_on_sockets();
    uint64_t us = listens ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SERVE_SLEEP_US;
    uint64_t now;
    int alarm = away_alarm(us);

    atomic_store(&box->asleep, listens ? OUTBOX_SLEEPS : OUTBOX_NAPS);
    if (atomic_load(&box->head) || atomic_load(&active_us) != since_us) {
        atomic_store(&box->asleep, OUTBOX_AWAKE);
    } else if (outbox_sleep(alarm, ears)) {
        now = runtime_now_us();
        rest_note(now);
        if (now - atomic_load(&told_us) < PROGRESS_SERVE_US_MAX)
            atomic_store(&serve_us, now + PROGRESS_SERVE_US);
    }
}

bool rest_yield(uint64_t now)
{
    sched_yield();
    return runtime_now_us() - now > PROGRESS_YIELD_US_MAX;
}

void rest(uint64_t now, uint64_t active, bool by, bool moves)
{
    static uint64_t wanted_us = PROGRESS_WANTED_US_MIN, wanted_until_us;
    uint64_t idle_us = now - active, us = idle_us / PROGRESS_SLEEP_PART;

    if (runtime.options.progress == RUNTIME_PROGRESS_SPIN) {
        sched_yield();
        return;
    }
    if (idle_us < (by ? REST_POLL_WAITED_US : PROGRESS_POLL_US) &&
        now >= wanted_until_us) {
        if (!rest_yield(now)) {
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
    if (us < PROGRESS_SLEEP_US_MIN)
        us = PROGRESS_SLEEP_US_MIN;
    else if (us > (by ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SLEEP_US_MAX))
        us = by ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SLEEP_US_MAX;
    sleep_us(us, active);
}
