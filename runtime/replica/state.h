/*
 * state.h - what the ranks of a node share about replicated regions;
 * for this folder only.
 *
 * All of it lies in control memory.  Locks, in the order they are taken:
 *
 *   replica_shared.lock  the directory, regions and their lists, copies
 *   replica_heap.lock    a worker's heap in a region, and its extents; but for
 *                        what threads have in their caches of it (cache.h)
 *   replica_inbox.lock   what waits for a rank: versions, mappings to undo
 *
 * Data of a worker's frames is written by that worker only.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_STATE_H
#define DRASYNC_RUNTIME_REPLICA_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/biased_lock.h"
#include "memory/control.h"
#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/heap.h"
#include "memory/lock.h"
#include "protocol/replica.h"
#include "runtime/check/check.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/replica/replica.h"
#include "runtime/shared.h"
#include "runtime/wait.h"

enum replica_lock_rank {
    REPLICA_RANK_DIRECTORY = 100,
    REPLICA_RANK_HEAP = 200,
    REPLICA_RANK_INBOX = 300,
};

/* Kinds of messages between nodes. */
enum replica_kind {
    REPLICA_KIND_DIRECTORY = RUNTIME_KIND_REPLICA,
    REPLICA_KIND_VERSION,
    REPLICA_KIND_FREE_OBJECTS,
    REPLICA_KIND_OBJECT, /* a call */
    REPLICA_KIND_BARRIER,
    REPLICA_KIND_RELEASE,
    REPLICA_KIND_FORGET, /* struct replica_forget */
};

#define REPLICA_BUCKETS   16384u
#define REPLICA_FREED_MAX 1024u

/* Frames that several small extents of a version share. */
#define REPLICA_BLOCK_PAGES 64

/* Up to this size a version is copied into frames that are there already,
 * instead of being mapped. */
#define REPLICA_COPY_BYTES_MAX ((uint64_t)128 << 10)

struct replica_region;

/* The incarnation of our extents in the page map.  Those of native regions have
 * owners of another kind, and a stamp, which never comes so far. */
#define REPLICA_EXTENT UINT64_MAX

/* What others see of a thread that has caches (cache.h).  Never given back to
 * control memory, but the rank's next thread may have it. */
struct replica_thread {
    uint64_t reserved_by_control[2];
    struct replica_thread *next; /* of the rank */
    struct biased_owner owner;
    /* Written by that thread, and often. */
    _Alignas(64) _Atomic uint64_t inside;
};

/* In replica_heap.cached: more than one has a cache of it. */
#define REPLICA_THREADS_MANY ((struct replica_thread *)1)

/*
 * A worker's part of a region: the owner of its extents.  Never given back to
 * control memory, so that its lock stays one; see `live`.
 */
struct replica_heap {
    struct lock lock;
    struct replica_thread *cached; /* who has a cache of it that may hold */
    struct replica_heap *next;     /* free ones; a region's foreign ones */
    struct replica_region *region;
    struct extent *extents; /* by extent->next */
    _Atomic uint32_t live;
    uint32_t rid;
    int32_t worker;
    int32_t node;     /* of that worker */
    struct heap heap; /* if the worker is of this node */
    uint64_t objects; /* of a heap with red zones: its quarantine */
    /* Of what caches have.  Read at each quick call, and seldom written: in a
     * line that has nothing else. */
    _Alignas(64) _Atomic uint64_t epoch;
};

/* A run of alternate frames, shared by copies of neighbours. */
struct replica_block {
    uint64_t reserved_by_control[2];
    uint64_t offset;
    uint64_t pages;
    _Atomic uint32_t references;
};

/* The frames that a worker of this node has of another's extent. */
struct replica_copy {
    uint64_t reserved_by_control[2];
    struct replica_copy *next; /* of the worker and region; stale ones */
    struct replica_copy *peer; /* of the extent */
    struct extent *extent;
    struct replica_block *block;
    int32_t local;
    uint64_t first_page; /* what is mapped */
    uint64_t pages;
    uint64_t offset;      /* of its frames */
    uint64_t begin_bytes; /* data, from the start of the extent */
    uint64_t end_bytes;
};

