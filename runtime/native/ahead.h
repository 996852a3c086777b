/*
 * ahead.h - asking ahead, and what came of it, for runtime/native*.c.
 *
 * native_ahead_ended() is called under the lock of the region's tree; the others
 * need none.  Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_AHEAD_H
#define DRASYNC_RUNTIME_NATIVE_AHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ahead/engine.h"

struct native_pending;
struct proto_effect;

/* Did this process tell of an acquire of the region at @address?  Once for each
 * time. */
bool native_ahead_told(uint64_t address);

/* Is there room for data that was asked ahead?  The last quarter of DRASYNC_MEMORY
 * is for what ranks wait for: data on its way cannot be dropped. */
bool native_ahead_room(void);

/* An acquire that was told of waited nevertheless, since @since_us. */
void native_ahead_waited(uint64_t since_us);

/* An effect PROTO_ASKED_AHEAD. */
void native_ahead_ended(const struct proto_effect *effect);

/* Ask for the region at @address ahead, for @times acquires. */
enum ahead_answer native_ahead_ask(uint64_t address, enum drasync_mode mode,
                                   int times);

/* --- What is asked without naming regions (ahead_learn.c) ------------------ */

/* Are acquires to be told of?  From the first drasync_iteration() on. */
extern _Atomic bool native_ahead_learns;

/* A step of the acquire @q, which has it, or @waits for it.  With no lock. */
void native_ahead_acquired(const struct native_pending *q, bool waits);

#endif /* DRASYNC_RUNTIME_NATIVE_AHEAD_H */
