/*
 * Messages of the protocol leave: the encoded message, the extents of what goes
 * with it, and the data straight from its frames.
 */
#include "runtime/native/frames.h"
#include "runtime/native/table.h"
#include "runtime/native/wire.h"

#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/delta.h"
#include "runtime/native/diff.h"
#include "runtime/native/later.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* A step that sends to a node more than once does so with few effects between. */
#define LOOK_EFFECTS_MAX 8

/* So many messages to a node may be unanswered before more of their kind wait
 * for each other: requests that this thread will wait for, which are answered in
 * a round trip; and what is asked ahead, which is answered when it changes. */
#define SOON_ASKED 1
#define SOON_AHEAD 8

/* A quarter is for the data's lists. */
_Static_assert((uint64_t)PROTO_ITEMS_MAX * PROTO_ITEM_BYTES <=
                   RUNTIME_HEADER_BYTES_MAX / 4 * 3,
               "a header has room for the longest message");

/* A message that is being put together. */
struct parcel {
    char *header;
    size_t bytes, room;
    struct transport_sink pieces;
    struct later_answer *later; /* follows; or NULL */
    bool token; /* whose versions were noted elsewhere: no pages (delta.h) */
    int err;
};

static void *parcel_add(struct parcel *p, size_t bytes)
{
    size_t room = p->room ? p->room : 256;
    char *grown;

    while (room < p->bytes + bytes)
        room *= 2;
    if (room != p->room) {
        grown = realloc(p->header, room);
        if (!grown) {
            p->err = DRASYNC_ENOMEM;
            return NULL;
        }
        p->header = grown;
        p->room = room;
    }
    memset(p->header + p->bytes, 0, bytes);
    p->bytes += bytes;
    return p->header + p->bytes - bytes;
}

static void parcel_piece(struct parcel *p, uint64_t offset, uint64_t bytes)
{
    p->err = transport_sink_add(
        &p->pieces, space_window(&runtime.space, offset, bytes), bytes);
}

/* What changed, instead of all. */
static void parcel_runs(struct parcel *p, const struct native_frames *frames,
                        const struct delta_runs *runs)
{
    size_t bytes = runs->count * sizeof(runs->run[0]);
    void *to = parcel_add(p, bytes);

    if (!to)
        return;
    if (bytes)
        memcpy(to, runs->run, bytes);
    for (size_t i = 0; i < runs->count && !p->err; i++) {
        const struct delta_run *changed = &runs->run[i];
        const struct frameset_run *run = &frames->set->run[changed->extent];
        uint64_t used = native_used_bytes(frames, changed->extent);

        parcel_piece(p, run->offset + (changed->page << PAGE_SHIFT),
                     delta_run_bytes(changed, used));
    }
}

/* *runs_out: what changed, of a region that is looked through in one piece, for
 * the caller to free.  False: send all. */
static bool changed_now(const struct proto_effect *ship,
                        struct delta_runs *runs_out)
{
    struct native_memory *memory = ship->region->memory;
    const struct native_frames *frames = ship->copy->frames;
    uint64_t used_bytes[CHORE_PIECE_PAGES];
    struct delta_list list = {
        .base = ship->base_version,
        .extents = frames->set->runs,
        .used_bytes = used_bytes,
    };

    if (list.extents > CHORE_PIECE_PAGES ||
        native_delta_note(memory, frames, ship->copy->version))
        return false;
    for (uint64_t i = 0; i < list.extents; i++)
        used_bytes[i] = native_used_bytes(frames, i);
    if (native_delta_list(memory, frames, &list)) {
        free(list.runs.run);
        return false;
    }
    *runs_out = list.runs;
    return true;
}

/* How the data of @ship goes; *runs_out: if it is what changed, now. */
static enum delta_answer parcel_answer(struct parcel *p,
                                       const struct proto_effect *ship,
                                       struct wire_region *region,
                                       struct delta_runs *runs_out)
{
    enum delta_answer how = DELTA_ALL;

    if (ship->base_version && !p->token)
        how = native_delta_since(ship->region, ship->copy->frames,
                                 ship->copy->version, ship->base_version);
    if ((how == DELTA_NOW && !changed_now(ship, runs_out)) ||
        (how == DELTA_LATER &&
         (p->later || later_answer_new(ship, &p->later, &region->later))))
        how = DELTA_ALL;
    if (how != DELTA_ALL) {
        region->base = ship->base_version;
        region->runs = runs_out->count;
    }
    return how;
}

/* What changed, word by word. */
static void parcel_diff(struct parcel *p, const struct native_frames *frames,
                        const struct native_diff *diff)
{
    uint32_t *runs = parcel_add(p, wire_diff_bytes(diff->runs));
    uint64_t *words;

    if (!runs)
        return;
    memcpy(runs, diff->run, diff->runs * sizeof(*runs));
    words = parcel_add(p, diff->words * sizeof(*words));
    if (!words)
        return;
    native_diff_gather(diff, frames, words);
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&runtime.shared->diff_bytes_sent,
                              diff->words * sizeof(*words),
                              memory_order_relaxed);
}

