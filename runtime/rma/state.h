/*
 * state.h - what runtime/rma*.c share.
 */
#ifndef DRASYNC_RUNTIME_RMA_STATE_H
#define DRASYNC_RUNTIME_RMA_STATE_H

#include "memory/lock.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/rma/rma.h"
#include "runtime/wait.h"

/* Where two elements have the same bytes they have the same lock, through
 * whichever mapping: it is chosen by the offset in the page. */
#define RMA_LOCKS 64

/* Held for one operation on one element; the progress thread takes them too. */
#define LOCK_RANK_RMA 250

/* Memory that a rank has announced, @count times. */
struct rma_range {
    uint64_t address, bytes;
    uint64_t end_max; /* of this range and all before it */
    uint64_t count;
};

/* By address, then size; in control memory. */
struct rma_ranges {
    struct lock lock;
    struct rma_range *list;
    uint64_t used, room;
};

#define RMA_RANGES_MAX ((uint64_t)1 << 20)

/* What a rank of the node has for the others of it. */
struct rma_peer {
    struct rma_ranges ranges;
    _Atomic(struct rma_ask *) head; /* agent.c; what the agent is asked */
    _Atomic uint32_t asleep;        /* futex: 1 while the agent sleeps */
    /* At an address of the rank's process is a word that no other has. */
    _Atomic uint64_t token_address, token;
} __attribute__((aligned(64)));

/* In control memory, for the ranks of the node. */
struct rma_shared {
    uint64_t reserved[2];
    struct {
        struct lock lock;
    } __attribute__((aligned(64))) locks[RMA_LOCKS];
    struct rma_peer *peers; /* [locals] */
};

extern struct rma_shared *rma_shared; /* NULL before the start */

/* At the head of calls: 0 if the library runs.  Starts nothing. */
int rma_running(void);

/* @shared is zero. */
int rma_shared_init(struct rma_shared *shared, _Atomic uint32_t *poison);

/* --- Requests (wire.c) ---------------------------------------------------- */

enum rma_what { RMA_UPDATE, RMA_COMPARE, RMA_READ, RMA_WRITE, RMA_WHATS };

/* How much one request is about at most: so long may it keep who serves it. */
#define RMA_PIECE_BYTES ((size_t)256 << 10)

/* What is asked of another process; its data follows it. */
struct rma_request {
    uint64_t place;
    uint64_t count; /* elements; bytes to read or write */
    int32_t rank;
    uint8_t what, type, op;
    uint8_t silent; /* nobody wants to know what was there */
};

struct rma_sizes {
    size_t in, out; /* bytes that come with it, and with its answer */
    size_t span;    /* of memory */
};

/* Can there be such a request?  Then *sizes_out. */
bool rma_request_valid(const struct rma_request *request,
                       struct rma_sizes *sizes_out);

/* Do it at @address; @data has room for what comes and what goes. */
int rma_request_do(const struct rma_request *request, void *address,
                   void *data);

/*
 * The address of @bytes at @place of @rank, which is on this node.
 *   DRASYNC_EAGAIN  it is private memory of another process
 *   DRASYNC_EINVAL  there is none, or it is not announced
 */
int rma_reach(int rank, uint64_t place, uint64_t bytes, void **address_out);

/* The same for anybody's call, anywhere: DRASYNC_EAGAIN also if it is on
 * another node.  DRASYNC_ENOTREADY, DRASYNC_EPEER. */
int rma_find(int rank, uint64_t place, uint64_t bytes, void **address_out);

/* Ask for it where it is, piece by piece; @request is of any length, and is
 * changed.  @in and @out: NULL if nothing goes that way. */
int rma_request_ask(struct rma_request *request, size_t element_bytes,
                    const void *in, void *out);

/* --- Private memory (agent.c, ranges.c) ----------------------------------- */

int rma_ranges_add(struct rma_ranges *ranges, uint64_t address, uint64_t bytes,
                   bool *first_out);
int rma_ranges_remove(struct rma_ranges *ranges, uint64_t address,
                      uint64_t bytes, bool *last_out);
void rma_ranges_clear(struct rma_ranges *ranges);

/* Is all of it in one of them?  0, DRASYNC_EINVAL or DRASYNC_EPEER. */
int rma_ranges_check(struct rma_ranges *ranges, uint64_t address,
                     uint64_t bytes);

/* Let the agent of @rank, of this node, do it, and wait.  @in as long as
 * @request says; likewise @out, or NULL. */
int rma_agent_ask(const struct rma_request *request,
                  const struct rma_sizes *sizes, const void *in, void *out);

/* The same for another node: the agent answers.  Never waits. */
int rma_agent_pass(const struct rma_request *request,
                   const struct rma_sizes *sizes, const void *in,
                   const struct runtime_caller *caller);

/* Nobody is to have this rank's private memory any more. */
void rma_agent_leave(void);

/* --- Start ---------------------------------------------------------------- */

int rma_peers_init(struct rma_shared *shared, int locals,
                   _Atomic uint32_t *poison);
int rma_wire_start(void);
void rma_wire_stop(void);
void rma_far_start(void);
void rma_far_quiesce(void);
void rma_far_stop(void);
int rma_data_start(void);
void rma_data_stop(void);

/* Is the operation defined for the type, and are both any? */
bool rma_defined(enum rma_type type, enum rma_op op);

#endif /* DRASYNC_RUNTIME_RMA_STATE_H */
