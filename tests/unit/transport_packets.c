/*
 * Packets that no transport sends: cut off, of unknown kinds, out of order, with
 * more than was promised.  Each is an error of the poll that finds it, and
 * touches nothing.  And messages in several packets, by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "tests/unit/loop.h"
#include "transport/engine.h"
#include "tap.h"

enum { NODES = 2, HEADER = 32, ROOM = 4096 };

static char place_of_data[ROOM];
static int placed, arrivals, refuse;

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    (void)user;
    (void)from;
    (void)kind;
    (void)header;
    (void)header_bytes;
    (void)context_out;
    placed++;
    if (refuse || bulk_bytes > ROOM)
        return DRASYNC_EINVAL;
    return transport_sink_add(sink, place_of_data, bulk_bytes);
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    (void)user;
    (void)from;
    (void)kind;
    (void)header;
    (void)header_bytes;
    (void)context;
    arrivals++;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    (void)to;
    (void)kind;
    (void)context;
    (void)result;
}

static const struct transport_events events = {on_place, on_arrived, on_sent,
                                               NULL};
static struct transport *ends[NODES];

static void begin(void)
{
    placed = arrivals = refuse = 0;
    memset(place_of_data, 0, ROOM);
    if (transport_loop_open(NODES, TRANSPORT_BULK, &events, NULL, ends))
        abort();
}

static void end(void)
{
    for (int i = 0; i < NODES; i++)
        transport_close(ends[i]);
}

/* Node 0 sends @head and then @bytes of 'x', of which the wire carries @all in
 * total; what node 1's poll says. */
static int sent(struct packet head, size_t bytes, size_t all)
{
    struct wire *wire = ((struct engine *)ends[0])->wire;
    struct wire_request request = {0};
    char *data = calloc(1, sizeof(head) + PACKET_PADDED(bytes));
    bool done = false;

    memcpy(data, &head, sizeof(head));
    memset(data + sizeof(head), 'x', bytes);
    if (wire->ops->send(wire, 1, WIRE_CONTROL, 0, data, all, &request) ||
        wire->ops->test(wire, &request, &done, NULL, NULL) || !done)
        abort();
    free(data);
    return transport_poll(ends[1]);
}

/* All of it. */
static int sent_all(struct packet head)
{
    size_t bytes = (size_t)head.here_bytes + head.data_bytes;

    return sent(head, bytes, sizeof(head) + PACKET_PADDED(bytes));
}

/* A message of which the header's @here bytes and @data bytes are in the packet,
 * and @header and @bulk in all. */
static struct packet first(uint32_t here, uint64_t header, uint32_t data,
                           uint64_t bulk)
{
    return (struct packet){
        .type = PACKET_MESSAGE,
        .here_bytes = here,
        .header_bytes = header,
        .data_bytes = data,
        .bulk_bytes = bulk,
        .eager = bulk > 0,
    };
}

static struct packet more(uint32_t here, uint32_t data)
{
    return (struct packet){
        .type = PACKET_MORE, .here_bytes = here, .data_bytes = data};
}

static int error(struct packet head)
{
    int err;

    begin();
    err = sent_all(head);
    end();
    return err == DRASYNC_EINTERNAL && !arrivals;
}

/* @then after @head, which is well. */
static int error_after(struct packet head, struct packet then)
{
    int good, err;

    begin();
    good = sent_all(head);
    err = sent_all(then);
    end();
    return good > 0 && err == DRASYNC_EINTERNAL && !arrivals;
}

static void broken(void)
{
    struct packet late_data = first(HEADER, HEADER, 8, 64);

    begin();
    tap_ok(sent(first(0, 0, 0, 0), 0, 0) == DRASYNC_EINTERNAL,
           "nothing at all");
    end();
    begin();
    tap_ok(sent(first(0, 0, 0, 0), 0, 20) == DRASYNC_EINTERNAL, "half a head");
    end();
    begin();
    tap_ok(sent(first(64, 64, 0, 0), 64, sizeof(struct packet) + 32) ==
               DRASYNC_EINTERNAL,
           "a header that is cut off");
    end();
    begin();
    tap_ok(sent(first(0, 0, 64, 64), 64, sizeof(struct packet) + 32) ==
               DRASYNC_EINTERNAL,
           "data that is cut off");
    end();
    tap_ok(error((struct packet){.type = 77}), "an unknown type");
    tap_ok(error(first(64, HEADER, 0, 0)), "more of the header than there is");
    tap_ok(error(first(HEADER, TRANSPORT_HEADER_BYTES_MAX + 1, 0, 0)),
           "a header past the limit");
    tap_ok(error(first(HEADER, HEADER, 8, EAGER_LONG_MAX + 1)),
           "more data in packets than goes there");
    tap_ok(error(first(HEADER, HEADER, 80, 64)), "more data than was promised");
    tap_ok(error(first(8, HEADER, 8, 64)), "data before the header is whole");
    late_data.eager = 0;
    tap_ok(error(late_data), "data in the packet that was to be announced");
    tap_ok(error(more(8, 0)), "more of a message that did not begin");
}

