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
    struct lock table_lock;      /* changes of the table, and of spare[] */
    struct native_entry *entries_free;
    _Atomic(struct native_entry *) buckets[NATIVE_BUCKETS];
    struct native_pool pools[NATIVE_STRIPES][PROTO_TYPES];
    struct native_pool spare[PROTO_TYPES]; /* under table_lock */
    _Atomic bool deletes_asked;            /* proto_env */
    _Atomic bool scarce; /* there was no memory for an object: keep few */
    _Atomic(struct native_hidden *) hidden; /* recycle.c */
    struct native_turn *turns;              /* [locals] */
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

/* pool.c: objects and records for the protocol, in control memory. */
int native_shared_new(struct native_shared **shared_out);
void native_env_fill(struct proto_env *env);
struct proto_region *native_find(uint64_t address);
/* Its entry, under the tree's lock.  With address 0 nobody finds the record. */
struct native_entry *native_find_entry(uint64_t address);
/* What is wrong with an address without a record: DRASYNC_ENOREGION; or if only
 * its home could say that, DRASYNC_ENOTHELD, which is true in any case. */
int native_unknown(uint64_t address);
/* (ask.c) As native_incarnation(); if @name the region may get one now. */
int native_incarnation_here(drasync_region_t region, bool name, uint64_t *out);
/* This thread has locked @stripe (-1: all) and may use its pools. */
void native_pool_use(int stripe);
/* The stripe whose pools it uses; it has that stripe's lock. */
int native_pool_used(void);
void native_pool_shed(void); /* before the locks are given back */
/* This thread has the lock of a tree; for a signal's handler. */
extern _Thread_local volatile bool native_in_step
    __attribute__((tls_model("initial-exec")));
/* Call @visit for all records; without locks, so what it gets may be gone. */
void native_each(void (*visit)(uint64_t address, void *arg), void *arg);

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

/* --- Frames and extents (frames.c); under the tree's lock ----------------- */

/* The frames of a copy with @memory's extents: primary ones if no other copy
 * uses any of them, else alternate ones. DRASYNC_ENOMEM, DRASYNC_ENOSPACE ...
 */
int native_frames_new(const struct native_memory *memory,
                      struct native_frames **frames_out);
void native_frames_free(struct native_frames *frames);

/* The same in two parts, as the second may take long: it reserves memory. Under
 * the lock, but if the frames are not the primary ones the second need not be,
 * as long as a hold keeps the region's extents. */
struct native_plan {
    struct frameset_extent *list; /* NULL: made, or given up */
    uint64_t extents;
    bool primary;
};
int native_frames_plan(const struct native_memory *memory,
                       struct native_plan *plan_out);
int native_frames_make(struct native_plan *plan,
                       struct native_frames **frames_out);
void native_plan_free(struct native_plan *plan);

/* How much of the extent of run @i matters, from its start. */
uint64_t native_used_bytes(const struct native_frames *frames, uint64_t i);

/* What matters of them changes no more. */
void native_frames_fix(struct native_frames *frames);

/* The heap in them is about to change. */
void native_frames_loosen(struct native_frames *frames);

/* Copy what matters of the extents that both have; @to is fixed then, as @from
 * is.  Nobody else copies @from meanwhile. */
int native_frames_copy(struct native_frames *to,
                       const struct native_frames *from);

/* The set has grown by @extent, in the current copy. */
int native_frames_grow(struct native_frames *frames, struct extent *extent);

/* It has lost all but the first, with primary frames: no process has seen the
 * set as it is now. */
void native_frames_shrink(struct native_frames *frames);

int native_memory_new(uint64_t address, uint64_t incarnation,
                      struct native_memory **memory_out);
void native_memory_append(struct native_memory *memory, struct extent *extent);
/* All extents but the first are gone. */
void native_memory_shrink(struct native_memory *memory);
/* All extents are gone, with their frames; nobody has the region here, and its
 * next copy brings what it needs. */
void native_memory_empty(struct native_memory *memory);
/* The record goes; @dead: the region was deleted. */
void native_memory_free(struct native_memory *memory, bool dead);

/* An address run that this node cut comes back. */
void native_extent_back(uint64_t address, uint64_t pages);
/* The same, past quarantine. */
void native_extent_back_now(uint64_t address, uint64_t pages);

/* Checked mode (quarantine.c): runs that came back, until they are used again.
 * Any moment. */
