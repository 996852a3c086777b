/* Waiters, words and doorbells on futexes: see wait.h. */
#include "runtime/wait.h"

#include <sched.h>
#include <time.h>

#include "memory/passed.h"
#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* Looks before sleeping; about 2 us.  A hand-over between spinning ranks takes
 * a fifth of that, a sleeping one 4 us. */
#define WAIT_SPINS_MAX 400

/* How long a sleeper goes without looking whether its peers live. */
#define WAIT_CHECK_US 200000

wait_slept_fn *_Atomic wait_slept;

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

uint64_t runtime_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t wait_deadline_us(uint64_t timeout_us)
{
    uint64_t deadline;

    if (timeout_us == WAIT_FOREVER ||
        __builtin_add_overflow(runtime_now_us(), timeout_us, &deadline))
        return WAIT_FOREVER;
    return deadline;
}

int wait_check(uint64_t since_us)
{
    /* Relaxed: the function is all there is to see. */
    wait_slept_fn *slept =
        atomic_load_explicit(&wait_slept, memory_order_relaxed);
    int err = death_check(since_us);

    if (!err && slept && runtime_now_us() >= since_us + WAIT_CHECK_US)
        err = slept(since_us);
    return err;
}

/*
 * Sleep a while on @word, which had @value, within @deadline_us; then see
 * whether waiting still makes sense.
 */
static int sleep_and_check(_Atomic uint32_t *word, uint32_t value,
                           uint64_t since_us, uint64_t deadline_us)
{
    uint64_t now = runtime_now_us();

    if (deadline_us != WAIT_FOREVER && now >= deadline_us)
        return death_refused(DRASYNC_EAGAIN);
    uint64_t until = now + WAIT_CHECK_US;
    if (until > deadline_us)
        until = deadline_us;
    wait_futex(word, value, until);
    return runtime_now_us() >= now + WAIT_CHECK_US ? wait_check(since_us)
                                                   : death_check(since_us);
}

/*
 * Release pairs with the acquire of waiter_done() and of the compare-exchange in
 * waiter_wait().  Both sides change one word by one operation each, so one of
 * them sees the other: this finds 1 and wakes, or the waiter finds 2 and does
 * not sleep.
 */
void waiter_wake(struct waiter *w, int result)
{
    w->result = result;
    passed_give();
    /* From then on its memory may be another's. */
    passed_unseen_begin();
    uint32_t before =
        atomic_exchange_explicit(&w->word, 2, memory_order_acq_rel);
    passed_unseen_end();
    if (before == 1)
        wait_futex_wake(&w->word, 1);
    else if (before >= WAITER_ANY)
        doorbell_ring(&runtime.shared->ranks[before - WAITER_ANY].doorbell);
}

int waiter_wait(struct waiter *w, uint64_t deadline_us, int *result_out)
{
    int spins = runtime.crowded ? 1 : WAIT_SPINS_MAX;

    for (int i = 0; i < spins; i++) {
        if (waiter_done(w))
            goto woken;
        cpu_relax();
    }
    if (runtime.crowded) {
        sched_yield();
        if (waiter_done(w))
            goto woken;
    }

    uint64_t since = runtime_now_us();
    for (;;) {
        uint32_t none = 0;
        /* Acquire where it finds the event. */
        atomic_compare_exchange_strong(&w->word, &none, 1);
        if (none == 2)
            goto woken;
        int err = sleep_and_check(&w->word, 1, since, deadline_us);
        if (waiter_done(w))
            goto woken;
        if (err) {
            /* Nobody sleeps on it: who waits next may do so elsewhere. */
            none = 1;
            atomic_compare_exchange_strong(&w->word, &none, 0);
            if (none == 2)
                goto woken;
            return err;
        }
    }
woken:
    passed_take();
    *result_out = w->result;
    return 0;
}

