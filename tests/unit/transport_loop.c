/*
 * The transport over the in-process wire: order, long headers, data that is cut
 * differently on both sides, refusals, more messages than slots; from one
 * thread, and with a thread for each node.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "tests/unit/loop.h"
#include "tap.h"

#define NODES        3
#define KIND_PLAIN   1
#define KIND_REFUSED 2
#define MESSAGES     150 /* of each node */
#define MESSAGES_FEW 30
#define PIECES_MAX   64

/* Begins every header; the bytes that follow it are `number`. */
struct head {
    uint32_t number; /* of this pair of nodes, in order */
    uint32_t seed;   /* of the data */
    uint64_t bulk_bytes;
};

/* A message under way, on either side. */
struct parcel {
    struct head head;
    char *memory;
    struct transport_piece pieces[PIECES_MAX];
    size_t count;
};

struct node {
    struct transport *transport;
    uint32_t sent_to[NODES], placed_from[NODES];
    int arrived, sent, refused, told, bad;
    uint64_t random;
};

static _Atomic int nodes_done;
static int messages = MESSAGES;

static uint32_t draw(uint64_t *state, uint32_t limit)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

static char byte_at(uint32_t seed, uint64_t at)
{
    return (char)(seed + at * 7 + (at >> 12));
}

/* Memory for @bytes in pieces of uneven lengths, with holes between them. */
static void cut(struct parcel *parcel, uint64_t *random, uint64_t bytes)
{
    uint64_t at = 0;

    parcel->memory = malloc(bytes + PIECES_MAX);
    parcel->count = 0;
    while (bytes > 0) {
        uint64_t piece = 1 + draw(random, draw(random, 2) ? 2000000 : 5000);
        if (piece > bytes || parcel->count == PIECES_MAX - 1)
            piece = bytes;
        parcel->pieces[parcel->count].ptr = parcel->memory + at;
        parcel->pieces[parcel->count].bytes = piece;
        parcel->count++;
        at += piece + draw(random, 2);
        bytes -= piece;
    }
}

/* Write the data, or count what differs. */
static int pass_over(struct parcel *parcel, int write)
{
    uint64_t at = 0;
    int bad = 0;

    for (size_t i = 0; i < parcel->count; i++) {
        char *bytes = parcel->pieces[i].ptr;
        for (size_t k = 0; k < parcel->pieces[i].bytes; k++, at++) {
            if (write)
                bytes[k] = byte_at(parcel->head.seed, at);
            else
                bad += bytes[k] != byte_at(parcel->head.seed, at);
        }
    }
    return bad + (at != parcel->head.bulk_bytes);
}

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    struct node *node = user;
    struct parcel *parcel = calloc(1, sizeof(*parcel));

    memcpy(&parcel->head, header, sizeof(parcel->head));
    node->bad += parcel->head.number != node->placed_from[from]++;
    node->bad += parcel->head.bulk_bytes != bulk_bytes;
    for (size_t i = sizeof(struct head); i < header_bytes; i++)
        node->bad += ((const char *)header)[i] != (char)parcel->head.number;
    if (kind == KIND_REFUSED) {
        free(parcel);
        node->refused++;
        return DRASYNC_ENOMEM;
    }
    cut(parcel, &node->random, bulk_bytes);
    for (size_t i = 0; i < parcel->count; i++)
        node->bad += transport_sink_add(sink, parcel->pieces[i].ptr,
                                        parcel->pieces[i].bytes) != 0;
    *context_out = (uint64_t)(uintptr_t)parcel;
    return 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    struct node *node = user;
    struct parcel *parcel = (struct parcel *)(uintptr_t)context;

    (void)from;
    node->bad += kind != KIND_PLAIN || header_bytes < sizeof(struct head) ||
                 memcmp(header, &parcel->head, sizeof(struct head)) != 0;
    node->bad += pass_over(parcel, 0);
    free(parcel->memory);
    free(parcel);
    node->arrived++;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    struct node *node = user;
    struct parcel *parcel = (struct parcel *)(uintptr_t)context;

    (void)to;
    if (kind == KIND_PLAIN)
        node->bad += result != 0;
    else
        node->told += result == DRASYNC_ENOMEM;
    /* The pieces are ours again: nobody reads what is written now. */
    memset(parcel->memory, 0, parcel->head.bulk_bytes);
    free(parcel->memory);
    free(parcel);
    node->sent++;
}

static const struct transport_events events = {on_place, on_arrived, on_sent,
                                               NULL};

