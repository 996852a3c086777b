/*
 * lock.h - locks in memory that several processes map at the same address.
 *
 * A lock outlives the process that holds it: who takes it next is told
 * DRASYNC_EPEER, as is everybody after, and the job's poison flag is set.  What
 * such a lock guards is never touched again.
 *
 * Every lock has a rank.  A thread takes locks in order of rising rank, and
 * among equal ranks in order of rising address; builds with LOCK_CHECKED abort
 * with a line on stderr when a thread does not.  lock_try() may go against the
 * order, because it does not wait.
 */
#ifndef MEMORY_LOCK_H
#define MEMORY_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "memory/sanitizer.h"

#if defined(DRASYNC_DEBUG) || SANITIZER_ADDRESS || SANITIZER_THREAD
#define LOCK_CHECKED 1
#else
#define LOCK_CHECKED 0
#endif

/* Locks of the runtime have ranks below LOCK_RANK_MEMORY, as it likes: it may
 * call memory/ while holding any of them. */
enum lock_rank {
    LOCK_RANK_RUNTIME = 0,
    LOCK_RANK_MEMORY = 1000,
    LOCK_RANK_CHUNKS,
    LOCK_RANK_EXTENTS,
    LOCK_RANK_TRIM,
    LOCK_RANK_RUNS,
    LOCK_RANK_CONTROL_CLASS,
    LOCK_RANK_CONTROL_GROWTH,
};

/* How many locks one thread may hold at a time (checked builds only). */
#define LOCK_HELD_MAX 96

struct lock {
    pthread_mutex_t mutex;
    _Atomic uint32_t *poison;
    uint32_t rank;
    uint32_t
        broken; /* 1: a holder died; who has the mutex reads and writes it */
};

/* Make a mutex that processes share, and that tells who takes it next that the one
 * who had it died (robust).  0 or DRASYNC_EINTERNAL. */
int lock_mutex_init(pthread_mutex_t *mutex);

/*
 * Make a lock.  @poison, in memory that all users of the lock share, becomes 1
 * when a holder died; NULL allowed.  0 or DRASYNC_EINTERNAL.
 */
int lock_init(struct lock *lock, uint32_t rank, _Atomic uint32_t *poison);

/* @fn is called, by the thread that found a lock whose holder died, each time and
 * before it is told so; with the locks that it has.  Set at the start, once. */
void lock_on_death(void (*fn)(void));

/* How often lock_take() of this process looks before it sleeps; 0 at first, for
 * those who share a core with whoever has the lock. */
void lock_set_spins(int spins);

/* Wait for it and take it.  0, or DRASYNC_EPEER and it is not held. */
int lock_take(struct lock *lock);

/* Take it if it is free.  0, DRASYNC_EAGAIN, or DRASYNC_EPEER. */
int lock_try(struct lock *lock);

/* Give it back; this thread holds it. */
void lock_give(struct lock *lock);

/* How many locks this thread holds; -1 unless LOCK_CHECKED. */
int lock_held_count(void);

#endif