/* A region, as far as this node knows it. */
struct replica_region {
    uint64_t reserved_by_control[2];
    struct replica_entry entry;
    struct replica_region *hash_next;
    struct replica_heap *foreign; /* of workers on other nodes */
    uint32_t rid;
    struct {
        struct replica_heap *heap;
        struct replica_copy *copies;
    } local[]; /* for each rank of this node */
};

/* A piece of a version: part of an extent. */
struct replica_piece {
    uint64_t first_page; /* of the extent */
    uint64_t pages;
    uint64_t begin_bytes; /* data, from the extent's start */
    uint64_t end_bytes;
    uint64_t offset; /* of the frame of the page where the data begins */
    struct replica_block *block;
    uint32_t part;
    int32_t worker; /* that cut the extent */
};

/* How a version goes to another node (wire_kept.c). */
enum replica_wire {
    REPLICA_WHOLE,
    REPLICA_KEEP, /* whole, and kept there for other workers */
    REPLICA_SAME, /* its name alone, without parts and pieces: it is there */
};

/* A frozen subtree on its way.  The first part is its top. */
struct replica_version {
    uint64_t reserved_by_control[2];
    struct replica_version *next;
    struct replica_version *sibling; /* has its frames, and is not ready */
    _Atomic uint32_t ready;          /* the data is there */
    uint32_t notice;  /* 1: parts only, whose meaning is the sender's */
    uint32_t shared;  /* 1: others have the same frames */
    uint32_t wire;    /* enum replica_wire */
    int32_t from, to; /* workers */
    uint64_t serial;  /* of what `from` keeps, 0: nothing */
    uint64_t parts;
    uint64_t pieces;
    uint64_t bytes;
    /* struct replica_part [parts], struct replica_piece [pieces] */
};

struct replica_queue {
    struct replica_version *first, *last;
};

/* Runs of pages that a worker keeps. */
#define REPLICA_RUNS_MAX 64

struct replica_inbox {
    struct lock lock;
    struct doorbell doorbell;
    struct replica_copy *stale; /* no longer its; still mapped there */
    _Atomic uint32_t has_stale;
    uint64_t kept_bytes; /* of its frames, and those in mappings.c */
    uint64_t run_bytes;  /* page_runs.c */
    uint32_t run_count;
    struct replica_run {
        uint64_t first, pages;
    } runs[REPLICA_RUNS_MAX];
    _Atomic uint64_t free_token; /* what replica_region_free() waits for */
    struct waiter free_waiter;
    struct replica_queue *queues; /* by sending worker */
    _Atomic(struct replica_thread *) threads;
};

struct replica_barrier {
    _Atomic uint32_t arrived;
    _Atomic uint32_t nodes_arrived; /* on node 0 */
    _Atomic uint32_t generation;
    struct doorbell doorbell;
};

struct replica_shared {
    struct lock lock;
    struct replica_dir dir;
    struct doorbell known; /* an attach or a drop is over */
    struct replica_heap *free_heaps;
    struct replica_region *root;
    struct replica_barrier barrier;
    struct replica_region *buckets[REPLICA_BUCKETS];
    /* Regions that ended: number << 32 | worker who freed it + 1, or 0.  A
     * number has one place, where the later one stays. */
    _Atomic uint64_t freed[REPLICA_FREED_MAX];
    struct replica_inbox inboxes[]; /* for each rank of this node */
};

static inline struct replica_shared *replica_shared(void)
{
    return atomic_load_explicit(
        &runtime.shared->anchors[RUNTIME_ANCHOR_REPLICA], memory_order_acquire);
}

static inline struct replica_inbox *replica_inbox(void)
{
    return &replica_shared()->inboxes[runtime.local];
}

static inline struct replica_region *
replica_region_of(struct replica_entry *entry)
{
    return (struct replica_region *)((char *)entry -
                                     offsetof(struct replica_region, entry));
}

