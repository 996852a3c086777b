/*
 * internal.h - what the files of protocol/ share: the step that runs, and the
 * moves on records (objects.h) from which the messages are made.
 *
 * Everything here runs inside one step (struct step) and leaves work that would
 * disturb its callers' walks (serving queues, removing records) to step_end().
 */
#ifndef DRASYNC_PROTOCOL_INTERNAL_H
#define DRASYNC_PROTOCOL_INTERNAL_H

#include <assert.h>
#include <string.h>

#include "protocol/list.h"
#include "protocol/objects.h"
#include "protocol/protocol.h"

#ifdef PROTO_FAULTS
#include "protocol/faults.h"
#define FAULT(s, which) ((s)->node->fault == (uint32_t)(which))
#else
#define FAULT(s, which) ((void)(s), 0)
#endif

/* --- The step ------------------------------------------------------------- */

struct step {
    struct proto_node *node;
    const struct proto_env *env;
    struct proto_effects *out;
    struct proto_link serve, gc;
    struct proto_link begin; /* operations that may, now */
    /* The REQUEST that is handled and the operation made of it.  If that has to
     * wait, the message's other wishes (add_wanted()) are forgotten. */
    const struct proto_message *request;
    const struct proto_op *requester;
    /* The step ends a stale record. Operations that end with it began after the
     * deletion, so they may mean the region that has the address now. */
    bool forgets;
};

void step_begin(struct step *s, struct proto_node *node,
                struct proto_effects *out);
/* Serve the queues and remove the records that the step marked. */
void step_end(struct step *s);

static inline void *take(struct step *s, enum proto_type type)
{
    return s->env->take(s->env->ctx, type);
}

static inline void give(struct step *s, enum proto_type type, void *object)
{
    s->env->give(s->env->ctx, type, object);
}

static inline struct proto_region *find(struct step *s, uint64_t address)
{
    return s->env->find(s->env->ctx, address);
}

static inline uint32_t self_of(const struct step *s)
{
    return s->env->self;
}

/* effects.c */
struct proto_effect *effect(struct step *s, enum proto_effect_kind kind);
/* Begin a message; its items are those added until the next begins. */
struct proto_message *send_message(struct step *s, uint32_t to,
                                   enum proto_message_type type);
/* That effect, until the next one. */
struct proto_effect *effect_of(struct step *s, size_t index);
/* The message of that SEND, until the next one begins. */
struct proto_leaving *leaving_of(struct step *s, size_t send_index);
static inline struct proto_message *message_of(struct step *s,
                                               size_t send_index)
{
    return &leaving_of(s, send_index)->message;
}
struct proto_item *add_item(struct step *s, size_t send_index,
                            enum proto_item_kind kind);
/* The message at @send is about @r, which is deleted. */
void add_deleted(struct step *s, size_t send, const struct proto_region *r);
struct proto_message *send_about(struct step *s, uint32_t to,
                                 enum proto_message_type type,
                                 const struct proto_region *r, uint64_t ticket);
void poison(struct step *s, const char *why);
void granted(struct step *s, struct proto_op *op, struct proto_hold *hold,
             bool split);
void failed(struct step *s, struct proto_op *op, int error);

/* region.c */
struct proto_region *region_new(struct step *s, uint64_t address,
                                uint64_t incarnation,
                                struct proto_region *parent);
/* The record of a region that a message names: found, adopted or made (the
 * caller has reserved); an older one that had the address is forgotten.  NULL
 * if it is known to be deleted. */
struct proto_region *region_learn(struct step *s, uint64_t address,
                                  uint64_t incarnation,
                                  struct proto_region *parent);
void region_link(struct proto_region *r, struct proto_region *parent);
void region_unindex(struct step *s, struct proto_region *r);
void mark_gc(struct step *s, struct proto_region *r);
void mark_serve(struct step *s, struct proto_region *r);
void mark_serve_below(struct step *s, struct proto_region *top);
void collect(struct step *s);
void set_owned(struct proto_region *r, bool owned);
void learn_hint(struct step *s, struct proto_region *r, uint32_t node,
                uint64_t epoch);