/* A message of 1 MiB with a list of stretches. */
static struct packet listed(int32_t stretches, uint32_t data)
{
    struct packet p = first(HEADER, HEADER, data, 1 << 20);

    p.eager = 0;
    p.value = stretches;
    return p;
}

static void broken_lists(void)
{
    struct packet eager = first(HEADER, HEADER, 8, 64);

    eager.value = 1;
    tap_ok(error(eager), "stretches of data that comes in packets");
    tap_ok(error(listed(-1, 0)), "fewer of them than none");
    tap_ok(error(listed(STRETCHES_MAX + 1, 8)), "more than are listed");
    tap_ok(error(listed(2, 24)), "more in the packet than was promised");
    tap_ok(error(listed(1, 8)), "longer ones than the data");
    tap_ok(error_after(listed(2, 8), more(0, 16)),
           "more than the rest of them");
    tap_ok(error_after(listed(2, 8), more(0, 8)),
           "longer ones, in two packets");
}

static void broken_after(void)
{
    tap_ok(error_after(first(8, HEADER, 0, 0), more(HEADER, 0)),
           "more than the rest of the header");
    tap_ok(error_after(first(8, HEADER, 0, 0), first(8, 8, 0, 0)),
           "a message in the middle of another");
    tap_ok(error_after(first(HEADER, HEADER, 8, 64), more(8, 0)),
           "a header that goes on behind the data");
    tap_ok(error_after(first(HEADER, HEADER, 8, 64), more(0, 60)),
           "more than the rest of the data");
    tap_ok(error_after(first(8, HEADER, 0, 0), more(HEADER - 8, 8)),
           "data of a message that has none");
}

/* What node 1, which has @data to send, says to a GO with @go_bytes. */
static int answered(struct transport_piece data, uint64_t go_bytes)
{
    const struct transport_message message = {
        .header = "", .pieces = &data, .pieces_count = 1};
    int got;

    begin();
    if (transport_send(ends[1], 0, &message))
        abort();
    got = sent_all((struct packet){
        .type = PACKET_GO, .id = UINT64_C(1) << 32, .bulk_bytes = go_bytes});
    end();
    return got;
}

static void cuts(void)
{
    static char data[EAGER_BYTES_MAX + 1];
    const struct transport_piece piece = {data, sizeof(data)};

    tap_ok(answered(piece, 0) == DRASYNC_EINTERNAL,
           "data in segments of no bytes");
    tap_ok(answered(piece, SEGMENT_BYTES + 1) == DRASYNC_EINTERNAL,
           "in longer ones than there are");
    tap_ok(answered(piece, 4000) > 0, "in some that are well");
}

static int leaders = 4;

/* How many messages of node 0 to node @to, with so much data each, are announced,
 * of @count; @backlog is on its way. */
static size_t announced(int to, size_t bytes, int count, size_t backlog)
{
    static char data[EAGER_LONG_MAX + 1];
    const struct transport_piece piece = {data, bytes};
    const struct transport_message message = {
        .header = "", .header_bytes = 1, .pieces = &piece, .pieces_count = 1};
    struct transport *four[4];
    struct engine *engine;
    size_t got;

    if (transport_loop_open(4, TRANSPORT_BULK, &events, NULL, four))
        abort();
    engine = (struct engine *)four[0];
    engine->wire->leaders = leaders;
    transport_poll(four[0]);
    engine->sending_bytes = backlog;
    for (int i = 0; i < count; i++)
        if (transport_send(four[0], to, &message))
            abort();
    got = engine->out_count;
    engine->sending_bytes = 0;
    for (int i = 0; i < 4; i++)
        transport_close(four[i]);
    return got;
}

