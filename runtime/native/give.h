/*
 * give.h - regions that ranks give each other: what travels with a gift, and the
 * inbox of each rank of the node.
 *
 * A gift is a WRITE hold that its rank has, or will have as soon as the data is
 * here, and a note in that rank's inbox.  Between nodes both are one TRANSFER
 * (protocol/give.c).  The note comes in the order of the gifts, whatever the
 * data does.  If there is no hold after all, for want of memory, say, the note
 * stays, and who takes it acquires the region.  So it is where that rank wants
 * what is above the region before it takes the gift (give_below.c).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_GIVE_H
#define DRASYNC_RUNTIME_NATIVE_GIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/native/state.h"

/* Gifts that a rank has not taken. */
#define GIVE_GIFTS_MAX (1u << 20)

struct gift {
    uint64_t reserved_by_control[2];
    struct native_wait wait; /* for the hold, if it is `far` */
    struct gift *next;
    uint64_t address, incarnation;
    int32_t from, tag;
    bool far;  /* came from another node, and nobody has waited for it */
    bool back; /* there is no hold: its rank had one in the way, or the like */
};

/* Rank @to of this node, which was given @gift and has not taken it, has ended:
 * its hold ends, too.  No lock held. */
void gift_give_up(const struct gift *gift, int to);

/* Rank @rank of this node has died: it takes nothing more, and what was given to
 * it is as it was. */
void give_bury(int rank);

/* Brackets the two parts of a gift on a node, the hold's new rank and its note,
 * so that a death in between is noticed. */
void give_half(bool begins);

/* The inboxes of a node, in control memory: by the leader. */
int give_shared_new(void **shared_out);
/* Of this rank: at the start, and in finalize, when it takes nothing more. */
void give_start(void);
void give_end(void);

/* DRASYNC_ENOMEM. */
int gift_new(int32_t from, int32_t tag, uint64_t address, struct gift **out);
void gift_free(struct gift *gift);

/*
 * Have room for a gift in the inbox of the rank with number @local on this node.
 *   DRASYNC_ELIMIT     GIVE_GIFTS_MAX are there
 *   DRASYNC_ENOTREADY  that rank is in finalize
 */
int give_reserve(int local);
/* Use that room, or give it back.  DRASYNC_ENOTREADY, as above; the room is
 * given back then. */
int give_post(int local, struct gift *gift);
void give_unreserve(int local);

/*
 * Take out the first gift from @from with @tag (DRASYNC_ANY) of this rank's,
 * waiting until @deadline_us (0: not at all).  DRASYNC_EAGAIN, DRASYNC_EPEER (also:
 * @from has died, and the job goes on), DRASYNC_ENOMEM.
 */
int give_take_out(int32_t from, int32_t tag, uint64_t deadline_us,
                  struct gift **out);
/* @gifts, a list of what was taken out, is before all others again, its last one
 * first; or with those who wait for it.  NULL: nothing. */
void give_put_back(struct gift *gifts);

/* Has the rank with number @local on this node gifts, or is it about to?  Sequentially
 * consistent. */
bool give_any(int local);

struct give_name {
    uint64_t address, incarnation;
};

/* The gifts in that rank's inbox that have their hold, from its @first on; at most
 * @max. */
size_t give_list(int local, size_t first, struct give_name *out, size_t max);

/* If as many as @held gifts of give_list() are what @is_one says, they have no hold
 * from now on, and true: the caller, under whose lock of their tree that is so,
 * ends these holds. */
bool give_unhold(int local,
                 bool (*is_one)(const struct gift *gift, const void *context),
                 const void *context, uint32_t held);

/* This rank wants @address, which is refused (DRASYNC_EORDER).  If all that it
 * has below is gifts that it has not taken, these holds end, and true: it may ask
 * again.  No lock held. */
bool native_gifts_let_go(uint64_t address);

/* The same where it waits for @address under a number of its own (image.c): so it
 * is until the call with 0.  What comes meanwhile is not held. */
void native_gifts_apart(uint64_t address);

/*
 * A rank that waits until another node has run a function must not have what that
 * waits for.  What comes after the function was sent is not held at all
 * (run_flies_in()); of what came before, or just then, the node's engine ends the
 * hold: who sends a function for a rank that has gifts, and who grants a gift's
 * hold to a rank with functions under way, tell it.  Both look at the other's
 * mark after they have set their own.
 */
void give_tell_engine(void);
/* Under the lock of its tree. */
void give_granted(const struct proto_region *region);
/* In each turn of the engine; no lock held. */
void give_turn(void);

/* On the progress thread, before the step of @message, a gift from @node: note
 * it, and name who waits for the hold. */
void give_arrives(int node, struct proto_message *message);

#endif /* DRASYNC_RUNTIME_NATIVE_GIVE_H */
