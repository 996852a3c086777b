/*
 * rma.h - one-sided access to the memory of all nodes, for front ends whose
 * programs put, get and update data that they hold no region for.
 *
 * A place says where bytes lie on a node: an offset in the node's data file, or
 * in the process of one of its ranks.  Places mean nothing on other nodes but
 * may be sent there.
 *
 * Callers guarantee that the memory stays as long as it is used: a place in a
 * region, that some rank holds the region for WRITE (so its frames do not
 * change); a place in a process, that it is announced (rma_private_begin()).
 * Nothing else: a place, a node or a count that cannot be is DRASYNC_EINVAL.
 *
 * Any call may return DRASYNC_EPEER or DRASYNC_ENOMEM.  Thread-safe, but for
 * start and end.  None may be called on the progress thread.
 */
#ifndef DRASYNC_RUNTIME_RMA_RMA_H
#define DRASYNC_RUNTIME_RMA_RMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"

/* The front is in another library, and this one exports drasync_ only. */
#define rma_enter           drasync_rma_enter
#define rma_job             drasync_rma_job
#define rma_place_of        drasync_rma_place_of
#define rma_private_begin   drasync_rma_private_begin
#define rma_private_end     drasync_rma_private_end
#define rma_apply           drasync_rma_apply
#define rma_swap_if         drasync_rma_swap_if
#define rma_update          drasync_rma_update
#define rma_compare         drasync_rma_compare
#define rma_read_pieces     drasync_rma_read_pieces
#define rma_write_pieces    drasync_rma_write_pieces
#define rma_awake           drasync_rma_awake
#define rma_far_used        drasync_rma_far_used
#define rma_far_open        drasync_rma_far_open
#define rma_far_put         drasync_rma_far_put
#define rma_far_get         drasync_rma_far_get
#define rma_far_put_runs    drasync_rma_far_put_runs
#define rma_far_get_runs    drasync_rma_far_get_runs
#define rma_far_wait        drasync_rma_far_wait
#define rma_far_test        drasync_rma_far_test
#define rma_far_cover       drasync_rma_far_cover
#define rma_far_flush_begin drasync_rma_far_flush_begin
#define rma_far_flush_end   drasync_rma_far_flush_end
#define rma_far_flush_all   drasync_rma_far_flush_all
#define rma_help            drasync_rma_help
#define rma_glance          drasync_rma_glance
#define rma_go_on           drasync_rma_go_on

/* This job, as a front needs it; does not change while the library runs. */
struct rma_job {
    int rank, ranks; /* in MPI_COMM_WORLD */
    int node, nodes;
    int local, locals;
    bool crowded;         /* more ranks on this host than processors */
    const int *node_of;   /* [ranks] */
    const int *local_of;  /* [ranks] */
    const int *leader_of; /* [nodes] the rank that MPI reaches a node's memory
                             through */
    char *window;         /* this node's data file, linear; place 0 */
    uint64_t window_bytes;
    char *data; /* where regions lie: their primary frames */
    uint64_t data_bytes;
};

/* Start the library if nobody has, wherever MPI was started: collective then.
 * Errors as runtime_enter()'s. */
int rma_enter(void);
const struct rma_job *rma_job(void);

/* --- Places --------------------------------------------------------------- */

/* Offsets of the data file are below this bit; with it, the rest is an address
 * in the process of the rank that is named beside it. */
#define RMA_PRIVATE (UINT64_C(1) << 63)
#define RMA_NOWHERE UINT64_MAX

/*
 * Where @bytes at @address of this process lie.  In a region: its frames as
 * this rank sees them; this rank must hold it for WRITE.
 *   DRASYNC_ENOTHELD  a region that this rank does not hold for WRITE
 *   DRASYNC_ENOREGION where regions lie, but in none
 *   DRASYNC_EINVAL    NULL, partly in a region, or across its extents
 */
int rma_place_of(const void *address, size_t bytes, uint64_t *place_out);

/* The address of a place of this node that is in its data file. */
static inline void *rma_address(const struct rma_job *job, uint64_t place)
{
    return job->window + place;
}

/* Others may use [@address, @address + @bytes) of this process from now on;
 * counted, so nested announcements are fine.  The first starts the agent. */
int rma_private_begin(void *address, size_t bytes);
int rma_private_end(void *address, size_t bytes);

/* --- Atomic operations ---------------------------------------------------- */

enum rma_type {
    RMA_INT8,
    RMA_UINT8,
    RMA_INT16,
    RMA_UINT16,
    RMA_INT32,
    RMA_UINT32,
    RMA_INT64,
    RMA_UINT64,
    RMA_FLOAT,
    RMA_DOUBLE,
    RMA_LONG_DOUBLE,
    RMA_TYPES
};

enum rma_op {
    RMA_MIN,
    RMA_MAX,
    RMA_SUM,
    RMA_PROD,
    RMA_BAND,
    RMA_LAND,
    RMA_BOR,
    RMA_LOR,
    RMA_BXOR,
    RMA_LXOR,
    RMA_REPLACE,
    RMA_NO_OP,
    RMA_OPS
};

size_t rma_type_bytes(enum rma_type type);

/*
 * At @address, on this node: each of @count elements becomes (element op
 * value), each by itself atomic; @results, if not NULL, gets the old ones.
 * Aligned or not: what is not aligned to its size takes a lock, and is atomic
 * only among accesses that are so too.
 *   DRASYNC_EINVAL  the operation is not defined for the type
 */
