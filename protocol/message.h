/*
 * message.h - what nodes say to each other, and its form in bytes.
 *
 * docs/protocol.md says when each message is sent.  protocol.h, which includes
 * this, has the steps that make and take them.
 */
#ifndef DRASYNC_PROTOCOL_MESSAGE_H
#define DRASYNC_PROTOCOL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "include/drasync.h"
#include "protocol/limits.h"

struct proto_env;

#define PROTO_MESSAGES(X)                                                \
    X(LOCATE)   /* who has this address? */                              \
    X(LOCATED)  /* ANCESTORs root first, hint; or an error */            \
    X(REQUEST)  /* a hold of region, of part of a subtree, for ticket */ \
    X(TRANSFER) /* the answer */                                         \
    X(BOUNCE)   /* a TRANSFER's tokens come back: no memory */           \
    X(REFUSED)  /* the other answer */                                   \
    X(SETTLED)  /* what came with ticket is in place or given up */      \
    X(OWNER)    /* to the home: who has the token now */                 \
    X(RECALL)   /* are they held there, or still being sent? */          \
    X(RECALLED) /* these are not; the others later */                    \
    X(BURY)     /* forget them: they are deleted */                      \
    X(BURIED)                                                            \
    X(FREED)   /* to the home: these are gone; EXTENTs come back */      \
    X(POISON)  /* why the job ends */                                    \
    X(REVOKE)  /* what was asked ahead with ticket is no promise more */ \
    X(REVOKED) /* nobody acquires by it from here on */                  \
    X(UNREAD)  /* nobody here READs what came with ticket any more */

enum proto_message_type {
    PROTO_NO_MESSAGE,
#define PROTO_MESSAGE_ENUM(name) PROTO_##name,
    PROTO_MESSAGES(PROTO_MESSAGE_ENUM)
#undef PROTO_MESSAGE_ENUM
        PROTO_MESSAGE_TYPES,
};

enum proto_item_kind {
    PROTO_ITEM_ANCESTOR = 1, /* (LOCATED, GIVEN) address, incarnation; root
                                first */
    PROTO_ITEM_REGION,   /* address, incarnation, parent, version, epoch; DATA;
                          of a copy: node (hint) */
    PROTO_ITEM_CHILD,    /* of the REGION before it: address, incarnation, node
                          (hint), epoch; in order of creation */
    PROTO_ITEM_WAITER,   /* in the queue of the REGION: node, version: ticket,
                          mode, flags */
    PROTO_ITEM_PRESENCE, /* of the REGION: node, version it has; may it READ
                            (BUSY), does it know of others (MORE) */
    PROTO_ITEM_UNSENT,   /* not sent, ask for it: address, incarnation, parent,
                          node (hint), epoch */
    PROTO_ITEM_EXTENT,   /* address, version: pages */
    PROTO_ITEM_OWNED,    /* address, incarnation, epoch */
    PROTO_ITEM_WANTED,   /* address, incarnation: (REQUEST) the next part */
    PROTO_ITEM_DELETED,  /* address, incarnation: of a subtree's regions that
                            the message is about */
    PROTO_ITEM_KINDS,
};

