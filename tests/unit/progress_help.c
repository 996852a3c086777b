/*
 * Threads of a leader that do the progress thread's work, in the orders in
 * which they can meet it, each other, and MPI_Finalize.
 *
 * The progress thread that is started ends at once; the test plays its part,
 * and drives the others: at named points (progress_hooks.h) it runs what
 * another thread does just then.
 */
#include "progress_hooks.h"

/* What a thread does that waits for another node, and sleeps in the end. */
static struct waiter never_woken, *const nothing = &never_woken;

static void wait_remote(void)
{
    atomic_fetch_add(&shared.outbox.remote_waits, 1);
    progress_help(&nothing, 1, UINT64_MAX);
}

/* --- A second thread waits while one helps -------------------------------- */

static int asked;

/* Another thread wants to help, which is all that it wants. */
static bool over_never(void *arg)
{
    (void)arg;
    return false;
}

static void is_refused(void)
{
    REQUIRE(!progress_help_until(over_never, NULL));
}

/* For some milliseconds, then the second thread comes and is refused. */
static bool over_late(void *arg)
{
    (void)arg;
    if (++asked == 1)
        atomic_fetch_add(&clock_us, 10 * AWAY_US);
    else if (asked == 3)
        elsewhere(is_refused);
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

static bool over_when_told(void *arg)
{
    (void)arg;
    all_over = ++asked == 2;
    REQUIRE(asked < 4);
    return false;
}

static void all_ends(void)
{
    start();
    asked = 0;
    tap_ok(!progress_help_until(over_when_told, NULL) && told(),
           "who waits in MPI lets the progress thread end when all is over");
    all_over = false;
    progress_join();
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
    comer = spawn(comes);
    while (!atomic_load(&refused) && !atomic_load(&lock_asked))
        sched_yield();
    atomic_store(&helps, !atomic_load(&refused));
}

static struct waiter woken_before = {.word = 2}, *const woken = &woken_before;

static void second_comes(void)
{
    start();
    atomic_store(&lock_asked, false);
    atomic_fetch_add(&shared.outbox.remote_waits, 1); /* this thread's */
    asked_still = let_come;
    progress_help(&woken, 1, UINT64_MAX);
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
    turns_take_kept();
    turns_give();
}

static bool over_long(void *arg)
{
    (void)arg;
    if (++asked == 1)
        atomic_fetch_add(&clock_us, 10 * AWAY_US);
    if (asked == 3) {
        thread_played = spawn(keeps_away);
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
    idle_pause(now(), since, since, false, false, UINT64_MAX);
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

/* Until the transport is closed, or that waits. */
static void begin_to_finalize(void)
{
    comer = spawn(progress_join);
    while (!atomic_load(&closed) && !atomic_load(&yielded))
        sched_yield();
}

/* What was sent waits for more, and the sender sets the timer for that. */
static void send_then_finalize(void)
{
    const struct runtime_message message = {.node = 1};
    int err;

    start();
    atomic_store(&used_closed, 0);
    fake.soon = 1;
    idle_set(now(), true);
    before_timer = finalize_here;
    REQUIRE(progress_send(&message, &err) && !before_timer);
    tap_ok(!atomic_load(&used_closed),
           "nor does who has sent set a timer that is closed");
    fake.soon = 0;
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
    progress_help(&nothing, 1, now() + AWAY_US);
    tap_ok(!atomic_load(&used_closed), "nor does anybody help");

    start();
    asked = 0;
    before_lock = finalize_here;
    tap_ok(!progress_help_until(over_soon, NULL) && !atomic_load(&used_closed),
           "which that thread is told");

    start();
    atomic_store(&shared.outbox.remote_waits, 2);
    atomic_store(&yielded, false);
    after_unlock = begin_to_finalize;
    progress_help(&woken, 1, UINT64_MAX);
    pthread_join(comer, NULL);
    tap_ok(!atomic_load(&used_closed),
           "who ends helping has called the progress thread before that ends");
    send_then_finalize();
}

/* --- A rank's own engine, which has no thread ----------------------------- */

static struct waiter first, next;
static int next_result = 1;

static void start_own(void)
{
    runtime.leader = false;
    progress.thread = false;
    atomic_store(&closed, false);
    atomic_store(&used_closed, 0);
    waiter_reset(&first);
    waiter_reset(&next);
    REQUIRE(!progress_own_open());
}

static void next_comes(void)
{
    atomic_store(&next.word, 2);
}

static void next_waits(void)
{
    polled = next_comes;
    next_result = progress_own_wait(&next);
}

/* The other one is refused, and sleeps; then this one's event is here. */
static void first_comes(void)
{
    comer = spawn(next_waits);
    while (!atomic_load(&asks))
        sched_yield();
    atomic_store(&first.word, 2);
}

/* Nothing for long, then, in a later poll, this one's event. */
static void long_idle(void)
{
    atomic_fetch_add(&clock_us, 10 * AWAY_US);
    if (naps < 2)
        polled = long_idle;
    else
        atomic_store(&first.word, 2);
}

static void own(void)
{
    const struct runtime_message message = {.node = 1};

    start_own();
    polled = first_comes;
    REQUIRE(!progress_own_wait(&first));
    atomic_store(&ended, true);
    pthread_join(comer, NULL);
    tap_ok(
        !next_result && !atomic_load(&forgotten),
        "without a progress thread who waits polls when the one before ends");
    progress_join();

    start_own();
    polled = long_idle;
    tap_ok(!progress_own_wait(&first) && naps > 0,
           "it polls on between naps, however long nothing comes");
    progress_join();

    start_own();
    before_lock = finalize_here;
    tap_ok(progress_own_send(&message) == DRASYNC_ENOTREADY &&
               !atomic_load(&used_closed),
           "and is refused once MPI_Finalize closes the transport");

    start_own();
    before_lock = finalize_here;
    tap_ok(progress_own_wait(&first) == DRASYNC_ENOTREADY &&
               !atomic_load(&used_closed),
           "as is who waits");
}

/* --- What comes has time, or has not ---------------------------------------- */

/* Do @times ends of a sleep, by what has time or not, make it deaf?  @taken: so
 * much that is urgent was taken by others before each.  @needed: sleep_idle(). */
static bool is_deaf(int times, bool urgent, uint64_t taken, bool needed)
{
    static uint64_t count;

    for (int i = 0; i < times; i++) {
        count += taken;
        idle_turned(now(), true, count, count + urgent);
        count += urgent;
        listened = false;
        sleep_idle(10 * PROGRESS_DEAF_US_TAKEN_MAX, idle_noted(), needed);
    }
    return !listened;
}

static bool is_deaf_after(int times, bool urgent)
{
    return is_deaf(times, urgent, 0, false);
}

static void has_time(void)
{
    start();
    sockets = epoll_create1(EPOLL_CLOEXEC);
    REQUIRE(sockets >= 0);
    readable = true;
    tap_ok(!is_deaf_after(1, true), "it listens while what is urgent comes");
    tap_ok(is_deaf_after(3, false), "not after it was woken for less");
    tap_ok(atomic_load(&slept_us) <= PROGRESS_DEAF_US_MAX,
           "for a while that is not long");
    tap_ok(!is_deaf_after(1, true), "and listens again");
    tap_ok(is_deaf(20, false, 1, false) &&
               atomic_load(&slept_us) <= PROGRESS_DEAF_US_TAKEN_MAX &&
               atomic_load(&slept_us) > PROGRESS_DEAF_US_MAX,
           "not where those who wait take what is urgent, for longer");
    tap_ok(!is_deaf(20, false, 1, true),
           "but always while somebody waits or data is under way");
    readable = false;
    progress_join();
}

/* --- Messages that wait for more to go with -------------------------------- */

static void keep(void)
{
    start();
    fake.soon = fake.late = 1;
    progress.late_us = now();
    flushed = 0;
}

static void not_alone(void)
{
    const struct runtime_message message = {.node = 1, .soon = 1};
    int err;

    keep();
    progress_glance();
    tap_ok(!flushed, "what may wait for more waits while no thread does");
    atomic_store(&shared.outbox.remote_waits, 1);
    progress_glance();
    tap_ok(flushed == 1, "and leaves in the turn of whoever comes then");
    progress_join();

    keep();
    asked = 0;
    progress_help_until(over_soon, NULL);
    tap_ok(flushed == 1, "or when a thread waits inside MPI");
    progress_join();

    keep();
    atomic_store(&shared.outbox.asleep, OUTBOX_SLEEPS);
    sockets = epoll_create1(EPOLL_CLOEXEC);
    REQUIRE(sockets >= 0);
    idle_set(now(), true);
    tap_ok(progress_send(&message, &err) && !err &&
               atomic_load(&timer_us) <= now() + PROGRESS_AWAY_US,
           "and before long by itself, if the progress thread sleeps");
    fake.soon = fake.late = 0;
    progress_join();
}

int main(void)
{
    sem_init(&awake, 0, 0);
    all_ends();
    second_waits();
    second_comes();
    one_after_another();
    called_before_sleep();
    finalized();
    own();
    has_time();
    not_alone();
    return tap_end();
}
