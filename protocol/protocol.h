/*
 * protocol.h - the state machine of native regions: an event in, messages and
 * wake-ups out.  docs/protocol.md says what it does and why it is right.
 *
 * It calls no MPI, takes no lock, allocates nothing but fixed-size objects from
 * its environment, reads no clock, and walks lists in their own order only, so
 * that the simulator repeats a run exactly.
 *
 * What callers guarantee:
 *   - Every step runs alone on the trees that proto_*_tree() names for it, or,
 *     where that is PROTO_TREE_ALL, alone on the node.  A tree is named by the
 *     address of its root as this node knows it (region->root->address); it
 *     may have changed between looking and locking: look again after locking.
 *     Steps of different trees may run at the same time.
 *   - All pointers mean the same to all who run steps of one node (shared
 *     memory at one address).
 *   - The effects of a step are looked at before its lock is given back as far
 *     as they name objects (GRANTED, FAILED, SHIP, ARRIVING, GONE...), and its
 *     messages (SEND) enter the channels in the order of the steps that made
 *     them: a step's sends before those of any later step of the same tree.
 *   - Messages between two nodes arrive in order and once.  A node that sends to
 *     itself handles the SEND like any other (the protocol does not).
 *   - `rank` is any number >= 0 that tells the ranks of the node apart.
 *   - The protocol never follows waiters, memory and frames, the caller's.
 *
 * Functions return 0, PROTO_WAIT, or a drasync_error with nothing changed.
 */
#ifndef DRASYNC_PROTOCOL_H
#define DRASYNC_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/drasync.h"
#include "protocol/effects.h"
#include "protocol/limits.h"
#include "protocol/message.h"
#include "protocol/record.h"
#include "protocol/see.h"
#include "protocol/subscribe.h"

/* Not yet: a GRANTED or FAILED effect with the waiter will follow. */
#define PROTO_WAIT 1

/* Of proto_*_tree(): a step must run alone on its node. */
#define PROTO_TREE_ALL UINT64_C(0)

/* --- State ---------------------------------------------------------------- */

/* A node of the job.  Fill with proto_node_open(). */
struct proto_node;

/* What the protocol needs from those who run it. */
struct proto_env {
    void *ctx;
    uint32_t self;
    uint32_t nodes;
    /* A fixed-size object, not cleared, of sizes proto_object_size(); NULL if
     * there is no memory.  Called inside steps of different trees at once. */
    void *(*take)(void *ctx, enum proto_type type);
    void (*give)(void *ctx, enum proto_type type, void *object);
    /* 0 if the next takes, as many of each type as counts says, will succeed
     * in this step (the step runs alone on its trees); else DRASYNC_ENOMEM. */
    int (*reserve)(void *ctx, const uint32_t counts[PROTO_TYPES]);
    /* Records by address. */
    struct proto_region *(*find)(void *ctx, uint64_t address);
    int (*insert)(void *ctx, struct proto_region *region); /* 0 or ENOMEM */
    void (*remove)(void *ctx, struct proto_region *region);
    /* A number larger than all it gave before on this node; never 0. */
    uint64_t (*stamp)(void *ctx);
    /* A number for a request, never given before on this node; never 0. */
    uint64_t (*ticket)(void *ctx);
    /* The node whose lane or chunk has this address, or who can tell (a
     * manager, which answers for what it granted to nobody, too); -2: outside
     * of the space. */
    int64_t (*home)(void *ctx, uint64_t address);
    /* The i-th extent of a region deleted here; false: no more. */
    bool (*extent)(void *ctx, const struct proto_region *region, uint32_t i,
                   uint64_t *address, uint64_t *pages);
    /* Set once a delete on this node has asked others whether they READ; shared
     * by its processes.  NULL: it never matters (unread.c). */
    _Atomic bool *deletes_asked;
};

/* In bytes. */
size_t proto_object_size(enum proto_type type);

