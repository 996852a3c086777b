/*
 * limit.h - how much memory a node may use.
 *
 * Whoever reserves frames charges them here first.  The limit is what the user
 * said (DRASYNC_MEMORY), or the least of the cgroups' limit and 90 % of the
 * machine's memory.  Because reserving past a cgroup's limit gets a process
 * killed rather than refused, what is left outside is looked at again every
 * LIMIT_RECHECK_BYTES.  Thread-safe and process-safe, without locks.
 *
 * Giving memory back may need some: a record of who waits, a place in a table.
 * So the last 1/32 of the limit, LIMIT_RESERVE_BYTES_MAX at most, is for
 * control memory only, and only for threads that have said that they give back,
 * or serve those who wait (limit_reserve_enter()).  With it used up too, giving
 * back fails like anything else, with nothing changed.
 */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include "memory/space.h"

#include <stdint.h>

#define LIMIT_RECHECK_BYTES     ((uint64_t)64 << 20)
#define LIMIT_RESERVE_BYTES_MAX ((uint64_t)64 << 20)

/* The limit if the user says nothing. */
uint64_t limit_default_bytes(void);

enum limit_for {
    LIMIT_FOR_DATA,   /* of regions */
    LIMIT_FOR_CONTROL /* what the node knows */
};

/* Count @bytes that are about to be reserved.  0 or DRASYNC_ENOMEM. */
int limit_charge(const struct space *space, uint64_t bytes,
                 enum limit_for what);

/* Between the two, the calling thread may use the reserve; they nest. */
void limit_reserve_enter(void);
void limit_reserve_leave(void);

/*
 * How much of freed data may be kept for the next taker: an eighth of the
 * limit, and at least LIMIT_KEPT_BYTES_MIN.  The kernel takes some 0.2 us for a
 * page that goes and as much, and a fault, for one that comes, so a program
 * whose regions come and go pays many times what it does itself; and what is
 * kept is lost to the rest of the machine only, since it goes first when
 * regions or control memory run short.  The node was given the limit to use; an
 * eighth of it, when idle, is what one program among others can be asked to
 * bear.
 */
uint64_t limit_kept_bytes(const struct space *space);
#define LIMIT_KEPT_BYTES_MIN ((uint64_t)64 << 20)

/* What data may still charge; others may be quicker. */
uint64_t limit_room_bytes(const struct space *space);

/* They were not reserved after all, or were given back. */
void limit_release(const struct space *space, uint64_t bytes);

/* What is charged now, and the limit. */
uint64_t limit_used_bytes(const struct space *space);
uint64_t limit_bytes(const struct space *space);

#endif