static uint64_t draw_bytes(uint64_t *random)
{
    switch (draw(random, 8)) {
    case 0:
        return 0;
    case 1:
        return 1 + draw(random, 100);
    case 2:
        return 16600 + draw(random, 300); /* about the edge of a packet */
    case 3:
        return 8000 + draw(random, 200); /* of one on a host */
    case 4:
        return 65500 + draw(random, 80); /* of what goes in packets */
    case 5:
        return (1u << 17) - 2 + draw(random, 4); /* of a segment */
    default:
        return draw(random, 3000000);
    }
}

static void send_bytes(struct node *node, int to, uint64_t bulk_bytes,
                       size_t header_bytes, uint32_t kind)
{
    struct parcel *parcel = calloc(1, sizeof(*parcel));
    char *header;

    parcel->head.number = node->sent_to[to]++;
    parcel->head.seed = draw(&node->random, 1000);
    parcel->head.bulk_bytes = bulk_bytes;
    cut(parcel, &node->random, bulk_bytes);
    pass_over(parcel, 1);
    header = malloc(header_bytes);
    memset(header, (int)parcel->head.number, header_bytes);
    memcpy(header, &parcel->head, sizeof(parcel->head));
    struct transport_message message = {
        .kind = kind,
        .header = header,
        .header_bytes = header_bytes,
        .pieces = parcel->pieces,
        .pieces_count = parcel->count,
        .context = (uint64_t)(uintptr_t)parcel,
        .late = draw(&node->random, 2),
        .soon = (uint8_t)draw(&node->random, 3),
    };
    node->bad += transport_send(node->transport, to, &message) != 0;
    free(header);
    if (bulk_bytes == 0) { /* `sent` does not come */
        free(parcel->memory);
        free(parcel);
    }
}

static void send_one(struct node *node, int to)
{
    uint64_t bulk_bytes = draw_bytes(&node->random);
    size_t header_bytes = sizeof(struct head);

    if (draw(&node->random, 10) == 0)
        header_bytes += draw(&node->random, 100000);
    send_bytes(node, to, bulk_bytes, header_bytes,
               draw(&node->random, 10) ? KIND_PLAIN : KIND_REFUSED);
}

static void open_all(struct node *nodes, enum transport_data data,
                     uint64_t seed)
{
    struct transport *transports[NODES];
    void *users[NODES];

    memset(nodes, 0, NODES * sizeof(*nodes));
    for (int i = 0; i < NODES; i++)
        users[i] = &nodes[i];
    if (transport_loop_open(NODES, data, &events, users, transports))
        abort();
    for (int i = 0; i < NODES; i++) {
        nodes[i].transport = transports[i];
        nodes[i].random = seed * NODES + (uint64_t)i;
    }
}

static int close_all(struct node *nodes)
{
    int bad = 0, seen = 0;

    for (int i = 0; i < NODES; i++) {
        bad += nodes[i].bad;
        seen += nodes[i].arrived + nodes[i].refused;
        for (int k = 0; k < NODES; k++)
            bad += nodes[i].placed_from[k] != nodes[k].sent_to[i];
    }
    for (int i = 0; i < NODES; i++)
        transport_close(nodes[i].transport);
    return bad + (seen != NODES * messages);
}

/* Until nothing moves. */
static void poll_all(struct node *nodes)
{
    int moved;

    do {
        moved = 0;
        for (int i = 0; i < NODES; i++) {
            moved += transport_poll(nodes[i].transport);
            moved += transport_flush(nodes[i].transport);
        }
    } while (moved > 0);
}

static void one_thread(enum transport_data data)
{
    struct node nodes[NODES];

    open_all(nodes, data, 1);
    for (int m = 0; m < messages; m++) {
        for (int i = 0; i < NODES; i++)
            send_one(&nodes[i], (int)draw(&nodes[i].random, NODES));
    }
    poll_all(nodes);
    int idle = 1, told = 0;
    for (int i = 0; i < NODES; i++) {
        idle &= transport_idle(nodes[i].transport);
        told += nodes[i].told;
    }
    tap_ok(idle, "all messages sent at once, to oneself too, arrive");
    tap_ok(told > 0, "a sender hears that its data was refused");
    tap_ok(close_all(nodes) == 0, "in order, with the right data");
}

