/*
 * run.h - inside runtime/native/run*.c: functions that are run where a region
 * is (drasync_run() and its like).
 *
 *   run_function.c  functions by name, and calling one
 *   run_caller.c    what a thread has collected, and what is under way
 *   run_send.c      packets, and what comes back
 *   run_wait.c      waiting for that
 *   run.c           the calls
 *   run_own.c       what is run on this node
 *   run_serve.c     the executing node: packets that came, and what must wait
 *   run_hold.c      the hold under which it runs a function
 *   run_wire.c      how packets look
 *
 * A thread's runs of one region are a *stream*: at most one part of it, a
 * *unit*, is under way, and the next one goes when that is answered.  So they
 * are done in order whatever way their messages take, with no state at those
 * who forward them.
 *
 * Order of locks: the lock of a caller comes before those of trees.
 *
 * A caller's lock is biased to its thread (memory/biased_lock.h) from a
 * drasync_run_ff() that took it until anybody, also the thread itself, takes it
 * again: most calls only add some bytes to a stream (native_run_soon()).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_RUN_H
#define DRASYNC_RUNTIME_NATIVE_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/biased_lock.h"
#include "memory/space.h"
#include "runtime/native/run_wire.h"
#include "runtime/wait.h"

struct proto_message;

/* --- Functions (run_function.c) ------------------------------------------- */

#define RUN_FUNCTIONS_MAX 4096

struct drasync_function {
    uint64_t hash;             /* of the name: what goes between nodes */
    drasync_function_fn *call; /* or NULL, and */
    drasync_batch_fn *batch;
    char name[DRASYNC_NAME_MAX + 1];
};

/* The function of that hash in this process, or NULL. */
struct drasync_function *run_function_find(uint64_t hash);

/* Call it, under a hold of @region. */
int run_function_call(const struct drasync_function *function,
                      drasync_region_t region, const void *arg,
                      size_t arg_bytes, void *answer, size_t answer_bytes);

/* Call it @count times, or once for all, without an answer, with the arguments
 * at @args, each padded: the first result that is not 0, or 0. */
int run_function_calls(const struct drasync_function *function,
                       drasync_region_t region, const char *args,
                       size_t arg_bytes, uint32_t count);

/* A function that is wanted here is none of this process: a line says so, once.
 * Returns DRASYNC_ENOFUNCTION. */
int run_function_unknown(void);

/* --- The executing node --------------------------------------------------- */

/* Of the hold of one unit (run_hold.c).  All zero but for the address. */
struct run_hold {
    uint64_t address;
    int32_t rank; /* as the protocol knows it: no real rank's */
    struct native_wait *wait;
    struct proto_op *op;
    int node; /* RUN_HOLD_AWAY: who has the region, as far as known */
};

enum {
    RUN_HOLD_WAIT = 1, /* run_hold_look() says when it is there */
    RUN_HOLD_AWAY,     /* another node has the region */
    RUN_HOLD_LATER,    /* this process reads it: try again when it has not */
    RUN_HOLD_CALLER, /* the rank that wants the unit run is to run it itself */
    RUN_HOLD_SPLIT,  /* held; run_hold_split() comes before the function */
};

/* Take the region for WRITE for a unit: 0, one of the above, or an error.
 * @here: even if another node has it; @caller: the rank that wants it run, if
 * that is of this node, or -1: then the hold is not waited for, as the rank may
 * have it or stand before it in the queue.  None of them waits but the last. */
int run_hold_take(struct run_hold *hold, bool here, int32_t caller);
int run_hold_look(struct run_hold *hold);
int run_hold_split(struct run_hold *hold);
void run_hold_give(struct run_hold *hold);

/* This thread works for @hold (NULL: for its own rank again). */
void run_hold_act(const struct run_hold *hold);

/* A READ hold of this rank, the leader, has ended: look whether a unit waited
 * for that.  No locks are held. */
void run_serve_released(void);

/* Serve the units between @at and @end, of this node itself.  On the leader, after
 * the next turn of the leader's engine. */
void run_serve_put(const struct run_packet_head *head, const char *at,
                   const char *end);

/* After each turn of the leader's engine. */
bool run_serve_turn(void);
void run_serve_start(void);
bool run_serve_idle(void);

/* --- Callers -------------------------------------------------------------- */

/* Bytes that a thread may have under way and collected; a stream; that make it
 * send; in a packet. */