uint32_t home_of(struct step *s, uint64_t address);
/* It is known to be deleted: end what waits for it here, and the record. */
void region_dead(struct step *s, struct proto_region *r);
void region_end_waiting(struct step *s, struct proto_region *r);

enum counter {
    COUNT_AWAY,
    COUNT_BUSY,
    COUNT_WAITING,
    COUNT_READS,
    COUNT_PINNED,
    COUNT_FORGOT,
    COUNT_LOST,
    COUNT_SUBSCRIBED,
    COUNT_ASKING
};
void count(struct proto_region *r, enum counter which, int delta);

/* copy.c */
struct proto_copy *copy_new(struct step *s, struct proto_region *r,
                            uint64_t version, uint64_t arriving);
/* The newest copy whose data is here, or NULL. */
struct proto_copy *copy_here(const struct proto_region *r);
/* The copy of @version whose data is here, or NULL. */
struct proto_copy *copy_find(const struct proto_region *r, uint64_t version);
void copy_drop(struct step *s, struct proto_region *r, struct proto_copy *copy);
/* Drop a copy, or all, if nothing refers to it and it is not the newest. */
void copy_check(struct step *s, struct proto_region *r,
                struct proto_copy *copy);
void copies_check(struct step *s, struct proto_region *r);
void pinned_update(struct proto_region *r);
/* The copy of @r that others count on was dropped; or a newer one is here. */
void copy_dropped(struct proto_region *r, bool dropped);
/* The current copy, with its version brought up to date. */
struct proto_copy *copy_current(struct proto_region *r);
/* Keep what is here of @r for the answer to @op's request; and no longer, if it
 * is that region's. */
void base_begin(struct proto_op *op, struct proto_region *r);
void base_end(struct step *s, struct proto_op *op,
              const struct proto_region *r);
/* @copy is no base any more, of any request under way. */
void bases_end(struct step *s, struct proto_region *r, struct proto_copy *copy);
struct proto_pin *pin_new(struct step *s, struct proto_link *list,
                          struct proto_region *r, struct proto_copy *copy);
void pin_end(struct step *s, struct proto_pin *pin);
/* How many READ holds, and operations that will be one, see @copy? */
static inline uint32_t copy_read(struct step *s, const struct proto_copy *copy)
{
    return FAULT(s, FAULT_AHEAD_COUNTED) ? copy->pins
                                         : copy->pins - copy->ahead;
}
void pins_end(struct step *s, struct proto_link *list);
void pins_move(struct proto_link *to, struct proto_link *from);
/* The pin by which @hold sees @r, or NULL. */
const struct proto_pin *pin_of(const struct proto_hold *hold,
                               const struct proto_region *r);
void unshare(struct step *s, struct proto_pin *pin);

/* hold.c */
bool own_cover(const struct proto_region *r, int32_t rank,
               enum drasync_mode *mode_out);
struct proto_hold *hold_of(const struct proto_region *r, int32_t rank);
void hold_link(struct proto_hold *hold, struct proto_region *r);
void hold_end(struct step *s, struct proto_hold *hold);
void write_end(struct step *s, struct proto_region *r);
bool pin_subtree(struct step *s, struct proto_link *list,
                 struct proto_region *top);
void grant_write(struct proto_region *r, int32_t rank);
/* What @rank waits for above @r and asked for before @born; or NULL. */
struct proto_op *asked_above(const struct proto_region *r, int32_t rank,
                             uint64_t born);
/* What @rank asked for there itself, the same. */
struct proto_op *asked_by(const struct proto_region *r, int32_t rank,
                          uint64_t born);
/* @rank has a hold of @r now: what it waits for above gets DRASYNC_EORDER. */
void end_above(struct step *s, const struct proto_region *r, int32_t rank);

/* op.c */
struct proto_op *op_new(struct step *s, enum op_kind kind, int32_t rank,
                        struct proto_region *target, enum drasync_mode mode,
                        void *waiter);
