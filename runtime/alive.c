/* A robust mutex that tells of a process' end at its beginning: see alive.h. */
#include "runtime/alive.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/lock.h"
#include "runtime/futex.h"

int alive_init(struct alive *alive)
{
    atomic_init(&alive->word_at, 0);
    return lock_mutex_init(&alive->mutex);
}

static _Atomic uint32_t *word(struct alive *alive, uint32_t word_at)
{
    return (_Atomic uint32_t *)(void *)((char *)&alive->mutex + word_at - 1);
}

/* Where in @mutex, which this thread took last, the kernel looks; -1: unknown. */
static ptrdiff_t find_word(const pthread_mutex_t *mutex)
{
    struct robust_list_head *head = NULL;
    size_t bytes = 0;

    if (syscall(SYS_get_robust_list, 0, &head, &bytes) || !head)
        return -1;
    /* Some libraries mark other kinds of mutexes in the lowest bit. */
    uintptr_t entry = (uintptr_t)head->list.next & ~(uintptr_t)1;
    ptrdiff_t at =
        (ptrdiff_t)(entry + (uintptr_t)head->futex_offset - (uintptr_t)mutex);
    if (at < 0 || at > (ptrdiff_t)(sizeof(*mutex) - sizeof(uint32_t)) ||
        at % (ptrdiff_t)sizeof(uint32_t))
        return -1;
    return at;
}

static void tell(struct alive *alive, uint32_t word_at)
{
    /* Release: who sees where the word is finds it taken. */
    atomic_store_explicit(&alive->word_at, word_at, memory_order_release);
}

bool alive_take(struct alive *alive)
{
    int saved = errno;
    bool taken = !pthread_mutex_lock(&alive->mutex);
    ptrdiff_t at = taken ? find_word(&alive->mutex) : -1;

    if (at >= 0) {
        /* So that the kernel wakes somebody.  Relaxed: only the kernel acts on
         * it, and a mutex with it is given back like others. */
        atomic_fetch_or_explicit(word(alive, (uint32_t)at + 1), FUTEX_WAITERS,
                                 memory_order_relaxed);
        tell(alive, (uint32_t)at + 1);
    } else {
        if (taken)
            pthread_mutex_unlock(&alive->mutex);
        tell(alive, ALIVE_NONE);
    }
    errno = saved;
    return at >= 0;
}

void alive_refuse(struct alive *alive)
{
    tell(alive, ALIVE_NONE);
}

void alive_give(struct alive *alive)
{
    pthread_mutex_unlock(&alive->mutex);
    alive_wake(alive); /* all: that woke one */
}

/* Acquire: see tell(). */
static uint32_t load_word_at(struct alive *alive)
{
    return atomic_load_explicit(&alive->word_at, memory_order_acquire);
}

static bool is_told(uint32_t word_at)
{
    return word_at && word_at != ALIVE_NONE;
}

bool alive_fell(struct alive *alive)
{
    uint32_t word_at = load_word_at(alive);

    /* Acquire: what the process wrote last, as that it exits, is seen after. */
    return is_told(word_at) &&
           (atomic_load_explicit(word(alive, word_at), memory_order_acquire) &
            FUTEX_OWNER_DIED);
}

bool alive_wait(struct alive *alive, uint64_t deadline_us)
{
    uint32_t word_at = load_word_at(alive);

    if (!is_told(word_at))
        return false;
    _Atomic uint32_t *futex = word(alive, word_at);
    uint32_t seen = atomic_load_explicit(futex, memory_order_relaxed);
    /* Free: its thread has given it. */
    if (!(seen & (FUTEX_OWNER_DIED | FUTEX_TID_MASK)))
        return false;
    if (!(seen & FUTEX_OWNER_DIED))
        wait_futex(futex, seen, deadline_us);
    return true;
}

void alive_wake(struct alive *alive)
{
    uint32_t word_at = load_word_at(alive);

    if (is_told(word_at))
        wait_futex_wake(word(alive, word_at), INT_MAX);
}
