/*
 * record.h - what a node knows of a region: its record, versions, pins and
 * holds.  protocol.h includes this; callers read it under the lock of its tree.
 */
#ifndef DRASYNC_PROTOCOL_RECORD_H
#define DRASYNC_PROTOCOL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/subscribe.h"

/* A member of a list, and its head. */
struct proto_link {
    struct proto_link *next, *prev;
};

/* Objects of the environment, each type of one size. */
enum proto_type {
    PROTO_REGION,
    PROTO_COPY,
    PROTO_PIN,
    PROTO_HOLD,
    PROTO_OP,
    PROTO_PART,
    PROTO_SENDING,
    PROTO_ARRIVAL,
    PROTO_PRESENCE,
    PROTO_TYPES,
};

/* A version of a region's data on this node. */
struct proto_copy {
    struct proto_link link; /* in region->copies, newest first */
    uint64_t version;
    uint32_t pins;  /* by READ holds, and operations that will be one */
    uint32_t sends; /* by transfers that read it, and proto_copying() */
    uint32_t bases; /* by requests whose answer may be what changed since */
    uint32_t ahead; /* so many of the pins are of what was asked ahead */
    struct proto_link pinned; /* the pins */
    bool taken;               /* its frames are a newer version's now */
    uint64_t arriving; /* ticket of the transfer that brings its data; 0: it is
                          here */
    void *frames;      /* the caller's; NULL in a copy nobody has filled */
};

/* A reference to a copy by a hold, an operation or a transfer. */
struct proto_pin {
    struct proto_link link; /* in the order of the subtree: parents first */
    const struct proto_link *of; /* the head of that list */
    struct proto_link by_copy; /* in copy->pinned, if it counts in copy->pins */
    struct proto_region *region;
    struct proto_copy *copy; /* NULL: a lock without data (transfers) */
    bool shared;             /* also keeps writers out of region, */
    bool promise;            /* until that is revoked */
    bool ahead;              /* of an operation that asks ahead */
    uint64_t version;        /* of the copy, when it was pinned */
};

/* A READ hold of a rank. */
struct proto_hold {
    struct proto_link link; /* in region->holds */
    struct proto_region *region;
    int32_t rank;
    uint32_t count;
    /* What it sees.  Empty while a WRITE hold or another READ hold of the same
     * rank covers it; pins come when that one is released. */
    struct proto_link pins;
    bool covered;
    bool shown; /* the caller's; false in a new one */
};

/* What this node knows of a region.  Read-only for callers, but for memory, and
 * what holds have for them. */
struct proto_region {
    uint64_t address;
    uint64_t incarnation; /* 0: not known yet (waits for LOCATED) */
    struct proto_region *parent, *root;
    struct proto_link sibling;  /* in parent->children */
    struct proto_link children; /* in order of creation */

    bool owned;   /* the token is here */
    bool home;    /* its address was cut here */
    bool present; /* other nodes may count on this record */
    bool dead;    /* deleted; waits until all nodes have forgotten it */
    bool locating;
    bool hot;             /* many nodes READ it: ask through others */
    uint32_t hint;        /* where the token went, */
    uint64_t epoch;       /* and its move that was: grows by one each */
    uint32_t tail_node;   /* home: the line's last, */
    uint64_t tail_ticket; /* and its request; 0: there is no line */

    struct proto_op *lock; /* a WRITE operation that has got this far */
    uint32_t shared;       /* READ operations that have, and are not done, */
    uint32_t promised;     /* of which so many were asked ahead: revocable */
    int32_t write_rank;    /* -1: no WRITE hold */
    uint32_t write_count;
    struct proto_link
        previous;             /* held for WRITE: a pin, of what it was before */
    struct proto_link holds;  /* READ holds of this region itself */
    struct proto_link copies; /* newest first; the first is current if owned */
    struct proto_link queue;  /* owner: requests in order of arrival */
    struct proto_link subscribers; /* owner: requests for the next version */
    struct proto_link pending;     /* not owner: requests that must wait here */
    struct proto_link locates;     /* locating: others' LOCATEs */
    /* Nodes that may have copies or hints: presence.c. */
    struct proto_link presence;
    struct proto_presence *presence_top;
    uint32_t presence_count;
    uint32_t children_count; /* gone ones too, as long as they are listed */

    uint64_t version;      /* of the current copy, when the token came */
    uint64_t written;      /* stamp of the last WRITE hold of this region */
    uint64_t arrived;      /* stamp when the token came */
    uint64_t came;         /* the same, never moved on; 0: it was made here */
    uint64_t read_version; /* owner: this version's data went */
    uint32_t readers;      /* to so many nodes from here */

    /* Sums over this region and the records below it. */
    uint32_t away;       /* tokens that are elsewhere */
    uint32_t busy;       /* WRITE holds, locks, shared locks */
    uint32_t waiting;    /* members of queues and pending lists */
    uint32_t reads;      /* READ holds */
    uint32_t pinned;     /* current copies that have pins or sends */
    uint32_t forgot;     /* regions with `dropped` */
    uint32_t subscribed; /* members of `subscribers` */
    uint32_t losses;     /* regions with `lost` */
    uint32_t asked_for;  /* members of `asking` */

    uint32_t keeps;   /* operations that refer to this record */
    uint32_t sends;   /* transfers that are not settled, and proto_copying() */
    uint32_t sent;    /* own requests for it that are under way, */
    uint32_t awaited; /* and those that wait for a newer version, maybe long */
    uint32_t asker;   /* node + 1 that waits for sends to be 0; 0: none */
    uint8_t asked;    /* by RECALL or BURY */
    uint32_t told;    /* node + 1 that is to be told when no rank here READs */
    uint64_t told_ticket; /* what it sent for this request; 0: none */
    bool gone;            /* deleted, as this node was told */
    bool forgotten;       /* and indexed only as long as it has sends */
    bool indexed;         /* env->find() knows it */
    bool pin_counted;     /* counts in pinned */
    bool dropped;    /* a copy was, for want of memory; others count on it */
    bool came_ahead; /* the token was asked ahead, and not acquired yet */
    bool lost;       /* who wrote it died: it can only be deleted */
    bool recovers;   /* instead, it goes back to `previous` */
    bool fresh;      /* made under a hold that would go back */
    struct proto_news news;   /* not owner */
    struct proto_op *ahead;   /* what this node asked ahead of it, or NULL */
    struct proto_link parts;  /* that name it, of operations */
    struct proto_link asking; /* this node's acquires of it */

    /* Root records only. */
    uint64_t clock;
    uint64_t layout; /* changes when any current copy or its frames do */
    bool recovering; /* some region of the tree recovers, or did */
    struct proto_link sendings;
    struct proto_link requests; /* own requests under way, by ticket */
    struct proto_link arrivals;

    struct proto_link serve, gc; /* in the lists of the step that runs */
    void *memory;                /* the caller's (extents) */
};

#endif /* DRASYNC_PROTOCOL_RECORD_H */
