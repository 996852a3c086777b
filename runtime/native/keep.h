/*
 * keep.h - a rank keeps for a bounded while what it took from another node.
 *
 * Where ranks of two nodes want the same regions all the time, a region that is
 * given away at once comes back at once: each acquire costs a round trip, and no
 * rank gets anything done.  So a rank that has waited for another node has
 * *credit*: about six times as much time to work as it cost it to gather what
 * it works on.  While it has credit, a REQUEST of another node waits for what its
 * leases hold.
 *
 * The contract:
 *   - A grant from another node adds six times what it took, or twice where there
 *     is no credit; but of a long one no more counts than one and a half times
 *     what such a grant takes at least, and there are NATIVE_KEEP_US_MAX in all.
 *     Credit is not spent while the rank waits.
 *   - A rank that neither waits nor acquires for NATIVE_IDLE_US keeps nothing: it
 *     computes, and has no use for its leases.  Nor does one whose threads that
 *     have leases are inside calls of MPI's that wait: there ranks alternate
 *     by messages.
 *   - A lease that was not used again since its grant is given away, unless the
 *     rank has gathered several regions.
 *   - A rank whose credit has kept others waiting loses it when it has worked for
 *     NATIVE_KEEP_US_MAX meanwhile, or five times as long has passed, its own
 *     waits included: what it gathers one by one may take longer than the work
 *     it gathers it for.  Then, or when the credit is spent, a request is served
 *     by whoever comes first: the rank, at its next acquire or release of that
 *     region, or a thread of the leader that polls.
 *   - Then it is for others to gather: a rank that lost its credit, or has
 *     spent it, while others waited gains none for three quarters of the time
 *     for which it had some.
 *   - A rank that waits for NATIVE_PATIENCE_US at once keeps nothing meanwhile:
 *     whoever makes it wait works, and may do so for long.
 *   - Of two ranks that wait for each other with credit the one on the node with
 *     the larger number gives.  So in any ring of nodes somebody gives, at once.
 *     A REQUEST says whether its rank has credit (PROTO_KEEPS); one that has not
 *     gives anyway, so nobody has to give to it for that reason.
 *   - Only the protocol's answer is late: to it, the rank has not released.
 *
 * Times are runtime_now_us().
 */
#ifndef DRASYNC_RUNTIME_NATIVE_KEEP_H
#define DRASYNC_RUNTIME_NATIVE_KEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct native_leases;
struct native_lease_slot;
struct native_lease_thread;

#define NATIVE_KEEP_US_MAX 20000
#define NATIVE_PATIENCE_US 2000
#define NATIVE_IDLE_US     200

/* The `from` of a request whose rank gives while it waits. */
#define NATIVE_KEEP_GIVES INT32_MAX

/* Of a rank, in shared memory. */
struct native_credit {
    _Atomic uint64_t until_us;   /* it lasts until then, */
    _Atomic uint64_t waiting_us; /* or as long from now as from then; 0: now */
    _Atomic uint64_t began_us;   /* the wait that it began with */
    _Atomic uint64_t kept_us;   /* it keeps others waiting since then; 0: not */
    _Atomic uint64_t waits_us;  /* of which it has waited itself for so long */
    _Atomic uint64_t barred_us; /* no grant adds to it before then */
    _Atomic uint64_t acquired;  /* how often the rank had acquired when somebody
                                   last saw that become more */
    _Atomic uint64_t used_us;   /* which was then */
};

/* This rank begins to wait for another node; it has ended, with a hold or not. */
void native_credit_wait(void);
void native_credit_waited(bool granted);

/* Has rank number @local of this node credit against a request of node @from
 * (NATIVE_KEEP_GIVES: or of one that gives)?  @several: that of more than one
 * grant. */
bool native_credit_left(int local, int from, bool several);

/* Does this rank keep something while it waits, for others to know? */
bool native_credit_keeps(void);

/* Under the lock that @leases are of: may @slot of theirs, whose word was @word,
 * be left alone by a REQUEST of node @from?  If so its users are made to look. */
bool native_keep(const struct native_leases *leases,
                 struct native_lease_slot *slot, uint64_t word, int from);

/* Leave it alone, and have whoever comes first give it when the credit of its
 * user ends, be that at once. */
void native_keep_defer(const struct native_leases *leases,
                       struct native_lease_slot *slot, uint64_t word, int from);

/* Is a request deferred at @slot that is to be served now?  Any thread. */
bool native_keep_over(struct native_lease_slot *slot);

/* @t, this thread, has released @slot: look whether another node asks; no locks
 * are held.  False: nobody has asked for long, so need not look. */
bool native_keep_look(struct native_lease_thread *t,
                      struct native_lease_slot *slot);

/* End what is kept in vain; with the turns, after each poll.  True: something is
 * kept. */
bool native_keep_turn(void);

#endif /* DRASYNC_RUNTIME_NATIVE_KEEP_H */
