/*
 * lease_word.h - what the word of a slot says; for lease*.c.
 *
 * From the lowest bit: the state, flags, who has the hold and who waits for it
 * (numbers of ranks on the node), and a ticket that is new for each lease in
 * that slot.
 *
 * Memory order.  All changes of a word are read-modify-writes, but for fill()
 * (lease_slots.c), which finds the slot empty under the lock:
 *   - A rank that takes the hold (native_lease_pass(), swap(): acquire) sees what
 *     the one before wrote in the region, which gave it back by the same calls
 *     (release), and what the step did that began the lease, by fill()
 *     (release).  Those in between continue the release sequence.
 *   - Who ends the lease (native_lease_end(), acq_rel) sees what the last one
 *     wrote, as the data may leave the node next (acquire); a rank that then
 *     finds 0, or another ticket, changes nothing and takes the lock (the
 *     release is for one that waits in the word, and reads its state next).
 *   - A rank that waits loads with acquire: it may have been handed the hold.
 *   - A load that only decides which of these comes next is relaxed.
 *   - LOOKS hands nothing over: keep.c sets it with relaxed order.
 * Uses of shared leases are biased locks: memory/biased_lock.h has their
 * argument.  The faults in tests/step/lease.c and lease_shared.c weaken them.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LEASE_WORD_H
#define DRASYNC_RUNTIME_NATIVE_LEASE_WORD_H

#include "runtime/native/lease.h"

enum {
    WORD_FREE = 1,
    WORD_HELD = 2,
    WORD_STATES = 3,
    WORD_TAKEN = 4,   /* since the slot was filled */
    WORD_ASLEEP = 8,  /* who waits */
    WORD_READ = 16,   /* the hold is a READ hold: of one rank only */
    WORD_LOOKS = 32,  /* other nodes may want it: its users look, keep.h */
    WORD_SHARED = 64, /* a READ hold that threads of its rank use (FREE too) */
};

/* Ranks of a node with larger numbers have no leases. */
#define WORD_LOCALS_MAX 4095

#define WORD_HOLDER_BIT 8
#define WORD_WAITER_BIT 20
#define WORD_TICKET_BIT 32
#define WORD_TICKET_MAX UINT32_MAX

static inline uint32_t word_state(uint64_t word)
{
    return (uint32_t)word & WORD_STATES;
}

static inline int word_holder(uint64_t word)
{
    return (int)(word >> WORD_HOLDER_BIT & WORD_LOCALS_MAX);
}

/* -1: nobody. */
static inline int word_waiter(uint64_t word)
{
    return (int)(word >> WORD_WAITER_BIT & WORD_LOCALS_MAX) - 1;
}

/* Are both of the same lease? */
static inline bool word_same(uint64_t a, uint64_t b)
{
    return a >> WORD_TICKET_BIT == b >> WORD_TICKET_BIT && word_state(a);
}

static inline bool word_held_by(uint64_t word, int local)
{
    return word_state(word) == WORD_HELD && word_holder(word) == local;
}

/* The word after @local has acquired the region, or was handed it. */
static inline uint64_t word_take(uint64_t word, int local)
{
    return (word >> WORD_TICKET_BIT << WORD_TICKET_BIT) |
           (word & (WORD_READ | WORD_LOOKS)) | WORD_TAKEN | WORD_HELD |
           (uint64_t)local << WORD_HOLDER_BIT;
}

/* After a release, with nobody waiting. */
static inline uint64_t word_give(uint64_t word)
{
    return (word >> WORD_TICKET_BIT << WORD_TICKET_BIT) |
           (word & (WORD_READ | WORD_TAKEN | WORD_LOOKS)) | WORD_FREE;
}

static inline uint64_t word_wait(uint64_t word, int local)
{
    return word | (uint64_t)(local + 1) << WORD_WAITER_BIT;
}

/* Is @word what the one who waits in @before still waits in?  Others may have
 * set LOOKS meanwhile, and it ASLEEP. */
static inline bool word_waits_as(uint64_t word, uint64_t before)
{
    return !((word ^ before) & ~(uint64_t)(WORD_LOOKS | WORD_ASLEEP));
}

/* The waiter has gone. */
static inline uint64_t word_leave(uint64_t word)
{
    return word & ~((uint64_t)WORD_LOCALS_MAX << WORD_WAITER_BIT |
                    (uint64_t)WORD_ASLEEP);
}

/* What a thread notes of the shared lease that it uses: the lease's ticket, the
 * slot's number, and how many holds the thread has through it. */
#define USE_SLOT_BIT  19
#define USE_COUNT_MAX ((UINT32_C(1) << USE_SLOT_BIT) - 1)

static inline uint64_t use_of(uint64_t word, uint32_t slot)
{
    return word >> WORD_TICKET_BIT << WORD_TICKET_BIT | (uint64_t)slot
                                                            << USE_SLOT_BIT;
}

static inline uint32_t use_count(uint64_t use)
{
    return (uint32_t)use & USE_COUNT_MAX;
}

/* Are both of the same lease? */
static inline bool use_same(uint64_t a, uint64_t b)
{
    return a >> USE_SLOT_BIT == b >> USE_SLOT_BIT;
}

/* In the state of a rank: does it wait in a slot's word, and if that was
 * emptied meanwhile, what came of it?  0: it does not wait. */
enum lease_wait {
    LEASE_WAIT_GOES_ON = 1,
    LEASE_WAIT_CAME, /* it had got the hold: that is an ordinary one now */
    LEASE_WAIT_OVER, /* it has not, and asks again by a step */
};

static inline uint64_t wait_of(const struct native_lease_slot *slot,
                               enum lease_wait end)
{
    return (uint64_t)(uintptr_t)slot | (uint64_t)end;
}

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_WORD_H */