#define RUN_CALLER_BYTES_MAX ((uint64_t)1 << 20)
#define RUN_STREAM_BYTES_MAX ((uint32_t)64 << 10)
#define RUN_SEND_BYTES       ((uint64_t)64 << 10)
#define RUN_PACKET_BYTES_MAX ((size_t)128 << 10)

/* A stream of this node runs when it has so many, which fit in a buffer of 16
 * KiB, with one more small one: enough that what the functions use is in the
 * caches for most of them. */
#define RUN_OWN_BYTES ((uint32_t)15 << 10)

/* What waits for so long is sent by the engine. */
#define RUN_STALE_US 1000

/* Packets of this node that are under way. */
#define RUN_PACKETS_MAX 1024

/* Somebody wants the result of a run.  In control memory. */
struct run_request {
    uint64_t reserved_by_control[2];
    struct waiter waiter;
    struct run_caller *caller;
    struct run_request *next; /* in the order of the stream */
    uint64_t address;         /* of the region */
    uint32_t mode;
    /* 0; RUN_LEFT: request_leave() was called; RUN_DONE: run_request_end() was.
     * The second of the two frees it: each adds its bit with release and
     * acquire, so what the first did with it comes before. */
    _Atomic uint32_t ends;
    uint32_t answer_bytes;
    _Alignas(16) unsigned char answer[];
};

enum { RUN_LEFT = 1, RUN_DONE = 2 };

/* Runs of one thread on one region, in control memory.  Under the caller's
 * lock but for `flying`. */
struct run_stream {
    uint64_t reserved_by_control[2];
    uint64_t address;
    struct run_stream *chain;           /* in its bucket */
    struct run_stream *next, *previous; /* of those that have something */
    /* One unit is under way.  Set under the lock; cleared by run_own(), under
     * it too unless the job is poisoned, or without it by run_unit_end():
     * release, which pairs with the acquire of a thread that looks whether the
     * next unit may go. */
    _Atomic bool flying;
    bool listed;
    int32_t node; /* who answered last; -1: nobody */
    unsigned char *bytes;
    uint32_t used, room;
    uint32_t answers;   /* bytes of answers that it makes */
    bool posts, writes; /* something of it has no request; is for WRITE */
    /* The last group, if `used`: its head goes to @last_at when it ends. */
    struct run_group last;
    uint32_t last_at;
    /* One more of its function may be added while there are at most so many bytes,
     * and nothing else has to be done; NULL: not so. */
    const struct drasync_function *soon;
    uint32_t soon_used;
    struct run_request *requests, *requests_last;
};

#define RUN_BUCKETS 256

/* Arguments of more bytes are not added by native_run_soon(). */
#define RUN_SOON_BYTES_MAX 64

/* Bytes of buffers that a caller keeps, as long as there is memory. */
#define RUN_KEPT_BYTES ((uint64_t)4 << 20)

/*
 * Whose a caller is: a thread's, or nobody's any more, and then it may have
 * runs that are not done.  The stores of RUN_ENDED (release) pair with the
 * exchanges to RUN_TAKEN (acquire) in used_before() and take_over(): the next
 * thread sees what the last one left.
 */
enum { RUN_TAKEN, RUN_ENDED };

#define RUN_URGENT_OTHER ((uint32_t)1 << 16)

/* What a thread has; in control memory, where the leader's engine finds it. */
struct run_caller {
    uint64_t reserved_by_control[2];
    struct run_caller *next; /* of all; never taken out */
    _Atomic uint32_t taken;  /* RUN_TAKEN, by a thread, or RUN_ENDED */
    int32_t rank, local;     /* of that rank */
    _Atomic uint32_t lock;
    bool may_bias;           /* the system can revoke */
    _Atomic uint64_t inside; /* 1: its thread is, by the bias */
    _Atomic uint64_t bias;   /* run_biased, or 0; under the lock */
    _Atomic bool again;      /* something is to be sent: whoever has the lock */
    _Atomic int32_t error;   /* the first one, for the flush */
    /* Threads that wait: a hint to send soon.  One that does not run what is for
     * this node itself counts RUN_URGENT_OTHER. */
    _Atomic uint32_t urgent;
    /* Bytes collected: changed under the lock, or inside by the bias. */
    _Atomic uint64_t queued;
    /* Bytes under way: added to under the lock.  run_unit_end() takes off
     * (release) what is over, which pairs with the acquire of a thread that
     * waits until it is 0: what the runs did is seen. */
    _Atomic uint64_t flying;
    /* When the first of `queued` came.  Relaxed: stale() looks again. */
    _Atomic uint64_t since_us;
    _Atomic(struct waiter *) waits;      /* who wants to know of any answer */
    _Atomic uint32_t answers;            /* that came */
    struct run_stream *busy, *busy_last; /* that have something collected */
    uint64_t room;                       /* of the buffers of its streams */
    struct run_stream *buckets[RUN_BUCKETS];
};

