/*
 * facts.h - what this node knows about who waits, who holds and who does what:
 * the answers of a node, made without a lock and without waiting.
 *
 * Times are ages, as clocks of hosts differ.  Everything here is plain data, and
 * is sent between nodes as it is.
 *
 * Callers guarantee that runtime.shared, .space, .node and .host describe a
 * node's memory, which is mapped, maybe for reading only.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_FACTS_H
#define DRASYNC_RUNTIME_DIAGNOSE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/native/look.h"
#include "runtime/place.h"
#include "runtime/waiting.h"

#define FACTS_HOST_BYTES 48

/* Of a queue, the first so many are named. */
#define FACTS_QUEUE_MAX 8

/* Deadlocks that were claimed last: ask_claim_deadlock(). */
#define FACTS_CLAIMED 64

/* What the ranks of a node share here; RUNTIME_ANCHOR_DIAGNOSE. */
struct facts_shared {
    uint64_t reserved[2];
    uint64_t shape; /* facts_shape(), to tell versions apart */
    /* Of node 0: when a report was last granted, and how many were; and when one
     * that somebody asked for. */
    _Atomic uint64_t granted_us, asked_us;
    _Atomic uint32_t granted, ends;
    /* Of node 0: numbers of deadlocks, each where its lowest bits say. */
    _Atomic uint64_t claimed[FACTS_CLAIMED];
    struct waiting_mpi *mpi;     /* by local number; NULL: MPI is not counted */
    struct waiting_rank ranks[]; /* by local number */
};

/* A build whose structs have other sizes has another one of these. */
uint64_t facts_shape(void);

/* A wait of a rank. */
struct facts_wait {
    struct waiting_seen seen; /* since_us: of its node's clock */
    uint64_t age_us;
    /* Of one for a region: where it stands; `at` 0: it is about to end. */
    struct native_look_wait asked;
    /* Of one for a gift: another that is there, by whom, -1: none; its tag. */
    int32_t gift_from, gift_tag;
};

/* native_gift_left(); NULL where that is not linked. */
extern bool (*facts_gift_left)(int local, int32_t *from_out, int32_t *tag_out);

/* What a rank does. */
struct facts_rank {
    int32_t rank; /* -1: this node has no such rank */
    int32_t pid;
    uint32_t state; /* enum runtime_rank_state */
    uint32_t several;
    uint32_t mpi_call;
    int32_t mpi_peer;
    uint32_t waits; /* of threads of it; the oldest is */
    struct facts_wait wait;
    char host[FACTS_HOST_BYTES];
};

/* The same in short, for looking at all ranks. */
struct facts_doing {
    int32_t rank, pid;
    uint32_t state; /* enum runtime_rank_state */
    uint32_t mpi_call;
    int32_t mpi_peer;
    uint32_t waits; /* of threads of it; `what` and the rest are the oldest's */
    uint32_t what;  /* enum waiting_what */
    uint32_t timed;
    uint32_t others; /* it has threads besides, or that is not known; */
    uint32_t runs;   /* what it had run by drasync_run() is not all done */
    uint64_t number; /* of that wait, or of what it is inside of */
};

/* What a rank does inside MPI, and what it did: DRASYNC_CHECK=deadlock. */
struct facts_mpi {
    int32_t rank;    /* -1: that is not known */
    uint32_t unsure; /* not all of it was counted */
    uint32_t collectives;
    uint32_t sent; /* to the rank and with the tag asked about, or more */
    struct waiting_inside inside;
    struct code_place place;
};

enum facts_status {
    FACTS_UNKNOWN, /* this node knows no such region */
    FACTS_AWAY,    /* node `hint` may have its token */
    FACTS_FREE,    /* nobody is in the way now */
    FACTS_BLOCKED, /* `blocker` is */
    FACTS_READ,    /* `blocker` READs, and so is in the way of runs only: it is
                      its node's lowest rank, which runs them */
};

/* Who keeps others from a region. */
struct facts_region {
    uint32_t status; /* enum facts_status */
    uint32_t hint;
    uint32_t node; /* that says so */
    uint32_t queued;
    uint64_t version; /* the newest; one that is written may be counted */
    uint32_t left;    /* a WRITE lease is left on it, or above */
    struct native_look_blocker blocker;
    uint64_t hold_age_us; /* UINT64_MAX: not noted */
    struct code_place hold_place;
    struct facts_rank rank; /* the blocker */
    struct native_look_wait queue[FACTS_QUEUE_MAX];
};

/* Is there what the rest reads, of this version?  For drasync-ps. */
bool facts_there(void);

/* Rank number @local of this node. */
const struct waiting_rank *facts_waiting(uint32_t local);

/* The number of @rank on this node, or -1. */
int facts_local(int32_t rank);

/* The waits of this node from the @first on; at most @max. */
size_t facts_waits(size_t first, struct facts_wait *out, size_t max);

/* @rank of this node. */
void facts_of_rank(int32_t rank, struct facts_rank *out);

/* The same; if its oldest wait is for one of several requests, as if it were for
 * the one at @index alone. */
void facts_of_request(int32_t rank, uint32_t index, struct facts_rank *out);

/* All ranks of this node, from its @first on; at most @max.  `others` only if
 * @threads, as it takes reading files, and up to the first that computes. */
size_t facts_of_ranks(size_t first, bool threads, struct facts_doing *out,
                      size_t max);

/* Is a rank in this state, and in no call that waits, in the program? */
bool facts_in_program(uint32_t state);

/* Does it wait in MPI_Finalize for all others to come? */
bool facts_in_finalize(uint32_t state);

/* The same inside MPI; `sent` to rank @to with @tag; the place if @places. */
void facts_of_mpi(int32_t rank, int32_t to, int32_t tag, bool places,
                  struct facts_mpi *out);

/* Who keeps @rank (-1: one of another node) from region @at; if @places, with the
 * place of the hold, which takes reading a file. */
void facts_of_region(uint64_t at, int32_t rank, bool places,
                     struct facts_region *out);

/* The hold that local rank number @local has of @region: how old, and, where
 * @place_out is not NULL, where it was taken. */
void facts_of_hold(uint32_t local, const struct native_look *region,
                   uint64_t *age_us_out, struct code_place *place_out);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_FACTS_H */
