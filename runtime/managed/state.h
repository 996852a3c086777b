/*
 * state.h - what a node knows of managed regions: see managed.h.  For
 * runtime/managed/ only.
 *
 * Entries lie in control memory, in a table by address, under locks by address.
 * A node has an entry of a region while its ranks have references to it or want
 * to know of its end; the home has one from drasync_manage() to the end.
 */
#ifndef DRASYNC_RUNTIME_MANAGED_STATE_H
#define DRASYNC_RUNTIME_MANAGED_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/lock.h"
#include "protocol/references.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* Few enough that ThreadSanitizer can follow a thread that holds all. */
#define MANAGED_SHARDS_BITS 5
#define MANAGED_SHARDS      (1 << MANAGED_SHARDS_BITS)

/* A rank of this node wants to know of the end. */
struct managed_call {
    struct managed_call *next;
    int32_t local; /* the rank's number on the node */
    drasync_end_fn *call;
    void *arg;
    uint64_t address;
};

struct managed_entry {
    struct refs_entry refs;
    int32_t home_node; /* of the region: may differ from native_home() */
    struct managed_entry *next; /* in its bucket */
    struct managed_call *calls;
    struct managed_entry *unused_next; /* under the list's lock */
    /* On one of the lists of what is to be ended.  Changed under the list's lock;
     * relaxed, as whoever ends the entry has taken it off by itself. */
    _Atomic bool listed;
};

static inline struct managed_entry *managed_of(struct refs_entry *refs)
{
    return (
        struct managed_entry *)(void *)((char *)refs -
                                        offsetof(struct managed_entry, refs));
}

/* All may be read without a lock, as hints and for the statistics. */
struct managed_counts {
    _Atomic uint64_t managed; /* ever, at this home */
    _Atomic uint64_t ended;
    _Atomic uint64_t fresh, lingering; /* on the lists below */
    _Atomic uint64_t links;            /* of regions whose home this is */
    _Atomic uint64_t due;              /* calls, of all ranks */
};

/* A part of the table: the entries with the same first bits of the address's hash,
 * in so many buckets as entries, or more. */
struct managed_shard {
    struct lock lock;
    struct managed_entry **buckets; /* NULL: none yet */
    uint32_t bits;                  /* 2^bits buckets */
    uint32_t count;                 /* of entries */
} __attribute__((aligned(64)));

/* Which end, first come first. */
struct managed_list {
    struct managed_entry *first;
    struct managed_entry *last; /* of any */
};

struct managed_shared {
    struct managed_shard shards[MANAGED_SHARDS];
    struct managed_counts counts;
    /* The local number + 1 of the rank of which a thread looks for circles. */
    _Atomic uint32_t searching;
    _Atomic uint64_t stamps; /* of entries made so far */

    /* Under `list`: unused regions that were not tried yet, and those that
     * somebody held then. */
    struct lock list;
    struct managed_list fresh, lingering;
    uint64_t far_begun, far_done; /* node 0: searches over all nodes */
    struct managed_rank {
        struct managed_call *due;
        /* Threads of it that may have taken a region off its list, or set it
         * ENDING; where deaths are survived. */
        _Atomic uint32_t ending;
    } rank[]; /* of the node */
};

/* What the node shares; NULL: no rank of it has met a managed region.  Once there
 * is one it never changes again. */
static inline struct managed_shared *managed_get(void)
{
    /* Acquire pairs with the exchange of managed_open(). */
    return atomic_load_explicit(
        &runtime.shared->anchors[RUNTIME_ANCHOR_MANAGED], memory_order_acquire);
}

/* Make it, if there is none.  DRASYNC_ENOMEM. */
int managed_open(void);

/* --- Entries (table.c); all under the lock of the address ----------------- */

/* The lock of @address.  0 or DRASYNC_EPEER. */
int managed_lock(uint64_t address);
void managed_unlock(uint64_t address);

/* Is there any? */
bool managed_at(uint64_t address);

/* The entry, or NULL. */
struct managed_entry *managed_find(uint64_t address, uint64_t incarnation);

/* Has this node a reference that is no link's? */
static inline bool managed_has_own(const struct managed_entry *e)
{
    return refs_may_change(&e->refs, -1);
}

/* The entry of a region at @address to which this node refers, or NULL.  An
 * address is used again: of several it is the one that refs_is_meant() says. */
struct managed_entry *managed_referred(uint64_t address);

/* The same, made if need be, with @home for its home; NULL: no memory. */
struct managed_entry *managed_entry(uint64_t address, uint64_t incarnation,
                                    int home);

/* Free it, if nobody here needs it any more. */
void managed_drop(struct managed_entry *entry);

/* What a node knows a managed region by. */
struct managed_name {
    uint64_t address, incarnation;
    int32_t home;
    int32_t reserved;
};

/* --- References (references.c); no lock is held --------------------------- */

/*
 * One more, or one less, of those that this node has to a region: of
 * @incarnation, or if that is 0 of the first that managed_referred() gives.
 *   DRASYNC_EINVAL  it has none, or one less: none that is no link's;
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int managed_change(uint64_t address, uint64_t incarnation, int64_t by);

/* One less of a link at this home, which has been taken off its region's. */
int managed_link_end(uint64_t address, uint64_t incarnation);

/* One less, and if that was the last of all, and this is the region's home, it
 * ends now.  Errors as above, and those of an end. */
int managed_give_back(uint64_t address);

/* What does this node refer to at @address; @own: by more than links?
 * DRASYNC_EINVAL: to nothing. */
