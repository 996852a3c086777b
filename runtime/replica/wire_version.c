/*
 * Versions on their way to another node: whole, or, where that node keeps what
 * was sent to another of its workers (wire_kept.c), by name.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/pages.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/state.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"
#include "runtime/say.h"

static size_t version_bytes(const struct replica_version *v)
{
    return sizeof(*v) + v->parts * sizeof(struct replica_part) +
           v->pieces * sizeof(struct replica_piece);
}

static void *piece_data(const struct replica_piece *piece)
{
    uint64_t in_page = piece->begin_bytes & (PAGE_BYTES - 1);

    return space_window(&runtime.space, piece->offset + in_page,
                        piece->end_bytes - piece->begin_bytes);
}

/* Its name says it all. */
static int send_name(struct replica_version *version)
{
    struct replica_version name = *version;
    struct runtime_message message = {
        .node = runtime.node_of[version->to],
        .kind = REPLICA_KIND_VERSION,
        .header = &name,
        .header_bytes = sizeof(name),
    };
    int err;

    name.parts = name.pieces = 0;
    err = runtime_send(&message);
    if (!err)
        replica_version_free(version);
    return err;
}

int replica_wire_version(struct replica_version *version)
{
    struct replica_piece *pieces = replica_version_pieces(version);
    struct transport_piece *list;
    struct runtime_message message = {
        .node = runtime.node_of[version->to],
        .kind = REPLICA_KIND_VERSION,
        .header = version,
        .header_bytes = version_bytes(version),
        .context = (uint64_t)(uintptr_t)version,
    };
    int with_data, err;

    if (version->wire == REPLICA_SAME)
        return send_name(version);

    list = malloc((version->pieces + 1) * sizeof(*list));
    if (!list)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < version->pieces; i++) {
        list[i].ptr = piece_data(&pieces[i]);
        list[i].bytes = pieces[i].end_bytes - pieces[i].begin_bytes;
    }
    message.pieces = list;
    message.pieces_count = version->pieces;
    with_data = version->pieces > 0;
    err = runtime_send(&message);
    free(list);
    /* With data it is gone when it has been sent, which may be by now; without,
     * nobody tells us. */
    if (!err && !with_data)
        replica_version_free(version);
    return err;
}

static int piece_valid(const struct replica_version *version,
                       const struct replica_piece *piece)
{
    return space_run_valid(&runtime.space, piece->first_page, piece->pages) &&
           piece->begin_bytes < piece->end_bytes &&
           piece->end_bytes <= piece->pages << PAGE_SHIFT &&
           piece->part < version->parts && piece->worker >= 0 &&
           piece->worker < runtime.ranks;
}

/* Workers that can be. */
static int way_valid(int from, const struct replica_version *version)
{
    return version->from >= 0 && version->from < runtime.ranks &&
           runtime.node_of[version->from] == from && version->to >= 0 &&
           version->to < runtime.ranks &&
           runtime.node_of[version->to] == runtime.node;
}

/* Nothing in a message is believed before this has said yes. */
static int version_valid(struct replica_version *version, size_t bytes,
                         uint64_t bulk_bytes)
{
    struct replica_part *parts = replica_version_parts(version);
    struct replica_piece *pieces;
    uint64_t sum = 0;

    if (!version->parts || version->parts > bytes / sizeof(parts[0]) ||
        version->pieces > bytes / sizeof(pieces[0]) ||
        version_bytes(version) != bytes ||
        (version->wire != REPLICA_WHOLE && version->wire != REPLICA_KEEP))
        return 0;
    /* The words of a notice, but for the first, are its takers' to judge. */
    for (uint64_t i = 0; i < (version->notice ? 1 : version->parts); i++)
        if (parts[i].address % PAGE_BYTES ||
            parts[i].address >= runtime.space.layout.data_bytes)
            return 0;
    pieces = replica_version_pieces(version);
    for (uint64_t i = 0; i < version->pieces; i++) {
        if (!piece_valid(version, &pieces[i]))
            return 0;
        sum += pieces[i].end_bytes - pieces[i].begin_bytes;
    }
    return sum == bulk_bytes && sum == version->bytes;
}

/* A copy of what was sent, without frames. */
static int unpack(int from, const void *header, size_t header_bytes,
                  uint64_t bulk_bytes, struct replica_version **version_out)
{
    struct replica_version *version;
    void *ptr;
    int err = control_alloc(&runtime.space, header_bytes, &ptr);

    if (err) {
        runtime_poison("node %d sent a version that cannot be kept: %s", from,
                       drasync_strerror(err));
        return err;
    }
    version = ptr;
    memcpy(version, header, header_bytes);
    version->next = version->sibling = NULL;
    atomic_store(&version->ready, 0);
    version->shared = version->wire == REPLICA_KEEP;
    if (!version_valid(version, header_bytes, bulk_bytes)) {
        /* What came may look like a slot that is free. */
        memset(version, 0, sizeof(*version));
        control_free(&runtime.space, version);
        replica_wire_bad(from, "a version of a region");
        return DRASYNC_EINTERNAL;
    }
    *version_out = version;
    return 0;
}

