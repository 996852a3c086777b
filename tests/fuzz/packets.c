/*
 * packets.c - packets and segments of other nodes, on the transport's engine,
 * which has messages of its own to send meanwhile.  Data goes where its receiver
 * said, and nowhere else; what cannot be ends the poll with an error.
 *
 * An input is a list of commands of a byte: a packet or a segment comes, or this
 * node sends.
 */
#include "drasync.h"
#include "tests/fuzz/fuzz.h"
#include "transport/engine.h"

enum { NODES = 3, SELF = 0, NEAR = 1, REQUESTS = 256, ROOM = 1 << 16 };

/* A receive that waits. */
static struct receive {
    bool waits, done;
    int from, tag;
    enum wire_channel channel;
    void *data;
    size_t bytes_max, bytes;
} receives[REQUESTS];

static uint64_t
    order; /* of control receives: the oldest gets the next packet */
static uint64_t posted[REQUESTS];
static char room[ROOM], source[2 * EAGER_LONG_MAX];
static int placed, arrivals;
static unsigned refuse;

/* --- The wire ------------------------------------------------------------- */

static int wire_send(struct wire *wire, int to, enum wire_channel channel,
                     int tag, const void *data, size_t bytes,
                     struct wire_request *request)
{
    static volatile char last;

    (void)wire;
    FUZZ_HOLDS(to >= 0 && to < NODES && channel < WIRE_CHANNELS && tag >= 0);
    FUZZ_HOLDS(channel != WIRE_CONTROL || bytes <= PACKET_BYTES_MAX);
    if (bytes)
        last = ((const char *)data)[bytes - 1];
    request->active = true;
    request->handle = UINT64_MAX;
    (void)last;
    return 0;
}

static int wire_receive(struct wire *wire, int from, enum wire_channel channel,
                        int tag, void *data, size_t bytes_max,
                        struct wire_request *request)
{
    (void)wire;
    for (int i = 0; i < REQUESTS; i++) {
        if (receives[i].waits)
            continue;
        receives[i] = (struct receive){true,    false, from,      tag,
                                       channel, data,  bytes_max, 0};
        posted[i] = ++order;
        request->active = true;
        request->handle = (uint64_t)i;
        return 0;
    }
    return DRASYNC_ENOMEM;
}

static int wire_test(struct wire *wire, struct wire_request *request,
                     bool *done_out, int *from_out, size_t *bytes_out)
{
    (void)wire;
    *done_out = true;
    if (request->handle != UINT64_MAX) {
        struct receive *r = &receives[request->handle];

        *done_out = r->done;
        if (!r->done)
            return 0;
        if (from_out)
            *from_out = r->from;
        if (bytes_out)
            *bytes_out = r->bytes;
        r->waits = false;
    }
    request->active = false;
    return 0;
}

static void wire_cancel(struct wire *wire, struct wire_request *request)
{
    (void)wire;
    if (request->handle != UINT64_MAX)
        receives[request->handle].waits = false;
}

static bool wire_near(const struct wire *wire, int peer)
{
    (void)wire;
    return peer == NEAR;
}

static uint64_t wire_now(const struct wire *wire)
{
    (void)wire;
    return 0;
}

static void wire_close(struct wire *wire)
{
    (void)wire;
}

static const struct wire_ops ops = {
    wire_send, wire_receive, wire_test,  wire_cancel,
    wire_near, wire_now,     wire_close,
};