/* A node of the job, after proto_node_open(). */
struct proto_node {
    struct proto_env env;
    uint32_t waiters_max;   /* PROTO_WAITERS_MAX, or fewer in the simulator */
    uint32_t presence_max;  /* the same of PROTO_PRESENCE_MAX */
    uint32_t fanout;        /* the same of PROTO_FANOUT */
    uint32_t portion_first; /* the same of PROTO_PORTION_FIRST */
    uint32_t answer_items;  /* the same of PROTO_ANSWER_ITEMS */
    uint32_t children_max;  /* PROTO_CHILDREN_MAX, or fewer in tests */
    uint32_t subscriptions_max; /* the same of PROTO_SUBSCRIPTIONS_MAX */
    uint32_t subscribe;         /* PROTO_SUBSCRIBE; 0: never */
    uint32_t fault;             /* the rule that the simulator breaks, or 0 */
};

/* Start @node with nothing known. */
void proto_node_open(struct proto_node *node, const struct proto_env *env);

/* --- Which tree a step needs ---------------------------------------------- */

/* The tree of a message: its root's address, or that of a region in it, or
 * PROTO_TREE_ALL. */
uint64_t proto_message_tree(const struct proto_message *message);

/*
 * Under the lock of that tree, which @root is the record of, if it is known: is
 * it really enough?  Not for a TRANSFER that brings regions which are not known
 * yet, a LOCATE of such a one, or what is said of regions that were deleted, if
 * one of them is not known: that needs PROTO_TREE_ALL.  @find gives a record of
 * a tree that is locked, or NULL.
 */
bool proto_message_tree_enough(
    const struct proto_message *message, const struct proto_region *root,
    struct proto_region *(*find)(void *ctx, uint64_t address), void *ctx);

/* --- Events by ranks ------------------------------------------------------ */

/*
 * A new root region at @address, which was cut here; held by @rank for WRITE.
 * Its first copy has @frames.  Tree: @address.
 *   DRASYNC_ENOMEM
 */
int proto_create_root(struct proto_node *node, int32_t rank, uint64_t address,
                      void *memory, void *frames,
                      struct proto_region **region_out,
                      struct proto_effects *out);

/*
 * The same below @parent.
 *   DRASYNC_ENOTHELD  @rank has no WRITE hold that covers @parent
 *   DRASYNC_EDELETED, DRASYNC_ENOMEM, DRASYNC_ELIMIT (depth)
 */
int proto_create_subregion(struct proto_node *node, int32_t rank,
                           struct proto_region *parent, uint64_t address,
                           void *memory, void *frames,
                           struct proto_region **region_out,
                           struct proto_effects *out);

/* An operation that waits; for proto_detach() while neither GRANTED nor FAILED
 * has come. */
struct proto_op;

struct proto_grant {
    struct proto_region *region;
    struct proto_hold *hold; /* READ; NULL if WRITE */
    bool split;              /* as in the GRANTED effect */
};

/*
 * A hold on @region, or where that is NULL on the region at @address, which
 * this node does not know.  Granted now: 0 and *grant_out.  Else PROTO_WAIT,
 * *op_out, and an effect with @waiter later.
 *   DRASYNC_EINVAL (mode), DRASYNC_ENOREGION, DRASYNC_EDELETED,
 *   DRASYNC_EUPGRADE, DRASYNC_EORDER, DRASYNC_ENOMEM,
 *   DRASYNC_EAGAIN  @nowait, and it is not free (also as FAILED)
 */
int proto_acquire(struct proto_node *node, int32_t rank,
                  struct proto_region *region, uint64_t address,
                  enum drasync_mode mode, bool nowait, void *waiter,
                  struct proto_grant *grant_out, struct proto_op **op_out,
                  struct proto_effects *out);

/* What is asked for, and by whom. */
struct proto_asked {
    int32_t rank;
    enum drasync_mode mode;
    bool nowait;
    void *waiter;
    /* Only what is newer than this version of the region (proto_seen_version()),
     * however long it takes until somebody writes; 0: any. */
    uint64_t newer;
};

/*
 * The same, of what @asked says.  A request for what is newer waits where the
 * token is, goes after it, and is no obstacle to anybody; when a WRITE hold of
 * the region, or of one above it, ends, it queues like any other.  If its rank
 * gives up it stays there, for the next that asks for the same.
 *   DRASYNC_ENESTED  newer is not 0, and the rank holds the region
 *   DRASYNC_EINVAL   it is no version that the region has had
 */
