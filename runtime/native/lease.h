/*
 * lease.h - deferred releases: ranks of a node take, release and hand over a
 * hold with one compare-and-swap, without a lock and without a step.
 *
 * When a rank releases its only WRITE hold of a region that nobody waits for,
 * the protocol is not told: the rank keeps the hold as a *lease*, in a slot of
 * the lock that guards the region's tree.  A WRITE hold that passes to the one
 * rank of the node that waits for it becomes a lease too, and so does a READ
 * hold of the newest version.  The slot's word (lease_word.h) says what is
 * true:
 *
 *   0           no lease: what the protocol has is true
 *   FREE, ...   the protocol has a hold of slot->rank, once; in truth it was
 *               released
 *   HELD, ...   the protocol has that hold; in truth the rank that the word
 *               names holds the region, and one other rank may wait for it
 *   SHARED      the protocol has one READ hold of slot->rank more than that rank
 *               has by steps; in truth its threads have what their *uses* say
 *
 * Shared leases.  One word has room for one user, so where several threads of a
 * rank read a region it is not the word that says who does, but a line of each
 * thread's own (struct native_lease.use), a biased lock (memory/biased_lock.h)
 * whose bias is the slot's word.  To take it, a thread adds 1 to its use and
 * looks at the word; to give it back, it takes 1 off and looks again.  Nobody
 * writes what another one writes.  Who ends the lease empties the word, calls
 * membarrier(), and reads the uses of all threads of that rank: so many holds
 * are counted by the protocol from then on, and what it counted of each thread
 * is noted with the thread.  A thread that finds the word changed takes the lock
 * of the tree, and finds there whether what it was about to do was counted
 * (native_lease_left(), or native_lease_take() in the end).
 *
 * A region's lease becomes a shared one when a second thread of the rank needs a
 * step for it.  Ending that costs some microseconds, so it is not shared again
 * for nine times as long as that took: a tenth of the time at most goes there
 * (BRAVO, Dice and Kogan, ATC 2019).
 *
 * The contract:
 *   - Ranks acquire, release, wait and hand over by one compare-and-swap each. A
 *     rank that waits polls the word, then sleeps on it.  The word carries a
 *     ticket that is new for each lease; only a thread that began the lease or
 *     was handed it knows the ticket, hence what to expect in the word.
 *   - Slot and ticket name one lease for as long as the job runs.  So a thread
 *     that knows another lease never wins, however long it slept between its
 *     look and its compare-and-swap: a slot counts its own tickets, and one that
 *     has given its last, 2^32 - 1, stays empty for ever, with 0 in its word,
 *     and keeps its memory; another slot takes its place.  That costs 64 bytes
 *     for each 2^32 leases.
 *   - Leases begin and end under the lock of their tree.  Whoever takes that
 *     lock ends those of the tree first (native_lease_settle(), called by
 *     native_lock() and native_lock_message()): the protocol is told what is
 *     true, and a rank that finds the word changed goes on by steps.  Hence
 *     every step sees the truth, and every rank that waits is served: only one
 *     waits in a word, and the step of a second one ends the lease.
 *   - Taking or giving back a hold of a region, and a call on its data, depend on
 *     that region, what is above it and what is below it.  So these steps
 *     (NATIVE_FOR_WRITE, _READ and _DATA) leave leases of other parts of the tree
 *     alone.  Nobody waits for those without having ended them: who acquires a
 *     region ends all leases below it first, and until he has it none begins
 *     there, though he has not come to all parts yet (awaited_above()).
 *   - A REQUEST of another node may have to wait for a WRITE lease, while its rank
 *     has credit (keep.h): the lease is left alone, and its flag LOOKS has the
 *     rank see when that is over.
 *   - A rank's own calls on data that it holds leave its HELD leases alone
 *     (NATIVE_FOR_DATA): they change nothing that a hold depends on.  Calls that
 *     may open a magazine (magazine.h) do not: a lease has no magazine in its
 *     subtree, and only a release by a step closes magazines.  READ leases of
 *     others are left alone by those calls, and by steps about READ
 *     (NATIVE_FOR_READ): one more READ hold of the newest version changes
 *     nothing.
 *   - Under a WRITE lease no step has read, mapped or split the region; under a
 *     READ lease none has written it.  So what a process had mapped when it
 *     learned of the lease is what it has to map.  The version of the data grows
 *     when the lease ends.
 *   - A thread that ends leaves its uses as holds that the protocol counts, and
 *     that are no thread's (native_lease_leave()).
 *   - A rank that dies leaves what it would have left without leases: HELD, and a
 *     use, a hold that never ends; FREE, no hold.  Ranks that wait for it find out as
 *     all waiters do (wait.h).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LEASE_H
#define DRASYNC_RUNTIME_NATIVE_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/protocol.h"
#include "runtime/native/keep.h"

struct native_lease;
struct native_lease_thread;

/* Leases under each lock at a time, of all subregions of a tree too; one ends to
 * make room for the next.  So many slots are made at the start, others when they
 * are needed. */
#define NATIVE_LEASE_SLOTS       256
#define NATIVE_LEASE_SLOTS_FIRST 4

/* A slot has a cache line of its own. */
struct native_lease_slot {
    _Atomic uint64_t word;
    struct proto_region *region;  /* from here on: under the lock */
    struct native_memory *memory; /* the region's */
    int32_t rank;                 /* whose hold it is, for the protocol */
    uint32_t ticket;              /* the last one given */
    uint32_t number;              /* among all of the node */
    /* Filled then; and a REQUEST of node `from` waits for the credit of rank
     * number `local`: keep.h. */
    _Atomic uint64_t since_us;
    _Atomic int32_t from, local;
    _Atomic bool deferred;
} __attribute__((aligned(64)));

