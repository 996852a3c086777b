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

#endif /* DRASYNC_RUNTIME_REPLICA_STATE_H */