int proto_acquire_as(struct proto_node *node, struct proto_region *region,
                     uint64_t address, const struct proto_asked *asked,
                     struct proto_grant *grant_out, struct proto_op **op_out,
                     struct proto_effects *out);

/* What another node has said to be deleted, @region, may not be what has its
 * address now: if it is that, forget it, so that the next acquire asks.  What waits
 * for it ends with DRASYNC_EDELETED. */
void proto_forget_gone(struct proto_node *node, struct proto_region *region,
                       struct proto_effects *out);

/* The version of @region that who was granted it sees: @hold is that of the
 * grant.  Under the lock of its tree, in the step of the grant or as long as
 * the hold is there. */
uint64_t proto_seen_version(const struct proto_region *region,
                            const struct proto_hold *hold);

/* The version of @region that @rank holds, by itself or through an ancestor.
 *   DRASYNC_ENOTHELD */
int proto_held_version(const struct proto_region *region, int32_t rank,
                       uint64_t *version_out);

/*
 * Somebody here will acquire @region (or what is at @address, if that is NULL)
 * for @mode: let its data come, with READ, or its token, with WRITE.  Nobody
 * waits for it, and it may come to nothing.  READ: until a writer wants the
 * region, an acquire here is granted without a message; it is kept for as many
 * acquires as were told of.  Tree: as of proto_acquire().
 *   DRASYNC_EINVAL (mode), DRASYNC_ENOREGION, DRASYNC_EDELETED
 */
int proto_ahead(struct proto_node *node, struct proto_region *region,
                uint64_t address, enum drasync_mode mode,
                struct proto_effects *out);

/* Is what was asked ahead of @region to come yet?  Of any moment. */
bool proto_ahead_comes(const struct proto_region *region);
/* What was asked ahead in @root's tree is given back, or not kept if it comes. */
void proto_ahead_end(struct proto_node *node, struct proto_region *root,
                     struct proto_effects *out);

/* The record of the region that @op, which waits, asked for; it keeps that. */
const struct proto_region *proto_target(const struct proto_op *op);

/* Changes as @op, a READ that waits, gets more of the subtree; NULL: it has none. */
const void *proto_progress(const struct proto_op *op);

/*
 * The waiter gives up: no effect will name it.  The operation may go on
 * without it; what it gets is released at once.  Tree: that of the region it
 * asked for.
 */
void proto_detach(struct proto_node *node, struct proto_op *op,
                  struct proto_effects *out);

/*
 * Give back one hold that was acquired for @mode; one of the other mode if there
 * is none: a hold of READ may have become one of WRITE (proto_read_hold()).
 *   DRASYNC_ENOTHELD
 */
int proto_release(struct proto_node *node, int32_t rank,
                  struct proto_region *region, enum drasync_mode mode,
                  struct proto_effects *out);

/*
 * @copy of @region is read without the lock that steps run under, from
 * proto_copying() to proto_copied(): it and its frames stay, and who is granted
 * WRITE meanwhile is told to split.
 */
void proto_copying(struct proto_region *region, struct proto_copy *copy);
void proto_copied(struct proto_node *node, struct proto_region *region,
                  struct proto_copy *copy, struct proto_effects *out);

/*
 * After a grant with split: the rank has copied the data of @region's current
 * copy, which is pinned, into @frames; they are the current copy's from now on.
 *   DRASYNC_ENOTHELD, DRASYNC_ENOMEM (release the hold, report it)
 */
int proto_split(struct proto_node *node, int32_t rank,
                struct proto_region *region, void *frames,
                struct proto_effects *out);

/* Who is given a region. */
struct proto_gift {
    uint32_t node;
    int32_t rank;   /* as that node numbers them */
    uint64_t words; /* go along, for the caller there */
};

