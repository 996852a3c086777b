/*
 * lease.h - holds that ranks of a node take, give back and hand to each
 * other without a lock and without a step.
 *
 * A rank that gives back its only WRITE hold of a region nobody waits for keeps
 * it, as far as the protocol can tell: the hold is *left*, in one of a few
 * slots of the lock that guards the region's tree.  So it is when a WRITE hold
 * passes to the one rank of the node that waits for it.  And a READ hold of the
 * newest is left, for the rank that had it.  The slot's word (lease_word.h)
 * says what is true:
 *
 *   0           the slot tells nothing: what the protocol has is true
 *   FREE, ...   the protocol has a hold of slot->rank, once; in truth it is
 *               given back
 *   HELD, ...   the protocol has that hold; in truth the rank that the word
 *               names has it, and one other may wait for it
 *
 * The contract:
 *   - Ranks take, give, wait and hand over by one compare-and-swap each.  Who
 *     waits looks at the word, and sleeps on it in the end.  The word carries a
 *     ticket that is new for each hold that is left; only threads that were told
 *     of it, because they left the hold or got it, know what to expect.
 *   - Slot and ticket name one hold that was left, for as long as the job runs.
 *     So a thread that was told of another hold never wins, however long it
 *     slept between its look and its compare-and-swap: a slot counts its own
 *     tickets, and one that has given its last, 2^32 - 1, stays empty for ever,
 *     with 0 in its word, and keeps its memory; another takes its place.  That
 *     costs 64 bytes for each 2^32 holds that are left, some minutes of nothing
 *     else.
 *   - Slots are filled and emptied under the lock of their tree.  Whoever gets
 *     that lock empties those of the tree first, before it looks at anything
 *     (native_fast_settle(), called by native_lock() and native_lock_message()):
 *     the protocol is told what is true, and who finds the word changed goes
 *     on by steps.  Hence every step sees the truth, and whoever waits is served:
 *     only one rank waits in a word, and a second one's step ends that.
 *   - A rank's own calls on data it holds leave its HELD slots as they are
 *     (NATIVE_FOR_DATA): they change nothing that a hold depends on.  Not so
 *     those that may open a window (magazine.h): a hold that is left has
 *     none in its subtree, and only a release by a step ends them.  READ holds
 *     of others are left alone by those and by steps that are about READ
 *     (NATIVE_FOR_READ): one more READ hold of the newest is no matter to them.
 *   - While a WRITE hold is left nobody has read the region by a step, mapped or
 *     split it; while a READ hold is, nobody has written it.  So what a rank's
 *     process showed when it was told of the slot is what it has to show.  The
 *     version of the data grows when the slot is emptied.
 *   - A rank that dies leaves what it would have left without slots: HELD, a
 *     hold that never ends; FREE, none; and who waits for it finds out as all
 *     who wait do (wait.h).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LEASE_H
#define DRASYNC_RUNTIME_NATIVE_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/protocol.h"

/* Holds that may be left under each lock; when all are, one makes room. */
#define NATIVE_FAST_SLOTS 32

/* A slot has a cache line of its own. */
struct native_fast_slot {
    _Atomic uint64_t word;
    struct proto_region *region; /* from here on: under the lock */
    const struct proto_region *root;
    int32_t rank;    /* whose hold it is, for the protocol */
    uint32_t ticket; /* the last one given */
    uint32_t pad[8];
} __attribute__((aligned(64)));

/* Of one lock. */
struct native_fast {
    uint32_t used; /* bit i: slot[i] is not empty; under the lock */
    uint32_t next; /* to make room */
    struct native_fast_slot *slot[NATIVE_FAST_SLOTS]; /* of control memory */
};

/* Of a rank: see native_fast_word.h.  One thread of it waits at a time. */
struct native_turn {
    _Atomic uint64_t state;
} __attribute__((aligned(64)));

/* What a step under the lock of a tree is for. */
enum native_for {
    NATIVE_FOR_ALL,
    NATIVE_FOR_DATA, /* a rank's call on what it holds */
    NATIVE_FOR_READ, /* taking or giving back a READ hold */
};

/* native_fast_take(): this thread knows of no hold that was left. */
#define NATIVE_FAST_NOT 2

/*
 * Take the region at @address, waiting until @deadline_us at most (0: not at
 * all).  0, DRASYNC_EAGAIN, DRASYNC_EPEER, or NATIVE_FAST_NOT: a step is
 * needed.
 */
int native_fast_take(uint64_t address, enum drasync_mode mode,
                     uint64_t deadline_us);

/* Give it back; false: a step is needed.  (Of both, the public calls have the
 * most frequent case in native_fast_own.h.) */
bool native_fast_give(uint64_t address);

/* As far as this thread knows of a hold of the region at @address that was
 * left: this rank has it now. */
bool native_fast_held(uint64_t address);

/* This rank has the hold of the region at @address that was left in @slot with
 * @word, and shows what it has to.  False: no memory. */
bool native_fast_note(uint64_t address, struct native_fast_slot *slot,
                      uint64_t word);

/* Let the rank's counters know of all. */
void native_fast_count(void);

/* The thread ends. */
void native_fast_forget(void);

/* --- Under the lock of the tree (lease_slots.c) --------------------------- */

/* Slots for a lock whose leases are all zero.  DRASYNC_ENOMEM. */
int native_fast_new(struct native_fast *fast);

/*
 * Instead of a release: leave this rank's hold of @region, if it may be.  False
 * if not; there is room in @fast then.
 */
bool native_fast_leave(struct native_fast *fast, struct proto_region *region);

/* A release of @region by this rank, with @effects: leave the hold that it gave
 * to somebody else, if it may be, and let both know. */
void native_fast_hand(struct native_fast *fast, struct proto_region *region,
                      struct proto_effects *effects);

/* Empty the slots of the tree of @root (NULL: all) that are in the way of a
 * step for @what. */
void native_fast_settle(struct native_fast *fast,
                        const struct proto_region *root, enum native_for what);

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_H */