enum proto_flags {
    PROTO_NOWAIT = 1 << 0,   /* refuse rather than queue */
    PROTO_TELL = 1 << 0,     /* TRANSFER for READ: say UNREAD in the end */
    PROTO_DELETION = 1 << 1, /* the WRITE of a delete; RECALL: it is dead
                                already, and the answer has time; REFUSED: it
                                was deleted while the request waited */
    PROTO_DETOUR = 1 << 2,   /* REQUEST: has been sent by way of the home */
    PROTO_GIVEN = 1 << 2,    /* TRANSFER: nobody asked for it: a gift */
    PROTO_FRESH = 1 << 3,    /* the requester dropped copies: send all data */
    PROTO_DATA = 1 << 4,     /* (item) the region's data comes with this */
    PROTO_SHARED = 1 << 5,   /* READ: the sender keeps writers out till SETTLED;
                              of one asked ahead: or till REVOKED */
    PROTO_NEWER = 1 << 5,    /* REQUEST: of a version that is newer than
                                `version`, however long that takes */
    PROTO_BUSY = 1 << 6,     /* RECALLED: held there */
    PROTO_KEEPS = 1 << 6,    /* REQUEST, waiter, for WRITE: its rank keeps what
                                others ask it for while it waits; the protocol
                                carries it for the runtime */
    PROTO_FURTHER = 1 << 7,  /* TRANSFER: further than the last one got */
    PROTO_AHEAD = 1 << 7,    /* REQUEST, waiter: asked ahead, of no rank */
    PROTO_HOMEWARD = 1 << 9, /* REQUEST: lost, and not at the home yet */
    PROTO_LOST = 1 << 11,    /* REQUEST: from the home along all hints */
    PROTO_MORE = 1 << 10,    /* REQUEST, waiter: parts of the subtree follow;
                                TRANSFER: another one with more of it follows */
    PROTO_HELD = 1 << 8,     /* RECALL: the second question, for holds */
    PROTO_UNMET =
        1 << 8, /* REQUEST, waiter, TRANSFER: it began as a LOCATE, and
                                perhaps nobody waits for it any more */
    PROTO_CHAINED = 1 << 12, /* REQUEST, waiter: has had its place in a line;
                                waits behind `after`, or at the token only */
    PROTO_CLIMBS = 1 << 13, /* READ, LOCATE: goes up the tree of nodes to `via`,
                               and may be combined with others there */
    PROTO_RELAYS = 1 << 14, /* REQUEST, waiter: others will have the answer too,
                               from the requester */
    PROTO_HOT = 1 << 15,    /* TRANSFER, LOCATED: many READ it; REFUSED: it is
                               newer, ask through others */
};

/* One flat struct for what all items and messages carry; unused fields are 0. */
struct proto_item {
    uint8_t kind, mode;
    uint16_t flags;
    uint32_t node;
    uint64_t address, incarnation, parent, version, epoch;
};

struct proto_message {
    uint8_t type, mode;
    uint16_t flags, hops;
    int16_t error; /* REFUSED, LOCATED: a drasync_error */
    uint32_t node; /* the node that asked in the first place */
    uint32_t via;  /* had the token at move `epoch`; LOCATE: the tree's root */
    uint32_t items_count;
    uint64_t ticket; /* its request; LOCATE: if that is one, with `mode`;
                        LOCATED: then it is under way */
    uint64_t root;   /* the tree */
    uint64_t region, incarnation;
    uint64_t version; /* REQUEST: that its node keeps, or knows (NEWER);
                         GIVEN: who gets it */
    uint64_t epoch;
    uint64_t after; /* REQUEST: the receiver's own, to wait behind; 0: none;
                       GIVEN: what its giver says with it; LOCATE: when it was
                       asked, a ticket of who asked; so LOCATED with an error */
    char name[DRASYNC_NAME_MAX + 1]; /* POISON */
    const struct proto_item *items;
};

/* The name of a message type, for example "TRANSFER"; never NULL. */
const char *proto_message_name(unsigned type);

/* The bytes of an item, encoded. */
#define PROTO_ITEM_BYTES 48

/* The bytes that proto_encode() makes of @message. */
size_t proto_encoded_size(const struct proto_message *message);

/* Write @message into @bytes, which has room for proto_encoded_size(). */
void proto_encode(const struct proto_message *message, void *bytes);

/*
 * The number of items in an encoded message, for the caller to have room; 0 if
 * the bytes are no message.
 */
uint32_t proto_encoded_items(const void *bytes, size_t size_bytes);

/*
 * Read a message from another node, trusting nothing: types, counts, modes,
 * flags, nodes, addresses (by env->home), order and nesting of items, text.
 * @items has room for proto_encoded_items(), and outlives the message.
 *
 *   DRASYNC_EINVAL  with *why_out saying what is wrong; the job must end
 */
int proto_decode(const struct proto_env *env, const void *bytes,
                 size_t size_bytes, struct proto_item *items,
                 struct proto_message *message, const char **why_out);

#endif
