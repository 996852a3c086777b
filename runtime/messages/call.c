/* Calls of another node: see messages.h. */
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/wait.h"
#include "runtime/waiting.h"

/* At the head of a request, and of a reply. */
struct call_head {
    uint64_t ticket;
    uint32_t slot;
    int32_t result; /* of a reply */
};

/* A free slot, made ours by a ticket that was never used before; NULL: none. */
static struct runtime_call_slot *take_slot(uint64_t *ticket_out)
{
    struct runtime_shared *shared = runtime.shared;

    for (int i = 0; i < RUNTIME_CALL_SLOTS; i++) {
        uint64_t ticket = atomic_fetch_add(&shared->call_next, 1) + 1;
        uint64_t none = 0;
        struct runtime_call_slot *slot =
            &shared->calls[ticket % RUNTIME_CALL_SLOTS];
        if (atomic_compare_exchange_strong(&slot->ticket, &none, ticket)) {
            *ticket_out = ticket;
            return slot;
        }
    }
    return NULL;
}

static int wait_for_slot(struct runtime_call_slot **slot_out,
                         uint64_t *ticket_out)
{
    struct doorbell *bell = &runtime.shared->call_doorbell;

    for (;;) {
        uint32_t seen = doorbell_read(bell);
        *slot_out = take_slot(ticket_out);
        if (*slot_out)
            return 0;
        int err = doorbell_wait(bell, seen, WAIT_FOREVER);
        if (err)
            return err;
    }
}

static void give_slot(struct runtime_call_slot *slot)
{
    control_free(&runtime.space, slot->reply);
    slot->reply = NULL;
    atomic_store(&slot->ticket, 0);
    doorbell_ring(&runtime.shared->call_doorbell);
}

static int send_with_head(int node, uint32_t kind, const struct call_head *head,
                          const void *body, size_t body_bytes)
{
    char small[512], *bytes = small;
    struct runtime_message message = {.node = node, .kind = kind};

    if (body_bytes > RUNTIME_HEADER_BYTES_MAX - sizeof(*head))
        return DRASYNC_ELIMIT;
    if (body_bytes > sizeof(small) - sizeof(*head)) {
        bytes = malloc(sizeof(*head) + body_bytes);
        if (!bytes)
            return DRASYNC_ENOMEM;
    }
    memcpy(bytes, head, sizeof(*head));
    if (body_bytes)
        memcpy(bytes + sizeof(*head), body, body_bytes);
    message.header = bytes;
    message.header_bytes = sizeof(*head) + body_bytes;
    int err = runtime_send(&message);
    if (bytes != small)
        free(bytes);
    return err;
}

/* Of a slot whose caller does not wait for ever: who comes first, the reply or
 * the end of the wait?  Sequentially consistent, as nothing here is often. */
enum { END_OPEN, END_LEFT, END_REPLIED };

static int await_reply(struct runtime_call_slot *slot, bool helping,
                       uint64_t deadline_us, int *result_out)
{
    struct waiter *waiter = &slot->waiter;
    uint32_t open = END_OPEN;
    int err;

    if (helping)
        return runtime_wait_remote(waiter, deadline_us, result_out);
    runtime_remote_wait(1);
    err = waiter_wait(waiter, deadline_us, result_out);
    /* The reply is just being put there. */
    if (err == DRASYNC_EAGAIN &&
        !atomic_compare_exchange_strong(&slot->end, &open, END_LEFT))
        err = waiter_wait(waiter, WAIT_FOREVER, result_out);
    runtime_remote_wait(-1);
    return err;
}

/* In some public calls others can see for whom (waiting.h). */
static int wait_for_reply(struct runtime_call_slot *slot, bool helping,
                          uint64_t deadline_us, int *result_out)
{
    struct waiting w;
    bool seen = waiting_in_call(&w, runtime.leader_of[slot->node]);
    int err = await_reply(slot, helping, deadline_us, result_out);

    if (seen)
        waiting_end(&w);
    return err;
}