void op_free(struct step *s, struct proto_op *op);
bool part_push(struct step *s, struct proto_op *op, struct proto_link *before,
               struct proto_region *r);
void part_end(struct step *s, struct proto_part *part);
/* Copy @from's pins into @to; false: no memory. */
bool clone_pins(struct step *s, struct proto_link *from, struct proto_link *to);
/* Make @op's pins a hold of its rank. */
void become_hold(struct step *s, struct proto_op *op);
void advance(struct step *s, struct proto_op *op);
void op_fail(struct step *s, struct proto_op *op, int error);
void op_unlist(struct proto_op *op);
/* Begin to lock @op's subtree; false: it ended at once, for want of memory. */
bool op_begin(struct step *s, struct proto_op *op);
/* It has all. */
void complete(struct step *s, struct proto_op *op);
/* Whoever waits for @op gets @error, and it ends as soon as it can. */
void op_give_up(struct step *s, struct proto_op *op, int error);
void op_settle(struct step *s, struct proto_op *op);
void op_unlock(struct step *s, struct proto_op *op);
void serve(struct step *s, struct proto_region *r);

/* queue.c */
/* @op waits in @r's queue from now on. */
void enqueue(struct step *s, struct proto_op *op, struct proto_region *r);
/* Can @op have @r now, apart from those who wait? */
bool grantable(struct step *s, const struct proto_region *r,
               const struct proto_op *op);
/* Is nothing but what was asked ahead, or is coming, in the way of @op? */
bool only_ahead(const struct proto_region *r, const struct proto_op *op);
/* Is nothing in its way but READs that were answered and are not over? */
bool only_unsettled(const struct proto_region *r, const struct proto_op *op);
/* Would @op wait for @r until a rank gives something back?  What was asked ahead
 * is given back as soon as somebody waits. */
bool waits_for_ranks(struct step *s, const struct proto_region *r,
                     const struct proto_op *op);
/* Does the rank that @op is for, and nobody else, hold @r for WRITE? */
bool own_write(const struct proto_region *r, const struct proto_op *op);
/* Who is next in @r's queue, which is not empty: the first, but that a rank does
 * not wait behind those who wait for its own WRITE hold. */
struct proto_op *next_in_queue(struct step *s, const struct proto_region *r);

/* request.c */
void pump(struct step *s, struct proto_region *r);
void request(struct step *s, struct proto_op *op, struct proto_region *r);
/* Is @op, a local one, the READ of @r as a whole, of which it has nothing? */
bool reads_whole(const struct proto_op *op, const struct proto_region *r);
/* The flags with which a local operation asks for @r. */
uint16_t request_flags(const struct proto_op *op, const struct proto_region *r);
void make_pending(struct proto_op *op, struct proto_region *r);
/* @op's request for @r, with its ticket, is under way. */
void request_sent(struct proto_op *op, struct proto_region *r);
/* Does @op, which waits here, go out by itself when nothing else has? */
bool is_local(const struct proto_op *op);
struct proto_op *request_by_ticket(struct proto_region *r, uint64_t ticket);
struct proto_message *refuse(struct step *s, struct proto_region *r,
                             struct proto_op *op, int error);
/* The answer to @op's request says that the part is deleted, or why not. */
void request_refused(struct step *s, struct proto_op *op, int error);

/* Grant what @m asks for, if that can be without waiting. */
bool grant_at_once(struct step *s, struct proto_region *r,
                   const struct proto_message *m);
/* A foreign operation from its message; NULL: no memory. */
struct proto_op *foreign(struct step *s, const struct proto_message *m);
/* @op, a foreign one, waits here no more: it goes to its place in the line, or
 * on after the token. */
void send_on(struct step *s, struct proto_op *op, struct proto_region *r);

