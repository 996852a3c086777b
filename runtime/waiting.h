/*
 * waiting.h - what the threads of this rank wait for and hold, kept where every
 * rank of the node, and drasync-ps, can read it.
 *
 * A call that may wait long says for what (waiting_begin()): a few stores to a
 * struct on its stack.  Only a wait that has slept WAIT_CHECK_US (wait.c) is
 * *shown*: it gets a slot in shared memory, with the stack of its thread.  What
 * then looks after it is diagnose/.
 *
 * Holds are noted where a step of the protocol grants them, by region, in a
 * table in which a later one may take the place of an earlier one.  What a rank
 * takes and gives back without a step (native/lease.h) is not noted, and such a
 * hold has no note.
 *
 * Every rank writes its own part only.  Readers take no lock: a slot's sequence
 * tells them whether they saw one state of it.
 */
#ifndef DRASYNC_RUNTIME_WAITING_H
#define DRASYNC_RUNTIME_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/place.h"

/* Threads of a rank whose waits are shown at a time; others are not. */
#define WAITING_THREADS 4

#define WAITING_FRAMES 4

/* Notes of holds of a rank. */
#define WAITING_HOLDS 64

enum waiting_what {
    WAITING_NOTHING,
    WAITING_REGION,  /* for a hold of `address` */
    WAITING_VERSION, /* sys_recv() of what rank `peer` sends */
    WAITING_BARRIER, /* sys_barrier() */
    WAITING_NAME,    /* drasync_lookup() of `name` */
    WAITING_RUN,     /* for what drasync_run() and its like run on `address` */
    WAITING_GIFT,    /* drasync_take() of what rank `peer` gives, or anybody */
    WAITING_NEWER,   /* for a hold of `address` once somebody has written it */
    WAITING_ANY,     /* for one of several requests */
    WAITING_CALL,    /* in the call `name`, about `address`: for the node whose
                      * lowest rank is `peer`, or, that being nobody, for what
                      * has the region */
};

/* MPI's calls that wait, by the functions that begin them. */
#define WAITING_MPI_CALLS(X)                                                 \
    X(MPI_Wait)                                                              \
    X(MPI_Waitall)                                                           \
    X(MPI_Waitany)                                                           \
    X(MPI_Waitsome)                                                          \
    X(MPI_Probe)                                                             \
    X(MPI_Recv)                                                              \
    X(MPI_Send)                                                              \
    X(MPI_Ssend)                                                             \
    X(MPI_Sendrecv)                                                          \
    WAITING_MPI_COLLECTIVES(X)

#define WAITING_MPI_COLLECTIVES(X)                                           \
    X(MPI_Barrier) X(MPI_Bcast) X(MPI_Reduce) X(MPI_Allreduce) X(MPI_Gather) \
        X(MPI_Gatherv) X(MPI_Scatter) X(MPI_Scatterv) X(MPI_Allgather)       \
            X(MPI_Allgatherv) X(MPI_Alltoall) X(MPI_Alltoallv) X(MPI_Scan)

enum waiting_mpi_call {
    WAITING_MPI_NONE,
#define WAITING_MPI_ENUM(name) WAITING_##name,
    WAITING_MPI_CALLS(WAITING_MPI_ENUM)
#undef WAITING_MPI_ENUM
        WAITING_MPI_COUNT,
};

/* `peer` of a wait that names no rank, or none of MPI_COMM_WORLD. */
#define WAITING_NOBODY (-1)

/* One of those that WAITING_ANY waits for. */
struct waiting_request {
    uint32_t what; /* WAITING_REGION, _NEWER, or _RUN */
    uint32_t mode;
    uint64_t address, version;
};

#define WAITING_REQUESTS 8

/* A wait, as a reader gets it. */
struct waiting_seen {
    uint32_t what; /* enum waiting_what */
    uint32_t mode; /* WAITING_REGION, _RUN, or 0: of several runs; _GIFT: the
                    * tag */
    int32_t rank;
    int32_t peer;
    int32_t thread; /* as the kernel numbers it */
    uint32_t timed; /* it ends by itself */
    int32_t as;     /* 0, or the number by which the protocol knows who asks:
                     * native_rank_new() */
    uint64_t address, since_us;
    uint64_t version; /* WAITING_NEWER: that the rank knows */
    /* WAITING_ANY: so many, of which the first are here; `mode`, `address` and
     * `version` are those of the first one. */
    uint32_t requests;
    struct waiting_request request[WAITING_REQUESTS];
    uint64_t number; /* of this wait; no other of this rank has it */
    char name[DRASYNC_NAME_MAX + 1];
    struct code_place frames[WAITING_FRAMES]; /* the innermost first */
};

