/*
 * native_fast.h - a WRITE hold that is given back and taken again by the same
 * rank, with nobody asking in between, without a lock and without a step.
 *
 * A rank that gives back its only WRITE hold of a region nobody waits for keeps
 * it, as far as the protocol can tell: the hold is *left*, in one of a few slots
 * of the lock that guards the region's tree.  The slot's word says what is true:
 *
 *   0           the slot tells nothing: what the protocol has is true
 *   FREE, ...   the protocol has a WRITE hold of the rank, once; in truth it is
 *               given back
 *   HELD, ...   the protocol has that hold, and it is true
 *
 * The contract:
 *   - The rank takes and gives by one compare-and-swap each, FREE to HELD and
 *     back.  The word carries a ticket that is new for each hold that is left,
 *     and how often it was taken; only the thread that left it knows what to
 *     expect, so a word that has meant anything else since is never swapped.
 *   - Slots are filled and emptied under the lock of their tree.  Whoever gets
 *     that lock empties those of the tree first, before it looks at anything
 *     (native_fast_settle(), called by native_lock() and native_lock_all()): a
 *     FREE hold is released there and then, in the name of its rank, and a HELD
 *     one becomes an ordinary hold, whose rank will find the word changed and
 *     release it by a step.  Hence every step sees the truth, and whoever waits
 *     is served.
 *   - A rank's own calls on data it holds leave its HELD slots as they are
 *     (native_lock_own()): they change nothing that a hold depends on.  Not so
 *     those that may open a window (native_window.h): a hold that is left has
 *     none in its subtree, and only a release by a step ends them.
 *   - While a hold is left nobody else has read or written the region, mapped
 *     or split it: that takes a step of its tree.  So what the rank's process
 *     showed when it last held the region is what it has to show, and the
 *     version of the data is that of the hold that was left.
 *   - A rank that dies leaves what it would have left without slots: HELD, a
 *     hold that never ends; FREE, none.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_FAST_H
#define DRASYNC_RUNTIME_NATIVE_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/protocol.h"

/* Holds that may be left under each lock; the oldest makes room. */
#define NATIVE_FAST_SLOTS 8

/* A slot has a cache line of its own. */
struct native_fast_slot {
    _Atomic uint64_t word;
    struct proto_region *region; /* from here on: under the lock */
    const struct proto_region *root;
    int32_t rank, local;
    uint64_t pad[4];
};

/* Of one lock. */
struct native_fast {
    uint32_t used;   /* slots that are not empty; under the lock */
    uint32_t next;   /* to be filled */
    uint32_t ticket; /* the last one given */
    uint32_t pad[13];
    struct native_fast_slot slot[NATIVE_FAST_SLOTS];
};

/* Take the region at @address for WRITE, or give it back, if this thread has
 * left it and nobody came since; else false, and nothing has changed. */
bool native_fast_take(uint64_t address);
bool native_fast_give(uint64_t address);

/* --- Under the lock of the tree ------------------------------------------- */

/*
 * Instead of a release: leave this rank's hold of @region, if it may be.  False
 * if not.
 */
bool native_fast_leave(struct native_fast *fast, struct proto_region *region);

/*
 * Empty the slots of the tree of @root (NULL: all), but for those that are HELD
 * by this rank if @keep_own.
 */
void native_fast_settle(struct native_fast *fast,
                        const struct proto_region *root, bool keep_own);

/* The thread ends. */
void native_fast_forget(void);

#endif /* DRASYNC_RUNTIME_NATIVE_FAST_H */