/* combine.c */
/* The next node on the way from here up the tree of @root. */
uint32_t climb_from(const struct step *s, uint32_t root);
/* Does it make sense to climb to @root, rather than to ask it? */
bool climb_pays(const struct step *s, uint32_t root);
/* @m, a REQUEST that climbs, is kept here or goes on; false: it has arrived. */
bool climb(struct step *s, const struct proto_message *m);
/* @op, another node's READ that waited here, waits for what @leader will get. */
void lead(struct proto_op *leader, struct proto_op *op);
/* It is the next to be asked for, by a READ of this node's own. */
void relay(struct step *s, struct proto_region *r, struct proto_op *op);
/* It is not served here: it goes on after the token by itself. */
void part_company(struct step *s, struct proto_op *op, struct proto_region *r);
/* The same for all whom @leader should have served. */
void part_relayed(struct step *s, struct proto_op *leader);
/* One of the READs that @op served has settled. */
void relay_settled(struct step *s, struct proto_op *op);
/* So many nodes READ it that they had better ask through others. */
bool is_hot(const struct step *s, struct proto_region *r);

/* ahead.c */
/* Does a request wait at @r that was not asked ahead? */
bool queued(const struct proto_region *r);
/* @op, a foreign one, asks ahead. */
bool asks_ahead(const struct proto_op *op);
/* May the token of @r go to who asks ahead? */
bool ahead_may_go(struct step *s, const struct proto_region *r);
/* A writer waits at @r: the promises in its way are revoked. */
void ahead_revoke(struct step *s, struct proto_region *r);
/* Ask ahead for @r, for so many acquires, as a call did. */
void ahead_start(struct step *s, struct proto_region *r, enum drasync_mode mode,
                 uint32_t hints);
/* READ, as was learned; @flags: PROTO_NEWER or 0. */
void ahead_start_learned(struct step *s, struct proto_region *r, uint16_t flags,
                         uint32_t hints);
/* @op, for READ, has what it asked for. */
void ahead_complete(struct step *s, struct proto_op *op);
/* @pin is of what was asked ahead: no rank looks there. */
void pin_ahead(struct proto_pin *pin);
/* What this node was promised of @r is given back. */
void ahead_give_back(struct step *s, struct proto_region *r);
/* The same, for a writer of this node, which needs no data for it. */
void ahead_give_up(struct step *s, struct proto_region *r);
/* A hold of @r that may be of what was promised has ended. */
void ahead_released(struct step *s, struct proto_region *r);
/* The version of its region that @op, which has it, was promised. */
uint64_t ahead_version(const struct proto_op *op);
/* What was promised, by which a rank may have @r for READ, or NULL. */
struct proto_op *ahead_ready(const struct proto_region *r);
/* @hold sees what @op was promised; false: no memory. */
bool ahead_take(struct step *s, struct proto_op *op, struct proto_hold *hold);
/* A rank has got the token that came ahead; or it leaves before that. */
void ahead_token_used(struct step *s, struct proto_region *r, bool used);

/* subscribe.c */
/* @op, a foreign one that asks ahead, waits for the next version of @r, or is
 * refused; false: it asks for this one. */
bool subscribe(struct step *s, struct proto_region *r, struct proto_op *op);
/* A WRITE hold of @top has ended: what waits for that in its subtree queues. */
void subscriptions_serve(struct step *s, struct proto_region *top);
/* All of @r are refused. */
void subscriptions_end(struct step *s, struct proto_region *r, int error);
/* The token of @r leaves: who waits for a newer version goes after it. */
void subscriptions_leave(struct step *s, struct proto_region *r);

/* newer.c */
/* @op wants a version of @r, whose token is here, that nobody has begun yet. */
bool newer_missing(const struct proto_region *r, const struct proto_op *op);
/* The token is here, and @op wants a newer version than @r has: it waits as a
 * subscriber, or ends if it may not wait.  False: @r is newer already. */
bool newer_waits(struct step *s, struct proto_region *r, struct proto_op *op);
/* @op wants a newer version of @r, to READ, and its node has subscribed to just
 * what is newer than the one that @op knows:
 * what comes is for @op too, and if none comes it asks for itself. */
bool newer_comes(struct proto_op *op, const struct proto_region *r);
/* @op is about to ask for @r, and what is here is newer: any will do. */
void newer_here(struct proto_op *op, const struct proto_region *r);
/* There is a newer version of @r: of many nodes that wait to READ it, most are
 * told to ask each other. */