/*
 * End @rank's WRITE hold of @region, which somebody of node gift->node is going to
 * acquire.  To another node all tokens of the subtree go with their data in one
 * TRANSFER with GIVEN; without memory there they come back.  Nobody holds the
 * region meanwhile: who acquires it first has it.  Tree: @region's.
 *
 *   DRASYNC_ENOTHELD  @rank has no WRITE hold of @region itself
 *   DRASYNC_ENESTED   it has that more than once, or holds what is above or below
 *   DRASYNC_EBUSY     it is deleting it
 *   DRASYNC_ELIMIT    more than PROTO_CHILDREN_MAX direct subregions, to another
 *                     node
 *   DRASYNC_ENOMEM
 */
int proto_give(struct proto_node *node, int32_t rank,
               struct proto_region *region, const struct proto_gift *gift,
               struct proto_effects *out);

/*
 * Delete @region, known or not, with all below it.  Tree: that of @region, or
 * @address.  PROTO_WAIT: GRANTED or FAILED follows.  It cannot be detached (it
 * never waits for another rank).
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_EBUSY, DRASYNC_EUPGRADE,
 *   DRASYNC_ENOMEM
 */
int proto_delete(struct proto_node *node, int32_t rank,
                 struct proto_region *region, uint64_t address, void *waiter,
                 struct proto_effects *out);

/* Is a WRITE hold of @region, taken once, all that @rank has of it, above and
 * below it? */
bool proto_held_once(const struct proto_region *region, int32_t rank);

/* Has nobody but @rank anything of @region, a root, and what is below it, which
 * it holds for WRITE once, nor asks for it, nor knows it on another node? */
bool proto_alone(int32_t rank, const struct proto_region *region);

/* The same of all ranks: nobody has anything of it. */
bool proto_idle(const struct proto_region *region);

/* Is all there is of @region's data its one version here, which nobody reads,
 * and does no other node know of it?  Then its extents may become fewer. */
bool proto_here_only(const struct proto_region *region);

/* Does nobody hold anything in the tree of @region? */
bool proto_tree_idle(const struct proto_region *region);

/* Does a rank of this node have @region, or something below, for READ, or wait
 * for it? */
bool proto_read_here(const struct proto_region *region);

/*
 * Instead of deleting @region and making a new one at its address with the same
 * extents and frames: if nobody but @rank, which holds it for WRITE once, knows
 * or has anything of it, it becomes what proto_create_root() would make, with
 * @incarnation, larger than all that were at its address.  False, and nothing has changed, if it must be deleted.
 * Between the two env->find() must not find it.
 */
bool proto_renew(int32_t rank, struct proto_region *region,
                 uint64_t incarnation);

/* Release all holds of @rank of @top and what is below, where it has none above. */
void proto_end_rank(struct proto_node *node, int32_t rank,
                    struct proto_region *top, struct proto_effects *out);

/*
 * @rank has died, and what has a number that is @rank modulo @ranks, by which its
 * process asked for what it saved: what it asked for in the tree of @root is
 * forgotten, its READ
 * holds end, and what it had for WRITE is lost (region->lost): every acquire of
 * it, or of what is above it, ends with DRASYNC_ELOST until it is deleted.  But
 * what has region->recovers is what it was when that hold was granted; what has
 * region->fresh, and was not there then, is deleted before, as by @rank.  Only where
 * there is one node.
 */
void proto_rank_died(struct proto_node *node, int32_t rank, int32_t ranks,
                     struct proto_region *root, struct proto_effects *out);

/* From the next WRITE hold on @top, what is below it, and what is made there, goes
 * back to what it was if the rank dies that has it, or is lost.  Costs a split for
 * each WRITE hold. */
void proto_set_recovery(struct proto_region *top, bool previous);

/* The current copy has other frames now, the same data (the writer moved or
 * grew it). */
void proto_layout_changed(struct proto_region *region);

/*
 * Memory is wanted: let go the copies of @root's tree that nothing refers to.
 * False: something of the tree is on its way here, and all is as it was.  Else
 * of regions for which proto_absent() is true then the caller may let go what it
 * has, but for the pointer: what comes next is complete.
 */
bool proto_drop_copies(struct proto_node *node, struct proto_region *root,
                       struct proto_effects *out);

/* Has another node @region, and this one no copy of it? */
bool proto_absent(const struct proto_region *region);

/* --- Questions ------------------------------------------------------------ */