/* Is it `address` that it waits for? */
static inline bool waiting_on_region(const struct waiting_seen *seen)
{
    return seen->what == WAITING_REGION || seen->what == WAITING_RUN ||
           seen->what == WAITING_NEWER || seen->what == WAITING_ANY;
}

/* Is there a region in it? */
static inline bool waiting_names_region(const struct waiting_seen *seen)
{
    return waiting_on_region(seen) ||
           (seen->what == WAITING_CALL && seen->address);
}

/* Is that, or the first of several, for what somebody has yet to write? */
static inline bool waiting_newer(const struct waiting_seen *seen)
{
    return seen->what == WAITING_NEWER ||
           (seen->what == WAITING_ANY &&
            seen->request[0].what == WAITING_NEWER);
}

struct waiting_slot {
    _Atomic uint32_t taken;    /* by a thread of the rank */
    _Atomic uint32_t sequence; /* odd while `seen` is written */
    struct waiting_seen seen;
};

struct waiting_hold {
    _Atomic uint64_t address; /* 0: none */
    _Atomic uint64_t since_us;
    _Atomic uint64_t pc;
};

/* Of a rank. */
struct waiting_rank {
    struct waiting_slot slots[WAITING_THREADS];
    _Atomic uint64_t numbers;
    struct waiting_hold holds[WAITING_HOLDS];
    _Atomic uint32_t several; /* 1: see waiting_several() */
    int32_t mpi_thread;       /* diagnose/threads.h */
    /* The call of MPI's that a thread is inside, and whom it names.  Relaxed:
     * each is true by itself. */
    _Atomic uint32_t mpi_call __attribute__((aligned(64)));
    _Atomic int32_t mpi_peer;
} __attribute__((aligned(64)));

/* --- MPI's messages, counted (DRASYNC_CHECK=deadlock) ---------------------- */

/* Counters of sent messages, by rank and tag; several may share one. */
#define WAITING_SENT 1024

/* Messages that a call waits for; of more the first count. */
#define WAITING_NEEDS 8

/*
 * A rank inside MPI that received as often from @peer with @tag, the last of them
 * included, as @count says: nothing gets on before that has sent so many.
 */
struct waiting_need {
    int32_t peer, tag;
    uint32_t count;
};

/* What a rank is inside of. */
struct waiting_inside {
    uint64_t number; /* of the call; no other of this rank has it */
    uint64_t pc;     /* where the program made it */
    uint32_t call;   /* enum waiting_mpi_call; none: it is in none */
    uint32_t needs;
    struct waiting_need need[WAITING_NEEDS];
    /* It waits until @root, or all if that is -1, have begun so many collective
     * calls on MPI_COMM_WORLD; 0: for nobody. */
    uint32_t collective;
    int32_t root;
};

/* Of a rank; all on MPI_COMM_WORLD. */
struct waiting_mpi {
    _Atomic uint32_t unsure; /* 1: some messages were not counted */
    _Atomic uint32_t collectives;
    _Atomic uint32_t sequence; /* odd while `inside` is written */
    struct waiting_inside inside;
    _Atomic uint32_t sent[WAITING_SENT];
} __attribute__((aligned(64)));

/* This rank's; NULL: nothing is counted. */
extern struct waiting_mpi *waiting_mpi_self;

/* The counter of what is sent to @rank with @tag. */
static inline uint32_t waiting_sent_index(int32_t rank, int32_t tag)
{
    return ((uint32_t)rank * UINT32_C(2654435761) +
            (uint32_t)tag * UINT32_C(40503)) >>
               7 &
           (WAITING_SENT - 1);
}

/* The calling thread, the rank's only one in MPI, enters a call; @inside without
 * its number.  And leaves it. */
void waiting_mpi_enter(const struct waiting_inside *inside);
void waiting_mpi_leave(void);

/* A copy of what @mpi's rank is inside of; false: it changes. */
bool waiting_mpi_read(const struct waiting_mpi *mpi,
                      struct waiting_inside *out);

/* --- The calling thread --------------------------------------------------- */

