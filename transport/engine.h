/*
 * engine.h - the inside of a transport: packets on the control channel
 * (engine.c takes them, packets.c sends them), messages in them (message_send.c,
 * message_receive.c), data in segments on the bulk channel (bulk.c).  Private to
 * transport/.
 *
 * A message is one packet, or, if it is long, several that follow each other.
 * They are short enough for MPI to send at once: of more than some 18 KiB over
 * TCP, or than the wire says (at_once.c), MPI tells the receiver first, which
 * takes longer than 32 KiB of data do.
 * Few data travel in the packets, behind the header, for a copy on each side.
 * Else the receiver, once it knows where the data goes and has a slot, answers
 * GO with the slot's number, and the data follows in segments, of which MPI too
 * tells the receiver first: two round trips.  Over TCP these take as long as
 * the copies of some MiB, so what counts as few is more there
 * (eager_bytes_max()): as much as is copied and sent in a millisecond, and goes
 * between two polls; unless so much is on its way that nobody would wait for
 * the answers, and the copies would fill the memory; and less where there are
 * many leaders, all of which may send to one.  With BACKLOG_FULL_BYTES on their
 * way, data of more than EAGER_FEW_BYTES stays where it is until GO.  Segments
 * are as long as GO says, but where a stretch ends (stretches.h); the first
 * packets had the list of those.
 * Over TCP MPI moves four segments of 512 KiB at a time faster than sixteen of 128,
 * or what is a MiB and longer in one (docs/performance-rows.md).
 *
 * Between nodes of one host, which share memory below MPI, packets and segments
 * are no longer than what MPI puts there at once.  Then one core copies in while
 * the other one copies out; of what is longer MPI tells the receiver, which has
 * the kernel copy it page by page, alone, and takes three times as long.  There
 * are as many receives as MPI has room for: what comes before its receive takes
 * another way through memory.
 *
 * With TRANSPORT_PAGED, which only a build with --enable-wire-paged knows, a
 * segment is a page, data never travels in the packet,
 * and before each page comes a packet PAGE with its size; the receiver takes
 * the page once that is there.
 */
#ifndef DRASYNC_TRANSPORT_ENGINE_H
#define DRASYNC_TRANSPORT_ENGINE_H

#include "config.h"
#include "transport/patience.h"
#include "transport/spares.h"
#include "transport/stretches.h"
#include "transport/wire.h"

/* The tests of the engine have it in any build. */
#ifndef ENGINE_PAGED
#define ENGINE_PAGED WIRE_PAGED
#endif

#define PACKET_BYTES        16896 /* 16 KiB of data, a header, and its head */
#define PACKET_BYTES_MAX    61952 /* 60 KiB, where the wire sends that at once */
#define PACKET_NEAR_BYTES   ((size_t)8 << 10)   /* between nodes of a host */
#define EAGER_BYTES_MAX     ((size_t)128 << 10) /* data in packets */
#define EAGER_LONG_MAX      ((size_t)3 << 19)   /* the same, over TCP */
#define EAGER_NODES_BYTES   ((size_t)32 << 20)  /* of all leaders, to one */
#define BACKLOG_BYTES_MAX   ((size_t)2 << 20)   /* in packets on their way */
#define EAGER_FEW_BYTES     ((size_t)8 << 10)   /* data in packets... */
#define BACKLOG_FULL_BYTES  ((size_t)16 << 20)  /* ...with that on its way */
#define PACKETS_POSTED      32 /* receives that wait for packets, at most */
#define PACKETS_POSTED_FEW  8
#define PACKETS_A_POLL_MAX  64
#define SEGMENT_BYTES       ((size_t)512 << 10)
#define SEGMENT_NEAR_BYTES  ((size_t)8 << 10)
#define SEGMENT_PAGED_BYTES ((size_t)4096)
#define SEGMENT_SMALL_BYTES ((size_t)64 << 10)
#define SEGMENTS_MAX        4                   /* in flight, of one message */
#define HEADER_KEPT_BYTES   ((size_t)130 << 10) /* a full one of runs (run.h) */
#define SEGMENTS_NEAR_MAX   64                  /* between nodes of a host */
#define SLOTS_MAX           64 /* messages whose data is coming in */

enum packet_type {
    PACKET_MESSAGE = 1, /* a message, or its beginning */
    PACKET_MORE,        /* more of the last one */
    PACKET_GO,          /* send the data of message `id` to tag `value`, in
                           segments of `bulk_bytes` */
    PACKET_REFUSE,      /* drop it; `value` is why */
    PACKET_PAGE,        /* `bulk_bytes` more of `id` come to tag `value` */
};