/* DRASYNC_WRITE, DRASYNC_READ or 0: does @rank hold @region, by itself or
 * through an ancestor?  O(depth) for WRITE. */
int proto_held(const struct proto_region *region, int32_t rank);

/* Is all that keeps writers out of @r, and what is below, that other nodes were
 * promised @r?  READ is free then. */
static inline bool proto_promised_only(const struct proto_region *r)
{
    return r->busy == r->promised && r->shared == r->promised;
}

/* What @rank holds below @region, the first of it, by a hold that it took there;
 * NULL: nothing. */
const struct proto_region *proto_held_below(const struct proto_region *region,
                                            int32_t rank);

/* The READ hold of @rank on @region itself, or NULL.  A hold that a WRITE hold
 * covered may be gone when that is released, if there was no memory for pins:
 * then the rank has WRITE of the region in its place; look again, here. */
struct proto_hold *proto_read_hold(const struct proto_region *region,
                                   int32_t rank);

/* The version of the data of an owned region now. */
uint64_t proto_version(const struct proto_region *region);

/*
 * In ARRIVING, for data that comes for @copy of @region: the frames of @old, to
 * be made its next version in place; NULL if somebody else refers to @old,
 * which then stays.  @old is the base, or NULL for any older copy.  Should the
 * data not come after all, what was there is lost, which is allowed.
 */
void *proto_take_frames(struct proto_node *node, struct proto_region *region,
                        const struct proto_copy *copy, struct proto_copy *old);

/*
 * In ARRIVING: only what changed comes for @copy of @region, but there is no
 * base.  The data goes nowhere, a token back to where it came from; the operation
 * begins again, and asks for all.
 */
void proto_base_lost(struct proto_region *region, struct proto_copy *copy);

/* Do only operations of other nodes wait in @r's tree, and for it itself?
 * *node_out: the lowest whose request has PROTO_KEEPS, or INT32_MAX. */
bool proto_waited_elsewhere(const struct proto_region *r, int32_t *node_out);

/* The WRITE hold of @region, all that is held there, is @rank's from now on, and
 * the data has a new version, as if one had released it and @rank had acquired
 * it; operations of other nodes that wait for it wait on. */
void proto_pass(struct proto_node *node, struct proto_region *region,
                int32_t rank, struct proto_effects *out);

/* The newest copy; the current one if region->owned. */
struct proto_copy *proto_newest(const struct proto_region *region);

/* The next older one than @copy of @region on this node; NULL: none. */
struct proto_copy *proto_older(const struct proto_region *region,
                               const struct proto_copy *copy);

/* The next record of @top's subtree after @at (NULL: @top itself), parents
 * first; NULL at the end. */
struct proto_region *proto_next(const struct proto_region *top,
                                const struct proto_region *at);

/* The same without those below @at. */
struct proto_region *proto_next_beyond(const struct proto_region *top,
                                       const struct proto_region *at);

/* --- Events from the wire ------------------------------------------------- */

/* A message came from node @from.  Trees: proto_message_tree(), if
 * proto_message_tree_enough(). */
void proto_message(struct proto_node *node, uint32_t from,
                   const struct proto_message *message,
                   struct proto_effects *out);

/* The data of an EXPECT effect is in place (error 0), or cannot be placed
 * (DRASYNC_ENOMEM).  Tree: @root's. */
void proto_arrived(struct proto_node *node, struct proto_region *root,
                   uint32_t from, uint64_t ticket, int error,
                   struct proto_effects *out);

/* The TRANSFER (or BOUNCE) to @to with @ticket and its data has left: the
 * frames are not read any more.  Tree: @root's. */
void proto_sent(struct proto_node *node, struct proto_region *root, uint32_t to,
                uint64_t ticket, struct proto_effects *out);

/* Before proto_sent(), if it is the last one that is due of an answer: each copy
 * that went with it and still is the current one of its region, which nobody was
 * granted WRITE of since; and its version. */
typedef void proto_sent_visit(struct proto_region *region,
                              const struct proto_copy *copy, uint64_t version,
                              void *arg);
void proto_sent_each(const struct proto_region *root, uint32_t to,
                     uint64_t ticket, proto_sent_visit *visit, void *arg);

#endif
