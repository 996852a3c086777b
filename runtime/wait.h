/*
 * wait.h - sleeping and waking across the processes of a node.
 *
 * A waiter is for one event and one thread that waits for it; a doorbell is for
 * events that come again and any number of threads.  Both lie in control memory
 * (or anywhere in one process, for tests) and are all zero when new.
 *
 * Who waits spins briefly (not at all when ranks outnumber processors), then
 * sleeps on a futex, and looks now and then whether the job is poisoned or a
 * rank of the node has died.
 */
#ifndef DRASYNC_RUNTIME_WAIT_H
#define DRASYNC_RUNTIME_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/futex.h"
#include "runtime/waiter.h"

/* Called by a thread that has slept a while, waiting since @since_us, and holds no
 * lock but what its caller has; an error ends the wait.  Set at the start,
 * and taken away at the end; NULL: nobody looks. */
typedef int wait_slept_fn(uint64_t since_us);
extern wait_slept_fn *_Atomic wait_slept;

/* For a thread that waits by rounds of its own, since @since_us, and holds no lock
 * but what wait_slept() allows: does that still make sense?  0, DRASYNC_EPEER, or
 * what wait_slept() gave, once that is due. */
int wait_check(uint64_t since_us);

/* The event is here, with @result.  Any process of the node, once.  The waiter
 * may be gone as soon as this has begun, so only its address is used after. */
void waiter_wake(struct waiter *w, int result);

/*
 * Wait for the event until @deadline_us on runtime_now_us()'s clock.  0 with
 * *result_out, or, without the event:
 *   DRASYNC_EAGAIN  the time passed; a later wake may still come
 *   DRASYNC_EPEER   the job is poisoned
 * or what wait_slept() gave.
 */
int waiter_wait(struct waiter *w, uint64_t deadline_us, int *result_out);

/*
 * Wait until the event of one of the @count waiters at @waiters is here, which
 * are this thread's alone meanwhile.  Errors as above.
 */
int waiter_wait_any(struct waiter *const *waiters, int count,
                    uint64_t deadline_us);

/*
 * The same for a word of its user's: wait until *@word is not @value any more;
 * who sleeps adds @asleep to it first, one at a time.  Whoever changes the word
 * and finds that there calls wait_word_wake().
 */
int wait_word(_Atomic uint64_t *word, uint64_t value, uint32_t asleep,
              uint64_t deadline_us);
void wait_word_wake(_Atomic uint64_t *word);

/* Yield until @over.  False: the job is poisoned, or this process has begun to
 * end. */
bool wait_yielding(bool (*over)(void *arg), void *arg);

/* Wait until it has rung since @seen was read.  0, DRASYNC_EAGAIN,
 * DRASYNC_EPEER as above. */
int doorbell_wait(struct doorbell *d, uint32_t seen, uint64_t deadline_us);

/* now + @timeout_us, or WAIT_FOREVER. */
uint64_t wait_deadline_us(uint64_t timeout_us);

#endif /* DRASYNC_RUNTIME_WAIT_H */
