/* What was begun and is not answered, and who waits for it: see far.h. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/rma/far_runs.h"

/* After so many small puts, or bytes of them, an answer is asked for; and when
 * so much waits for answers from a node, the next one waits too. */
#define FAR_SMALL_PUTS_MAX      256
#define FAR_SMALL_PUT_BYTES_MAX ((size_t)256 << 10)
#define FAR_OPS_MAX             1024
#define FAR_OPEN_BYTES_MAX      ((size_t)4 << 20) /* of what is copied */

/* Of all nodes together, as threads may begin more at a time. */
#define FAR_CHUNK_OPS  256
#define FAR_CHUNKS_MAX 4096

/* What an answer will come for. */
struct far_op {
    uint32_t serial; /* another one for each use */
    uint32_t parts;  /* answers that are to come; 0: free */
    int32_t node;
    uint32_t next; /* free: number + 1 */
    void *to;      /* of a get */
    uint64_t bytes;
    uint64_t covered; /* of small puts that its answer tells of */
    struct far_piece *pieces, **pieces_last; /* of a get in a shape */
};

struct far_node {
    uint32_t ops;        /* not answered */
    uint32_t small_puts; /* since anything that is answered */
    size_t small_bytes;
    size_t open_bytes; /* small puts and shapes that are not answered */
    bool used;         /* it is in that list */
    int err;           /* what went wrong since it was asked last */
    rma_ticket last;
};

/* A thread that waits: for one, for all of a node, or until those are few. */
struct far_waiting {
    struct waiter waiter;
    rma_ticket ticket;
    bool few;
    int node;
    struct far_waiting *next;
};

/* Under the lock; nothing is sent, and nobody waited for, with it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct far_op *chunks[FAR_CHUNKS_MAX];
static uint32_t chunks_count, free_first;
static struct far_node *nodes; /* [runtime.nodes] */
static struct far_waiting *waitings;

/* [runtime.nodes] Those that have anything under way, and some that had. */
static int *used, used_count;

/* --- What is under way ---------------------------------------------------- */

static struct far_op *op_at(uint32_t number)
{
    return &chunks[number / FAR_CHUNK_OPS][number % FAR_CHUNK_OPS];
}

static rma_ticket ticket_of(uint32_t number)
{
    return (uint64_t)op_at(number)->serial << 32 | (number + 1);
}

/* NULL: it is over, or never was. */
static struct far_op *op_find(rma_ticket ticket)
{
    uint32_t number = (uint32_t)ticket - 1;
    struct far_op *op;

    if (number >= chunks_count * FAR_CHUNK_OPS)
        return NULL;
    op = op_at(number);
    return op->parts && op->serial == ticket >> 32 ? op : NULL;
}

static int chunk_add(void)
{
    struct far_op *chunk;

    if (chunks_count == FAR_CHUNKS_MAX)
        return DRASYNC_ELIMIT;
    chunk = calloc(FAR_CHUNK_OPS, sizeof(*chunk));
    if (!chunk)
        return DRASYNC_ENOMEM;
    chunks[chunks_count] = chunk;
    for (uint32_t i = FAR_CHUNK_OPS; i-- > 0;) {
        chunk[i].next = free_first;
        free_first = chunks_count * FAR_CHUNK_OPS + i + 1;
    }
    chunks_count++;
    return 0;
}

/* Something is under way there.  Under the lock. */
static void note_used(int node)
{
    if (nodes[node].used)
        return;
    nodes[node].used = true;
    used[used_count++] = node;
}

