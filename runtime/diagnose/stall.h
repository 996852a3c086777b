/*
 * stall.h - what a thread does that has waited for long: see whether it waits in
 * a ring, and report what does not get on.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_STALL_H
#define DRASYNC_RUNTIME_DIAGNOSE_STALL_H

#include <stdint.h>

/* wait_slept(). */
int stall_slept(uint64_t since_us);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_STALL_H */
