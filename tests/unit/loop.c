/* The wire inside one process: nodes that share a queue for each of them. */
#include "tests/unit/loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drasync.h"
#include "transport/wire.h"

size_t transport_loop_at_once, transport_loop_longest;
_Atomic size_t transport_loop_packets;

/* Something sent that no receive has met. */
struct loop_letter {
    struct loop_letter *next;
    int from, channel, tag;
    size_t bytes;
    char data[];
};

/* A receive. */
struct loop_receive {
    struct loop_receive *next;
    int from, channel, tag;
    char *data;
    size_t bytes_max, bytes;
    int met_from;
    bool done;
};

struct loop_node {
    struct loop_letter *letters, **letters_last;
    struct loop_receive *receives, **receives_last;
};

struct loop {
    pthread_mutex_t mutex;
    int open;
    struct loop_node nodes[];
};

struct loop_wire {
    struct wire wire;
    struct loop *loop;
};

static struct loop *loop_of(struct wire *wire)
{
    return ((struct loop_wire *)wire)->loop;
}

static bool meets(const struct loop_receive *r, int from, int channel, int tag)
{
    return (r->from == WIRE_ANY || r->from == from) && r->channel == channel &&
           r->tag == tag;
}

static void fill(struct loop_receive *r, int from, const void *data,
                 size_t bytes)
{
    r->bytes = bytes < r->bytes_max ? bytes : r->bytes_max;
    memcpy(r->data, data, r->bytes);
    r->met_from = from;
    r->done = true;
}

static void unlink_receive(struct loop_node *n, struct loop_receive **link)
{
    struct loop_receive *r = *link;

    *link = r->next;
    if (!r->next)
        n->receives_last = link;
    r->next = NULL;
}

static int loop_send(struct wire *wire, int to, enum wire_channel channel,
                     int tag, const void *data, size_t bytes,
                     struct wire_request *request)
{
    struct loop *loop = loop_of(wire);
    struct loop_node *n = &loop->nodes[to];
    struct loop_letter *letter = malloc(sizeof(*letter) + bytes);
    struct loop_receive **link;

    if (!letter)
        return DRASYNC_ENOMEM;
    request->handle = 0;
    request->active = true;
    pthread_mutex_lock(&loop->mutex);
    if (channel == WIRE_CONTROL && !wire->ops->near(wire, to)) {
        transport_loop_packets++;
        if (bytes > transport_loop_longest)
            transport_loop_longest = bytes;
    }
    for (link = &n->receives; *link; link = &(*link)->next) {
        if (meets(*link, wire->node, channel, tag))
            break;
    }
    if (*link) {
        struct loop_receive *r = *link;
        unlink_receive(n, link);
        fill(r, wire->node, data, bytes);
        free(letter);
    } else {
        letter->next = NULL;
        letter->from = wire->node;
        letter->channel = channel;
        letter->tag = tag;
        letter->bytes = bytes;
        memcpy(letter->data, data, bytes);
        *n->letters_last = letter;
        n->letters_last = &letter->next;
    }
    pthread_mutex_unlock(&loop->mutex);
    return 0;
}

static int loop_receive(struct wire *wire, int from, enum wire_channel channel,
                        int tag, void *data, size_t bytes_max,
                        struct wire_request *request)
{
    struct loop *loop = loop_of(wire);
    struct loop_node *n = &loop->nodes[wire->node];
    struct loop_receive *r = calloc(1, sizeof(*r));
    struct loop_letter **link;

    if (!r)
        return DRASYNC_ENOMEM;
    r->from = from;
    r->channel = channel;
    r->tag = tag;
    r->data = data;
    r->bytes_max = bytes_max;
    request->handle = (uint64_t)(uintptr_t)r;
    request->active = true;
    pthread_mutex_lock(&loop->mutex);
    for (link = &n->letters; *link; link = &(*link)->next) {
        if (meets(r, (*link)->from, (*link)->channel, (*link)->tag))
            break;
    }
    struct loop_letter *letter = *link;
    if (letter) {
        fill(r, letter->from, letter->data, letter->bytes);
        *link = letter->next;
        if (!letter->next)
            n->letters_last = link;
        free(letter);
    } else {
        *n->receives_last = r;
        n->receives_last = &r->next;
    }
    pthread_mutex_unlock(&loop->mutex);
    return 0;
}