void newer_spread(struct step *s, struct proto_region *r);
/* @op, a foreign one, waits as above, or is told so, if many have READ what is
 * there; else false. */
bool newer_asked(struct step *s, struct proto_region *r, struct proto_op *op);
/* Has another thread of its rank got a hold meanwhile, so that @op, which wants
 * what is newer, is to be refused: a READ hold of what is older, or WRITE? */
bool newer_nested(const struct proto_op *op);
/* @op is told so. */
void newer_told(struct step *s, struct proto_op *op);
/* What a local operation's request for @r says of that. */
uint16_t newer_flags(const struct proto_op *op, const struct proto_region *r);
/* Which version it says is known, or kept, here; 0: none. */
uint64_t newer_version(const struct proto_op *op, const struct proto_region *r);
/* A rank here READs @r, as @pins. */
void subscribe_read(struct step *s, struct proto_region *r,
                    const struct proto_link *pins);
/* A READ hold of @r has ended: is the next version asked ahead? */
void subscribe_released(struct step *s, struct proto_region *r);
/* The owner: a request of another node, not asked ahead, for @r has come. */
void subscribe_asked(struct step *s, struct proto_region *r,
                     const struct proto_op *op);
/* So many acquires will be of the promise that @op has got. */
void subscribe_promised(struct proto_op *op);
/* This node's @op, which was learned, has ended. */
void subscription_over(const struct proto_op *op);

/* locate.c */
/* What is above @r, root first, into the message at @send. */
void add_ancestors(struct step *s, size_t send, const struct proto_region *r);
/* Others' LOCATEs of @r that waited here: they are answered, or go on. */
void locates_end(struct step *s, struct proto_region *r);
/* @m, an UNMET TRANSFER from node @from, is LOCATED as well, if that has not
 * come. */
void located_by(struct step *s, uint32_t from, const struct proto_message *m);
/* @m refuses the REQUEST that the LOCATE of @r was, and LOCATED has not come. */
void locate_again(struct step *s, struct proto_region *r,
                  const struct proto_message *m);

/* chain.c */
bool chain_waits(const struct proto_region *r, const struct proto_message *m);
bool chain_stays(struct step *s, const struct proto_region *r,
                 const struct proto_op *op);
uint32_t chain_join(struct step *s, struct proto_region *r,
                    struct proto_message *m, uint32_t to);
void chain_cut(struct step *s, size_t send, struct proto_region *r);

/* presence.c */
struct proto_presence *presence_of(struct proto_region *r, uint32_t node);
/* Found or added; NULL: no memory.  @flags: PROTO_MORE, PROTO_BUSY. */
struct proto_presence *presence_add(struct step *s, struct proto_region *r,
                                    uint32_t node, uint64_t version,
                                    unsigned flags);
void presence_end(struct step *s, struct proto_region *r);
/* Does an operation here relay @r?  Then presence gains nodes only when its
 * answer comes. */
bool presence_to_come(const struct proto_region *r);
/* What goes along with @r's token to @to; and what becomes of the list then. */
void presence_items(struct step *s, size_t send, const struct proto_region *r,
                    uint32_t to);
void presence_leave(struct step *s, struct proto_region *r);
/* A node that may know the region of the last item. */
void presence_item(struct step *s, size_t send, uint32_t node, uint64_t version,
                   bool more, bool reads);
/* What a delete makes of an answer to RECALL with MORE: 0 or DRASYNC_ENOMEM. */
int presence_answered(struct step *s, const struct proto_message *m);

/* transfer_send.c, transfer.c */
/* What @leader, which is complete, has goes to @op too; false: it cannot. */
bool pass_copies(struct step *s, struct proto_op *leader, struct proto_op *op,
                 bool hot);
void grant_foreign(struct step *s, struct proto_region *r, struct proto_op *op);
/* Has @r more direct subregions than may go to another node? */
bool too_wide(struct step *s, const struct proto_region *r,
              enum drasync_mode mode);