/* Of one lock. */
struct native_leases {
    uint64_t used[NATIVE_LEASE_SLOTS / 64]; /* bit i: slot[i] is not empty; */
    uint32_t count;                         /* so many are; under the lock */
    uint32_t next;                          /* to make room */
    uint32_t stripe;                        /* which lock's they are */
    uint32_t skipped;                       /* leases that did not begin */
    struct native_lease_slot *slot[NATIVE_LEASE_SLOTS]; /* of control memory */
    /* The tree of each that is not empty: here, as a step looks for those of one
     * tree among all. */
    const struct proto_region *root[NATIVE_LEASE_SLOTS];
};

/* The first one after @i that is not empty, or -1; @i may be -1. */
static inline int native_lease_next(const struct native_leases *leases, int i)
{
    for (unsigned at = (unsigned)(i + 1); at < NATIVE_LEASE_SLOTS;
         at = (at | 63) + 1) {
        uint64_t left = leases->used[at / 64] >> at % 64;

        if (left)
            return (int)at + __builtin_ctzll(left);
    }
    return -1;
}

/* Of a rank: see lease_word.h.  One thread of it waits at a time. */
struct native_local {
    _Atomic uint64_t state;
    /* What its threads know; never taken out. */
    _Atomic(struct native_lease_thread *) threads;
    struct native_credit credit;
} __attribute__((aligned(64)));

/* What a step under the lock of a tree is for. */
enum native_for {
    NATIVE_FOR_ALL,
    NATIVE_FOR_WRITE,   /* taking a WRITE hold */
    NATIVE_FOR_DATA,    /* a rank's call on what it holds */
    NATIVE_FOR_READ,    /* taking a READ hold, or giving one back */
    NATIVE_FOR_REQUEST, /* of another node, which may have to wait: keep.h */
};

/* native_lease_take() and native_lease_give(): this thread knows of no lease. */
#define NATIVE_LEASE_NOT 2

/*
 * Take the region at @address, waiting until @deadline_us at most (0: not at
 * all).  0, DRASYNC_EAGAIN, DRASYNC_EPEER, or NATIVE_LEASE_NOT: a step is
 * needed.
 */
int native_lease_take(uint64_t address, enum drasync_mode mode,
                      uint64_t deadline_us);

/* Release it: 0, NATIVE_LEASE_LEFT or NATIVE_LEASE_NOT.  (The public calls have
 * the usual case of both inline: lease_inline.h.) */
int native_lease_give(uint64_t address);

/* native_lease_give(): the thread has left a shared lease, and found that this
 * had ended.  Then native_lease_left() is next, and has the result. */
#define NATIVE_LEASE_LEFT 3

int native_lease_left(uint64_t address);

/* True if this rank holds the region at @address through a lease that this
 * thread knows. */
bool native_lease_held(uint64_t address);

/* True if this thread took the region at @address through a lease, and has not
 * given it back.  The lease may have ended: then the hold is nobody's (taken.h),
 * if the rank has it still. */
bool native_lease_mine(uint64_t address);

/* This rank holds the region at @address by the lease in @slot, whose word is
 * @word, and has mapped what it has to.  False: no memory. */
bool native_lease_note(uint64_t address, struct native_lease_slot *slot,
                       uint64_t word);

/* Add what threads counted to the rank's counters. */
void native_lease_count(void);

/* The thread ends: first, by steps, its uses become holds; then all else. */
void native_lease_leave(void);
void native_lease_forget(void);

/* This process starts: may its leases be shared? */
void native_lease_start(void);

/* --- Under the lock of the tree (lease_slots.c) --------------------------- */

/* Slots for lock number @stripe, whose leases are all zero.  DRASYNC_ENOMEM. */
int native_lease_new(struct native_leases *leases, uint32_t stripe);

/*
 * Instead of a release: keep this rank's hold of @region as a lease, if that
 * may be.  False if not; there is room in @leases then.
 */
bool native_lease_begin(struct native_leases *leases,
                        struct proto_region *region);

/* After a release of @region by this rank, with @effects: make the hold that it
 * gave to another rank a lease, if that may be, and let both know. */
void native_lease_hand(struct native_leases *leases,
                       struct proto_region *region,
                       struct proto_effects *effects);

/* End the leases of the tree of @region (NULL: all) that are in the way of a
 * step for @what there, of node @from if that is a REQUEST. */
void native_lease_settle(struct native_leases *leases,
                         const struct proto_region *region,
                         enum native_for what, int from);

/* End the one in slot @i. */
void native_lease_end(struct native_leases *leases, uint32_t i);

/* --- The same, of shared leases (lease_shared.c) -------------------------- */

/* The slot of the shared lease that this rank has of @region; -1: none. */
int native_lease_shared(const struct native_leases *leases,
                        const struct proto_region *region);

/* A look at the slot of the shared lease @l found that this has ended: the lock
 * of its tree says what the thread has, no lock held.  @leaving: it has given a
 * use back, with that result.  @l is no lease any more. */
int native_lease_resolve(struct native_lease *l, bool leaving);

/* Take @region for READ through it; false: a step has to. */
bool native_lease_join(struct native_leases *leases,
                       const struct proto_region *region);

/* Has some thread a use of @slot's lease, now? */
bool native_lease_used(const struct native_lease_slot *slot);

/* A thread that did not know of this rank's READ lease of @region asks for it.
 * And: is a new one to be shared, as its rank has @count holds? */
void native_lease_wanted(const struct proto_region *region);
bool native_lease_shares(const struct proto_region *region, uint32_t count);

/* What was in @slot, with @word, is out of it: tell the protocol what is true. */
void native_lease_end_shared(struct native_lease_slot *slot, uint64_t word);

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_H */
