/*
 * replica.h - the directory of replicated regions: which there are, which nodes
 * know them, and how one is freed everywhere.
 *
 * Pure: a call or a message in, messages and callbacks out through struct
 * replica_env; no MPI, no locks, no allocation of its own.  One struct
 * replica_dir per node.  The caller serialises all calls for a directory, and
 * delivers messages between two nodes in the order they were sent.
 *
 * The node that made a region is its home for as long as the region lives.  A
 * node that wants to use a region it does not know attaches to it at its home,
 * and to all its ancestors at theirs, so a node always knows the way up.  A
 * subregion is known at its maker's node, which knows its parent; so freeing
 * needs no list of remote children: every node that drops a region frees the
 * subregions of it whose home it is.
 *
 * Freeing: FREE goes home.  The home drops the region, tells every attached
 * node to DROP, and waits for DROPPED from all; a node answers DROPPED when the
 * subregions it is home of are gone everywhere.  Then RECYCLE tells all that
 * addresses may be used again: nobody can take an old copy for a new region,
 * for nobody has one.
 */
#ifndef DRASYNC_PROTOCOL_REPLICA_H
#define DRASYNC_PROTOCOL_REPLICA_H

#include <stdint.h>

enum replica_state {
    REPLICA_ASKING = 1, /* ATTACH is on its way */
    REPLICA_HALF,       /* attached; an ancestor is not known yet */
    REPLICA_LIVE,
    REPLICA_DOOMED,  /* attached, an ancestor is gone: DROP will come */
    REPLICA_DYING,   /* home: being freed */
    REPLICA_DROPPED, /* not home: dropped here, RECYCLE will come */
};

/* A node that knows a region; kept by the region's home. */
struct replica_link {
    struct replica_link *next;
    uint32_t node;
};

/* What a node knows of one region.  Part of the caller's record of it. */
struct replica_entry {
    uint64_t address; /* 0: the root region, which every node has */
    uint64_t incarnation;
    struct replica_entry *parent;
    struct replica_entry *first_child; /* in the order they became known */
    struct replica_entry *last_child;
    struct replica_entry *next;
    struct replica_entry *prev;
    struct replica_entry *work;
    struct replica_link *nodes;
    uint64_t waiter; /* token of who asked for it to be freed */
    uint32_t waiter_node;
    uint32_t drops_left;    /* DROPPED still to come */
    uint32_t children_left; /* subregions of this home, being freed */
    uint32_t home;
    uint8_t state;
    uint8_t has_waiter;
    uint8_t parent_waits; /* counted in the parent's children_left */
    uint8_t early; /* HALF: `parent` is an older region at its parent's address
                      that is not recycled here yet, or it is not known which */
    uint64_t parent_incarnation; /* of its parent then */
};

enum replica_type {
    REPLICA_MSG_ATTACH = 1, /* address, incarnation (0: whichever lives) */
    REPLICA_MSG_ATTACHED,   /* address, incarnation, parent, its incarnation */
    REPLICA_MSG_UNKNOWN,    /* address: no such region */
    REPLICA_MSG_FREE,       /* address, incarnation, token */
    REPLICA_MSG_FREED,      /* address, token, result */
    REPLICA_MSG_DROP,       /* address, incarnation */
    REPLICA_MSG_DROPPED,    /* address, incarnation */
    REPLICA_MSG_RECYCLE,    /* address, incarnation */
    REPLICA_MSG_TYPES
};

struct replica_message {
    uint32_t type;
    uint32_t origin; /* the node that asked, however often it is forwarded */
    uint64_t address;
    uint64_t incarnation;
    uint64_t parent;
    uint64_t parent_incarnation;
    uint64_t token;
    int64_t result; /* FREED: 0, or DRASYNC_ENOREGION */
};

struct replica_env {
    void *ctx;
    uint32_t nodes; /* in the job */
    /* The entry with this address, in whatever state, or NULL. */
    struct replica_entry *(*find)(void *ctx, uint64_t address);
    /* A new zeroed entry that find() finds, or NULL: no memory. */
    struct replica_entry *(*make)(void *ctx, uint64_t address);
    /* Storage for one link, or NULL: no memory; and back. */
    struct replica_link *(*link_new)(void *ctx);
    void (*link_free)(void *ctx, struct replica_link *link);
    /* The node to ask about an address that is not known here. */
    uint32_t (*home_of)(void *ctx, uint64_t address);
    void (*send)(void *ctx, uint32_t node, const struct replica_message *m);
    /* An attach is over: LIVE if @found; else the region is not there. */
    void (*known)(void *ctx, struct replica_entry *entry, int found);
    /* The region is gone here: let copies go, let nobody use it.  Addresses that
     * other nodes cut for it may be in another region from now on, as those
     * nodes may recycle() first. */
    void (*drop)(void *ctx, struct replica_entry *entry);
    /* Nobody has it any more: this node's addresses in it and @entry may be
     * reused. */
    void (*recycle)(void *ctx, struct replica_entry *entry);
    /* What replica_free() started is over. */
    void (*freed)(void *ctx, uint64_t token, int result);
};

struct replica_dir {
    /* The caller may change it between calls: processes that share a directory
     * have their functions at different places. */
    const struct replica_env *env;
    struct replica_entry *root;
    struct replica_entry *work; /* to be dropped */
    uint64_t incarnation;       /* of the newest region made here */
    uint32_t node;
};

/* @env stays the caller's.  @root becomes the root region's entry: always LIVE,
 * never freed. */
void replica_dir_init(struct replica_dir *dir, uint32_t node,
                      const struct replica_env *env,
                      struct replica_entry *root);

/*
 * A region was made here: @entry, which env.make() gave, under @parent, which
 * is LIVE.
 */
void replica_create(struct replica_dir *dir, struct replica_entry *entry,
                    struct replica_entry *parent);

/*
 * Attach to a region that is not known here; env.known() tells the outcome,
 * perhaps before this returns.  @incarnation 0: whichever lives there.
 *
 *   DRASYNC_ENOREGION  no node is home of this address
 *   DRASYNC_ENOMEM
 */
int replica_attach(struct replica_dir *dir, uint64_t address,
                   uint64_t incarnation);

/*
 * Free @entry, which is LIVE, and its subregions; env.freed(@token) when it is
 * gone everywhere, perhaps before this returns.
 */
void replica_free(struct replica_dir *dir, struct replica_entry *entry,
                  uint64_t token);

/*
 * A message came from node @from.
 *
 *   DRASYNC_EINTERNAL  it cannot be: the sender or this node is broken
 *   DRASYNC_ENOMEM
 */
int replica_receive(struct replica_dir *dir, uint32_t from,
                    const struct replica_message *m);

/*
 * The next of the subtree of @top after @entry, parents before children; NULL
 * at its end.  @entry begins as @top.  Some may not be LIVE.
 */
struct replica_entry *replica_next(const struct replica_entry *top,
                                   const struct replica_entry *entry);

#endif /* DRASYNC_PROTOCOL_REPLICA_H */
