/*
 * When messages leave that may wait: those that may be late, that nobody waits
 * for yet, and that are sent while the transport is corked; over the in-process
 * wire, by one thread.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/loop.h"
#include "tap.h"
#include "transport/patience.h"

#define NODES 40 /* few are used but in several() */

struct node {
    struct transport *transport;
    uint32_t placed_from[NODES]; /* the number of the next */
    int arrived, bad;
};

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    struct node *node = user;
    uint32_t number = UINT32_MAX;

    (void)kind;
    (void)sink;
    *context_out = 0;
    if (header_bytes >= sizeof(number))
        memcpy(&number, header, sizeof(number));
    node->bad += bulk_bytes || number != node->placed_from[from]++;
    return 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    (void)from;
    (void)kind;
    (void)header;
    (void)header_bytes;
    (void)context;
    ((struct node *)user)->arrived++;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)to;
    (void)kind;
    (void)context;
    (void)result;
    ((struct node *)user)->bad++; /* they have no data */
}

static const struct transport_events events = {on_place, on_arrived, on_sent,
                                               NULL};

static void open_all(struct node *nodes)
{
    struct transport *transports[NODES];
    void *users[NODES];

    memset(nodes, 0, NODES * sizeof(*nodes));
    for (int i = 0; i < NODES; i++)
        users[i] = &nodes[i];
    if (transport_loop_open(NODES, TRANSPORT_BULK, &events, users, transports))
        abort();
    for (int i = 0; i < NODES; i++)
        nodes[i].transport = transports[i];
}

static void close_all(struct node *nodes)
{
    for (int i = 0; i < NODES; i++)
        transport_close(nodes[i].transport);
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

static void poll_few(struct node *nodes)
{
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < NODES; n++)
            nodes[n].bad += transport_poll(nodes[n].transport) < 0;
}

static void send_one(struct node *nodes, int from, int to, uint32_t number,
                     bool late, uint8_t soon)
{
    const struct transport_message message = {
        .kind = 1,
        .header = &number,
        .header_bytes = sizeof(number),
        .late = late,
        .soon = soon,
    };

    nodes[from].bad += transport_send(nodes[from].transport, to, &message) != 0;
}

static void send_some(struct node *nodes, int from, int to, uint32_t number,
                      bool late, uint8_t soon)
{
    send_one(nodes, from, to, number, late, soon);
    poll_few(nodes);
}

/* To node 1, and nobody looks whether it comes. */
static void send_now(struct node *nodes, uint32_t number, uint8_t soon)
{
    send_one(nodes, 0, 1, number, false, soon);
}

/* A short message for node 1, which counts those that come. */
static void send_short(struct node *nodes, uint32_t number, bool late)
{
    send_some(nodes, 0, 1, number, late, 0);
}

static void late(void)
{
    struct node nodes[NODES];
    const struct transport *t;
    uint32_t number = 0;

    open_all(nodes);
    t = nodes[0].transport;
    send_short(nodes, number++, true);
    send_short(nodes, number++, true);
    tap_ok(nodes[1].arrived == 0 && transport_still(t) && !transport_idle(t),
           "late messages wait");
    send_short(nodes, number++, false);
    tap_ok(nodes[1].arrived == 3 && transport_idle(t), "and go with the next");
    for (int i = 0; i < 200; i++)
        send_short(nodes, number++, true);
    tap_ok(nodes[1].arrived > 100 && nodes[1].arrived < 203,
           "or when they are many");
    poll_all(nodes);
    tap_ok(nodes[1].arrived == 203 && transport_idle(t) && !nodes[1].bad &&
               !nodes[0].bad,
           "or when they are flushed, in order");
    close_all(nodes);
}

