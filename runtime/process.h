/*
 * process.h - this process: who it is in the job, whether the runtime runs in
 * it, and what all public calls begin with.
 *
 * Callers (fronts) guarantee that every public call begins with runtime_enter()
 * and gives its error back.
 *
 * Errors are those of drasync.h, negative.
 */
#ifndef DRASYNC_RUNTIME_PROCESS_H
#define DRASYNC_RUNTIME_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/space.h"
#include "runtime/options.h"

struct boot;
struct runtime_shared;

enum runtime_state {
    RUNTIME_IDLE, /* not started; the first call starts it */
    RUNTIME_STARTING,
    RUNTIME_RUNNING,
    RUNTIME_FAILED,   /* could not start; `failure` says why, on every rank */
    RUNTIME_STOPPING, /* in finalize: steps that end the modules may call */
    RUNTIME_STOPPED,
    RUNTIME_CHILD, /* a child of fork */
};

/* This process.  Fields but `state` do not change once it is RUNNING. */
struct runtime {
    _Atomic int state;
    int failure;
    int rank, ranks; /* in MPI_COMM_WORLD */
    int node, nodes;
    int local, locals; /* this rank's number on its node */
    bool leader;       /* local == 0 */
    bool crowded;      /* more ranks on this machine than processors */
    bool all_crowded;  /* the same on the machine of every rank */
    bool all_direct;   /* start_facts.direct of every rank */
    bool adapters;     /* start_facts.adapters of any */
    int *node_of;      /* [ranks] */
    int *local_of;     /* [ranks] */
    int *leader_of;    /* [nodes] rank of the leader */
    struct runtime_options options;
    struct space space;
    struct runtime_shared *shared; /* in control memory; runtime/shared.h */
    int wake_fd;                   /* runtime/messages/outbox.h */
    uint64_t host_key;             /* start_facts.machine_key */
    uint64_t job_key; /* the same on all ranks, another in each job */
    char host[64];
};

extern struct runtime runtime;

/* The communicators of our own, while the runtime runs. */
extern struct boot *runtime_boot;

/*
 * At the head of every public call: 0 if the runtime runs; starts it, and MPI,
 * if nobody has started either (collective then).  DRASYNC_ENOTREADY (also: MPI
 * was started where we could not see it, see drasync_init()), DRASYNC_EPEER
 * (poisoned), or why it could not start.
 */
static inline int runtime_enter(void);

/* 1 if it runs in this process; starts nothing. */
static inline bool runtime_running(void)
{
    return atomic_load_explicit(&runtime.state, memory_order_acquire) ==
           RUNTIME_RUNNING;
}

/* Collective over all ranks, MPI being up or not; idempotent.  One line on
 * stderr says what failed, if it did. */
int runtime_start(void);

/* Collective; idempotent.  Holds that are left are released (modules), nothing
 * is in flight when it returns. */
int runtime_stop(void);

/* Did the library start MPI by itself?  Then MPI_Init has nothing to do. */
bool runtime_started_mpi(void);

/* Microseconds on a clock that only goes forward. */
uint64_t runtime_now_us(void);

/* --- Inlines -------------------------------------------------------------- */

int runtime_enter_slow(void);
/* This thread is in a function that is run for others, who may not be through
 * when this rank is in finalize. */
extern _Thread_local bool runtime_serving;
/* Not 0: the job is poisoned; in shared memory once it runs.  It is never
 * cleared, and the reason is behind `poison_state` (shared.h), so relaxed
 * suffices for its readers: a late look is all that can happen. */
extern _Atomic uint32_t *runtime_poisoned;

static inline int runtime_enter(void)
{
    if (__builtin_expect(
            atomic_load_explicit(&runtime.state, memory_order_acquire) ==
                    RUNTIME_RUNNING &&
                !atomic_load_explicit(runtime_poisoned, memory_order_relaxed),
            1))
        return 0;
    return runtime_enter_slow();
}

#endif /* DRASYNC_RUNTIME_PROCESS_H */