static inline struct replica_part *
replica_version_parts(struct replica_version *v)
{
    return (struct replica_part *)(v + 1);
}

static inline struct replica_piece *
replica_version_pieces(struct replica_version *v)
{
    return (struct replica_piece *)(replica_version_parts(v) + v->parts);
}

static inline uint64_t replica_piece_skip(const struct replica_piece *p)
{
    return p->begin_bytes >> PAGE_SHIFT;
}

/* Pages that hold the data of a piece. */
static inline uint64_t replica_piece_pages(const struct replica_piece *p)
{
    return space_pages_for(p->end_bytes) - replica_piece_skip(p);
}

/* --- module.c: waiting ---------------------------------------------------- */

/* Wait for @doorbell; @remote: another node may be what rings it. */
int replica_wait(struct doorbell *doorbell, uint32_t seen, int remote);

/* --- directory.c: regions ------------------------------------------------- */

/* Take the directory's lock; replica_unlock() gives it back. */
int replica_lock(void);
void replica_unlock(void);

/* The region with this entry address, in any state.  Locked. */
struct replica_region *replica_find(uint64_t address);

/* The record of a region, and entering it where replica_find() looks. */
int replica_region_make(uint64_t address, struct replica_region **region_out);
void replica_region_enter(struct replica_region *region);

/* The node that knows whose an address is that is not known here. */
int replica_home(uint64_t address);

/* A heap's structure, not live yet; back to the pool; and live, as @worker's in
 * @region.  Locked. */
int replica_heap_new(struct replica_heap **heap_out);
void replica_heap_pool(struct replica_heap *heap);
int replica_heap_open(struct replica_heap *heap, struct replica_region *region,
                      int worker);

/* This rank's heap in a live region, made if need be.  Locked. */
int replica_heap_of(struct replica_region *region,
                    struct replica_heap **heap_out);

/* The owner of the extents that @worker, of another node, cut for @region.
 * Locked. */
int replica_foreign_heap(struct replica_region *region, int worker,
                         struct replica_heap **heap_out);

int replica_dir_open(void);    /* on the leader */
void replica_dir_attach(void); /* on every rank */
int replica_dir_message(int from, const struct replica_message *message);

/* --- region.c ------------------------------------------------------------- */

/* Find a live region, attaching to it if need be.  On success the directory is
 * locked.  DRASYNC_ENOREGION. */
int replica_open(uint32_t rid, struct replica_region **region_out);

/* Ask for those regions of a version that this node does not know; does not
 * wait. */
void replica_attach_early(struct replica_version *version);

/* Make sure that this node knows all regions of a version that are alive. */
int replica_attach_parts(struct replica_version *version);

/* --- object.c: objects ---------------------------------------------------- */

/*
 * How to use a heap of this node; of this worker, also when it is not open yet;
 * and one of this node for somebody of another.  That one's calls come after
 * what the worker did with its objects, but it was the program's own messages
 * that saw to it, of which ThreadSanitizer knows nothing: so not at the same
 * addresses.
 */
struct heap_context replica_heap_context(struct replica_heap *heap);
struct heap_context replica_heap_own(struct replica_heap *heap);
struct heap_context replica_heap_elsewhere(struct replica_heap *heap);

/* Free an object of this node's for @who; as heap_free(), or DRASYNC_EDELETED:
 * its region is gone, and so is the object. */
int replica_heap_free(struct replica_heap *heap, void *ptr,
                      struct heap_who who);

/* --- objects.c: objects with red zones, if replica_objects() --------------- */

/* What is wrong with objects of a heap, to be told when that is given back. */
struct replica_found {
    enum check_when when;
    struct heap_who who; /* calls */
    struct check_region region;
    struct heap_faults faults;
};

static inline bool replica_objects(void)
{
    return runtime.options.check & OPTIONS_CHECK_NOTES;
}

/* The calling thread; of no interest if nothing is checked. */
struct heap_who replica_who(void);

/* After heap_init(). */
void replica_objects_begin(struct replica_heap *heap);