static int call(int node, uint32_t kind, const void *request,
                size_t request_bytes, void *reply, size_t reply_max,
                size_t *reply_bytes_out, bool helping, uint64_t deadline_us)
{
    struct runtime_call_slot *slot;
    struct call_head head = {0};
    int err, result = 0;

    err = wait_for_slot(&slot, &head.ticket);
    if (err)
        return err;
    waiter_reset(&slot->waiter);
    slot->node = node;
    slot->reply = NULL;
    slot->reply_bytes = 0;
    atomic_store(&slot->end, END_OPEN);
    head.slot = (uint32_t)(slot - runtime.shared->calls);
    err = send_with_head(node, kind, &head, request, request_bytes);
    if (err) {
        give_slot(slot);
        return err;
    }

    err = wait_for_reply(slot, helping, deadline_us, &result);
    if (err)
        return err; /* poisoned: the slot is not used again; or the reply will
                       give it back */
    if (reply_bytes_out)
        *reply_bytes_out = slot->reply_bytes;
    if (slot->reply_bytes > reply_max)
        result = DRASYNC_ELIMIT;
    else if (slot->reply_bytes)
        memcpy(reply, slot->reply, slot->reply_bytes);
    give_slot(slot);
    return result;
}

int runtime_call(int node, uint32_t kind, const void *request,
                 size_t request_bytes, void *reply, size_t reply_max,
                 size_t *reply_bytes_out)
{
    return call(node, kind, request, request_bytes, reply, reply_max,
                reply_bytes_out, false, WAIT_FOREVER);
}

int runtime_call_helping(int node, uint32_t kind, const void *request,
                         size_t request_bytes, void *reply, size_t reply_max,
                         size_t *reply_bytes_out)
{
    return call(node, kind, request, request_bytes, reply, reply_max,
                reply_bytes_out, true, WAIT_FOREVER);
}

int runtime_call_timed(int node, uint32_t kind, const void *request,
                       size_t request_bytes, void *reply, size_t reply_max,
                       size_t *reply_bytes_out, uint64_t timeout_us)
{
    return call(node, kind, request, request_bytes, reply, reply_max,
                reply_bytes_out, false, wait_deadline_us(timeout_us));
}

int runtime_reply(const struct runtime_caller *caller, int result,
                  const void *reply, size_t reply_bytes)
{
    struct call_head head = {
        .ticket = caller->ticket,
        .slot = caller->slot,
        .result = result,
    };

    int err = send_with_head(caller->node, RUNTIME_KIND_REPLY, &head, reply,
                             reply_bytes);

    /* Who called waits for ever else. */
    if (err && err != DRASYNC_EPEER)
        runtime_poison("cannot answer node %d: %s", caller->node,
                       drasync_strerror(err));
    return err;
}

void call_serve(runtime_server *server, int from, const void *header,
                size_t header_bytes)
{
    struct call_head head;

    if (header_bytes < sizeof(head)) {
        runtime_broken("node %d sent a call that is cut short", from);
        return;
    }
    memcpy(&head, header, sizeof(head));
    struct runtime_caller caller = {
        .node = from,
        .slot = head.slot,
        .ticket = head.ticket,
    };
    server(&caller, (const char *)header + sizeof(head),
           header_bytes - sizeof(head));
}

void call_replied(int from, const void *header, size_t header_bytes)
{
    struct runtime_call_slot *slot;
    struct call_head head = {0};

    if (header_bytes >= sizeof(head))
        memcpy(&head, header, sizeof(head));
    slot = &runtime.shared->calls[head.slot % RUNTIME_CALL_SLOTS];
    if (header_bytes < sizeof(head) || head.slot >= RUNTIME_CALL_SLOTS ||
        head.ticket == 0 || atomic_load(&slot->ticket) != head.ticket ||
        slot->node != from || waiter_done(&slot->waiter)) {
        runtime_broken("node %d answered a call that was not made", from);
        return;
    }
    if (atomic_exchange(&slot->end, END_REPLIED) == END_LEFT) {
        give_slot(slot);
        return;
    }
    header_bytes -= sizeof(head);
    if (header_bytes) {
        int err = control_alloc(&runtime.space, header_bytes, &slot->reply);
        if (err) {
            slot->reply = NULL;
            waiter_wake(&slot->waiter, err);
            return;
        }
        memcpy(slot->reply, (const char *)header + sizeof(head), header_bytes);
        slot->reply_bytes = header_bytes;
    }
    waiter_wake(&slot->waiter, head.result);
}