int far_op_take(int node, void *to, size_t bytes, uint32_t parts,
                rma_ticket *ticket_out)
{
    struct far_op *op;
    int err = 0;

    pthread_mutex_lock(&lock);
    if (!free_first)
        err = chunk_add();
    if (!err) {
        uint32_t number = free_first - 1;

        op = op_at(number);
        free_first = op->next;
        op->serial++;
        op->parts = parts;
        op->node = node;
        op->to = to;
        op->bytes = bytes;
        op->pieces = NULL;
        op->pieces_last = &op->pieces;
        op->covered = nodes[node].small_bytes;
        note_used(node);
        nodes[node].ops++;
        nodes[node].small_puts = 0;
        nodes[node].small_bytes = 0;
        *ticket_out = ticket_of(number);
        nodes[node].last = *ticket_out;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

/* Under the lock. */
static bool is_over(const struct far_waiting *w)
{
    const struct far_node *n = &nodes[w->node];

    if (w->few)
        return n->ops <= FAR_OPS_MAX / 2 &&
               n->open_bytes - n->small_bytes <= FAR_OPEN_BYTES_MAX / 2;
    return w->ticket ? !op_find(w->ticket) : nodes[w->node].ops == 0;
}

/* Under the lock. */
static void wake_waiting(void)
{
    struct far_waiting **at = &waitings;

    while (*at) {
        struct far_waiting *w = *at;

        if (is_over(w)) {
            *at = w->next;
            waiter_wake(&w->waiter, 0);
        } else {
            at = &w->next;
        }
    }
}

/* Under the lock. */
static void unlink_piece(struct far_op *op, struct far_piece **link)
{
    struct far_piece *piece = *link;

    *link = piece->next;
    if (!piece->next)
        op->pieces_last = link;
    nodes[op->node].open_bytes -= piece->bytes;
}

/* Under the lock. */
static void op_over(struct far_op *op, rma_ticket ticket)
{
    while (op->pieces) {
        struct far_piece *piece = op->pieces;

        unlink_piece(op, &op->pieces);
        free(piece);
    }
    op->next = free_first;
    free_first = (uint32_t)ticket;
    nodes[op->node].ops--;
    nodes[op->node].open_bytes -= op->covered;
}

bool far_op_answered(rma_ticket ticket, int node, int err)
{
    struct far_op *op;

    pthread_mutex_lock(&lock);
    op = op_find(ticket);
    if (op && op->node == node) {
        if (err && !nodes[node].err)
            nodes[node].err = err;
        if (--op->parts == 0)
            op_over(op, ticket);
        wake_waiting();
    } else {
        op = NULL;
    }
    pthread_mutex_unlock(&lock);
    return op != NULL;
}

void far_op_undo(int node, rma_ticket ticket)
{
    /* Others may have relied on its answer. */
    far_note_small(node, 0);
    while (far_op_answered(ticket, node, 0))
        continue;
}

void *far_op_to(rma_ticket ticket, int node, uint64_t bytes)
{
    struct far_op *op;
    void *to = NULL;

    pthread_mutex_lock(&lock);
    op = op_find(ticket);
    if (op && op->node == node && op->bytes == bytes)
        to = op->to;
    pthread_mutex_unlock(&lock);
    return to;
}

void far_op_expect(rma_ticket ticket, struct far_piece *piece)
{
    struct far_op *op;

    pthread_mutex_lock(&lock);
    op = op_find(ticket);
    op->parts++;
    *op->pieces_last = piece;
    op->pieces_last = &piece->next;
    nodes[op->node].open_bytes += piece->bytes;
    pthread_mutex_unlock(&lock);
}

void far_op_forget(rma_ticket ticket, struct far_piece *piece)
{
    struct far_op *op;
    struct far_piece **link;

    pthread_mutex_lock(&lock);
    op = op_find(ticket);
    op->parts--;
    for (link = &op->pieces; *link != piece; link = &(*link)->next)
        continue;
    unlink_piece(op, link);
    pthread_mutex_unlock(&lock);
    free(piece);
}

struct far_piece *far_op_piece(rma_ticket ticket, int node)
{
    struct far_piece *piece = NULL;
    struct far_op *op;

    pthread_mutex_lock(&lock);
    op = op_find(ticket);
    if (op && op->node == node && op->pieces) {
        piece = op->pieces;
        unlink_piece(op, &op->pieces);
    }
    pthread_mutex_unlock(&lock);
    return piece;
}

void far_note_small(int node, size_t bytes)
{
    pthread_mutex_lock(&lock);
    note_used(node);
    nodes[node].small_puts++;
    nodes[node].small_bytes += bytes;
    nodes[node].open_bytes += bytes;
    pthread_mutex_unlock(&lock);
}

bool far_small_free(int node, size_t bytes)
{
    const struct far_node *n = &nodes[node];
    bool may;

    pthread_mutex_lock(&lock);
    may = n->ops < FAR_OPS_MAX && n->small_puts < FAR_SMALL_PUTS_MAX &&
          n->small_bytes + bytes <= FAR_SMALL_PUT_BYTES_MAX;
    pthread_mutex_unlock(&lock);
    return may;
}

bool far_small_open(int node)
{
    bool open;

    pthread_mutex_lock(&lock);
    open = nodes[node].small_puts > 0;
    pthread_mutex_unlock(&lock);
    return open;
}

rma_ticket far_last(int node)
{
    rma_ticket last;

    pthread_mutex_lock(&lock);
    last = op_find(nodes[node].last) ? nodes[node].last : 0;
    pthread_mutex_unlock(&lock);
    return last;
}

/* --- Waiting -------------------------------------------------------------- */

/* Under the lock, which is given and taken again. */
static int wait_until_over(struct far_waiting *w)
{
    int err;

    if (is_over(w))
        return 0;
    w->next = waitings;
    waitings = w;
    pthread_mutex_unlock(&lock);
    err = progress_own_wait(&w->waiter);
    pthread_mutex_lock(&lock);
    for (struct far_waiting **at = &waitings; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    return err;
}

int far_make_room(int node)
{
    struct far_waiting w = {.few = true, .node = node};
    const struct far_node *n = &nodes[node];
    int err = 0;

    pthread_mutex_lock(&lock);
    if (n->ops >= FAR_OPS_MAX || n->open_bytes >= FAR_OPEN_BYTES_MAX)
        err = wait_until_over(&w);
    pthread_mutex_unlock(&lock);
    return err;
}

static int wait_for(rma_ticket ticket, int node)
{
    struct far_waiting w = {.ticket = ticket, .node = node};
    int err;

    pthread_mutex_lock(&lock);
    err = wait_until_over(&w);
    if (!err) {
        err = nodes[node].err;
        nodes[node].err = 0;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

int rma_far_wait(int node, rma_ticket ticket)
{
    return wait_for(ticket, node);
}

bool rma_far_test(rma_ticket ticket)
{
    bool over;

    progress_glance();
    pthread_mutex_lock(&lock);
    over = !op_find(ticket);
    pthread_mutex_unlock(&lock);
    return over;
}

int rma_far_flush_end(int node)
{
    return wait_for(0, node);
}

/* Where nothing is under way it leaves the list.  How many there are. */
static int prune_used(void)
{
    int kept = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < used_count; i++) {
        struct far_node *n = &nodes[used[i]];

        n->used = n->ops || n->small_puts || n->err;
        if (n->used)
            used[kept++] = used[i];
    }
    used_count = kept;
    pthread_mutex_unlock(&lock);
    return kept;
}

int rma_far_flush_all(bool there)
{
    /* Others only add to the list. */
    static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
    int count, err = 0;

    pthread_mutex_lock(&flushing);
    count = prune_used();
    for (int i = 0; i < count && there; i++) {
        int one = rma_far_flush_begin(used[i]);

        err = err ? err : one;
    }
    for (int i = 0; i < count; i++) {
        int one = rma_far_flush_end(used[i]);

        err = err ? err : one;
    }
    pthread_mutex_unlock(&flushing);
    return err;
}

/* --- Start and end -------------------------------------------------------- */

int far_ops_start(void)
{
    size_t count = (size_t)runtime.nodes;

    if (!nodes)
        nodes = calloc(count, sizeof(*nodes));
    if (!used)
        used = calloc(count, sizeof(*used));
    return nodes && used ? 0 : DRASYNC_ENOMEM;
}

void far_ops_stop(void)
{
    while (chunks_count > 0)
        free(chunks[--chunks_count]);
    free_first = 0;
    free(nodes);
    free(used);
    nodes = NULL;
    used = NULL;
    used_count = 0;
}