/* Frames for the data to come. */
static int make_place(struct replica_version *version,
                      struct transport_sink *sink)
{
    struct replica_piece *pieces = replica_version_pieces(version);
    int err = replica_version_frames(version);

    for (uint64_t i = 0; i < version->pieces && !err; i++) {
        uint64_t bytes = pieces[i].end_bytes - pieces[i].begin_bytes;

        frames_enter_window(&runtime.space, pieces[i].offset, bytes);
        err = transport_sink_add(sink, piece_data(&pieces[i]), bytes);
    }
    if (!err && version->wire == REPLICA_KEEP)
        err = replica_kept_add(version);
    return err;
}

/* What was kept for another worker is for this one too. */
static int name_arrived(int from, const struct replica_version *name)
{
    struct replica_version *version;
    int err = replica_kept_find(name, &version);

    if (err == DRASYNC_EINVAL) {
        replica_wire_bad(from, "the name of a version");
        return DRASYNC_EINTERNAL;
    }
    if (!err)
        err = replica_version_post(version);
    if (err)
        runtime_poison("what worker %d sent cannot be kept: %s", name->from,
                       drasync_strerror(err));
    return err;
}

static int version_place(int from, const void *header, size_t header_bytes,
                         uint64_t bulk_bytes, struct transport_sink *sink,
                         uint64_t *context_out)
{
    struct replica_version *version, name;
    int err;

    if (header_bytes < sizeof(name))
        return DRASYNC_EINTERNAL;
    memcpy(&name, header, sizeof(name));
    /* A name has no data. */
    if (!way_valid(from, &name) || (name.wire == REPLICA_SAME && bulk_bytes)) {
        replica_wire_bad(from, "a version of a region");
        return DRASYNC_EINTERNAL;
    }
    if (name.wire == REPLICA_SAME)
        return name_arrived(from, &name);
    err = unpack(from, header, header_bytes, bulk_bytes, &version);
    if (err)
        return err;
    err = make_place(version, sink);
    if (!err)
        err = replica_version_post(version);
    if (err) {
        /* The sender is told of what is large only. */
        runtime_poison("the %llu bytes that worker %d sent cannot be kept: %s",
                       (unsigned long long)version->bytes, version->from,
                       drasync_strerror(err));
        replica_version_free(version);
        return err;
    }
    if (!version->notice)
        replica_attach_early(version);
    *context_out = (uint64_t)(uintptr_t)version;
    return 0;
}

static void version_arrived(int from, const void *header, size_t header_bytes,
                            uint64_t context)
{
    struct replica_version *version =
        (struct replica_version *)(uintptr_t)context;
    uint64_t serial;
    int worker;

    (void)from;
    (void)header;
    (void)header_bytes;
    if (!version)
        return; /* a name: it was ready, or becomes so with what it names */
    worker = version->from;
    serial = version->wire == REPLICA_KEEP ? version->serial : 0;
    replica_version_ready(version);
    if (serial)
        replica_kept_arrived(worker, serial);
}

static void version_sent(int to, uint64_t context, int result)
{
    struct replica_version *version =
        (struct replica_version *)(uintptr_t)context;

    if (result)
        runtime_poison("worker %d sent %llu bytes that node %d cannot take: "
                       "%s",
                       version->from, (unsigned long long)version->bytes, to,
                       drasync_strerror(result));
    replica_version_free(version);
}

void replica_wire_forget(int node, uint64_t serial)
{
    struct replica_forget what = {.worker = runtime.rank, .serial = serial};
    struct runtime_message message = {
        .node = node,
        .kind = REPLICA_KIND_FORGET,
        .header = &what,
        .header_bytes = sizeof(what),
        .late = true,
        .lazy = true,
    };

    replica_wire_send(&message);
}

static void forget_arrived(int from, const void *header, size_t header_bytes,
                           uint64_t context)
{
    struct replica_forget what = {.worker = -1};

    (void)context;
    if (header_bytes == sizeof(what))
        memcpy(&what, header, sizeof(what));
    if (what.worker < 0 || what.worker >= runtime.ranks ||
        runtime.node_of[what.worker] != from ||
        replica_kept_forget((int)what.worker, what.serial))
        replica_wire_bad(from, "the name of a version");
}

void replica_wire_versions_open(void)
{
    static const struct runtime_handler version = {
        .place = version_place,
        .arrived = version_arrived,
        .sent = version_sent,
    };
    static const struct runtime_handler forget = {.arrived = forget_arrived};

    runtime_handle(REPLICA_KIND_VERSION, &version);
    runtime_handle(REPLICA_KIND_FORGET, &forget);
}