int native_quarantine_new(struct native_quarantine **quarantine_out);
void native_quarantine_put(struct native_quarantine *quarantine,
                           uint64_t address, uint64_t pages);
void native_quarantine_clear(struct native_quarantine *quarantine);
/* Was there a region until not long ago? */
bool native_quarantined(uint64_t address);

/* @region or the one above it whose hold, of this rank, covers it; or NULL. */
const struct proto_region *
native_held_through(const struct proto_region *region);

/* Any moment, no lock held: cut an extent of @pages, or fewer but @pages_min,
 * for @memory; asks the manager for addresses and drops cached copies if it
 * must.  This process sees its primary frames.
 */
int native_extent_new(struct native_memory *memory, uint64_t pages_min,
                      uint64_t pages, struct extent **extent_out);

/* No lock held: drop copies of all trees that nothing refers to, and the frames
 * of regions that are elsewhere only (trim.c). */
void native_evict(void);

/* No lock held: give back what has no objects of the regions that only this node
 * has, and this rank holds for WRITE or nobody holds.  False: nothing
 * was there. */
bool native_trim(void);

/* --- What this process sees (map.c) --------------------------------------- */

/* Frames that a hold shows; collected under the tree's lock. */
struct native_mapping {
    struct native_frames **frames;
    size_t count, room;
    bool failed; /* no memory to note them all */
};

/* Does this process, as far as it remembers, show the newest copies of
 * @region's subtree?  And: it does now. */
bool native_mapping_current(const struct proto_region *region);
/* The same by what a grant noted.  No lock is needed. */
bool native_mapping_granted(uint64_t address, const struct native_wait *wait);
void native_mapping_remember(const struct proto_region *region);
/* Do all addresses of native regions show primary frames in this process? */
bool native_mapping_primary(void);
/* Something was shown that is not the newest. */
void native_mapping_disturbed(void);
/* The thread ends. */
void native_mapping_forget(void);

/* Note @frames of region @address unless they are shown already.  Under the
 * map lock, which is kept until native_mapping_show(). */
void native_mapping_add(struct native_mapping *view, uint64_t address,
                        struct native_frames *frames);
/* Show all that was noted; frees the list.  Not under the tree's lock; the
 * frames stay because of the hold.  DRASYNC_ENOMEM. */
int native_mapping_show(struct native_mapping *view);

/* The offset in the data file of what this process sees at @ptr; false if
 * [@ptr, @ptr + @bytes), inside the data part, does not lie there in one
 * piece. */
bool native_mapped(const void *ptr, uint64_t bytes, uint64_t *offset_out);

/* Does this process see the primary frames of @page?  By who has the lock of its
 * region's tree. */
bool native_mapped_primary(uint64_t page);

void native_map_lock(void);
void native_map_unlock(void);

/* --- Holds (hold.c) ------------------------------------------------------- */

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

/* --- Objects with red zones (objects.c), if native.objects ----------------- */

/* What a call found wrong, to be told without locks. */
struct native_found {
    struct native_found *next;
    struct check_region region;
    enum check_when when;
    struct heap_who who; /* called */
    struct heap_faults faults;
};

/* For a call of this thread, before locks; NULL: no memory. */
struct native_found *native_objects_begin(enum check_when when);
/* Tell what was found, and free it; no lock held.  @found may be NULL. */
void native_objects_end(struct native_found *found);

/* Under the lock of the tree of @region, which is held for WRITE; as the calls
 * of heap.h. */
int native_objects_alloc(struct native_found *found,
                         const struct heap_context *context,
                         const struct proto_region *region, size_t size_bytes,
                         void **ptr_out);
int native_objects_free(struct native_found *found,
                        const struct heap_context *context,
                        const struct proto_region *region, void *ptr);
int native_objects_usable(const struct heap_context *context,
                          const struct native_header *header,
                          const struct proto_region *region, const void *ptr,
                          size_t *bytes_out);

/* How much of a region that is held is objects'; what was freed and waits is
 * not. */
uint64_t native_objects_used(const struct proto_region *region);

/* Under the lock of its tree: this process holds @region for @mode now, 0: it does
 * not; AddressSanitizer and valgrind are told (memory/marks.h). */
void native_objects_mark(const struct proto_region *region, int mode);

/* Under the lock of its tree, before a WRITE hold of @top ends: look at all
 * objects that it covers. */
struct native_found *native_objects_look(const struct proto_region *top,
                                         enum check_when when);

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