static int loop_test(struct wire *wire, struct wire_request *request,
                     bool *done_out, int *from_out, size_t *bytes_out)
{
    struct loop_receive *r = (struct loop_receive *)(uintptr_t)request->handle;
    struct loop *loop = loop_of(wire);

    pthread_mutex_lock(&loop->mutex);
    *done_out = !r || r->done;
    pthread_mutex_unlock(&loop->mutex);
    if (!*done_out)
        return 0;
    if (r && from_out)
        *from_out = r->met_from;
    if (r && bytes_out)
        *bytes_out = r->bytes;
    free(r);
    request->active = false;
    return 0;
}

static void loop_cancel(struct wire *wire, struct wire_request *request)
{
    struct loop_receive *r = (struct loop_receive *)(uintptr_t)request->handle;
    struct loop *loop = loop_of(wire);
    struct loop_node *n = &loop->nodes[wire->node];
    struct loop_receive **link;

    pthread_mutex_lock(&loop->mutex);
    for (link = &n->receives; *link; link = &(*link)->next) {
        if (*link == r) {
            unlink_receive(n, link);
            break;
        }
    }
    pthread_mutex_unlock(&loop->mutex);
    free(r);
    request->active = false;
}

/* So that tests have both. */
static bool loop_near(const struct wire *wire, int peer)
{
    return wire->node / 2 == peer / 2;
}

static uint64_t loop_now_us(const struct wire *wire)
{
    struct timespec now;

    (void)wire;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void loop_close(struct wire *wire)
{
    struct loop *loop = loop_of(wire);
    struct loop_letter *letter = loop->nodes[wire->node].letters, *next;

    for (; letter; letter = next) {
        next = letter->next;
        free(letter);
    }
    pthread_mutex_lock(&loop->mutex);
    struct loop_node *n = &loop->nodes[wire->node];
    n->letters = NULL;
    n->letters_last = &n->letters;
    int open = --loop->open;
    pthread_mutex_unlock(&loop->mutex);
    if (open == 0) {
        pthread_mutex_destroy(&loop->mutex);
        free(loop);
    }
    free(wire);
}

static const struct wire_ops loop_ops = {
    .send = loop_send,
    .receive = loop_receive,
    .test = loop_test,
    .cancel = loop_cancel,
    .near = loop_near,
    .now_us = loop_now_us,
    .close = loop_close,
};

int transport_loop_open(int nodes, enum transport_data data,
                        const struct transport_events *events,
                        void *const *users, struct transport **transports_out)
{
    struct loop *loop =
        calloc(1, sizeof(*loop) + (size_t)nodes * sizeof(loop->nodes[0]));
    int opened = 0, err = 0;

    if (!loop)
        return DRASYNC_ENOMEM;
    pthread_mutex_init(&loop->mutex, NULL);
    loop->open = nodes;
    for (int i = 0; i < nodes; i++) {
        struct loop_node *n = &loop->nodes[i];
        n->letters_last = &n->letters;
        n->receives_last = &n->receives;
    }
    for (; opened < nodes; opened++) {
        struct loop_wire *w = calloc(1, sizeof(*w));
        if (!w) {
            err = DRASYNC_ENOMEM;
            break;
        }
        w->wire.ops = &loop_ops;
        w->wire.node = opened;
        w->wire.nodes = nodes;
        w->wire.leaders = nodes;
        w->wire.at_once_bytes = transport_loop_at_once;
        w->wire.on_tcp = transport_loop_at_once > 0;
        w->loop = loop;
        err = engine_open(&w->wire, data, events, users ? users[opened] : NULL,
                          &transports_out[opened]);
        if (err) {
            opened++; /* engine_open() has closed it */
            break;
        }
    }
    if (!err)
        return 0;
    for (int i = 0; i < opened - 1; i++)
        transport_close(transports_out[i]);
    return err;
}
