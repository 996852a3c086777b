/*
 * messages.h - messages between nodes, calls that are answered, and waiting for
 * either.
 *
 * Callers guarantee:
 *   - what is handed to runtime_send() as data lies in memory that all ranks of
 *     the node see at the same address (window or control memory);
 *   - handlers run on the leader's progress thread: they never wait.  They may
 *     send.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_MESSAGES_H
#define DRASYNC_RUNTIME_MESSAGES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/messages/kinds.h"
#include "transport/transport.h"

/* --- Messages between nodes ----------------------------------------------- */

struct runtime_message {
    int node;                             /* another node; never this one */
    uint32_t kind;                        /* runtime/messages/kinds.h */
    const void *header;                   /* copied */
    size_t header_bytes;                  /* up to RUNTIME_HEADER_BYTES_MAX */
    const struct transport_piece *pieces; /* the list is copied, not the data */
    size_t pieces_count;
    uint64_t context; /* given to the handler's `sent` */
    /* Nobody waits for it: without data, it may go with the next message to
     * that node, or a little later by itself.  Order is kept. */
    bool late;
    /* Nor is it to be there soon: the progress thread need not wake for it. */
    bool lazy;
    /* Not 0: nobody waits for it yet, and there may be more such: as in
     * transport.h.  It leaves at the latest when a thread of the node waits for
     * another node, or goes into MPI to wait, and after a millisecond.  It may
     * be TRANSPORT_PATIENT. */
    uint8_t soon;
};

#define RUNTIME_HEADER_BYTES_MAX TRANSPORT_HEADER_BYTES_MAX

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
    /* Any rank may send it, by an engine of its own: @from and @to are ranks.
     * Else leaders do, and they are nodes. */
    bool by_rank;
};

/* In `place`: nobody waits for this message to be dealt with.  Advice on how
 * closely the progress thread is to listen. */
void runtime_message_has_time(void);

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

/* runtime_call(), but DRASYNC_EAGAIN if the answer has not come in time; what
 * comes then is dropped. */
int runtime_call_timed(int node, uint32_t kind, const void *request,
                       size_t request_bytes, void *reply, size_t reply_max,
                       size_t *reply_bytes_out, uint64_t timeout_us);

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
 * does the progress thread's work meanwhile, and another one goes on with what
 * its rank itself has in flight (progress_own_send()).  Callers hold no locks,
 * and are not in the middle of a step.
 */
int runtime_wait_remote(struct waiter *waiter, uint64_t deadline_us,
                        int *result_out);

/* For what comes from this node: only the latter. */
int runtime_wait_near(struct waiter *waiter, uint64_t deadline_us,
                      int *result_out);

/* The same as the first for the first event of several: waiter_wait_any(). */
int runtime_wait_remote_any(struct waiter *const *waiters, int count,
                            uint64_t deadline_us);

/*
 * A thread that works, or tests what has not come, looks what other nodes ask:
 * one poll, if nobody else polls and this thread has not looked just before
 * @now.  No locks are held.  Nothing where this process has no engine.
 */
void runtime_look(uint64_t now);

/* The same, however short a time ago this thread has looked. */
void runtime_glance(void);

/* Something is to be seen after the next turn of the node's engine (see below):
 * let it have one soon.  Any thread of any rank. */
void runtime_nudge(void);

/* Call @fn after each turn of the node's engine, on the thread that has the
 * turns; in a module's `start`, of one module.  True: it has use for another turn
 * within PROGRESS_SLEEP_US_MIN, though nothing may come. */
void runtime_each_turn(bool (*fn)(void));

/* --- Chores: work that is too long for one step (chores.c) ---------------- */

/*
 * Any rank of a node begins a chore, an object of control memory that begins
 * with a struct runtime_chore.  The progress thread does it in pieces, one
 * after each of its turns, so that messages wait for one piece at most: half a
 * millisecond.  A piece takes the locks that it needs and gives them back.
 * Several chores go on alternately.  A node is not quiescent while it has one.
 */

/* So much is hashed or copied in a piece: 0.1 ms from the caches, 0.4 ms where
 * each page is a fault. */
#define CHORE_PIECE_BYTES ((uint64_t)1 << 20)
#define CHORE_PIECE_PAGES (CHORE_PIECE_BYTES >> 12)

enum chore_kind {
    CHORE_NATIVE_NOTE,   /* runtime/native/delta.h */
    CHORE_NATIVE_ANSWER, /* runtime/native/later.h */
    CHORE_NATIVE_FILL,
    CHORE_KINDS,
};

struct runtime_chore {
    uint64_t reserved_by_control[2];
    struct runtime_chore *next;
    enum chore_kind kind;
};

/* A piece of @chore, on the progress thread.  True: that was the last one, and
 * @chore is freed. */
typedef bool chore_piece(struct runtime_chore *chore);

/* Register, in a module's `start`. */
void chore_handle(enum chore_kind kind, chore_piece *piece);

/* Any thread of any rank of the node, under any lock. */
void chore_begin(struct runtime_chore *chore, enum chore_kind kind);

#endif /* DRASYNC_RUNTIME_MESSAGES_MESSAGES_H */