struct packet {
    uint32_t type;
    uint32_t kind;
    uint64_t id; /* the sender's, of a message with data */
    uint64_t header_bytes;
    uint64_t bulk_bytes;
    int32_t value;       /* of a message that is not eager: how many stretches
                            are listed */
    uint32_t here_bytes; /* of the header, in this packet */
    uint32_t data_bytes; /* that follow it here: data, or the list */
    uint32_t eager;      /* 1: all data comes in packets */
    char bytes[];
};

_Static_assert(sizeof(struct packet) % 16 == 0, "headers are aligned");

#define PACKET_PADDED(bytes) (((bytes) + 15) & ~(size_t)15)

/* Packets on their way out to one node, each padded; most often one. */
struct sending {
    struct sending *next;
    struct sending **link; /* what points to it, of those that may be late */
    struct wire_request request;
    int to;
    bool soon;     /* should not wait long */
    bool patient;  /* one in it waits for others only */
    uint8_t soons; /* messages in it that are `soon` */
    size_t bytes, room;
    _Alignas(16) char data[];
};

/* Messages that may be late, for one node, go together up to here, what is
 * `soon` up to a full packet; and they wait for so many nodes. */
#define LATE_BYTES_MAX ((size_t)2048)
#define LATE_NODES_MAX 1024

/* So many that are patient leave at once, where that does not pay, before they
 * wait for an answer. */
#define PATIENT_ALONE 8

/* Why a message does not leave at once: it may be late; or it is `soon`, or the
 * transport is corked; or another one is likely to follow (patience.h). */
enum waits { WAITS_NOT, WAITS_LATE, WAITS_SOON, WAITS_PATIENT };

/* A place in a list of pieces. */
struct cursor {
    size_t piece;
    size_t offset; /* in it */
};

struct segment {
    struct wire_request request;
    struct cursor at;
    size_t bytes;
    char *buffer; /* NULL: straight */
};

/* Data that moves, in or out: a ring of segments. */
struct stream {
    int peer, tag;
    uint64_t id; /* of the message, the sender's */
    const struct transport_piece *pieces;
    size_t segment_bytes; /* of each but the last */
    int segments_max;
    uint64_t bytes_total;
    uint64_t bytes_started, bytes_done;
    uint64_t bytes_told;             /* in, paged: by PAGE */
    const uint64_t *stretches;       /* all but the last (stretches.h) */
    size_t stretches_count, stretch; /* the next segment's */
    uint64_t stretch_started;        /* of that one */
    struct cursor at;                /* of the next segment */
    struct segment *segments;        /* [segments_max]; NULL: none has begun */
    int first, count;                /* of those in flight */
};

/* A message with data that this node sends: waits for GO, then moves. */
struct outgoing {
    struct outgoing *next; /* of those that move */
    uint64_t id;
    int to;
    uint32_t kind;
    uint64_t context;
    size_t pieces_count;
    bool going;
    struct stream stream;
    struct transport_piece pieces[];
};

/* A message that is coming in. */
struct incoming {
    struct incoming *next; /* of those that wait for a slot, or are not whole */
    int from;
    uint32_t kind;
    uint64_t id, context;
    size_t header_bytes, header_got;
    struct transport_sink sink;
    struct stream stream;
    uint64_t bulk_bytes;
    uint64_t data_got; /* in packets; if not eager, of the list */
    bool eager, placed, refused;
    char *header;
    uint64_t *stretches;
    size_t stretches_count;
};

/* The end of a message whose data travelled in packets. */
struct finished {
    struct finished *next;
    int to;
    uint32_t kind;
    uint64_t context;
};

struct engine {
    struct transport transport;
    struct wire *wire;
    bool paged; /* engine_paged() */

    struct packet *posted[PACKETS_POSTED];
    struct wire_request posted_requests[PACKETS_POSTED];
    int posted_count, posted_first;

    struct sending *sending_first, **sending_last;
    size_t sending_bytes;     /* of those */
    size_t eager_bytes_left;  /* until the next poll, of long data */
    struct sending *late;     /* not sent yet */
    struct sending **late_to; /* [nodes]: of them, or NULL */
    uint8_t *soons_left; /* [nodes]: so many that are `soon` have left since
                            something came from there, or more than 255 */
    struct patience *patience; /* [nodes] */
    struct finished *finished_first, **finished_last;

    struct outgoing **out; /* by the low half of the id; NULL: free */
    size_t out_count, out_capacity;
    uint32_t out_serial;
    struct outgoing *moving;

    struct spares segment_spares, packet_spares, header_spares;

    struct incoming *partial; /* packets of it are to come; few */
    struct incoming *waiting_first, **waiting_last;
    struct incoming *slots[SLOTS_MAX];
    int slots_used;
};

/* Constant in most builds: what hangs on it is not in them. */
static inline bool engine_paged(const struct engine *engine)
{
    return ENGINE_PAGED && engine->paged;
}

/*
 * packets.c: a packet for node @to with @bytes after its head, to be filled and
 * then sent with packet_send(), which owns *sending_out from here on.  What
 * waits for that node goes along, before it.  NULL: no memory.
 */
