/*
 * references.h - what the home of managed regions and other nodes know of who
 * refers to them: the pure part of runtime/managed/, which sim/ runs too.
 *
 * A node counts the references of its ranks.  The home keeps a signed number for
 * each other node, as what nodes say may overtake each other; a region is unused
 * when its own count and each of these are 0.  A link from one region to another
 * is a reference of the home of the first, in its entry's list.
 *
 * Callers guarantee:
 *   - Calls that are given an entry have the entry to themselves: by a lock of
 *     its address.  refs_find_garbage() and refs_spare() have all entries of a
 *     home to themselves.  In between entries may change, and go.
 *   - Who looks an entry up, keeps a list of what is unused, and sends what the
 *     calls below say is to be sent, is the caller.
 *   - A message about a region is sent before the lock of its entry is given
 *     back, and messages between two nodes arrive in the order they were sent.
 *   - A reference that a node gives away, or takes for a link, it has until the
 *     other one has it.
 *
 * Errors are those of drasync.h; after one nothing has changed.
 */
#ifndef DRASYNC_PROTOCOL_REFERENCES_H
#define DRASYNC_PROTOCOL_REFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"

/* At the home; elsewhere only USED, and for who searches circles (search.h)
 * ENDING and DOOMED. */
enum refs_use {
    REFS_USED,
    REFS_UNUSED, /* it may be ended, and whoever does that knows of it */
    REFS_ENDING, /* somebody is at it: it gets no reference, and has none to
                  * spare */
    REFS_DOOMED, /* a part of a circle that ends: as ENDING, and for ever, even
                  * if somebody holds it now, as what it refers to goes */
};

/* What the home knows of another node. */
struct refs_node {
    int32_t node;
    bool wants_end; /* it has ranks that want to know of the end */
    int64_t listed; /* signed: references come and go in any order */
};

/* A region refers to another one: at its home, whose node has a reference to
 * that for each link. */
struct refs_link {
    struct refs_link *next;
    uint64_t address, incarnation;
    struct refs_entry *to; /* if its home is the same node */
};

struct refs_entry {
    uint64_t address, incarnation;
    int64_t references; /* of this node's ranks, and of links at this home */
    int64_t of_links;   /* of these, those of links at this home */
    int64_t told; /* elsewhere than at home: what the home has us listed for */
    uint64_t stamp; /* another one after each change; who makes an entry begins
                     * it with what no entry of the region has had here */

    /* At home. */
    bool home;
    enum refs_use use;
    struct refs_node *nodes;
    uint32_t nodes_count, nodes_room;
    struct refs_link *links;
    /* Of who looks for circles. */
    size_t number;
    int64_t linked;
};

/* What nodes ask a home. */
enum refs_ask {
    REFS_ASK_MANAGE, /* begin, with a reference for the node that asks */
    REFS_ASK_REF,    /* a reference for it */
    REFS_ASK_LOOK,   /* is it managed? */
    REFS_ASK_LINK,   /* it refers to another region, for which its home has a
                      * reference */
    REFS_ASK_UNLINK,
};

/* --- At home -------------------------------------------------------------- */

/*
 * How many elements @e->nodes must have before refs_count() for @node, at home
 * @self; 0: it has enough.
 */
uint32_t refs_room(const struct refs_entry *e, int self, int node);

/* Use @nodes, which has that room and what @e->nodes has; what is to be freed. */
struct refs_node *refs_grow(struct refs_entry *e, struct refs_node *nodes,
                            uint32_t room);

/* Count @by for @node of home @self, for which there is room. */
void refs_count(struct refs_entry *e, int self, int node, int64_t by,
                bool wants_end);

/* It has become unused: true once, and whoever is told has it end. */
bool refs_look(struct refs_entry *e);

/* Nobody refers to it? */
bool refs_unused(const struct refs_entry *e);

/* Somebody is to end it, who will delete the region: false if it is used again,
 * and nobody is. */
bool refs_end(struct refs_entry *e);

/* The region could not be deleted: it is to be ended later. */
void refs_linger(struct refs_entry *e);

/* @e, NULL if there is none, is asked for what needs an entry: 0 or
 * DRASYNC_EDELETED, also if it is DOOMED, or DRASYNC_EAGAIN. */
int refs_asked(const struct refs_entry *e);

/* @e, new or not, begins to be managed.  DRASYNC_EMANAGED. */
int refs_begin(struct refs_entry *e);

void refs_link(struct refs_entry *e, struct refs_link *link);

/* Take the last link to the region at @to out; NULL: there is none. */
struct refs_link *refs_unlink(struct refs_entry *e, uint64_t to);

/* Is there a link to this region? */
struct refs_asked_link {
    uint64_t address, incarnation;
    bool linked;
};

/* Say so of @asked, in order of addresses, none twice.  False: only the newest
 * @links_max links were looked at, of more. */
bool refs_linked(const struct refs_entry *e, struct refs_asked_link *asked,
                 size_t count, size_t links_max);

/* --- At any node ---------------------------------------------------------- */

/* Has the node a reference of which it may make @by more, or fewer?  A link's is
 * not the ranks' to give away. */
bool refs_may_change(const struct refs_entry *e, int64_t by);

/* Of two regions that had one address, one after the other: do ranks mean @a?
 * Those to which they refer come before those to which only links do, and then
 * the oldest. */
bool refs_is_meant(const struct refs_entry *a, const struct refs_entry *b);

/* One of the node's references becomes that of a link at this home, false: there
 * is none; and is no link's any more. */
bool refs_to_link(struct refs_entry *e);
void refs_from_link(struct refs_entry *e);

/* What the home, another node, is to be told to count before refs_change(). */
int64_t refs_tell(const struct refs_entry *e, int64_t by);
void refs_change(struct refs_entry *e, int64_t by);

/* One that the node was given; true: the giver has the home list it. */
bool refs_given(struct refs_entry *e);

/* One that the home has listed for this node. */
void refs_got(struct refs_entry *e);

/* --- Circles (circles.c) -------------------------------------------------- */

/* An entry of a home, and whether something refers to it that is no part of a
 * circle. */
struct refs_part {
    struct refs_entry *entry;
    uint64_t address, incarnation, stamp; /* the entry's, of garbage, then */
    bool live;
    bool taken; /* for the caller */
};

/*
 * Of @parts, the @count entries of a home, all of them, in any order, leave those
 * that only links between them refer to, from which no other part can be
 * reached.  @open has room for @count.  How many.  Nothing is changed: who
 * searches at the same time, on another node, sees them as they are.
 */
size_t refs_find_garbage(struct refs_part *parts, size_t count, size_t *open);

/*
 * Of these, in any order, with the entries that they have now, NULL for none: the
 * ones that are not taken, or have changed since, live on, and all that they
 * reach: part->live.  All that refers to the others, and all that they refer to,
 * is as it was: they are still garbage.  They are DOOMED, and in them links to
 * what ends too are taken out: nothing has to be given back for them.  These
 * links, by `next`.
 */
struct refs_link *refs_spare(struct refs_part *parts, size_t count,
                             size_t *open);

#endif /* DRASYNC_PROTOCOL_REFERENCES_H */
