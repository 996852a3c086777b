/*
 * runtime.h - the part that every process of a job runs: start and end, who is
 * who, messages between nodes, calls, and the state all of them share.
 *
 * Callers (fronts, runtime/replica*, runtime/native*) guarantee:
 *   - every public call begins with runtime_enter() and gives its error back;
 *   - what is handed to runtime_send() as data lies in memory that all ranks of
 *     the node see at the same address (window or control memory);
 *   - handlers run on the leader's progress thread: they never wait.  They may
 *     send.
 *
 * Errors are those of drasync.h, negative.
 */
#ifndef DRASYNC_RUNTIME_RUNTIME_H
#define DRASYNC_RUNTIME_RUNTIME_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/space.h"
#include "runtime/messages/kinds.h"
#include "runtime/options.h"
#include "transport/transport.h"

struct runtime_shared;

enum runtime_state {
    RUNTIME_IDLE,     /* not started; the first call starts it */
    RUNTIME_STARTING,
    RUNTIME_RUNNING,
    RUNTIME_FAILED,   /* could not start; `failure` says why, on every rank */
    RUNTIME_STOPPING, /* in finalize: steps that end the modules may call */
    RUNTIME_STOPPED,
    RUNTIME_CHILD,    /* a child of fork */
};

/* This process.  Fields but `state` do not change once it is RUNNING. */
struct runtime {
    _Atomic int state;
    int failure;
    int rank, ranks;      /* in MPI_COMM_WORLD */
    int node, nodes;
    int local, locals;    /* this rank's number on its node */
    bool leader;          /* local == 0 */
    bool crowded;         /* more ranks on this host than processors */
    int *node_of;         /* [ranks] */
    int *local_of;        /* [ranks] */
    int *leader_of;       /* [nodes] rank of the leader */
    struct runtime_options options;
    struct space space;
    struct runtime_shared *shared; /* in control memory; runtime/shared.h */
    int wake_fd;                   /* runtime/messages/outbox.h */
    char host[64];
};

extern struct runtime runtime;

/*
 * At the head of every public call: 0 if the runtime runs; starts it if nobody
 * has (collective then).  DRASYNC_ENOTREADY, DRASYNC_EPEER (poisoned), or why
 * it could not start.
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

/* --- Modules -------------------------------------------------------------- */

/*
 * What is built on the runtime hangs itself in the table in runtime/modules.c.
 * Each step may be NULL.  Start steps run in order of the table, ends in
 * reverse.  A start step that fails on one rank fails the start on all.
 */
struct runtime_module {
    const char *name;
    /* On the leader, before any other rank of the node looks: make what is
     * shared and put it into runtime.shared->anchors[]. */
    int (*start_leader)(void);
    /* On every rank, after that, before the job goes on; registers handlers.
     * No messages yet. */
    int (*start)(void);
    /* On every rank in finalize, while messages still flow: give up what the
     * rank holds and wait for what it has under way. */
    void (*quiesce)(void);
    /* 1 if this node has nothing of the module under way: asked on the leader
     * during shutdown, when all its ranks have quiesced. */
    int (*idle)(void);
    /* On every rank when all is over; no messages any more. */
    void (*stop)(void);
};

/* --- Messages between nodes ----------------------------------------------- */

struct runtime_message {
    int node;             /* another node; never this one */
    uint32_t kind;        /* runtime/messages/kinds.h */
    const void *header;   /* copied */
    size_t header_bytes;  /* up to RUNTIME_HEADER_BYTES_MAX */
    const struct transport_piece *pieces; /* the list is copied, not the data */
    size_t pieces_count;
    uint64_t context;     /* given to the handler's `sent` */
    /* Nobody waits for it: without data, it may go with the next message to
     * that node, or a little later by itself.  Order is kept. */
    bool late;
    /* Nor is it to be there soon: the progress thread need not wake for it. */
    bool lazy;
};

#define RUNTIME_HEADER_BYTES_MAX ((size_t)64 << 20)

/*
 * Queue a message.  Any thread of any rank of the node; never blocks on a peer.
 * Messages of a node to another arrive in the order of these calls; so call it
 * while holding the lock that orders the steps.
 *   DRASYNC_ENOMEM (control memory), DRASYNC_EINVAL, DRASYNC_EPEER
 */
int runtime_send(const struct runtime_message *message);