/* --- Its owner ------------------------------------------------------------ */

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    size_t half = bulk_bytes / 2;

    (void)user;
    FUZZ_HOLDS(from >= 0 && from < NODES);
    FUZZ_HOLDS(header_bytes <= TRANSPORT_HEADER_BYTES_MAX);
    if (header_bytes)
        placed += ((const char *)header)[header_bytes - 1] & 1;
    *context_out = kind;
    if (bulk_bytes > ROOM - 16 || kind & refuse)
        return DRASYNC_EINVAL;
    /* In two pieces where there is more than a byte. */
    if (transport_sink_add(sink, room, half) ||
        transport_sink_add(sink, room + half + (half ? 16 : 0),
                           bulk_bytes - half))
        return DRASYNC_ENOMEM;
    return 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    (void)user;
    (void)from;
    FUZZ_HOLDS(context == kind);
    if (header_bytes)
        arrivals += ((const char *)header)[0] & 1;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    FUZZ_HOLDS(to >= 0 && to < NODES && context == kind && result <= 0);
}

/* --- Commands ------------------------------------------------------------- */

/* The oldest receive that takes it. */
static struct receive *waiting(enum wire_channel channel, int from, int tag)
{
    int found = -1;

    for (int i = 0; i < REQUESTS; i++) {
        const struct receive *r = &receives[i];

        if (r->waits && !r->done && r->channel == channel && r->tag == tag &&
            (r->from == WIRE_ANY || r->from == from) &&
            (found < 0 || posted[i] < posted[found]))
            found = i;
    }
    return found < 0 ? NULL : &receives[found];
}

static void deliver(struct receive *r, int from, const void *data, size_t bytes)
{
    if (bytes > r->bytes_max)
        bytes = r->bytes_max;
    if (bytes)
        memcpy(r->data, data, bytes);
    r->bytes = bytes;
    r->from = from;
    r->done = true;
}

static int comes(struct engine *engine, struct fuzz_input *in, int from)
{
    struct receive *r = waiting(WIRE_CONTROL, from, 0);
    size_t bytes;
    void *packet = fuzz_message(in, &bytes);

    if (r)
        deliver(r, from, packet, bytes);
    free(packet);
    return transport_poll(&engine->transport);
}

static int segment(struct engine *engine, struct fuzz_input *in, int from)
{
    int tag = (int)fuzz_number(in, 1) % SLOTS_MAX;
    size_t bytes = fuzz_number(in, 3);
    struct receive *r = waiting(WIRE_BULK, from, tag);

    if (bytes > sizeof(source))
        bytes = sizeof(source);
    if (r)
        deliver(r, from, source, bytes % 16 ? bytes : r->bytes_max);
    return transport_poll(&engine->transport);
}

static int sends(struct engine *engine, struct fuzz_input *in, int to)
{
    uint32_t kind = (uint32_t)fuzz_number(in, 1);
    struct transport_piece piece = {source,
                                    fuzz_number(in, 3) % sizeof(source)};
    struct transport_message m = {
        .kind = kind,
        .header = source,
        .header_bytes = fuzz_number(in, 2),
        .pieces = &piece,
        .pieces_count = kind % 2,
        .context = kind,
        .late = kind % 3 == 0,
        .soon = kind % 4,
    };

    if (transport_send(&engine->transport, to, &m))
        return -1;
    return kind % 5 ? transport_poll(&engine->transport)
                    : transport_flush(&engine->transport);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct transport_events events = {on_place, on_arrived,
                                                   on_sent, NULL};
    struct wire wire = {
        .ops = &ops, .node = SELF, .nodes = NODES, .leaders = NODES};
    struct fuzz_input in = {data, bytes};
    struct transport *transport;
    int err = 0;

    memset(receives, 0, sizeof(receives));
    refuse = (unsigned)fuzz_number(&in, 1);
    FUZZ_HOLDS(!engine_open(&wire, TRANSPORT_BULK, &events, NULL, &transport));
    while (in.left && err >= 0) {
        uint64_t what = fuzz_number(&in, 1);
        int other = (int)(what >> 2) % NODES;

        if (what % 4 < 2)
            err = comes((struct engine *)transport, &in, other);
        else if (what % 4 == 2)
            err = segment((struct engine *)transport, &in, other);
        else
            err = sends((struct engine *)transport, &in, other);
    }
    transport_close(transport);
    return 0;
}