static void eager(void)
{
    const size_t few = EAGER_BYTES_MAX, more = few + 1;

    tap_ok(!announced(2, few, 1, BACKLOG_BYTES_MAX) && announced(2, more, 1, 0),
           "few data go in packets, others are announced");
    transport_loop_at_once = 65536;
    tap_ok(!announced(2, EAGER_LONG_MAX, 1, BACKLOG_BYTES_MAX - 1) &&
               announced(2, EAGER_LONG_MAX + 1, 1, 0),
           "over TCP what is few is more");
    tap_ok(announced(2, EAGER_LONG_MAX / 2, 5, 0) == 3 &&
               !announced(2, few, 50, 0),
           "but no more than that between two polls");
    leaders = EAGER_NODES_BYTES / EAGER_LONG_MAX * 2;
    tap_ok(announced(2, EAGER_LONG_MAX, 1, 0) &&
               !announced(2, EAGER_LONG_MAX / 2, 1, 0),
           "less where many may send to one");
    leaders = 4;
    tap_ok(announced(2, more, 1, BACKLOG_BYTES_MAX) == 1,
           "nor where much is on its way");
    tap_ok(announced(2, few, 1, BACKLOG_FULL_BYTES) == 1 &&
               !announced(2, EAGER_FEW_BYTES, 1, BACKLOG_FULL_BYTES),
           "and only the fewest where more is");
    tap_ok(announced(1, more, 1, 0) == 1, "nor on one host");
    transport_loop_at_once = 0;
}

static void in_parts(void)
{
    begin();
    int good = sent_all(first(8, HEADER, 0, 64)) > 0 && !placed;
    good &= sent_all(more(HEADER - 8, 10)) > 0 && placed == 1 && !arrivals;
    good &= !transport_idle(ends[1]);
    good &= sent_all(more(0, 54)) > 0 && arrivals == 1;
    good &= transport_idle(ends[1]) && place_of_data[63] == 'x' &&
            !place_of_data[64];
    tap_ok(good, "a message in three packets is placed and arrives once");
    refuse = 1;
    good = sent_all(first(HEADER, HEADER, 10, 64)) > 0 && placed == 2;
    good &= sent_all(more(0, 54)) > 0 && transport_idle(ends[1]);
    refuse = 0;
    good &= sent_all(first(HEADER, HEADER, 64, 64)) > 0;
    tap_ok(good && placed == 3 && arrivals == 2,
           "one that is refused is not missed by the next");
    end();
}

/* What node 0 and then node 2, of another host, keep of one message. */
static void kept_of(size_t header_bytes, int *packets_out, int *headers_out)
{
    char *header = calloc(1, header_bytes);
    const struct transport_message message = {.header = header,
                                              .header_bytes = header_bytes};
    struct transport *four[4];

    arrivals = 0;
    if (transport_loop_open(4, TRANSPORT_BULK, &events, NULL, four))
        abort();
    for (int sends = 1; sends <= 2; sends++) {
        if (transport_send(four[0], 2, &message))
            abort();
        for (int i = 0; i < 100 && arrivals < sends; i++)
            if (transport_poll(four[0]) < 0 || transport_poll(four[2]) < 0)
                abort();
    }
    *packets_out = ((struct engine *)four[0])->packet_spares.count;
    *headers_out = ((struct engine *)four[2])->header_spares.count;
    for (int i = 0; i < 4; i++)
        transport_close(four[i]);
    free(header);
}

static void spares(void)
{
    struct spares s = {.bytes_min = 100, .bytes = 200, .max = 4};
    void *first_one = spares_take(&s, 150), *large = spares_take(&s, 201);
    int packets, headers;

    spares_give(&s, first_one, 150);
    spares_give(&s, large, 201);
    tap_ok(s.count == 1, "a buffer of another size is not kept");
    tap_ok(spares_take(&s, 100) == first_one && !s.count,
           "one that is kept is used");
    for (int i = 0; i <= s.max; i++)
        spares_give(&s, i ? malloc(200) : first_one, 200);
    tap_ok(s.count == s.max, "no more than so many are kept");
    spares_free(&s);
    kept_of(100 << 10, &packets, &headers);
    tap_ok(
        arrivals == 2 && packets >= 1 && packets <= SPARES_MAX && headers == 1,
        "a long header: its packets are kept, and where it was put together");
    kept_of(100, &packets, &headers);
    tap_ok(arrivals == 2 && !packets && !headers,
           "a short one: nothing is kept");
}

int main(void)
{
    broken();
    broken_lists();
    broken_after();
    cuts();
    eager();
    in_parts();
    spares();
    return tap_end();
}
