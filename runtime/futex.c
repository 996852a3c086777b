/* Sleeping on a word: see futex.h. */
#include "runtime/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void wait_futex(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_us)
{
    struct timespec until, *limit = NULL;

    if (deadline_us != WAIT_FOREVER) {
        until.tv_sec = (time_t)(deadline_us / 1000000u);
        until.tv_nsec = (long)(deadline_us % 1000000u) * 1000;
        limit = &until;
    }
    /* The BITSET form takes an absolute time on the monotonic clock. */
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, limit, NULL,
            FUTEX_BITSET_MATCH_ANY);
    errno = saved;
}

void wait_futex_wake(_Atomic uint32_t *word, int count)
{
    int saved = errno;

    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
    errno = saved;
}