struct run_shared {
    /* Entered with release by caller_new(), read with acquire: what is in a
     * caller is seen. */
    _Atomic(struct run_caller *) callers;
    _Atomic uint64_t tickets;
    struct run_flight {
        _Atomic uint64_t ticket; /* 0: free */
        struct run_caller *caller;
        _Atomic uint32_t left; /* units that are not answered */
        uint32_t count;
        struct run_flight_unit {
            _Atomic(struct run_stream *) stream; /* NULL: answered */
            struct run_request *requests;
            uint32_t bytes;
            bool posts;
        } * units; /* control memory */
    } flights[RUN_PACKETS_MAX];
};

extern struct run_shared *run_shared;

/* This thread's; NULL: it has none. */
extern _Thread_local struct run_caller *run_callers_mine
    __attribute__((tls_model("initial-exec")));

/* A new one; NULL: no memory. */
struct run_caller *run_caller_new(void);

/* Has it nothing collected and nothing under way?  What goes out is counted as
 * under way first, what comes back as collected: so both are looked at, and the
 * first once more. */
bool run_is_done(const struct run_caller *c);

/* The first error of threads that have ended without a flush, once; or 0. */
int run_callers_left(void);

static inline struct run_caller *run_caller_had(void)
{
    return run_callers_mine;
}

static inline struct run_caller *run_caller_mine(void)
{
    return run_callers_mine ? run_callers_mine : run_caller_new();
}

/* Its lock is held for a copy of some KiB, or a send; never while anybody waits,
 * or a function runs.  0 or DRASYNC_EPEER. */
int run_lock(struct run_caller *c);

static const uint64_t run_biased = 1;

/* Under the lock, which is biased: end that.  False, and the lock is not held: its
 * thread is inside, where it may have been interrupted, by this call even. */
bool run_unbias(struct run_caller *c);

static inline bool run_try(struct run_caller *c)
{
    uint32_t no = 0;

    /* Acquire pairs with the release of run_unlock().  Sequentially consistent,
     * also where it fails, for caller_goes_on(): see run_unlock_send(). */
    return atomic_compare_exchange_strong(&c->lock, &no, 1) &&
           (!atomic_load_explicit(&c->bias, memory_order_relaxed) ||
            run_unbias(c));
}

/* Under the lock, by its thread: which may enter without, from now on. */
static inline void run_bias(struct run_caller *c)
{
    if (c->may_bias)
        atomic_store_explicit(&c->bias, run_biased, memory_order_relaxed);
}

/* Its thread has what the lock protects; false: not without the lock. */
static inline bool run_enter(struct run_caller *c)
{
    return biased_enter(&c->inside, 1, 0, &c->bias, &run_biased);
}

static inline void run_leave(struct run_caller *c)
{
    biased_leave(&c->inside, 0);
}

/* Cheap: `again` may be left for the next one. */
static inline void run_unlock(struct run_caller *c)
{
    atomic_store_explicit(&c->lock, 0, memory_order_release);
}

/* Also sends what others wanted to, meanwhile. */
void run_unlock_send(struct run_caller *c);

_Static_assert(RUN_BUCKETS == 1 << 8, "run_bucket_of() keeps 8 bits");

static inline struct run_stream **run_bucket_of(struct run_caller *c,
                                                uint64_t address)
{
    return &c->buckets[space_page_hash(address, 8)];
}

/* Under the lock. */
static inline struct run_stream *run_stream_find(struct run_caller *c,
                                                 uint64_t address)
{
    struct run_stream *s = *run_bucket_of(c, address);

    while (s && s->address != address)
        s = s->chain;
    return s;
}

/* Under the lock.  The stream of @address: made if need be (NULL: no memory). */
struct run_stream *run_stream_of(struct run_caller *c, uint64_t address);

/* What is collected for one call. */
struct run_work {
    const struct drasync_function *function;
    enum drasync_mode mode;
    const void *arg;
    size_t arg_bytes, answer_bytes;
    struct run_request *request; /* or NULL */
};

/* Under the lock: free the buffers of streams that have nothing collected; what is
 * under way has been copied, or counts as collected. */
void run_caller_trim(struct run_caller *c);

