/*
 * state.h - what runtime/native*.c share: the node's state of native
 * regions in control memory, this process's state, and the steps between.
 *
 * Order of locks: the lock of a tree (several only all together, in order),
 * then the process's map lock.  Names and memory/ may be called under both.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_STATE_H
#define DRASYNC_RUNTIME_NATIVE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/extents.h"
#include "memory/frameset.h"
#include "memory/heap.h"
#include "memory/lock.h"
#include "protocol/protocol.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/native/lease.h"
#include "runtime/native/recycle.h"
#include "runtime/native/running.h"
#include "runtime/shared.h"
#include "runtime/wait.h"

/* A condition that tests/step/lease_tree.c may leave out, to see it missed. */
#ifndef NATIVE_RULE
#define NATIVE_RULE(rule) true
#endif

/* Locks of trees; a tree's is found by its root's address.  Few enough that
 * ThreadSanitizer can follow a thread that holds all. */
#define NATIVE_STRIPES 32

#define NATIVE_BUCKETS 65536

/* Under the locks of trees, above those of memory/. */
#define LOCK_RANK_NATIVE_TABLE      300
#define LOCK_RANK_NATIVE_QUARANTINE 310

/* A region's first extent. */
#define NATIVE_FIRST_PAGES 1

/* --- Shared by the node --------------------------------------------------- */

/* Objects of one type that are not in use.  Linked behind the object, so that
 * what is in it stays readable until it is taken again. */
struct native_pool {
    _Atomic(void *) free; /* other stripes look whether there is a spare one */
    uint32_t count;
    uint32_t keep; /* as many as a TRANSFER needed at once */
};

/* The extents of a region on this node: proto_region.memory. */
struct native_memory {
    uint64_t reserved[2];
    _Atomic uint64_t address;
    uint64_t incarnation;
    uint64_t extents, pages;
    /* 1 + which rank of this node made it, and which other one may have read it
     * and deletes it; 0: none. */
    int32_t maker, reader;
    bool home;    /* the region was made on this node */
    bool named;   /* at home: somebody may have published it */
    bool touched; /* something but the creator's first magazine used the heap */
    struct native_delta *delta; /* delta.h; or NULL */
    struct native_twin *twin;   /* diff.h; or NULL */
    /* Bit n: of ranks with such a number on the node (modulo 64) several threads
     * read it; and until when that makes no shared lease (lease.h). */
    uint64_t readers, alone_until_us;
    uint32_t leases;             /* of the region; under the lock of its tree */
    struct extent *first, *last; /* in the order in which the region got them */
    struct extent *walk;         /* env_extent() gave it last; or NULL */
    uint32_t walk_index;
};

/* What extent.user[] means here. */
enum {
    EXTENT_PRIMARY_USED, /* a copy uses the primary frames */
    EXTENT_USED_BYTES,   /* from its start: nothing beyond matters, in frames
                            that are not `fixed` */
    EXTENT_CUT_HERE,     /* by this node; NATIVE_EXTENT_GOES: and is taken out
                            of its region, under the lock (trim.c) */
};
#define NATIVE_EXTENT_GOES 2

/*
 * The frames of one copy: proto_copy.frames.
 *
 * How much of each extent matters differs between versions, as a region's large
 * objects come and go.  For the frames whose heap is being changed the extents
 * say it (EXTENT_USED_BYTES); all others are `fixed`: they came from elsewhere,
 * or the region went on in others, and their set's used_bytes say it.
 */
struct native_frames {
    uint64_t reserved[2];
    uint64_t id; /* never used again on this node */
    struct frameset *set;
    bool fixed;
};

