/*
 * futex.h - sleeping on a word, in memory that processes may share.
 */
#ifndef DRASYNC_RUNTIME_FUTEX_H
#define DRASYNC_RUNTIME_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* No limit of time. */
#define WAIT_FOREVER UINT64_MAX

/*
 * Sleep while *@word == @value, until @deadline_us on runtime_now_us()'s clock at
 * most.  Returns at any time for no reason.
 */
void wait_futex(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_us);

/* Wake @count of those who sleep on it, at most. */
void wait_futex_wake(_Atomic uint32_t *word, int count);

#endif /* DRASYNC_RUNTIME_FUTEX_H */