/* In the heap, as the calls of heap.h; NULL in *@found: nothing was. */
int replica_objects_alloc(struct replica_heap *heap, size_t size_bytes,
                          size_t count, void **ptrs_out,
                          struct replica_found **found);
int replica_objects_free(struct replica_heap *heap,
                         const struct heap_context *context, void *ptr,
                         struct heap_who who, struct replica_found **found);
int replica_objects_usable(struct replica_heap *heap,
                           const struct heap_context *context, const void *ptr,
                           size_t *bytes_out);

/* No lock held: look at this worker's objects in @region and below. */
void replica_objects_look(uint32_t region, enum check_when when);

/* Out of the heap: tell, and free it.  @may_ask: check_objects(). */
void replica_objects_tell(struct replica_found *found, bool may_ask);

/* Send off the frees that wait for company. */
int replica_flush_frees(void);

/* --- version.c: frames ---------------------------------------------------- */

int replica_block_new(uint64_t pages, struct replica_block **block_out);
void replica_block_put(struct replica_block *block);

/* All copies of @region on this node are void.  Locked. */
void replica_drop_copies(struct replica_region *region);

/* A version with all but the frames of its pieces, from this worker. */
int replica_version_new(const struct replica_part *parts, uint64_t parts_count,
                        const struct replica_piece *pieces,
                        uint64_t pieces_count,
                        struct replica_version **version_out);

/* One with the frames of @of, from the same worker. */
int replica_version_share(struct replica_version *of,
                          struct replica_version **version_out);

/* A version and all that it refers to. */
void replica_version_free(struct replica_version *version);

/* Frames for all pieces; their contents are undefined. */
int replica_version_frames(struct replica_version *version);

/* Append to the receiver's queue, and wake it. */
int replica_version_post(struct replica_version *version);

/* Its data is there: wake the receiver, who may free it at once. */
void replica_version_ready(struct replica_version *version);

/* --- wire.c: other nodes -------------------------------------------------- */

void replica_wire_open(void);
void replica_wire_directory(uint32_t node, const struct replica_message *m);

/* Send, or end the job; and end it, because of what node @from sent. */
void replica_wire_send(const struct runtime_message *message);
void replica_wire_bad(int from, const char *what);

struct replica_wire_free {
    uint64_t ptr;
    uint64_t region;
    uint64_t incarnation;
    int32_t worker; /* who freed it */
    int32_t line;
    uint32_t stack; /* where, in checked mode */
    char file[36];
};

int replica_wire_frees(int node, const struct replica_wire_free *frees,
                       size_t count);

/* What an object of another node's worker may use; and free it, if @free_it, for
 * @who. */
int replica_wire_object(int node, const void *ptr, int free_it,
                        struct heap_who who, size_t *bytes_out);

/* --- wire_version.c ------------------------------------------------------- */

void replica_wire_versions_open(void);

/* Hand a version over to the transport; it is freed when it has been sent. */
int replica_wire_version(struct replica_version *version);

struct replica_forget {
    int64_t worker;
    uint64_t serial;
};

/* Node @node need not keep a version of this worker any longer. */
void replica_wire_forget(int node, uint64_t serial);

/*
 * --- wire_kept.c: versions of other nodes' workers, kept for more workers of
 * this one ---
 *
 * On the progress thread.  A sender names what it keeps by a serial number, and
 * a node has what it was sent as REPLICA_KEEP until it is told to forget it;
 * messages of a node come in order, so a name that is not there is an error,
 * DRASYNC_EINVAL.
 */

/* Keep @version, whose data is to come. */
int replica_kept_add(struct replica_version *version);

/* @name, sent as REPLICA_SAME, with what was kept; ready as soon as that is. */
int replica_kept_find(const struct replica_version *name,
                      struct replica_version **version_out);

/* The data is there. */
void replica_kept_arrived(int worker, uint64_t serial);

int replica_kept_forget(int worker, uint64_t serial);

void replica_wire_barrier(void);
void replica_barrier_node_arrived(void);
void replica_barrier_release(void);

#endif /* DRASYNC_RUNTIME_REPLICA_STATE_H */