/* Each says where to ring.  True: an event is here. */
static bool say_asleep(struct waiter *const *waiters, int count,
                       uint32_t asleep)
{
    bool here = false;

    for (int i = 0; i < count; i++) {
        uint32_t none = 0;

        /* Acquire where it finds the event. */
        atomic_compare_exchange_strong(&waiters[i]->word, &none, asleep);
        here |= none == 2;
    }
    return here;
}

/*
 * The bell is read before its number is in the words: who finds that there rings
 * after the read, so the wait ends.  Other threads of this rank, which use the same
 * bell, only look once more.
 */
int waiter_wait_any(struct waiter *const *waiters, int count,
                    uint64_t deadline_us)
{
    const uint32_t asleep = WAITER_ANY + (uint32_t)runtime.local;
    struct doorbell *bell = &runtime.shared->ranks[runtime.local].doorbell;
    uint64_t since = runtime_now_us();
    uint32_t seen = doorbell_read(bell);
    int err = 0;

    while (!say_asleep(waiters, count, asleep) && !err) {
        err = doorbell_wait(bell, seen, deadline_us);
        seen = doorbell_read(bell);
        /* It may ring for others, again and again. */
        if (!err && !waiter_done_any(waiters, count))
            err = wait_check(since);
    }
    for (int i = 0; i < count; i++) {
        uint32_t word = asleep;

        atomic_compare_exchange_strong(&waiters[i]->word, &word, 0);
    }
    if (!waiter_done_any(waiters, count))
        return err;
    passed_take();
    return 0;
}

/* The lower half, on which the kernel lets one sleep. */
static _Atomic uint32_t *low_of(_Atomic uint64_t *word)
{
    return (_Atomic uint32_t *)(void *)word;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "low_of()");

/*
 * Relaxed: that the word has changed is all that is said; the caller reads it
 * with the order that it needs.  As with a waiter, `asleep` and the change meet
 * in one word.
 */
int wait_word(_Atomic uint64_t *word, uint64_t value, uint32_t asleep,
              uint64_t deadline_us)
{
    int spins = runtime.crowded ? 1 : WAIT_SPINS_MAX;
    uint64_t since, found = value;

    for (int i = 0; i < spins; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return 0;
        cpu_relax();
    }
    if (runtime.crowded)
        sched_yield();
    since = runtime_now_us();
    if (!atomic_compare_exchange_strong(word, &found, value | asleep))
        return 0;
    value |= asleep;
    for (;;) {
        int err =
            sleep_and_check(low_of(word), (uint32_t)value, since, deadline_us);

        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return 0;
        if (err)
            return err;
    }
}

void wait_word_wake(_Atomic uint64_t *word)
{
    wait_futex_wake(low_of(word), INT32_MAX);
}

bool wait_yielding(bool (*over)(void *arg), void *arg)
{
    uint64_t since = runtime_now_us();

    while (!over(arg)) {
        if (atomic_load_explicit(&runtime.state, memory_order_relaxed) !=
                RUNTIME_RUNNING ||
            death_check(since))
            return false;
        sched_yield();
    }
    return true;
}

int doorbell_wait(struct doorbell *d, uint32_t seen, uint64_t deadline_us)
{
    int spins = runtime.crowded ? 1 : WAIT_SPINS_MAX;
    int err = 0;

    for (int i = 0; i < spins; i++) {
        if (doorbell_read(d) != seen)
            return 0;
        cpu_relax();
    }
    if (runtime.crowded) {
        sched_yield();
        if (doorbell_read(d) != seen)
            return 0;
    }

    uint64_t since = runtime_now_us();
    atomic_fetch_add_explicit(&d->sleepers, 1, memory_order_seq_cst);
    while (doorbell_read(d) == seen && !err)
        err = sleep_and_check(&d->rings, seen, since, deadline_us);
    /* Only spares ringers a system call. */
    atomic_fetch_sub_explicit(&d->sleepers, 1, memory_order_relaxed);
    return doorbell_read(d) != seen ? 0 : err;
}
