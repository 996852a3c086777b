/*
 * holds.h - ranges that system calls use: nothing of them may be protected.
 *
 * Any thread, without a lock; async-signal-safe.  Who holds and who protects
 * each say so and then look at the other, both sequentially consistent: see
 * source_protect.c.
 */
#ifndef UPM_HOLDS_H
#define UPM_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges at one time; one more, and all memory is held (UPM_HOLD_ALL). */
#define UPM_HOLDS_MAX 64
#define UPM_HOLD_ALL  (UPM_HOLDS_MAX + 1)

/*
 * Hold [start, end).  Returns a number for upm_hold_end(), never 0.
 *
 * A thread that jumps out of a system call (siglongjmp() in a handler) never
 * ends its hold: that range is not counted any more, until the thread holds and
 * ends the same one again.  The same range twice in one call is one hold.
 */
unsigned upm_hold_begin(uintptr_t start, uintptr_t end);
void upm_hold_end(unsigned hold);

/* Nothing may be protected, wherever it lies; for upm_hold_end(). */
unsigned upm_hold_all(void);
bool upm_all_is_held(void);

/* The range number @index, below UPM_HOLDS_MAX; false: nobody holds one. */
bool upm_held_range(unsigned index, uintptr_t *start_out, uintptr_t *end_out);

/* In the child of a fork(): other threads' system calls are gone. */
void upm_holds_forked(void);

#endif /* UPM_HOLDS_H */
