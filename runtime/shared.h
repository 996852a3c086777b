/*
 * shared.h - what the ranks of a node share, beside memory's own: who is alive,
 * why the job ends, locks of trees, the outbox to other nodes, counters.
 *
 * It lies in control memory at the same address on every rank of the node; the
 * leader fills it before the others look.  Pointers in it point into control
 * memory.  It lives in control_user().
 */
#ifndef DRASYNC_RUNTIME_SHARED_H
#define DRASYNC_RUNTIME_SHARED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/lock.h"
#include "runtime/alive.h"
#include "runtime/waiter.h"

#define RUNTIME_CACHE_LINE   64
#define RUNTIME_TREE_LOCKS   1024
#define RUNTIME_ANCHORS      16
#define RUNTIME_CALL_SLOTS   1024
#define RUNTIME_POISON_BYTES 512

/* The anchors[] of modules. */
enum runtime_anchor {
    RUNTIME_ANCHOR_NATIVE,
    RUNTIME_ANCHOR_REPLICA,
    RUNTIME_ANCHOR_NAMES,
    RUNTIME_ANCHOR_MYRMICS,
    RUNTIME_ANCHOR_RMA,
    RUNTIME_ANCHOR_RUN,
    RUNTIME_ANCHOR_MANAGED,
    RUNTIME_ANCHOR_DIAGNOSE,
    RUNTIME_ANCHOR_GIVE,
    RUNTIME_ANCHOR_CHECK,
    RUNTIME_ANCHOR_TEST,
};

enum runtime_rank_state {
    RUNTIME_RANK_STARTING,
    RUNTIME_RANK_RUNNING,
    RUNTIME_RANK_QUIESCED, /* in finalize */
    RUNTIME_RANK_STOPPED,  /* finalize is over; may exit */
    RUNTIME_RANK_EXITED,   /* has left without finalize */
    RUNTIME_RANK_BURIED,   /* died, and nothing here is its any more */
};

/* One for each rank of the node. */
struct runtime_rank {
    _Atomic uint32_t state;
    int32_t rank;
    int32_t pid;
    struct doorbell doorbell;      /* for whoever has something for this rank */
    _Atomic uint64_t counters[16]; /* enum runtime_counter */
    struct alive alive;            /* of its thread in death_watch.c */
} __attribute__((aligned(RUNTIME_CACHE_LINE)));

/* Counters of a rank; drasync_get_stats() adds up. */
enum runtime_counter {
    RUNTIME_COUNT_ACQUIRES,
    RUNTIME_COUNT_ACQUIRES_WAITED,
    RUNTIME_COUNT_RELEASES,
    RUNTIME_COUNT_ALLOCATIONS,
    RUNTIME_COUNT_FREES,
    RUNTIME_COUNT_BYTES_COPIED,
    RUNTIME_COUNT_CHUNK_REQUESTS,
    RUNTIME_COUNT_AHEAD_ASKED,
    RUNTIME_COUNT_AHEAD_USED,
    RUNTIME_COUNT_AHEAD_VAIN_BYTES,
    RUNTIME_COUNT_AHEAD_WAITED_US,
    RUNTIME_COUNTERS,
};

/* A call that waits for its answer; see runtime/messages/call.c. */
struct runtime_call_slot {
    struct waiter waiter;
    _Atomic uint64_t ticket; /* 0: free; grows with use */
    int32_t node;            /* who answers */
    void *reply; /* control memory, owned by the caller once woken */
    size_t reply_bytes;
    _Atomic uint32_t end; /* runtime/messages/call.c */
};

struct runtime_outgoing; /* runtime/messages/outbox.c */
struct runtime_chore;    /* runtime/messages/messages.h */

struct runtime_outbox {
    /* A stack that the leader takes whole and reverses. */
    _Atomic(struct runtime_outgoing *) head __attribute__((aligned(64)));
    _Atomic(struct runtime_chore *) chores; /* the same of those just begun */
    _Atomic uint32_t asleep;                /* runtime/messages/outbox.h */
    _Atomic uint32_t remote_waits; /* threads that wait for another node */
    /* Queued here and not yet given to MPI; and chores that are not over. */
    _Atomic uint64_t pending;
};

struct runtime_shared {
    uint64_t magic;
    uint32_t locals;
    int32_t ranks_of_job;
    /* The flag itself is memory's: control_poison_flag(). */
    _Atomic uint32_t poison_said;  /* 1: one rank says it, 2: it has */
    _Atomic uint32_t poison_state; /* 0, 1: being written, 2: text is there */
    char poison_text[RUNTIME_POISON_BYTES];
    _Atomic uint64_t last_look_us; /* death.c */

    /* survive.c */
    struct lock death_lock;
    _Atomic uint32_t buried; /* so many ranks */
    _Atomic uint32_t bound;  /* enum survive_bound: all ranks are needed */

    _Atomic(void *) anchors[RUNTIME_ANCHORS];

    struct runtime_outbox outbox;
    _Atomic uint32_t quiesced; /* ranks in finalize */
    _Atomic uint32_t stopped;  /* 1: nothing is in flight on any node */
    struct doorbell stop_doorbell;

    /* 1: progress_on_sockets() on all nodes; set at the start. */
    _Atomic uint32_t on_sockets;

    /* Of the node, kept by the progress thread. */
    _Atomic uint64_t messages_sent, messages_received;
    _Atomic uint64_t bytes_sent, bytes_received;
    /* More data of regions, that travels in headers (runtime/native/diff.h). */
    _Atomic uint64_t diff_bytes_sent, diff_bytes_received;

    _Atomic uint64_t call_next;
    struct doorbell call_doorbell; /* rings when a slot comes free, or a message
                                      that a lock's end waits for has come */
    struct runtime_call_slot calls[RUNTIME_CALL_SLOTS];

    struct lock trees[RUNTIME_TREE_LOCKS];
    struct runtime_rank ranks[]; /* [locals], by local number */
};

#define RUNTIME_MAGIC UINT64_C(0x64726173796e6331)

size_t runtime_shared_bytes(int locals);

/* This rank's slot. */
struct runtime_rank *runtime_self(void);

/* Add to a counter of this rank. */
static inline void runtime_count(struct runtime_rank *self,
                                 enum runtime_counter counter, uint64_t by)
{
    atomic_fetch_add_explicit(&self->counters[counter], by,
                              memory_order_relaxed);
}

#endif /* DRASYNC_RUNTIME_SHARED_H */