/* Under the lock.  DRASYNC_ENOMEM, DRASYNC_EAGAIN (the stream is full). */
int run_stream_add(struct run_caller *c, struct run_stream *s,
                   const struct run_work *work);
/* Its bytes are whole, and may be read. */
void run_stream_end(struct run_stream *s);
/* Put back, in front of what @s has collected, @bytes of groups and the
 * @requests that were taken out.  DRASYNC_ENOMEM, and nothing has changed. */
int run_stream_put_back(struct run_caller *c, struct run_stream *s,
                        const char *groups, uint32_t bytes,
                        struct run_request *requests);
/* It has nothing collected any more. */
void run_stream_taken(struct run_caller *c, struct run_stream *s);

/* --- Sending (run_send.c) ------------------------------------------------- */

/* The node that has the region, as far as this one knows. */
int run_where(uint64_t address, const struct run_stream *s);

/* Under the lock: send what is collected for other nodes; what is for this one
 * is left, or, with @own, served by this thread of the leader. */
void run_send_all(struct run_caller *c, bool own);

/* Under the lock, which is given up meanwhile: run what is collected for this
 * node, by this thread, whose caller @c is.  False: the region was not to be had
 * within @timeout_us, and all is as it was; or the job is poisoned. */
bool run_own(struct run_caller *c, struct run_stream *s, uint64_t timeout_us);
void run_own_all(struct run_caller *c, uint64_t timeout_us);

/* Run @work here, now.  DRASYNC_EAGAIN, which functions may return too: *done_out
 * says whether the region was there within @timeout_us. */
int run_here(uint64_t address, const struct run_work *work, void *answer,
             uint64_t timeout_us, bool *done_out);

/* An answer came from @node: that of the units of a flight. */
void run_answered(int node, const void *answer, size_t bytes);

/* The rank of this node that wants the unit run that came with @head; -1: none
 * of this node. */
int32_t run_caller_rank(const struct run_packet_head *head);

/* Its thread is to run the unit itself.  False: it has the caller's lock just now,
 * or another one has: later. */
bool run_returned(const struct run_packet_head *head,
                  const struct run_unit *unit);

/* For the next flush, if @err is the first error. */
void run_error(struct run_caller *c, int err);
void run_request_end(struct run_request *q, int result);
/* The same for a list of them. */
void run_requests_end(struct run_request *q, int err);
/* A unit is answered, by @node (-1: not known); its stream may send again. */
void run_unit_end(struct run_flight *f, struct run_flight_unit *u,
                  struct run_stream *s, int node);
/* No function of it was called, and @err is why. */
void run_unit_fails(struct run_caller *c, const struct run_flight_unit *u,
                    int err);
void run_answer_start(void);

/* After each turn of the leader's engine. */
void run_send_turn(void);
void run_send_start(void);
int run_shared_new(void **shared_out);

/* An object that says how a run of native_irun() ends: inside a drasync_request,
 * zero if it is none. */
struct run_pending {
    struct run_request *request;
    void *answer;
};
int run_test(struct run_pending *pending, int *done_out);
int run_wait(struct run_pending *pending, uint64_t timeout_us);
void run_cancel(struct run_pending *pending);

struct native_request;

/* A request out of this thread's pool.  DRASYNC_ENOMEM, DRASYNC_ELIMIT. */
int native_request_take(struct native_request **r_out);
/* Its handle: the run is under way; or it is over, with @result. */
drasync_request_t native_request_of_run(struct native_request *r,
                                        const struct run_pending *pending,
                                        int result);

/* --- Waiting (run_wait.c) -------------------------------------------------- */

/* Under the lock, by the caller's thread: send, and wait until @c has at most
 * @bytes collected and under way, and @s, if not NULL, nothing.  DRASYNC_EPEER,
 * and the lock is not held. */
int run_drain(struct run_caller *c, uint64_t bytes, const struct run_stream *s);

/* Wait until nothing of @c, whose thread this is, is left: its first error.
 * DRASYNC_EPEER. */
int run_flush(struct run_caller *c);

/* The thread of @c is about to acquire the region at @address: wait for what it
 * ran on that and the rest of its tree, of which its rank holds nothing.  A run
 * that is under way may else come to wait behind that hold, and the thread for
 * the run.  DRASYNC_EPEER. */
int run_before_hold(struct run_caller *c, uint64_t address);
void run_thread_ends(void);
void run_quiesce(void);

#endif /* DRASYNC_RUNTIME_NATIVE_RUN_H */