/* Messages that nobody waits for yet. */
static void soon(void)
{
    struct node nodes[NODES];
    uint32_t number = 0, other = 0, back = 0;
    struct transport *t;

    open_all(nodes);
    t = nodes[0].transport;
    for (int i = 0; i < 3; i++)
        send_some(nodes, 0, 1, number++, false, 2);
    tap_ok(nodes[1].arrived == 2 && t->soon == 1,
           "the first two leave at once, the third waits");
    send_some(nodes, 0, 2, other++, false, 2);
    tap_ok(nodes[2].arrived == 1, "but not for an answer of another node");
    send_some(nodes, 1, 0, back++, false, 0);
    tap_ok(nodes[1].arrived == 3 && !t->soon,
           "until something comes from there");
    for (int i = 0; i < 3; i++)
        send_some(nodes, 0, 1, number++, false, 1);
    tap_ok(nodes[1].arrived == 3 && t->soon == 1,
           "it counts itself as one that has left then");
    send_short(nodes, number++, true);
    tap_ok(!transport_flush_soon(nodes[1].transport) &&
               transport_flush_soon(t) == 1,
           "they leave when asked for, in one packet");
    poll_few(nodes);
    tap_ok(nodes[1].arrived == 7 && transport_idle(t), "all of them");
    send_short(nodes, number++, true);
    tap_ok(!transport_flush_soon(t) && t->late == 1,
           "one that is late alone waits on");
    poll_all(nodes);
    tap_ok(!nodes[0].bad && !nodes[1].bad && !nodes[2].bad && transport_idle(t),
           "in order");
    close_all(nodes);
}

/* One that is too long for a packet takes along what waits. */
static void along(void)
{
    static const uint32_t header[5000] = {1};
    const struct transport_message message = {
        .kind = 1, .header = header, .header_bytes = sizeof(header)};
    struct node nodes[NODES];
    size_t packets;

    open_all(nodes);
    packets = transport_loop_packets;
    send_some(nodes, 0, 2, 0, true, 0);
    nodes[0].bad += transport_send(nodes[0].transport, 2, &message) != 0;
    poll_all(nodes);
    tap_ok(transport_loop_packets == packets + 2 && nodes[2].arrived == 2,
           "a message of two packets takes a late one along");
    tap_ok(!nodes[0].bad && !nodes[2].bad && transport_idle(nodes[0].transport),
           "in order");
    close_all(nodes);
}

/* The rule alone, by times of the test's own. */
static void patience(void)
{
    struct patience p = {0};
    bool waits = false;

    for (uint64_t i = 0; i < PATIENCE_TIMES; i++) {
        waits |= patience_pays(&p);
        patience_begins(&p, 1000 * i + 1);
        patience_followed(&p, 1000 * i + 1 + PATIENCE_US);
    }
    tap_ok(!waits && patience_pays(&p) && !patience_counts(&p),
           "after some were followed at once one waits");
    patience_begins(&p, 9000);
    patience_begins(&p, 9000 + PATIENCE_US);
    patience_followed(&p, 9001 + PATIENCE_US);
    tap_ok(!patience_pays(&p), "not after one was followed late: the first "
                               "of two counts");
    for (uint64_t i = 0; i < PATIENCE_TIMES; i++) {
        patience_begins(&p, 1000 * i + 1);
        patience_followed(&p, 1000 * i + 1);
    }
    patience_in_vain(&p);
    tap_ok(!patience_pays(&p) && !patience_counts(&p),
           "nor after one waited in vain");
}

/* Send patient messages to node 1, each followed by another, until one waits: a
 * machine that is busy may take longer than PATIENCE_US between two of them. */
static void learn(struct node *nodes, uint32_t *number, uint32_t *back)
{
    const struct transport *t = nodes[0].transport;

    send_now(nodes, (*number)++, TRANSPORT_PATIENT);
    for (int i = 0; i < 100000 && !t->soon; i++) {
        send_now(nodes, (*number)++, 0);
        send_some(nodes, 1, 0, (*back)++, false, 0);
        send_now(nodes, (*number)++, TRANSPORT_PATIENT);
    }
}

