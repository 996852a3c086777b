/*
 * Messages of the protocol arrive: decoded and handled.  All on the leader's
 * progress thread.
 */
#include "runtime/native/receive.h"

#include <stdlib.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/messages/messages.h"
#include "runtime/native/delta.h"
#include "runtime/native/diff.h"
#include "runtime/native/frames.h"
#include "runtime/native/give.h"
#include "runtime/native/state.h"
#include "runtime/native/wire.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"

void native_wire_expect(struct native_arrival *a,
                        const struct proto_effect *effect)
{
    a->expected = true;
    a->root = effect->region->root->address;
    a->ticket = effect->ticket;
}

static void unplace(struct native_arrival *a)
{
    for (size_t i = 0; i < a->placed_count; i++) {
        a->placed[i].copy->frames = NULL;
        native_frames_free(a->placed[i].frames);
    }
    a->placed_count = 0;
}

/* The data is in place, or there is no room for it. */
static void data_done(struct native_arrival *a, int err)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (native_lock(a->root, &tree))
        return;
    if (err)
        unplace(a);
    for (size_t i = 0; i < a->placed_count && a->token; i++) {
        const struct native_placed *p = &a->placed[i];

        /* Not what proto_base_lost() was told of. */
        if (!p->copy->taken)
            native_diff_arrived(p->memory, p->frames, p->copy->version);
    }
    if (tree.region) {
        effects = native_effects();
        proto_arrived(&native.node, tree.region->root, (uint32_t)a->from,
                      a->ticket, err, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
}

static void handle(struct native_arrival *a,
                   const struct proto_message *message)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (native_lock_message(message, &tree))
        return;
    effects = native_effects();
    proto_message(&native.node, (uint32_t)a->from, message, effects);
    native_do(effects, a);
    native_unlock(&tree);
}

/* Does nobody wait for @message?  Who asks ahead does not, nor for an answer if
 * no rank of this node waits for another one. */
static bool has_time(const struct proto_message *message)
{
    switch (message->type) {
    case PROTO_REQUEST:
        return message->flags & PROTO_AHEAD;
    case PROTO_TRANSFER:
    case PROTO_SETTLED:
    case PROTO_UNREAD:
    case PROTO_REFUSED:
    case PROTO_REVOKED:
    case PROTO_OWNER:
    case PROTO_FREED:
        /* Relaxed: advice. */
        return !atomic_load_explicit(&runtime.shared->outbox.remote_waits,
                                     memory_order_relaxed);
    default:
        return false;
    }
}

static int decode_and_handle(struct native_arrival *a, const char *header,
                             size_t bytes)
{
    struct proto_message message;
    struct proto_item few[8], *items = few;
    const char *why = "it is cut short";
    uint32_t count;
    uint64_t size;
    int err = DRASYNC_EINVAL;

    a->at = header;
    a->end = header + bytes;
    if (bytes < sizeof(struct wire_head))
        goto refuse;
    memcpy(&size, header, sizeof(size));
    a->at += sizeof(struct wire_head);
    if (size > bytes - sizeof(struct wire_head))
        goto refuse;
    header = a->at;
    count = proto_encoded_items(header, size);
    if (count > sizeof(few) / sizeof(few[0]))
        items = malloc(count * sizeof(*items));
    if (!items) {
        runtime_no_memory("read a message");
        return DRASYNC_ENOMEM;
    }
    err = proto_decode(&native.node.env, header, size, items, &message, &why);
    size = (size + 7) & ~UINT64_C(7);
    a->at =
        header + (size > (size_t)(a->end - header) ? (size_t)(a->end - header)
                                                   : (size_t)size);
    a->token = !err && message.mode == DRASYNC_WRITE;
    if (!err && has_time(&message))
        runtime_message_has_time();
    if (!err)
        handle(a, &message);
    /* Who takes it finds the region here. */
    if (!err && message.type == PROTO_TRANSFER && message.flags & PROTO_GIVEN)
        give_arrives(a->from, &message);
    if (items != few)
        free(items);
    if (!err)
        return 0;
refuse:
    runtime_broken("node %d sent a broken message: %s", a->from, why);
    return err;
}

/* Until all of it has arrived. */
static int arrival_keep(const struct native_arrival *a, uint64_t *context_out)
{
    struct native_arrival *kept = malloc(sizeof(*kept));

    if (!kept)
        return DRASYNC_ENOMEM;
    *kept = *a;
    kept->parts = 1 + (a->later != NULL);
    if (a->later)
        later_begin(a->later, kept);
    *context_out = (uint64_t)(uintptr_t)kept;
    return 0;
}

static int place(int from, const void *header, size_t header_bytes,
                 uint64_t bulk_bytes, struct transport_sink *sink,
                 uint64_t *context_out)
{
    struct native_arrival a = {.from = from, .sink = sink};
    int err;

    *context_out = 0;
    if (bulk_bytes > limit_room_bytes(&runtime.space))
        native_evict();
    err = decode_and_handle(&a, header, header_bytes);
    /* Else the transport refuses it, and what waits for it would not be told. */
    if (!err && !a.err && a.expected && sink->bytes != bulk_bytes)
        native_arrival_broken(&a, "other data than it says");
    if (!err)
        err = a.err;
    if (!err && a.expected) {
        err = arrival_keep(&a, context_out);
        if (!err)
            return 0;
    }
    if (a.expected)
        data_done(&a, DRASYNC_ENOMEM);
    later_refuse(a.later);
    free(a.placed);
    /* Data that nobody waits for is refused. */
    return err ? err : bulk_bytes ? DRASYNC_EINVAL : 0;
}

void native_arrival_part(struct native_arrival *a, int err)
{
    if (!a->err)
        a->err = err;
    if (--a->parts > 0)
        return;
    data_done(a, a->err);
    free(a->placed);
    free(a);
}

static void arrived(int from, const void *header, size_t header_bytes,
                    uint64_t context)
{
    struct native_arrival *a = (struct native_arrival *)(uintptr_t)context;

    (void)from;
    (void)header;
    (void)header_bytes;
    if (a)
        native_arrival_part(a, 0);
}

void native_wire_start(void)
{
    static const struct runtime_handler handler = {
        .place = place,
        .arrived = arrived,
        .sent = native_wire_sent,
    };

    for (uint32_t type = 1; type < PROTO_MESSAGE_TYPES; type++)
        runtime_handle(RUNTIME_KIND_NATIVE + type, &handler);
    native_delta_start();
    native_later_send_start();
    native_later_receive_start();
}