/* What a kind of message does on arrival; all on the progress thread. */
struct runtime_handler {
    /*
     * The header has arrived, in order; @bulk_bytes of data follow (or 0).  Say
     * where they go with transport_sink_add(); refuse with a negative code,
     * which the sender's `sent` gets.  *context_out goes to `arrived`.  NULL:
     * no data is expected, and data is refused with DRASYNC_EINVAL.
     */
    int (*place)(int from, const void *header, size_t header_bytes,
                 uint64_t bulk_bytes, struct transport_sink *sink,
                 uint64_t *context_out);
    /*
     * The message is complete.  Without bulk data it follows `place` at once
     * and in order; with bulk data it may come after later messages.
     */
    void (*arrived)(int from, const void *header, size_t header_bytes,
                    uint64_t context);
    /*
     * On the sending node: the data may change again (@result 0) or was refused
     * (negative code of `place`).  NULL: nobody wants to know.
     */
    void (*sent)(int to, uint64_t context, int result);
    /* Any rank may send it, by an end of its own: @from and @to are ranks.
     * Else leaders do, and they are nodes. */
    bool by_rank;
};

/* Register, in a module's `start`.  The handler must stay. */
void runtime_handle(uint32_t kind, const struct runtime_handler *handler);

/* --- Calls ---------------------------------------------------------------- */

/*
 * Ask node @node (not this one) and wait for its answer.  Returns what the
 * server gave as result, or DRASYNC_ENOMEM, DRASYNC_EPEER, DRASYNC_ELIMIT (the
 * reply is longer than @reply_max, its length in *reply_bytes_out).  Any thread
 * but the progress thread.  A server may answer late, so it may take long.
 */
int runtime_call(int node, uint32_t kind, const void *request,
                 size_t request_bytes, void *reply, size_t reply_max,
                 size_t *reply_bytes_out);

/* The same for callers that hold no locks and are not in the middle of a step:
 * a thread of the leader does the progress thread's work meanwhile. */
int runtime_call_helping(int node, uint32_t kind, const void *request,
                         size_t request_bytes, void *reply, size_t reply_max,
                         size_t *reply_bytes_out);

/* Who asked; copy it to answer later. */
struct runtime_caller {
    int32_t node;
    uint32_t slot;
    uint64_t ticket;
};

/* Serve a kind of call: runs on the progress thread, answers with
 * runtime_reply(), now or later, once. */
typedef void runtime_server(const struct runtime_caller *caller,
                            const void *request, size_t request_bytes);
void runtime_serve(uint32_t kind, runtime_server *server);

/* Answer; any thread of any rank of the node that was asked. */
int runtime_reply(const struct runtime_caller *caller, int result,
                  const void *reply, size_t reply_bytes);

/*
 * Say (+1) and take back (-1) that this thread waits for something from another
 * node: the progress thread then stays awake.  Around waiter_wait().
 */
void runtime_remote_wait(int by);

struct waiter;

/*
 * waiter_wait() for what may come from another node: a thread of the leader
 * does the progress thread's work meanwhile.  Callers hold no locks, and are
 * not in the middle of a step.
 */
int runtime_wait_remote(struct waiter *waiter, uint64_t deadline_us,
                        int *result_out);

/* --- Trouble -------------------------------------------------------------- */

/*
 * The job cannot go on: remember why (the first one counts), print one line,
 * wake every waiter of the node with DRASYNC_EPEER, tell the other nodes.
 * Every runtime_enter() gives DRASYNC_EPEER from now on.
 */
void runtime_poison(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The text of the poison, or "". */
const char *runtime_poison_text(void);

/*
 * Print "drasync: rank R (HOST): ..." and end the job through MPI.  For the
 * calls that promise to end the job, and for messages that cannot be true.
 */
void runtime_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* The same without a line: it has been said. */
void runtime_end_job(void) __attribute__((noreturn));

/* One line "drasync: rank R (HOST): ..." on stderr. */
void runtime_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Microseconds on a clock that only goes forward. */
uint64_t runtime_now_us(void);

/* --- Inlines -------------------------------------------------------------- */

int runtime_enter_slow(void);
extern _Atomic uint32_t *runtime_poisoned; /* in shared memory once it runs */

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

#endif /* DRASYNC_RUNTIME_RUNTIME_H */
