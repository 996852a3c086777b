/* Asking another node for transfers: see far.h. */
#include "runtime/rma/far.h"

#include <sched.h>
#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/rma/state.h"
#include "runtime/shared.h"

bool rma_far_used(void)
{
    if (runtime.nodes == 1)
        return false;
    switch (runtime.options.rma) {
    case RUNTIME_RMA_MESSAGES:
        return true;
    case RUNTIME_RMA_MPI:
        return false;
    default:
        /* A window of MPI's has its frames registered for good. */
        return runtime.adapters || atomic_load(&runtime.shared->on_sockets);
    }
}

int rma_far_open(void)
{
    int err = far_ops_start();

    return err ? err : progress_own_open();
}

static int send_or_undo(const struct runtime_message *message,
                        rma_ticket ticket)
{
    int err = progress_own_send(message);

    if (err && ticket)
        far_op_undo(message->node, ticket);
    return err;
}

int far_small_begin(int node, size_t bytes, bool asked, rma_ticket *ticket_out)
{
    int err;

    *ticket_out = 0;
    if (!asked && far_small_free(node, bytes))
        return 0;
    err = far_make_room(node);
    return err ? err : far_op_take(node, NULL, 0, 1, ticket_out);
}

int far_small_send(const struct runtime_message *message, size_t bytes,
                   rma_ticket ticket)
{
    int err = send_or_undo(message, ticket);

    if (!err && !ticket)
        far_note_small(message->node, bytes);
    return err;
}

static int put_small(int node, uint64_t place, const void *from, size_t bytes,
                     rma_ticket ticket)
{
    char message[sizeof(struct far_head) + FAR_SMALL_BYTES];
    const struct far_head head = {place, bytes, ticket};
    const struct runtime_message m = {
        .node = node,
        .kind = FAR_PUT,
        .header = message,
        .header_bytes = sizeof(head) + bytes,
        .lazy = !ticket && bytes <= FAR_LAZY_BYTES,
    };

    memcpy(message, &head, sizeof(head));
    if (bytes)
        memcpy(message + sizeof(head), from, bytes);
    return far_small_send(&m, bytes, ticket);
}

static int put_large(int node, uint64_t place, const void *from, size_t bytes,
                     rma_ticket ticket)
{
    const struct far_head head = {place, bytes, ticket};
    const struct transport_piece piece = {(void *)(uintptr_t)from, bytes};
    const struct runtime_message m = {
        .node = node,
        .kind = FAR_PUT,
        .header = &head,
        .header_bytes = sizeof(head),
        .pieces = &piece,
        .pieces_count = 1,
        .context = ticket,
    };

    return send_or_undo(&m, ticket);
}

int rma_far_put(int node, uint64_t place, const void *from, size_t bytes,
                rma_ticket *ticket_out)
{
    rma_ticket ticket;
    int err;

    if (bytes <= FAR_SMALL_BYTES) {
        err = far_small_begin(node, bytes, ticket_out != NULL, &ticket);
        if (!err)
            err = put_small(node, place, from, bytes, ticket);
    } else {
        err = far_make_room(node);
        if (!err)
            err = far_op_take(node, NULL, 0, 2, &ticket);
        if (!err)
            err = put_large(node, place, from, bytes, ticket);
    }
    if (!err && ticket_out)
        *ticket_out = ticket;
    return err;
}

int rma_far_get(int node, uint64_t place, void *to, size_t bytes,
                rma_ticket *ticket_out)
{
    struct far_head head = {place, bytes, 0};
    const struct runtime_message m = {
        .node = node,
        .kind = FAR_GET,
        .header = &head,
        .header_bytes = sizeof(head),
    };
    int err = far_make_room(node);

    if (!err)
        err = far_op_take(node, to, bytes, 1, &head.ticket);
    if (err)
        return err;
    if (ticket_out)
        *ticket_out = head.ticket;
    return send_or_undo(&m, head.ticket);
}

int rma_far_cover(int node, rma_ticket *ticket_out)
{
    /* In this order: what another thread begins in between covers this one's
     * small transfers, and is the last then, or a later one is. */
    bool open = far_small_open(node);
    rma_ticket ticket = far_last(node);
    int err = 0;

    if (open)
        err = far_op_take(node, NULL, 0, 1, &ticket);
    if (open && !err)
        err = put_small(node, 0, NULL, 0, ticket);
    if (!err)
        *ticket_out = ticket;
    return err;
}

int rma_far_flush_begin(int node)
{
    rma_ticket ticket;

    return rma_far_cover(node, &ticket);
}

bool rma_help(bool (*over)(void *arg), void *arg)
{
    return progress_help_until(over, arg);
}

void rma_glance(void)
{
    progress_glance();
}

void rma_far_start(void)
{
    far_serve_start();
}

void rma_go_on(void)
{
    progress_own_go_on();
}

/* Others' messages are not counted in shutdown: see
 * runtime/messages/dispatch.h. */
void rma_far_quiesce(void)
{
    if (runtime.leader || rma_far_flush_all(true))
        return;
    while (!progress_own_still() && !atomic_load(runtime_poisoned)) {
        progress_glance();
        sched_yield();
    }
}

void rma_far_stop(void)
{
    far_ops_stop();
}
