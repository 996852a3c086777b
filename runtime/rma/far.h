/*
 * far.h - inside runtime/rma/far*.c: transfers to and from the data files of
 * other nodes by messages.  What fronts call is in rma.h.  The other way is
 * MPI's one-sided operations (fronts/dart/window.c); docs/dart.md, "Transfers",
 * says why there are both, and which one a job uses.
 *
 *   PUT   bytes for a place, in the header if they are few, else as data; and
 *         whoever wants to know when they are there gets
 *   DONE
 *   GET   bytes from a place; they come with
 *   DATA
 *
 * Messages between two nodes are handled in order, and few bytes at once: so
 * the answer to anything tells that all small puts before it are there.  A
 * flush asks for one only if there was none.
 *
 * Messages leave and answers come by this process's own engine
 * (runtime/messages/progress.h): the asker is a rank, not a node.
 */
#ifndef DRASYNC_RUNTIME_RMA_FAR_H
#define DRASYNC_RUNTIME_RMA_FAR_H

#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/rma/rma.h"
#include "runtime/wait.h"

enum far_kind {
    FAR_PUT = RUNTIME_KIND_RMA_FAR,
    FAR_DONE,
    FAR_GET,
    FAR_DATA,
    FAR_PUT_RUNS, /* far_runs.h */
    FAR_GET_RUNS,
};

/* So much goes in a header. */
#define FAR_SMALL_BYTES RMA_FAR_COPIED_BYTES

/* So much of it waits for other messages to go with. */
#define FAR_LAZY_BYTES ((size_t)512)

struct far_head {
    uint64_t place, bytes;
    uint64_t ticket; /* the asker's; 0: no answer */
};

struct far_answer {
    uint64_t ticket;
    int64_t err;
};

/* --- What is under way (far_ops.c) ---------------------------------------- */

/*
 * A ticket for something that @parts answers to this process will complete, on
 * @node; if it is a get, @bytes are to come to @to.  It counts for a flush.
 *   DRASYNC_ENOMEM, DRASYNC_ELIMIT
 */
int far_op_take(int node, void *to, size_t bytes, uint32_t parts,
                rma_ticket *ticket_out);
/* It was not sent. */
void far_op_undo(int node, rma_ticket ticket);

/* One answer from @node.  False: nobody asked. */
bool far_op_answered(rma_ticket ticket, int node, int err);

/* Where the data of a get goes, all of it; NULL: nobody asked for that. */
void *far_op_to(rma_ticket ticket, int node, uint64_t bytes);

/* One more DATA is to come for it, for @piece, which is its own from here on;
 * or was not asked for after all. */
struct far_piece;
void far_op_expect(rma_ticket ticket, struct far_piece *piece);
void far_op_forget(rma_ticket ticket, struct far_piece *piece);

/* What the next DATA for it is for, to be freed; NULL: not for a piece. */
struct far_piece *far_op_piece(rma_ticket ticket, int node);

/* A small put without a ticket was sent, after that. */
void far_note_small(int node, size_t bytes);

/* Are so few under way that the next one needs no ticket; is there any that
 * nothing will tell of? */
bool far_small_free(int node, size_t bytes);
bool far_small_open(int node);

/* Wait until no more is under way than is good for @node. */
int far_make_room(int node);

/*
 * A put that is copied whole into one message, or into several that follow each
 * other: what it needs, then send it.  *ticket_out is 0 unless it is @asked for
 * or due.
 */
int far_small_begin(int node, size_t bytes, bool asked, rma_ticket *ticket_out);
int far_small_send(const struct runtime_message *message, size_t bytes,
                   rma_ticket ticket);

/* The last ticket for @node; 0: it is done.  Ask after far_small_open(). */
rma_ticket far_last(int node);

int far_ops_start(void);
void far_ops_stop(void);

/* far_serve.c; in a module's start. */
void far_serve_start(void);

/* Tell @rank that its put is here, or what was wrong with it; in a handler. */
void far_answer_put(int rank, rma_ticket ticket, int err);

#endif /* DRASYNC_RUNTIME_RMA_FAR_H */
