/* Asking another node for transfers in shapes: see far_runs.h. */
#include "runtime/rma/far_runs.h"

#include <stdlib.h>
#include <string.h>

#include "memory/blocks.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"

/* A list of runs for less than this is not begun at the end of a message. */
#define FAR_RUN_WORTH ((size_t)64)

/* Runs as they come, and how far we are with the one that came last. */
struct far_cut {
    struct rma_runs *runs;
    struct rma_run run;
    uint64_t in; /* of its first block */
};

/* The next run of @most bytes at most, in the memory at @base; false: no
 * more. */
static bool cut_next(struct far_cut *c, uint64_t base, uint64_t most,
                     struct far_run *out)
{
    struct rma_run *run = &c->run;
    uint64_t count;

    while (!run->count || !run->bytes) {
        if (!c->runs->next(c->runs, run))
            return false;
    }
    if (most > FAR_RUNS_BYTES)
        most = FAR_RUNS_BYTES;
    if (c->in || run->bytes > most) {
        uint64_t left = run->bytes - c->in;

        *out = (struct far_run){.place = base + run->at + c->in, .count = 1};
        out->bytes = (uint32_t)(left < most ? left : most);
        out->stride = out->bytes;
        c->in += out->bytes;
        if (c->in < run->bytes)
            return true;
        c->in = 0;
        count = 1;
    } else {
        count = most / run->bytes;
        if (count > run->count)
            count = run->count;
        *out = (struct far_run){
            .place = base + run->at,
            .stride = run->stride,
            .bytes = (uint32_t)run->bytes,
            .count = (uint32_t)count,
        };
    }
    run->at += count * run->stride;
    run->count -= count;
    return true;
}

/* Runs for one message of @most bytes with its data, after @head; their number
 * and bytes go there. */
static void cut_message(struct far_cut *c, uint64_t place, size_t most,
                        struct far_runs_head *head, struct far_run *runs)
{
    size_t room = most - sizeof(*head);
    struct far_run *r = runs;

    head->runs = head->bytes = 0;
    while (room > sizeof(*r) + (head->runs ? FAR_RUN_WORTH : 0) &&
           cut_next(c, place, room - sizeof(*r), r)) {
        size_t bytes = (size_t)r->bytes * r->count;

        head->runs++;
        head->bytes += bytes;
        room -= sizeof(*r) + bytes;
        r++;
    }
}

/* --- Copying -------------------------------------------------------------- */

size_t far_run_pack(const struct far_run *run, const char *at, char *packed)
{
    blocks_copy(packed, run->bytes, at, run->stride, run->count, run->bytes);
    return (size_t)run->bytes * run->count;
}

size_t far_run_unpack(const struct far_run *run, char *at, const char *packed)
{
    blocks_copy(at, run->stride, packed, run->bytes, run->count, run->bytes);
    return (size_t)run->bytes * run->count;
}

static char *address_of(const struct far_run *run)
{
    return (char *)(uintptr_t)run->place;
}

void far_piece_unpack(const struct far_piece *piece, const char *packed)
{
    for (uint64_t i = 0; i < piece->count; i++)
        packed += far_run_unpack(&piece->runs[i], address_of(&piece->runs[i]),
                                 packed);
}

/* --- Put ------------------------------------------------------------------ */

/* @bytes more from this process's memory. */
static void pack(struct far_cut *here, uint64_t from, char *to, uint64_t bytes)
{
    struct far_run run;

    while (bytes && cut_next(here, from, bytes, &run)) {
        size_t now = far_run_pack(&run, address_of(&run), to);

        to += now;
        bytes -= now;
    }
}

int rma_far_put_runs(int node, uint64_t place, struct rma_runs *there,
                     const void *from, struct rma_runs *here, uint64_t bytes,
                     rma_ticket *ticket_out)
{
    struct far_cut to = {.runs = there}, of = {.runs = here};
    _Alignas(16) char message[FAR_RUNS_BYTES];
    struct far_runs_head head;
    int err = 0;

    while (bytes && !err) {
        rma_ticket *last;
        char *data;

        cut_message(&to, place, sizeof(message), &head,
                    (void *)(message + sizeof(head)));
        if (!head.bytes || head.bytes > bytes)
            return DRASYNC_EINVAL;
        data = message + sizeof(head) + head.runs * sizeof(struct far_run);
        pack(&of, (uintptr_t)from, data, head.bytes);
        bytes -= head.bytes;
        last = bytes ? NULL : ticket_out;
        err = far_small_begin(node, head.bytes, last != NULL, &head.ticket);
        if (err)
            return err;
        memcpy(message, &head, sizeof(head));
        const struct runtime_message m = {
            .node = node,
            .kind = FAR_PUT_RUNS,
            .header = message,
            .header_bytes = (size_t)(data - message) + head.bytes,
        };
        err = far_small_send(&m, head.bytes, head.ticket);
        if (last)
            *last = head.ticket;
    }
    return err;
}

/* --- Get ------------------------------------------------------------------ */

/* Where @bytes more go in this process's memory. */
static int piece_new(struct far_cut *here, uint64_t to, uint64_t bytes,
                     struct far_piece **piece_out)
{
    struct far_piece *piece = NULL;
    uint64_t room = 0, count = 0, left = bytes;
    struct far_run run;

    while (left && cut_next(here, to, left, &run)) {
        if (count == room) {
            room = room ? 2 * room : 4;
            void *more = realloc(piece, sizeof(*piece) + room * sizeof(run));
            if (!more) {
                free(piece);
                return DRASYNC_ENOMEM;
            }
            piece = more;
        }
        piece->runs[count++] = run;
        left -= (uint64_t)run.bytes * run.count;
    }
    if (!piece || left) {
        free(piece);
        return DRASYNC_EINVAL;
    }
    piece->next = NULL;
    piece->bytes = bytes;
    piece->count = count;
    *piece_out = piece;
    return 0;
}

int rma_far_get_runs(int node, uint64_t place, struct rma_runs *there, void *to,
                     struct rma_runs *here, uint64_t bytes,
                     rma_ticket *ticket_out)
{
    struct far_cut of = {.runs = there}, at = {.runs = here};
    _Alignas(16) char message[FAR_RUNS_BYTES];
    struct far_runs_head head;
    rma_ticket ticket;
    int err = far_make_room(node);

    /* One part for each message, and one until all are sent. */
    if (!err)
        err = far_op_take(node, NULL, 0, 1, &ticket);
    if (err)
        return err;
    while (bytes && !err) {
        struct far_piece *piece;

        /* As if its data came with it, so that the answer is not longer. */
        cut_message(&of, place, sizeof(message), &head,
                    (void *)(message + sizeof(head)));
        if (!head.bytes || head.bytes > bytes)
            err = DRASYNC_EINVAL;
        if (!err)
            err = piece_new(&at, (uintptr_t)to, head.bytes, &piece);
        if (!err)
            err = far_make_room(node);
        if (err)
            break;
        head.ticket = ticket;
        memcpy(message, &head, sizeof(head));
        const struct runtime_message m = {
            .node = node,
            .kind = FAR_GET_RUNS,
            .header = message,
            .header_bytes = sizeof(head) + head.runs * sizeof(struct far_run),
        };
        far_op_expect(ticket, piece);
        err = progress_own_send(&m);
        if (err)
            far_op_forget(ticket, piece);
        bytes -= head.bytes;
    }
    far_op_answered(ticket, node, 0);
    if (err)
        rma_far_wait(node, ticket);
    if (ticket_out)
        *ticket_out = err ? 0 : ticket;
    return err;
}