struct native_shared {
    _Atomic uint64_t stamp, ticket, frames_id;
    _Atomic uint64_t regions;
    /* Versions that were hashed after they were sent, since one of them was
     * built upon: delta.c. */
    _Atomic uint32_t noted_in_vain;
    _Atomic uint32_t notes;      /* that are being made by chores */
    _Atomic uint64_t twin_bytes; /* of all of them: diff.h */
    _Atomic uint64_t laters;     /* numbers given: later.h */
    _Atomic uint32_t runs;       /* numbers of native_rank_new(), all */
    _Atomic uint32_t saves;      /* processes' */
    struct native_claimed *claimed; /* by other nodes: claim.c */
    struct lock table_lock;      /* changes of the table, and of spare[] */
    struct native_entry *entries_free;
    _Atomic(struct native_entry *) buckets[NATIVE_BUCKETS];
    struct native_pool pools[NATIVE_STRIPES][PROTO_TYPES];
    struct native_pool spare[PROTO_TYPES]; /* under table_lock */
    _Atomic bool deletes_asked;            /* proto_env */
    _Atomic bool scarce; /* there was no memory for an object: keep few */
    _Atomic(struct native_hidden *) hidden; /* recycle.c */
    struct native_local *locals;            /* [locals] */
    struct native_quarantine *quarantine;   /* NULL: nothing is checked */
    /* Bit i: some lease of stripe i is kept, though a REQUEST waits: keep.h. */
    _Atomic uint32_t kept;
    struct native_leases leases[NATIVE_STRIPES];
};

/* --- This process --------------------------------------------------------- */

/* Whoever waits for an operation; in control memory. */
struct native_wait {
    uint64_t reserved[2];
    struct waiter waiter;
    bool split;                   /* of the hold that was granted */
    uint64_t incarnation, layout; /* of its region and tree at that moment */
    uint64_t version;             /* that it sees */
    struct native_lease_slot
        *slot;                /* of the lease that the grant began, with */
    uint64_t word;            /* this word; or NULL */
    bool served;              /* the leader's engine waits: run_hold.c */
    bool unsettled, waited;   /* as the effect that ended it */
    struct native_wait *next; /* while unused */
};

struct native {
    struct native_shared *shared;
    struct proto_node node; /* this process's: it has function pointers */
    struct runtime_rank *self;
    int32_t rank;
    bool check;   /* checked mode: no leases; guard.c */
    bool objects; /* and no magazines, but red zones: objects.c */
    bool threads; /* and who gives back whose hold: taken.h */
};

extern struct native native;

/* Whose holds this thread's calls are about, as the protocol numbers ranks. */
static inline int32_t native_rank(void)
{
    return native_running.server ? native_running.server : native.rank;
}

/* A rank of its own, of this process, for a hold that no rank of the job has
 * (run_hold.c, or image.c, which @saves): this rank, modulo the number of ranks.
 * Numbers come again, those of saves, which may be long, after as many saves. */
int32_t native_rank_new(bool saves);

/* The node of the token, as far as this one knows; under the tree's lock.  Without a
 * move there is no hint: an ancestor of what was met here. */
static inline int native_owner_seen(const struct proto_region *r)
{
    return r->owned   ? runtime.node
           : r->epoch ? (int)r->hint
                      : native_home(r->address);
}

/* (ask.c) As native_incarnation(); if @name the region may get one now. */
int native_incarnation_here(drasync_region_t region, bool name, uint64_t *out);

/* Waits of this process, kept for reuse. */
struct native_wait *native_wait_take(void); /* NULL: no memory */
void native_wait_give(struct native_wait *wait);

/* --- Steps (step.c) ------------------------------------------------------- */

/* Whose lock is held. */
struct native_tree {
    struct proto_region *region; /* of the address asked for; NULL: unknown */
    int stripe;                  /* -1: all */
    int from;                    /* of a message: the node that asked first */
};

/* A message with data that is being handled (send.c). */
struct native_arrival;

/* Lock the tree that has @address.  0 or DRASYNC_EPEER. */
int native_lock(uint64_t address, struct native_tree *tree);
/* The same, for a step that leaves some holds as they are. */
int native_lock_for(enum native_for what, uint64_t address,
                    struct native_tree *tree);
/* What the step of @message needs. */
int native_lock_message(const struct proto_message *message,
                        struct native_tree *tree);