struct packet *packet_new(struct engine *engine, int to, enum packet_type type,
                          size_t bytes, struct sending **sending_out);
int packet_send(struct engine *engine, struct sending *s);

/* For a message of several packets, all of which must be there before the first
 * is sent: one without what waits for that node, and its packet to be filled.
 * @list hangs by `next`. */
struct sending *packet_room(struct engine *engine, int to, size_t bytes);
struct packet *packet_in(struct sending *s, enum packet_type type,
                         size_t bytes);
void packets_free(struct engine *engine, struct sending *list);
/* A packet that waits for the next one to that node, or packets_flush(), with
 * others; but for what is only late, no longer than for transport_flush_soon().
 * @counts: its message is one of those that are `soon`. */
struct packet *packet_late(struct engine *engine, int to, enum packet_type type,
                           size_t bytes, enum waits how, bool counts);

/* How much waits that should go with the next packet to that node. */
static inline size_t packet_along(const struct engine *engine, int to)
{
    const struct sending *late = engine->late_to[to];

    return late && late->bytes <= LATE_BYTES_MAX ? late->bytes : 0;
}

int packets_flush(struct transport *transport, bool all);
int packets_poll(struct engine *engine);
void packets_close(struct engine *engine);

static inline uint64_t now_us(const struct engine *engine)
{
    return engine->wire->ops->now_us(engine->wire);
}

/* How long a packet for node @to may be. */
static inline size_t packet_bytes_max(const struct engine *engine, int to)
{
    const struct wire *wire = engine->wire;

    if (wire->ops->near(wire, to))
        return PACKET_NEAR_BYTES;
    return wire->at_once_bytes > PACKET_BYTES_MAX ? PACKET_BYTES_MAX
                                                  : PACKET_BYTES;
}

/* So much long data travels in packets between two polls. */
static inline size_t eager_long_bytes(const struct engine *engine)
{
    size_t bytes = EAGER_NODES_BYTES / (size_t)engine->wire->leaders;

    return bytes < EAGER_LONG_MAX ? bytes : EAGER_LONG_MAX;
}

/* How much data for node @to may travel in packets now. */
static inline size_t eager_bytes_max(const struct engine *engine, int to)
{
    bool far = packet_bytes_max(engine, to) == PACKET_BYTES_MAX;
    size_t left = engine->eager_bytes_left;

    if (engine_paged(engine))
        return 0;
    if (engine->sending_bytes >= BACKLOG_FULL_BYTES)
        return EAGER_FEW_BYTES;
    return far && engine->wire->on_tcp && left > EAGER_BYTES_MAX &&
                   engine->sending_bytes < BACKLOG_BYTES_MAX
               ? left
               : EAGER_BYTES_MAX;
}

/* Send a packet without a header: GO, REFUSE or PAGE. */
int engine_answer(struct engine *engine, int to, enum packet_type type,
                  uint64_t id, int32_t value, uint64_t bulk_bytes);

/* message_send.c */
int message_send(struct transport *transport, int to,
                 const struct transport_message *message);
/* Tell of messages whose data went in packets; how many. */
int message_poll_finished(struct engine *engine);
void message_drop_finished(struct engine *engine);

/* message_receive.c: a packet of a message, from node @from. */
int message_first(struct engine *engine, int from, const struct packet *p);
int message_more(struct engine *engine, int from, const struct packet *p);

/* stream.c */
/* How long its segments are to be, of data that comes from @from. */
size_t stream_segment_bytes(const struct engine *engine, int from);
/* Both sides know now how long segments are. */
void stream_cut(const struct engine *engine, struct stream *s, size_t bytes);
/* Move what can be moved; how many segments began or ended. */
int stream_move(struct engine *engine, struct stream *s, bool out);
/* In: these @bytes have come otherwise, and are the next. */
void stream_fill(struct stream *s, const char *data, size_t bytes);
void stream_drop(struct engine *engine, struct stream *s, bool in);

/* bulk.c */
void bulk_fill(struct incoming *in, const char *data, size_t bytes);
int bulk_announce(struct engine *engine, int to,
                  const struct transport_message *message, uint64_t bulk_bytes,
                  uint64_t *id_out);
/* What its packets list; how many that are. */
size_t bulk_stretches(const struct engine *engine, uint64_t id,
                      struct transport_piece *list_out);
void bulk_forget(struct engine *engine, uint64_t id);
int bulk_answered(struct engine *engine, int from, const struct packet *packet);
int bulk_page(struct engine *engine, int from, const struct packet *packet);
void bulk_expect(struct engine *engine, struct incoming *in);
int bulk_poll(struct engine *engine);
void bulk_close(struct engine *engine);
void bulk_free_incoming(struct engine *engine, struct incoming *in);

#endif /* DRASYNC_TRANSPORT_ENGINE_H */