/* @r's subtree goes to whom @gift names; false: no memory, nothing changed. */
bool send_gift(struct step *s, struct proto_region *r,
               const struct proto_gift *gift);
void end_sending(struct step *s, struct proto_sending *sending);
void sending_settled(struct step *s, struct proto_region *root, uint32_t node,
                     uint64_t ticket, bool settled, bool sent, bool placed);
/* Add @r with its token, for @to, to the message at @send; then, when the
 * message is complete, let it go. */
struct proto_item *token_items(struct step *s, size_t send,
                               struct proto_region *r, uint32_t to);
void token_leave(struct step *s, struct proto_region *r, uint32_t to);
void bounce(struct step *s, uint32_t from, const struct proto_message *m);
/* Tell the home of @m's region, or the homes of all its tokens, that they are
 * here. */
void tell_home(struct step *s, const struct proto_message *m);
void tell_homes(struct step *s, const struct proto_message *m);
/* One of those who read copies of @r (its `sends`) has ended. */
void region_sent(struct step *s, struct proto_region *r);

/* give.c */
/* The operation that has what @m, a gift from node @from, brings, until all is
 * here, and for which the step has memory; NULL: it goes back. */
struct proto_op *gift_op(struct step *s, uint32_t from,
                         const struct proto_message *m);
/* @m, a gift, goes back. */
void gift_back(struct step *s, uint32_t from, const struct proto_message *m);

/* previous.c */
/* @r has just been made. */
void recovery_inherit(struct proto_region *r);
/* Before @top is granted for WRITE, with nobody's hold in it: pin what it is now,
 * where that is wanted; false: no memory. */
bool previous_keep(struct step *s, struct proto_region *top);
/* A WRITE hold of @top has ended: unpin what no other one covers. */
void previous_end(struct step *s, struct proto_region *top);
/* Who writes @r has died: it is what it was; false: nothing was kept. */
bool previous_back(struct step *s, struct proto_region *r);

/* died.c */
/* May @op not have @r's subtree, as data there is lost? */
bool lost_for(const struct proto_op *op, const struct proto_region *r);
void set_lost(struct proto_region *r, bool lost);

/* delete.c, recall.c, bury.c */
/* Answer @m, about all of its regions that have no asker to be told later. */
void answer_deletion(struct step *s, uint32_t to, enum proto_message_type type,
                     const struct proto_message *m, uint16_t flags);
void delete_locked(struct step *s, struct proto_op *op);
struct proto_region *next_locked(const struct proto_op *op,
                                 const struct proto_region *r);
void delete_next(struct step *s, struct proto_op *op);
void bury_start(struct step *s, struct proto_op *op);
void bury_end(struct step *s, struct proto_op *op);

/* unread.c */
/* @op, a delete, has asked whom it must; READs say UNREAD from now on, if that
 * were any. */
void unread_asked(struct step *s, const struct proto_op *op);
bool unread_wanted(struct step *s);
/* @m, an answer for READ of @r, has come. */
void unread_note(struct proto_region *r, uint32_t from,
                 const struct proto_message *m);
/* A READ hold of @r, or a promise of one, has ended: tell whom that matters. */
void unread(struct step *s, struct proto_region *r);

/* acquire.c */
/* The record to begin with for an address that is not known here, and the LOCATE
 * that asks, at *send_out.  @read: as many others may ask for it at once, the
 * question may go up a tree. */
int locate_begin(struct step *s, uint64_t address, bool read,
                 struct proto_region **region_out, size_t *send_out);
/* What @op waited for AT_ABOVE is decided. */
void acquire_answered(struct step *s, struct proto_op *op);
/* What is above @r is known now. */
void acquires_located(struct proto_region *r);

/* The handlers of messages, one file each. */
typedef void handler(struct step *s, uint32_t from,
                     const struct proto_message *m);
#define PROTO_HANDLER(name) handler on_##name;
PROTO_MESSAGES(PROTO_HANDLER)
#undef PROTO_HANDLER

#endif