void native_unlock(const struct native_tree *tree);

/* The record of @address, if it is in a tree whose lock @tree is; else NULL. */
struct proto_region *native_find_in(const struct native_tree *tree,
                                    uint64_t address);

/*
 * As proto_next(), but of what a WRITE hold of @top covers: regions that are
 * owned here and were not deleted.  Frames and record of others go when this
 * node is told of their end, whoever holds what is above them.
 */
struct proto_region *native_next_covered(const struct proto_region *top,
                                         const struct proto_region *at);

/* The effects of this thread's next step, cleared; under a lock of trees. */
struct proto_effects *native_effects(void);

/* Between the step and native_do(): this thread goes on without what it asked
 * other nodes for, and may ask for more (`soon` in messages.h). */
void native_effects_soon(struct proto_effects *effects);
/* The thread ends. */
void native_effects_free(void);

/* Do what the step says; under the lock of the step.  @arrival: of the message
 * that the step handled, or NULL. */
void native_do(struct proto_effects *effects, struct native_arrival *arrival);

/* --- Holds (hold.c) ------------------------------------------------------- */

/* @region or the one above it whose hold, of this rank, covers it; or NULL. */
const struct proto_region *
native_held_through(const struct proto_region *region);

/* Is @region the address of a region at all? */
bool native_address_valid(drasync_region_t region);

/* What a step is for that takes a hold for @mode. */
static inline enum native_for native_step_for(enum drasync_mode mode)
{
    return mode == DRASYNC_READ ? NATIVE_FOR_READ : NATIVE_FOR_WRITE;
}

/*
 * (hold_show.c) The hold for @mode that native_rank() has now becomes usable: what it covers
 * is shown, after a copy if it @must_split.  Under the lock of @tree if @locked,
 * which is given back.  On error the hold is given back too.
 */
int native_hold_show(uint64_t address, struct native_tree *tree, bool locked,
                     enum drasync_mode mode, bool must_split);

/* Under the lock: is the READ @hold (NULL: it is one for WRITE) covered by a
 * WRITE hold of its rank whose thread has not split yet?  Then who is granted
 * @hold splits too, as those frames are given back. */
bool native_read_splits(const struct proto_hold *hold);

/* Give back a hold for @mode that native_rank() has and nobody uses. */
int native_hold_undo(uint64_t address, enum drasync_mode mode);

/*
 * One hold that this rank has of the region of @tree ends, the one of which the
 * calling thread took last; under the lock of @tree, which is given back.
 * DRASYNC_ENOTHELD ...
 */
int native_hold_give(struct native_tree *tree);

/* After a grant with split, no lock held: see split.c.  DRASYNC_ENOMEM. */
int native_split(uint64_t address);

/* --- Deaths (died.c) ------------------------------------------------------ */

/* Of struct runtime_module. */
void native_rank_died(int rank);

/* --- Data (object.c) ------------------------------------------------------ */

/* At HEAP_HEADER_OFFSET in a region's first page. */
struct native_header {
    struct heap heap;
    void *root;
    uint64_t objects; /* of a heap with red zones: its quarantine */
};

static inline struct native_header *native_header_of(uint64_t address)
{
    return (struct native_header *)(uintptr_t)(address + HEAP_HEADER_OFFSET);
}

/* Make @memory's first extent a region without objects. */
int native_header_make(struct native_memory *memory);

/* --- Wire (send.c) -------------------------------------------------------- */

/* Ship the SEND effect @index with its SHIPs.  True if data goes along. */
bool native_wire_send(struct proto_effects *effects, size_t index);
/* A TRANSFER has left; under the lock of its tree. */
void native_wire_left(uint64_t root, uint32_t node, uint64_t ticket);
/* ARRIVING and EXPECT effects. */
void native_wire_arriving(struct native_arrival *arrival,
                          const struct proto_effect *effect);
void native_wire_expect(struct native_arrival *arrival,
                        const struct proto_effect *effect);
void native_wire_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_STATE_H */
