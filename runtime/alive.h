/*
 * alive.h - a word that the system marks as soon as a process begins to end.
 *
 * A pidfd tells of a death when all of the process is gone.  The launcher sees the
 * process' sockets close before that, and may kill whoever would say which rank
 * died.  A robust mutex is marked sooner: by each thread before the memory and the
 * descriptors of its process go.  As that is done when a thread ends, the thread
 * has to be one that ends with its process: the one that watches others
 * (death_watch.h).
 *
 * A thread waits for that on the mutex' futex word, whose place get_robust_list(2)
 * tells, and does not take the mutex: so others of its process can wake it when it
 * is to end.
 */
#ifndef DRASYNC_RUNTIME_ALIVE_H
#define DRASYNC_RUNTIME_ALIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In memory that processes share; zeroes before alive_init(). */
struct alive {
    pthread_mutex_t mutex;
    _Atomic uint32_t
        word_at; /* in `mutex`, plus 1; 0: not yet, or ALIVE_NONE */
};

#define ALIVE_NONE UINT32_MAX /* it cannot be told here */

/* Once, by one process, before others use it.  0 or DRASYNC_EINTERNAL. */
int alive_init(struct alive *alive);

/* The calling thread stands for its process from now on.  False: the system does
 * not tell where the word is, and nobody has the mutex. */
bool alive_take(struct alive *alive);

/* Nobody stands for the process, as no thread could be made. */
void alive_refuse(struct alive *alive);

/* The thread that took it stands for nothing more; before the memory goes. */
void alive_give(struct alive *alive);

/* Has the thread ended without giving it?  Other threads of that process may run
 * some instructions more.  The system wakes one thread that waits: one that does
 * not care wakes the others. */
bool alive_fell(struct alive *alive);

/* Sleep until it has, or until alive_wake() and perhaps for no reason; at most
 * until @deadline_us of runtime_now_us().  False, at once: nobody stands for the
 * process, yet or any more. */
bool alive_wait(struct alive *alive, uint64_t deadline_us);

/* Wake those in alive_wait(). */
void alive_wake(struct alive *alive);

#endif /* DRASYNC_RUNTIME_ALIVE_H */
