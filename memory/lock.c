/* Process-shared robust locks with ranks: see lock.h. */
#include "memory/lock.h"

#include "drasync.h"

#include "memory/passed.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#if SANITIZER_THREAD

_Bool passed_shared;
char passed_far;

void passed_set_shared(void)
{
    passed_shared = 1;
}

#else

void passed_set_shared(void)
{
}

#endif

/* Between two looks at a lock that another one has: about 0.1 us. */
#define SPIN_PAUSES 8

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#if LOCK_CHECKED

static _Thread_local struct lock *held[LOCK_HELD_MAX];
static _Thread_local int held_count;

static void order_broken(const struct lock *lock, const struct lock *top)
{
    fprintf(stderr,
            "drasync: lock order: rank %u (%p) asked for while rank %u (%p) "
            "is held\n",
            lock->rank, (const void *)lock, top->rank, (const void *)top);
    abort();
}

/* Called before waiting for @lock. */
static void check_order(const struct lock *lock)
{
    int i;

    for (i = 0; i < held_count; i++)
        if (held[i]->rank > lock->rank ||
            (held[i]->rank == lock->rank && held[i] >= lock))
            order_broken(lock, held[i]);
}

static void note_taken(struct lock *lock)
{
    assert(held_count < LOCK_HELD_MAX);
    held[held_count++] = lock;
}

static void note_given(const struct lock *lock)
{
    int i;

    for (i = held_count - 1; i >= 0 && held[i] != lock; i--)
        ;
    assert(i >= 0 && "a lock is given back by the thread that took it");
    for (held_count--; i < held_count; i++)
        held[i] = held[i + 1];
}

int lock_held_count(void)
{
    return held_count;
}

#else

static void check_order(const struct lock *lock)
{
    (void)lock;
}

static void note_taken(struct lock *lock)
{
    (void)lock;
}

static void note_given(const struct lock *lock)
{
    (void)lock;
}

int lock_held_count(void)
{
    return -1;
}

#endif

int lock_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    int failed;

    if (pthread_mutexattr_init(&attributes))
        return DRASYNC_EINTERNAL;
    failed =
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) ||
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) ||
        pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed ? DRASYNC_EINTERNAL : 0;
}

int lock_init(struct lock *lock, uint32_t rank, _Atomic uint32_t *poison)
{
    lock->poison = poison;
    lock->rank = rank;
    lock->broken = 0;
    return lock_mutex_init(&lock->mutex);
}

static void (*on_death)(void);

void lock_on_death(void (*fn)(void))
{
    on_death = fn;
}

/*
 * What pthread_mutex_lock() or trylock() said.
 *
 * A robust mutex that is unlocked without pthread_mutex_consistent() is unusable.
 * But after it, pthread_mutex_trylock() of glibc 2.36 can leave the mutex locked
 * for ever.  So we make it consistent, and keep `broken` ourselves.
 */
static int taken(struct lock *lock, int result)
{
    if (result == EBUSY)
        return DRASYNC_EAGAIN;
    assert(result == 0 || result == EOWNERDEAD);
    if (result == EOWNERDEAD) {
        lock->broken = 1;
        pthread_mutex_consistent(&lock->mutex);
    }
    if (!lock->broken) {
        note_taken(lock);
        passed_take();
        return 0;
    }
    if (lock->poison)
        atomic_store(lock->poison, 1);
    pthread_mutex_unlock(&lock->mutex);
    if (on_death)
        on_death();
    return DRASYNC_EPEER;
}

static int spins_max;

void lock_set_spins(int spins)
{
    spins_max = spins;
}

/* What a lock protects takes well under a microsecond, and going to sleep for
 * it several: try for a while. */
static int take(pthread_mutex_t *mutex)
{
    int result = pthread_mutex_trylock(mutex);

    for (int i = 0; result == EBUSY && i < spins_max; i++) {
        for (int pauses = 0; pauses < SPIN_PAUSES; pauses++)
            cpu_relax();
        result = pthread_mutex_trylock(mutex);
    }
    return result == EBUSY ? pthread_mutex_lock(mutex) : result;
}

int lock_take(struct lock *lock)
{
    check_order(lock);
    return taken(lock, take(&lock->mutex));
}

int lock_try(struct lock *lock)
{
    return taken(lock, pthread_mutex_trylock(&lock->mutex));
}

void lock_give(struct lock *lock)
{
    int result;

    passed_give();
    note_given(lock);
    result = pthread_mutex_unlock(&lock->mutex);
    assert(!result);
    (void)result;
}