int managed_referred_to(uint64_t address, bool own,
                        struct managed_name *name_out);

/* Let @node, another one, have a reference of this node. */
int managed_give_node(int node, const struct managed_name *name);

/* --- Links (links.c) ------------------------------------------------------ */

/*
 * At the home of the region at @address, whose node has a reference to @to for
 * the link, which is the link's if there is no error, and DRASYNC_EAGAIN leaves
 * it.  Otherwise it is given back.
 *   DRASYNC_EINVAL  the node has none: somebody gave back one too many
 *   DRASYNC_EDELETED, DRASYNC_EAGAIN  as managed_home_ask()
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int managed_home_link(uint64_t address, uint64_t incarnation, uint64_t to,
                      uint64_t to_incarnation);

/* The same without; DRASYNC_EINVAL: there is no such link. */
int managed_home_unlink(uint64_t address, uint64_t incarnation, uint64_t to);

/* Give back what the links of a region that has ended referred to. */
void managed_links_end(struct refs_link *links);

/* Only free links, for which there is nothing to give back. */
void managed_links_free(struct refs_link *links);

/* --- At home (home.c) ----------------------------------------------------- */

/*
 * By @node, any, at the region's home.  No lock is held.
 *   DRASYNC_EMANAGED  MANAGE: it is managed
 *   DRASYNC_EDELETED  it has ended, or was never managed
 *   DRASYNC_EAGAIN    it may be about to end: ask again
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int managed_home_ask(int node, enum refs_ask what, uint64_t address,
                     uint64_t incarnation);

/* Count @by for @node; @wants_end: tell it of the end.  Errors as above. */
int managed_home_count(int node, uint64_t address, uint64_t incarnation,
                       int64_t by, bool wants_end);

/* This node's count has changed; under the lock of its address. */
void managed_home_look(struct managed_entry *entry);

/* End what is unused; @all: also what was held when it was tried last.  No lock
 * is held; a region's end may take messages, as drasync_delete(). */
int managed_home_end(bool all);

/*
 * Between the two this thread sets regions ENDING, or takes them off their lists;
 * if its rank dies there, nobody else ends them, and so the job does, where others
 * would go on.  The one's result is the other's argument.
 */
_Atomic uint32_t *managed_ending_begin(void);
void managed_ending_end(_Atomic uint32_t *ending);

/* End @entry, ENDING, unless somebody holds the region: then it lingers.  No lock
 * is held. */
int managed_home_end_one(struct managed_entry *entry);

/* @entry's region could not be deleted: it is tried again later.  No lock is
 * held.  DRASYNC_EPEER. */
int managed_home_linger(struct managed_entry *entry);

/* @entry's region was deleted, by who had set it ENDING.  No lock is held. */
int managed_home_gone(struct managed_entry *entry);

/* End circles of this home (circles.c).  No lock is held.  *far_out: there may be
 * more, if other nodes are asked.  DRASYNC_ENOMEM, DRASYNC_EPEER. */
int managed_circles(bool *far_out);
/* Of struct runtime_module. */
void managed_rank_died(int rank);

/* End circles of all homes (far.c).  No lock is held.  Errors as above. */
int managed_far_circles(void);

/* --- Messages (wire.c) ---------------------------------------------------- */

void managed_wire_start(void);

/* What managed_home_ask(), managed_home_link() and its like do, wherever the
 * home is; @to is for links. */
struct managed_asked {
    uint64_t address, incarnation;
    uint64_t to, to_incarnation;
    int32_t what; /* enum refs_ask */
    int32_t reserved;
};

int managed_ask(int home, const struct managed_asked *asked);

/* managed_home_count(), the same. */
int managed_count(int home, int node, uint64_t address, uint64_t incarnation,
                  int64_t by, bool wants_end);

/* Give @node a reference.  *listed_out: the home is to list it for one more. */
int managed_hand(int node, const struct managed_name *name, bool *listed_out);

/* Tell @node of the end. */
int managed_tell_end(int node, uint64_t address, uint64_t incarnation);

/* --- Checked mode (linked.c) ---------------------------------------------- */

/* What a rank that looks for forgotten links asks a node; answered on the
 * progress thread. */
enum linked_what {
    LINKED_WHERE, /* which root region has link[0].address; so it is answered */
    LINKED_ASK,   /* the home of a region: is it linked to each link[]? */
};

/* In a question; also this many links of the region, times 32, are looked at. */
#define LINKED_MAX 256

struct linked {
    uint64_t address, incarnation; /* the region's, of LINKED_ASK */
    uint32_t what, count;
    uint32_t many; /* answered: the region has more links than were looked at */
    uint32_t reserved;
    struct refs_asked_link link[LINKED_MAX]; /* not all are sent */
};

#define LINKED_BYTES(count) \
    (offsetof(struct linked, link) + (count) * sizeof(struct refs_asked_link))

/* (links.c) At the node that is asked.
 *   DRASYNC_ENOREGION  WHERE: none that it knows
 *   DRASYNC_EDELETED   ASK: it is not managed, or has ended; DRASYNC_EPEER */
int managed_linked_answer(struct linked *l);

/* The same, wherever that node is. */
int managed_linked_ask(int node, struct linked *l);

void managed_linked_start(void);

/* --- The end at a node (end.c) -------------------------------------------- */

/* The region has ended: its calls are due, and the entry goes.  Under the lock
 * of its address. */
void managed_ended(struct managed_entry *entry);

/* Call what is due for this rank.  No lock is held. */
void managed_call_due(void);

#endif /* DRASYNC_RUNTIME_MANAGED_STATE_H */