static void *node_main(void *argument)
{
    struct node *node = argument;
    int said = 0;

    for (int m = 0; m < messages;) {
        send_one(node, (int)draw(&node->random, NODES));
        m++;
        node->bad += transport_poll(node->transport) < 0;
    }
    /* Serve until nobody has anything under way. */
    while (nodes_done < NODES) {
        int moved = transport_poll(node->transport);
        node->bad += moved < 0 || transport_flush(node->transport) < 0;
        if (!said && transport_idle(node->transport)) {
            said = 1;
            nodes_done++;
        }
        if (!moved)
            sched_yield();
    }
    while (transport_poll(node->transport) > 0)
        ;
    return NULL;
}

static void thread_each(enum transport_data data)
{
    struct node nodes[NODES];
    pthread_t threads[NODES];

    nodes_done = 0;
    open_all(nodes, data, 2);
    for (int i = 0; i < NODES; i++)
        pthread_create(&threads[i], NULL, node_main, &nodes[i]);
    for (int i = 0; i < NODES; i++)
        pthread_join(threads[i], NULL);
    poll_all(nodes);
    tap_ok(close_all(nodes) == 0, "the same with a thread for each node");
}

/* Of a region with very many subregions, say. */
static void very_long(void)
{
    struct node nodes[NODES];
    size_t bytes = ((size_t)64 << 20) + 1;

    open_all(nodes, TRANSPORT_BULK, 5);
    send_bytes(&nodes[0], 2, 0, sizeof(struct head), KIND_PLAIN);
    send_bytes(&nodes[0], 2, 0, bytes, KIND_PLAIN);
    poll_all(nodes);
    tap_ok(nodes[2].arrived == 2 && !nodes[2].bad && !nodes[0].bad,
           "a header of more than 64 MiB arrives");
    for (int i = 0; i < NODES; i++)
        transport_close(nodes[i].transport);
}

static void limits(void)
{
    struct node nodes[NODES];
    char byte = 0;
    struct transport_message message = {.header = &byte, .header_bytes = 1};

    open_all(nodes, TRANSPORT_BULK, 3);
    struct transport *t = nodes[0].transport;
    tap_ok(transport_send(t, NODES, &message) == DRASYNC_EINVAL &&
               transport_send(t, -1, &message) == DRASYNC_EINVAL,
           "a node that does not exist");
    message.header_bytes = TRANSPORT_HEADER_BYTES_MAX + 1;
    tap_ok(transport_send(t, 1, &message) == DRASYNC_EINVAL,
           "a header too long");
    struct transport_piece huge[] = {{&byte, SIZE_MAX}, {&byte, SIZE_MAX}};
    message.header_bytes = 1;
    message.pieces = huge;
    message.pieces_count = 2;
    tap_ok(transport_send(t, 1, &message) == DRASYNC_EINVAL, "too much data");
    for (int i = 0; i < NODES; i++)
        transport_close(nodes[i].transport);
}

/* Data of the few bytes that would fit in a packet too is sent in pages. */
static void pages_count(void)
{
    static const uint64_t bytes[] = {1, 4096, 4097, 100000};
    struct node nodes[NODES];
    uint64_t pages = 0, received = 0;
    int arrived;

    open_all(nodes, TRANSPORT_PAGED, 4);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        send_bytes(&nodes[0], 1, bytes[i], sizeof(struct head), KIND_PLAIN);
        pages += (bytes[i] + 4095) / 4096;
    }
    poll_all(nodes);
    arrived = nodes[1].arrived;
    received = nodes[1].transport->counters.messages_received;
    tap_ok(arrived == 4 && received == 4 + 2 * pages &&
               nodes[0].transport->counters.messages_sent == received,
           "two messages a page, and the one they belong to");
    for (int i = 0; i < NODES; i++)
        transport_close(nodes[i].transport);
}

int main(void)
{
    one_thread(TRANSPORT_BULK);
    thread_each(TRANSPORT_BULK);
    tap_ok(transport_loop_longest > 16384 && transport_loop_longest < 18432,
           "packets are as long as MPI sends at once by itself");
    printf("# where it sends 64 KiB at once\n");
    transport_loop_at_once = 65536;
    one_thread(TRANSPORT_BULK);
    thread_each(TRANSPORT_BULK);
    tap_ok(transport_loop_longest > 61440 && transport_loop_longest < 65536,
           "packets are nearly as long");
    transport_loop_at_once = 0;
    printf("# in pages, each announced\n");
    messages = MESSAGES_FEW;
    one_thread(TRANSPORT_PAGED);
    thread_each(TRANSPORT_PAGED);
    pages_count();
    very_long();
    limits();
    return tap_end();
}
