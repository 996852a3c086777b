/*
 * source_protect.h - what the C library's calls that upm/intercept.c takes over
 * ask of page protection.  Any thread; those for handlers are async-signal-safe.
 */
#ifndef UPM_SOURCE_PROTECT_H
#define UPM_SOURCE_PROTECT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A fault: true if it was one of ours, and the access may be tried again.
 * Async-signal-safe.
 */
bool upm_protect_fault(const siginfo_t *info);

/*
 * A system call is about to use [start, start + bytes), where a fault would end
 * it with EFAULT: make the pages accessible, and keep them so until
 * upm_protect_release() of what this returns.  0: nothing of it is hot, and
 * releasing that does nothing.
 */
unsigned upm_protect_hold(uintptr_t start, size_t bytes);
void upm_protect_release(unsigned hold);

/* The same of all areas, those that come meanwhile included. */
unsigned upm_protect_hold_all(void);

#endif /* UPM_SOURCE_PROTECT_H */