static void patient(void)
{
    struct node nodes[NODES];
    uint32_t number = 0, back = 0;
    struct transport *t;
    bool waits = false;
    int arrived;

    open_all(nodes);
    t = nodes[0].transport;
    send_some(nodes, 0, 1, number++, false, TRANSPORT_PATIENT);
    tap_ok(nodes[1].arrived == 1, "a patient message leaves at once at first");
    learn(nodes, &number, &back);
    poll_few(nodes);
    arrived = nodes[1].arrived;
    tap_ok(arrived == (int)number - 1, "where others follow it waits");
    send_some(nodes, 0, 1, number++, false, 0);
    tap_ok(nodes[1].arrived == arrived + 2 && transport_idle(t) && !t->soon,
           "and goes with the next");
    for (int i = 0; i < 1000 && !waits; i++) {
        learn(nodes, &number, &back);
        transport_cork(t);
        send_now(nodes, number++, 0);
        nodes[0].bad += transport_uncork(t) != 1;
        send_now(nodes, number++, TRANSPORT_PATIENT);
        waits = t->soon;
    }
    tap_ok(waits, "also with one that is corked");
    tap_ok(transport_flush_soon(t) == 1, "or when it is asked for");
    send_now(nodes, number++, TRANSPORT_PATIENT);
    tap_ok(!t->soon, "then the next one does not wait");
    poll_all(nodes);
    tap_ok(nodes[1].arrived == (int)number && !nodes[0].bad && !nodes[1].bad,
           "in order");
    close_all(nodes);
}

/* Those of who has several to send at once. */
static void corked(void)
{
    struct node nodes[NODES];
    uint32_t number = 0, other = 0;
    struct transport *t;
    int arrived;

    open_all(nodes);
    t = nodes[0].transport;
    send_short(nodes, number++, true);
    transport_cork(t);
    for (int i = 0; i < 5; i++)
        send_short(nodes, number++, false);
    send_some(nodes, 0, 2, other++, false, 0);
    tap_ok(!nodes[1].arrived && !nodes[2].arrived,
           "corked, all short ones wait");
    tap_ok(transport_uncork(t) == 2, "and leave in a packet for each node");
    poll_all(nodes);
    tap_ok(nodes[1].arrived == 6 && nodes[2].arrived == 1, "when uncorked");
    tap_ok(!nodes[0].bad && !nodes[1].bad && !nodes[2].bad && transport_idle(t),
           "in order");
    transport_cork(t);
    send_short(nodes, number++, true);
    tap_ok(!transport_uncork(t) && t->late == 1,
           "one that is late waits on when uncorked");
    transport_cork(t);
    send_short(nodes, number++, true);
    send_short(nodes, number++, false);
    tap_ok(transport_uncork(t) == 1 && transport_idle(t),
           "and goes with one that is not");
    poll_all(nodes);
    arrived = nodes[1].arrived;
    transport_cork(t);
    send_short(nodes, number++, true);
    for (int i = 0; i < 60; i++)
        send_short(nodes, number++, false);
    tap_ok(nodes[1].arrived == arrived && transport_uncork(t) == 1,
           "and with more than late ones have room for, in a packet");
    poll_all(nodes);
    tap_ok(nodes[1].arrived == arrived + 61 && !nodes[1].bad, "in order");
    close_all(nodes);
}

/* What may be late waits for many nodes at a time. */
static void several(void)
{
    struct node nodes[NODES];
    int arrived = 0, bad = 0;

    open_all(nodes);
    for (uint32_t number = 0; number < 2; number++)
        for (int to = 1; to < NODES; to++)
            send_some(nodes, 0, to, number, true, 0);
    for (int i = 1; i < NODES; i++)
        arrived += nodes[i].arrived;
    tap_ok(!arrived && nodes[0].transport->late == NODES - 1,
           "late messages wait for each of many nodes");
    tap_ok(transport_flush(nodes[0].transport) == NODES - 1,
           "and leave in a packet for each");
    poll_all(nodes);
    for (int i = 0; i < NODES; i++) {
        arrived += nodes[i].arrived;
        bad += nodes[i].bad;
    }
    tap_ok(arrived == 2 * (NODES - 1) && !bad, "in order");
    close_all(nodes);
}

int main(void)
{
    late();
    along();
    several();
    soon();
    patience();
    patient();
    corked();
    return tap_end();
}