int rma_apply(void *address, enum rma_type type, enum rma_op op,
              const void *values, void *results, size_t count);

/* Compare and swap of one element, likewise; @result gets the old value.
 * Integers only (DRASYNC_EINVAL). */
int rma_swap_if(void *address, enum rma_type type, const void *compare,
                const void *value, void *result);

/* The same wherever the memory is: by this thread if it can, else by a message.
 * They return when it is done.  @rank is who has the memory. */
int rma_update(int rank, uint64_t place, enum rma_type type, enum rma_op op,
               const void *values, void *results, size_t count);
int rma_compare(int rank, uint64_t place, enum rma_type type,
                const void *compare, const void *value, void *result);

/* --- Data ----------------------------------------------------------------- */

struct rma_piece {
    uint64_t place, bytes;
};

/* Copy pieces of @rank's memory (this one included), which lie one after another
 * here; at once where that is cheaper.  They return when it is done.  On error
 * some may have been copied. */
#define RMA_PIECES_MAX 256
int rma_read_pieces(int rank, const struct rma_piece *pieces, size_t count,
                    void *to);
int rma_write_pieces(int rank, const struct rma_piece *pieces, size_t count,
                     const void *from);

/*
 * To and from another node's data file by messages, which need one look of that
 * node into MPI where MPI's own one-sided operations need several.  When?
 * Where MPI runs over sockets, unless DRASYNC_RMA says otherwise; all ranks or
 * none.
 *
 * Every rank sends them itself, and the other node's leader answers it.
 * Answers are taken while a thread of this rank waits for one or asks for one
 * below; on a leader also at any other time.
 */
bool rma_far_used(void);

/* What the calls below need in this process; once, or more often, by one thread
 * at a time.  DRASYNC_ENOMEM, DRASYNC_EPEER. */
int rma_far_open(void);

/*
 * Begin one; the program's buffer stays as it is until it is done.  *ticket_out
 * (never 0) is for the calls below; NULL: a flush tells.  Done means there, for
 * a put; puts of up to RMA_FAR_COPIED_BYTES may have their buffer back at once,
 * and without a ticket they may wait to go with what comes next: some
 * milliseconds, and where this rank leads no node, until it next waits or asks
 * for something. Waits only if very much is under way.
 *   DRASYNC_ENOMEM, DRASYNC_EPEER, DRASYNC_ELIMIT
 */
#define RMA_FAR_COPIED_BYTES ((size_t)8 << 10)
typedef uint64_t rma_ticket;
int rma_far_put(int node, uint64_t place, const void *from, size_t bytes,
                rma_ticket *ticket_out);
int rma_far_get(int node, uint64_t place, void *to, size_t bytes,
                rma_ticket *ticket_out);

/*
 * The same in shapes: @place and the buffer are where both shapes begin, and
 * those come as runs, in the order in which the bytes are one another's.  All
 * that is put is copied, as few bytes are, and waits for nothing else; what is
 * longer than some megabytes waits until the rest is there.  Nothing of the
 * runs is used when the call has returned.
 *   DRASYNC_EINVAL  the runs are not @bytes on both sides
 */
struct rma_run {
    uint64_t at; /* of the first block */
    uint64_t bytes, stride, count;
};

struct rma_runs {
    bool (*next)(struct rma_runs *runs, struct rma_run *run_out);
};

int rma_far_put_runs(int node, uint64_t place, struct rma_runs *there,
                     const void *from, struct rma_runs *here, uint64_t bytes,
                     rma_ticket *ticket_out);
int rma_far_get_runs(int node, uint64_t place, struct rma_runs *there, void *to,
                     struct rma_runs *here, uint64_t bytes,
                     rma_ticket *ticket_out);

/* A ticket that is done when all those puts to @node without one are; 0: they
 * are.  On error *ticket_out is as before. */
int rma_far_cover(int node, rma_ticket *ticket_out);

/* Wait for it, or see whether it is done.  What went wrong with any to that
 * node is said once, by who waits first. */
int rma_far_wait(int node, rma_ticket ticket);
bool rma_far_test(rma_ticket ticket);

/* All that this process has begun on @node, in two steps, so that nodes can be
 * flushed side by side.  The second alone: all that has a ticket, and gets. */
int rma_far_flush_begin(int node);
int rma_far_flush_end(int node);

/* The same for all nodes, also after an error, the first of which it returns;
 * @there false: the second step alone. */
int rma_far_flush_all(bool there);

/*
 * Do the progress thread's work until @over, if this thread can: it polls, and
 * answers other nodes meanwhile.  False: it is not over, wait otherwise.
 */
bool rma_help(bool (*over)(void *arg), void *arg);

/* For who waits otherwise: move on what this rank has under way to other nodes. */
void rma_glance(void);

/* For who asks again and again, and may be the only one that moves that on: the
 * same, but nothing where this rank has nothing under way that it moves itself. */
void rma_go_on(void);

/* MPI's one-sided operations are about to go to @node: its progress thread is
 * to stay awake.  Cheap; sends at most one message in a millisecond. */
void rma_awake(int node);

#endif /* DRASYNC_RUNTIME_RMA_RMA_H */