static void parcel_region(struct parcel *p, const struct proto_effect *ship)
{
    const struct native_frames *frames = ship->copy->frames;
    const struct frameset *set = frames->set;
    struct wire_region *region = parcel_add(p, sizeof(*region));
    struct delta_runs runs = {0};
    struct native_diff diff = {0};
    enum delta_answer how = DELTA_NOW;

    if (!region)
        return;
    region->item = ship->item;
    region->extents = set->runs;
    if (native_diff_since(ship->region, frames, ship->copy->version,
                          ship->base_version, &diff)) {
        region->base = ship->base_version;
        region->diff_runs = diff.runs;
    } else {
        how = parcel_answer(p, ship, region, &runs);
    }
    for (uint64_t i = 0; i < set->runs && !p->err; i++) {
        const struct frameset_run *run = &set->run[i];
        struct wire_extent *w = parcel_add(p, sizeof(*w));

        if (!w)
            return;
        w->first_page = run->first_page;
        w->pages = run->pages;
        w->used_bytes = native_used_bytes(frames, i);
        if (w->used_bytes && how == DELTA_ALL)
            parcel_piece(p, run->offset, wire_bytes(w->used_bytes));
    }
    if (diff.runs)
        parcel_diff(p, frames, &diff);
    else if (how == DELTA_NOW)
        parcel_runs(p, frames, &runs);
    free(runs.run);
}

static void parcel_message(struct parcel *p,
                           const struct proto_message *message)
{
    size_t bytes = proto_encoded_size(message);
    size_t padded = (bytes + 7) & ~(size_t)7;
    struct wire_head *head = parcel_add(p, sizeof(*head));
    void *encoded;

    if (!head)
        return;
    head->message_bytes = bytes;
    encoded = parcel_add(p, padded);
    if (encoded)
        proto_encode(message, encoded);
}

/* See messages.h. */
static uint8_t soon_of(const struct proto_effect *send,
                       const struct proto_message *message)
{
    bool ahead = message->type == PROTO_REQUEST && message->flags & PROTO_AHEAD;

    /* A subscription: the next version is not written yet. */
    if (ahead && message->flags & PROTO_NEWER)
        return TRANSPORT_PATIENT;
    if (send->soon)
        return SOON_ASKED;
    return send->ahead || ahead ? SOON_AHEAD : 0;
}

static int parcel_send(struct parcel *p, const struct proto_effect *send,
                       const struct proto_message *message)
{
    struct runtime_message m = {
        .node = (int)send->node,
        .kind = RUNTIME_KIND_NATIVE + message->type,
        .header = p->header,
        .header_bytes = p->bytes,
        .pieces = p->pieces.pieces,
        .pieces_count = p->pieces.count,
        .late = send->late,
        .lazy = send->lazy,
        .soon = soon_of(send, message),
    };
    struct shipment *shipment = NULL;
    void *v;
    int err;

    if (p->pieces.count || p->later) {
        err = control_alloc(&runtime.space, sizeof(*shipment), &v);
        if (err)
            return err;
        shipment = v;
        shipment->root = message->root;
        shipment->ticket = message->ticket;
        shipment->messages = (p->pieces.count ? 1u : 0) + (p->later ? 1u : 0);
        m.context = (uint64_t)(uintptr_t)shipment;
    }
    err = runtime_send(&m);
    /* It takes the lock of the tree that is held here, so it comes after. */
    if (!err && p->later)
        later_answer_begin(p->later, send->node, shipment);
    return err;
}

/* Does this step send something else to the same node at once, in whose packet
 * effect @index may go?  Looks at a few. */
static bool goes_along(const struct proto_effects *effects, size_t index)
{
    const struct proto_effect *send = &effects->effect[index], *e = send;

    for (size_t i = 1; i <= LOOK_EFFECTS_MAX && index + i < effects->count; i++)
        if ((++e)->kind == PROTO_SEND && e->node == send->node && !e->late &&
            !e->lazy)
            return true;
    return false;
}

bool native_wire_send(struct proto_effects *effects, size_t index)
{
    struct proto_effect *send = &effects->effect[index];
    struct proto_message *message = proto_effect_message(effects, index);
    struct parcel p = {0};
    bool data;

    if (message->type == PROTO_REQUEST && message->mode == DRASYNC_WRITE &&
        message->node == (uint32_t)runtime.node && native_credit_keeps())
        message->flags |= PROTO_KEEPS;

    p.token = message->mode == DRASYNC_WRITE;
    parcel_message(&p, message);
    for (size_t i = index + 1;
         i < effects->count && !p.err && effects->effect[i].kind == PROTO_SHIP;
         i++)
        parcel_region(&p, &effects->effect[i]);
    if (send->late && goes_along(effects, index))
        send->lazy = true;
    if (!p.err)
        p.err = parcel_send(&p, send, message);
    /* The step is done and cannot be undone. */
    if (p.err)
        runtime_poison("cannot send %s to node %u: %s",
                       proto_message_name(message->type), send->node,
                       drasync_strerror(p.err));
    data = p.pieces.count > 0 || p.later;
    free(p.header);
    transport_sink_free(&p.pieces);
    return data;
}

void native_wire_left(uint64_t root, uint32_t node, uint64_t ticket)
{
    struct proto_effects *effects;
    struct proto_region *r = native_find(root);

    if (!r)
        return;
    effects = native_effects();
    proto_sent(&native.node, r->root, node, ticket, effects);
    native_do(effects, NULL);
}
