/*
 * backtrace.h - the calls that this thread is in, by libunwind.
 *
 * unw_backtrace() keeps a cache for each thread, which it takes a mutex to free
 * when the thread ends; ThreadSanitizer knows nothing of the thread by then, and
 * crashes.  So with that this walks by hand, which is slower.
 */
#ifndef DRASYNC_RUNTIME_BACKTRACE_H
#define DRASYNC_RUNTIME_BACKTRACE_H

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "memory/sanitizer.h"

/* Up to @max return addresses, from the caller's own place on; how many. */
static inline __attribute__((always_inline)) int backtrace_take(void **frame,
                                                                int max)
{
#if SANITIZER_THREAD
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t at;
    int count = 0;

    if (unw_getcontext(&context) || unw_init_local(&cursor, &context))
        return 0;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &at))
            break;
        frame[count++] = (void *)(uintptr_t)at;
    } while (count < max && unw_step(&cursor) > 0);
    return count;
#else
    return unw_backtrace(frame, max);
#endif
}

#endif /* DRASYNC_RUNTIME_BACKTRACE_H */
