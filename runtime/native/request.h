/*
 * request.h - requests: of drasync_iacquire(), drasync_iacquire_newer() and
 * drasync_irun().
 *
 * A request lies in a pool of the thread that makes it.  Its memory is a
 * request's for as long as the job runs, and its handle is not its address but
 * a number: which request, and its *generation*, which grows with each use.  So
 * a handle of which the result was taken, in whichever copy, by whichever
 * thread, is told from one that is in use, and is DRASYNC_EINVAL.
 *
 * The word of a request is its generation with a state:
 *
 *   FREE     in its pool
 *   GRANTED  a hold that was there at once, by a lease: nothing to wait for, and
 *            nothing to finish
 *   LIVE     all others
 *   BUSY     a call is at work on it.  A second one, by another thread, gets
 *            DRASYNC_EINVAL, as a copy of the handle is none
 *
 * Who ends a request gives it back to its pool; other threads than the pool's
 * through a list of their own, so that none runs dry where one thread asks and
 * another takes the results.  A request that has had its last generation (2^42
 * of them: a day of nothing else) is not used again.  The pool of a thread that
 * has ended is the next new thread's.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_REQUEST_H
#define DRASYNC_RUNTIME_NATIVE_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/native.h"
#include "runtime/native/run.h"
#include "runtime/native/running.h"

/* An acquire between its steps (hold.c). */
struct native_pending {
    uint64_t address;
    enum drasync_mode mode;
    struct native_wait *wait; /* NULL: decided */
    struct proto_op *op;
    const struct proto_region *record; /* that the operation keeps */
    uint64_t incarnation;              /* of what was granted; */
    int32_t as;                        /* native_rank_new(), or 0: this rank */
    bool noted;  /* it matters which thread has that: taken.h */
    bool away;   /* another node is to give it */
    bool told;   /* and was asked for it ahead */
    bool later;  /* who asks goes on, and waits later */
    bool nowait; /* for others, whoever they are: DRASYNC_EAGAIN */
    bool again;  /* it is asked once more */
    bool waited; /* as in proto_effect */
    bool forgot; /* native_forget_gone() has been */
    /* drasync_acquire_newer(): only what is newer than *version, which becomes
     * that of what was granted; or NULL. */
    uint64_t *version;
};

enum {
    REQUEST_FREE,
    REQUEST_GRANTED,
    REQUEST_LIVE,
    REQUEST_BUSY,
    REQUEST_STATES = 3,
};

/* The low bits of a handle say which request it is, those of a word its
 * state. */
#define REQUEST_INDEX_BITS 22
#define REQUEST_GENERATION (UINT64_C(1) << REQUEST_INDEX_BITS)

/* Requests that are made at once. */
#define REQUEST_BLOCK_BITS 6
#define REQUEST_BLOCK      (1 << REQUEST_BLOCK_BITS)
#define REQUEST_BLOCKS_MAX (1 << (REQUEST_INDEX_BITS - REQUEST_BLOCK_BITS))

struct native_request {
    _Atomic uint64_t word;
    uint64_t index;
    struct native_requests *pool;
    struct native_request *next; /* in a list of the pool's */
    struct native_pending pending;
    int result;        /* of what was decided when it was made */
    uint64_t *version; /* drasync_iacquire_newer(): the program's; else NULL */
    uint64_t known, seen;   /* what that was, and what comes */
    struct run_pending run; /* it is no acquire; */
    bool is_run;
} __attribute__((aligned(64)));

struct native_request_block {
    struct native_request request[REQUEST_BLOCK];
};

/* Of one thread; never freed, but used again by other threads. */
struct native_requests {
    struct native_request *free;               /* the thread's; */
    _Atomic(struct native_request *) returned; /* by others */
    struct native_requests *next;
    _Atomic uint32_t taken; /* by a thread */
} __attribute__((aligned(64)));

/* This thread's; NULL: none yet. */
extern _Thread_local struct native_requests *native_requests_mine
    __attribute__((tls_model("initial-exec")));

extern _Atomic(struct native_request_block *)
    native_request_blocks[REQUEST_BLOCKS_MAX];

/* The request that @handle is one of, at some time; NULL: it is none. */
static inline struct native_request *native_request_at(drasync_request_t handle)
{
    uint64_t index = (uint64_t)(uintptr_t)handle & (REQUEST_GENERATION - 1);
    /* Acquire pairs with the release of who made the block. */
    struct native_request_block *block = atomic_load_explicit(
        &native_request_blocks[index >> REQUEST_BLOCK_BITS],
        memory_order_acquire);

    return block ? &block->request[index & (REQUEST_BLOCK - 1)] : NULL;
}

/* The word of the request of @handle in that state. */
static inline uint64_t native_request_word(drasync_request_t handle,
                                           unsigned state)
{
    return ((uint64_t)(uintptr_t)handle & ~(REQUEST_GENERATION - 1)) | state;
}

/* The request, which is this thread's, is in use: its handle. */
static inline drasync_request_t native_request_use(struct native_request *r,
                                                   unsigned state)
{
    /* The thread's alone while it is FREE: calls with an old handle compare, and
     * store nothing. */
    uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);

    /* Relaxed: the program orders its uses of the handle, which is new. */
    atomic_store_explicit(&r->word, word | state, memory_order_relaxed);
    return (drasync_request_t)(uintptr_t)(word | r->index);
}