struct waiting {
    enum waiting_what what;
    uint32_t mode;
    int32_t peer, as;
    bool timed;
    uint64_t address;
    uint64_t version;
    const struct waiting_request *request; /* [requests], of WAITING_ANY */
    uint32_t requests;
    const char *name;
    bool marker; /* a call that does not wait itself, and is not shown */
    struct waiting *outer;
    struct waiting_slot *slot;            /* NULL: not shown */
    uint64_t since_us;                    /* 0: has not slept yet */
    uint64_t look_us, pause_us, stall_us; /* diagnose/stall.c */
    uint64_t begun_us;                    /* where waits are counted: waits.c */
};

extern _Thread_local struct waiting *waiting_mine
    __attribute__((tls_model("initial-exec")));

/* Called where a wait begins, or has ended: waits.h; NULL: nobody counts. */
extern void (*waiting_counter)(struct waiting *w, bool begins);

/* Undo waiting_show(). */
void waiting_hide(struct waiting *w);

/* @w, filled in but for what comes after `name`, lives until waiting_end(). */
static inline void waiting_begin(struct waiting *w)
{
    w->outer = waiting_mine;
    waiting_mine = w;
    if (__builtin_expect(waiting_counter != NULL, 0))
        waiting_counter(w, true);
}

static inline void waiting_end(struct waiting *w)
{
    waiting_mine = w->outer;
    if (__builtin_expect(waiting_counter != NULL, 0))
        waiting_counter(w, false);
    if (__builtin_expect(w->slot != NULL, 0))
        waiting_hide(w);
}

/* The calling thread is in the public call @name, which stays, about @region until
 * waiting_call_end(): what it asks other nodes meanwhile is told by that name. */
static inline void waiting_call_begin(struct waiting *w, const char *name,
                                      const void *region)
{
    *w = (struct waiting){
        .what = WAITING_CALL,
        .peer = WAITING_NOBODY,
        .address = (uint64_t)(uintptr_t)region,
        .name = name,
        .marker = true,
        .outer = waiting_mine,
    };
    waiting_mine = w;
}

static inline void waiting_call_end(struct waiting *w)
{
    waiting_mine = w->outer;
}

/* If it is in such a call, it waits in that for rank @peer's node from now on, or
 * as WAITING_CALL says for WAITING_NOBODY, until waiting_end().  False: it is in
 * none, and @w is nothing. */
static inline bool waiting_in_call(struct waiting *w, int32_t peer)
{
    const struct waiting *call = waiting_mine;

    if (!call || !call->marker)
        return false;
    *w = (struct waiting){
        .what = WAITING_CALL,
        .peer = peer,
        .address = call->address,
        .name = call->name,
    };
    waiting_begin(w);
    return true;
}

/* The program's part of this thread's stack, as far as it can be had.  Reads
 * files: for reports only. */
void waiting_frames(struct code_place frames[WAITING_FRAMES]);

/* Show @w, which has waited since @since_us, if there is a slot. */
void waiting_show(struct waiting *w, uint64_t since_us);

/* This thread has taken a hold of the region at @address by a step; and: it, or
 * another, may take and give it without one from now on. */
void waiting_hold_note(uint64_t address);
void waiting_hold_forget(uint64_t address);

/* More than one thread of this rank has taken steps or leases. */
void waiting_several(void);

/* Where the program called us, for waiting_hold_note(); set where that is not
 * the quick way. */
extern _Thread_local const void *waiting_caller
    __attribute__((tls_model("initial-exec")));

/* --- Of this node --------------------------------------------------------- */

/* This rank's part; before the runtime runs, and after it, one that nobody
 * reads.  Atomic: it changes beside threads that are inside MPI. */
extern _Atomic(struct waiting_rank *) waiting_self;

/* Where this thread counts the calls of MPI's that it is inside; NULL: nobody
 * wants to know.  Relaxed: a hint for others. */
extern _Thread_local _Atomic uint32_t *waiting_inside_mpi
    __attribute__((tls_model("initial-exec")));

/* A copy of @slot of a rank; false: there is no wait, or it changes. */
bool waiting_read(const struct waiting_slot *slot, struct waiting_seen *out);

/* The note of @rank's hold of the region at @address; false: there is none. */
bool waiting_read_hold(const struct waiting_rank *rank, uint64_t address,
                       uint64_t *since_us_out, uint64_t *pc_out);

/* The name of a call; "?" for what is none. */
const char *waiting_mpi_name(uint32_t call);

#endif /* DRASYNC_RUNTIME_WAITING_H */
