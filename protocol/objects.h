/*
 * objects.h - operations, arrivals, sendings and the like: what protocol.h leaves
 * open of its objects, for the files of protocol/ only.
 */
#ifndef DRASYNC_PROTOCOL_OBJECTS_H
#define DRASYNC_PROTOCOL_OBJECTS_H

#include "protocol/list.h"
#include "protocol/protocol.h"

/* A region that an operation has yet to lock. */
struct proto_part {
    struct proto_link link;      /* in op->parts, in lock order */
    struct proto_link by_region; /* in region->parts */
    struct proto_region *region; /* NULL: it was deleted */
};

enum op_kind { OP_ACQUIRE, OP_DELETE, OP_FOREIGN, OP_LOCATE, OP_AHEAD };
enum op_where {
    AT_NOTHING,
    AT_QUEUE,
    AT_PENDING,
    AT_OWNER,
    AT_LEADER,
    AT_ABOVE,
    AT_LOCATE,
    AT_AHEAD,
    AT_SUBSCRIBED,
    AT_NEWER, /* as AT_OWNER, but for as long as nobody writes */
};
enum delete_stage {
    DELETE_GATHER,
    DELETE_SENDS,
    DELETE_KNOWERS,
    DELETE_HOLDS,
    DELETE_DEAD,
    DELETE_BURY,
    DELETE_FREE
};

struct proto_op {
    /* where: queue, pending, requests, followers, below */
    struct proto_link link;
    struct proto_link by_target; /* OP_ACQUIRE: in target->asking */
    uint8_t kind, where, mode, stage;
    uint16_t flags, hops;
    bool detached;  /* nobody waits any more */
    bool busy;      /* a delete was told so */
    bool found;     /* a delete was told of nodes it did not know of */
    bool waited;    /* its target was deleted while it waited */
    bool unsettled; /* it failed, as a READ that was answered is not over */
    bool relays;    /* some of its followers are other nodes' */
    bool restart;   /* a copy it was told it has is not here: begin again */
    /* OP_AHEAD: what it was promised is here; was revoked before that; it was
     * asked for again after that; some data came. */
    bool parked, revoked, again, came;
    bool learned; /* no call named it: subscribe.c */
    /* Told of so many acquires, of which came so many; of a subscription at the
     * owner: READs of its node that came meanwhile. */
    uint32_t hints, uses;
    uint32_t passed; /* asked ahead: by so many that were not */
    uint32_t node;
    int32_t rank;
    int error;     /* it failed, and waits for its data to arrive */
    uint64_t born; /* local: a ticket */
    uint64_t ticket, sent_epoch;
    /* Foreign: who had the token at move sent_epoch; and, if it waits for that
     * in a line, the request before it and its node. */
    uint32_t via, after_node;
    uint64_t after;
    struct proto_region *target, *at;
    struct proto_link parts, pins, followers;
    struct proto_link below;    /* its rank's, that begin when it is answered */
    struct proto_link arrivals; /* by_op */
    /* Data, or answers to a delete; or, of a READ that is over, SETTLEDs of those
     * whom it served. */
    uint32_t awaiting;
    struct proto_hold *hold;
    void *waiter;
    /* While a request for base_of, or its data, is under way: the copy that is
     * kept for the answer to build on; and the version that the last request, or
     * a foreign operation, said it keeps. */
    struct proto_copy *base;
    struct proto_region *base_of;
    uint64_t base_version;
    /* It wants a version of its target that is newer than this one; 0: any, or
     * what is under way is newer.  And what it was asked for, whatever comes. */
    uint64_t newer, asked_newer;
};

/* An answer that was sent: until the receiver says SETTLED and the caller, of
 * each TRANSFER with data, proto_sent(). */
struct proto_sending {
    struct proto_link link; /* in root->sendings */
    struct proto_link pins;
    uint32_t node;
    uint64_t ticket;
    bool token; /* may bounce, so the data stays until it is settled */
    bool settled;
    bool promise, revoking; /* it was asked ahead; and REVOKE was sent */
    uint32_t unsent;        /* TRANSFERs with data that is still read */
    struct proto_op *relay; /* of what came with this operation, or NULL */
};

/* An answer that comes, in one or more TRANSFERs: until its data is here; if the
 * sender keeps writers out for it, until the operation ends. */
struct proto_arrival {
    struct proto_link link, by_op;
    struct proto_op *op;
    struct proto_region *region;
    uint32_t node;
    uint64_t ticket;
    bool several;      /* TRANSFERs */
    bool more;         /* of which some are to come, */
    uint32_t awaiting; /* and data, of so many */
    uint32_t copies;   /* that it brings data for, or fewer */
    bool data;         /* some came, */
    bool failed;       /* and cannot be placed */
    bool shared;
    bool wide; /* it brings parts that are not below region */
    int error; /* for SETTLED */
};

/* All of it, with its data? */
static inline bool arrival_here(const struct proto_arrival *a)
{
    return !a->more && !a->awaiting;
}

struct proto_presence {
    struct proto_link link;
    uint32_t node;
    bool more;         /* that node knows of others, or sends to some */
    bool reads;        /* it may have READ holds, */
    uint64_t granted;  /* by this request last; 0: or by others' grants */
    uint64_t version;  /* of the newest copy that node has */
    uint64_t promised; /* the one it was promised last, and will have */
    uint64_t told;     /* the question or order it was last told: a ticket */
    uint64_t quiet;    /* the delete that asked it whether it sends: a ticket */
    struct proto_presence *below[2];
};

#endif /* DRASYNC_PROTOCOL_OBJECTS_H */