/* The request, with generation and state @word, is nobody's any more. */
static inline void native_request_put(struct native_request *r, uint64_t word)
{
    struct native_requests *pool = r->pool;
    struct native_request *first;

    word = (word & ~(REQUEST_GENERATION - 1)) + REQUEST_GENERATION;
    if (!word)
        return; /* that was the last one: its state is BUSY for ever */
    /* Relaxed: who uses it next is the pool's thread, which takes it from one of
     * the lists. */
    atomic_store_explicit(&r->word, word, memory_order_relaxed);
    if (pool == native_requests_mine) {
        r->next = pool->free;
        pool->free = r;
        return;
    }
    first = atomic_load_explicit(&pool->returned, memory_order_relaxed);
    do
        r->next = first;
    /* Release pairs with the acquire of the pool's thread, which takes the whole
     * list: what was read here was read before that writes. */
    while (!atomic_compare_exchange_weak_explicit(&pool->returned, &first, r,
                                                  memory_order_release,
                                                  memory_order_relaxed));
}

/* A request for a lease that is as this thread last saw it: granted.  False:
 * native_iacquire() has to.  @mode may be anything. */
static inline bool native_iacquire_own(drasync_region_t region,
                                       enum drasync_mode mode,
                                       drasync_request_t *request_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_requests *pool = native_requests_mine;
    struct native_request *r = pool ? pool->free : NULL;

    if (!r || !native_lease_take_own(address, mode))
        return false;
    pool->free = r->next;
    r->pending.address = address; /* for a cancel */
    r->pending.mode = mode;
    *request_out = native_request_use(r, REQUEST_GRANTED);
    return true;
}

/* The request @handle was granted at once, and its end has come.  False:
 * native_test() or native_wait() has to.  @handle may be anything. */
static inline bool native_request_granted(drasync_request_t handle)
{
    struct native_request *r =
        native_running.function ? NULL : native_request_at(handle);
    uint64_t word = native_request_word(handle, REQUEST_GRANTED);

    /* One call ends it.  Relaxed: what it hands over, the lease did; a request
     * that was made by another thread came with the handle. */
    if (!r || !atomic_compare_exchange_strong_explicit(
                  &r->word, &word, word | REQUEST_BUSY, memory_order_relaxed,
                  memory_order_relaxed))
        return false;
    native_request_put(r, word);
    return true;
}

/* --- What calls on requests do (request.c) --------------------------------- */

/* The request of @handle, for this call alone; NULL: it has had its result, or
 * another thread is at work on it.  Then one of the other two is due. */
struct native_request *native_request_claim(drasync_request_t handle);

/* The call is over, and the request goes on; or it has ended. */
void native_request_leave(struct native_request *r, drasync_request_t handle);
void native_request_end(struct native_request *r, drasync_request_t *handle);

/* As native_test(), of one that was claimed. */
int native_request_test(struct native_request *r, int *done_out,
                        struct native_newer *newer_out);

/* The rank ends: what is still asked for is given up.  No call is under way. */
void native_requests_end(void);

/* The thread ends: its pool is for another one. */
void native_requests_forget(void);

/* --- Steps of an acquire (hold.c) ----------------------------------------- */

/* What asked for @address ended with @err; @waited as in proto_effect.  True: that
 * is no answer about what has the address now.  What was said to be deleted is
 * forgotten here, and it is to be asked again. */
bool native_forget_gone(uint64_t address, int err, bool waited);

/* Something that is asked for @address, and its result; *waited_out: as above. */
typedef int native_attempt_fn(void *context, bool *waited_out);

/* Its result; where that may help it is made again: if there was no memory and it
 * @evicts, with place made, as how much a region takes is known when it arrives,
 * too late for that; and after native_forget_gone(). */
int native_attempt(uint64_t address, bool evicts, native_attempt_fn *attempt,
                   void *context);

/* All of them: what is asked for is in @q, its other fields 0.  @deadline 0: do
 * not wait for others. */
int native_acquire_pending(struct native_pending *q, uint64_t deadline);

/* Begin: 0 with the hold, PROTO_WAIT, or an error. */
int native_pending_start(struct native_pending *q);

/* What was waited for has ended with @result: 0 with the hold, or an error. */
int native_pending_granted(struct native_pending *q, int result);

/* This thread learns the @result: if that is a hold, it has taken it. */
int native_pending_took(const struct native_pending *q, int result);

/* Wait (@deadline 0: for the owner's answer alone): 0 with what
 * native_pending_granted() gets, DRASYNC_EAGAIN, DRASYNC_EDEADLK or
 * DRASYNC_EPEER. */
int native_pending_wait(struct native_pending *q, uint64_t deadline,
                        int *result_out);

/* What was asked for is newer than @known, and has ended with @err: is it, with the
 * version @seen?  0 with the hold, @err, or DRASYNC_ENESTED without it (newer.c). */
int native_newer_came(drasync_region_t region, uint64_t known, uint64_t seen,
                      int err);

/* Give the operation up, unless it ended meanwhile: true then. */
bool native_pending_ended(struct native_pending *q);

#endif /* DRASYNC_RUNTIME_NATIVE_REQUEST_H */
