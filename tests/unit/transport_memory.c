/*
 * Sending without memory, one request after another: the message is not sent at
 * all, and nothing is said of it later; those before and after it arrive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "tests/unit/loop.h"
#include "transport/engine.h"
#include "tap.h"

enum { NODES = 2, LATE = 1, LONG, LAST, KINDS };
enum { HEADER = 40000, DATA_FEW = 20000, DATA_MANY = 1000000 };

static int arrivals[KINDS], sents[KINDS];
static char header[HEADER], data[DATA_MANY], room[DATA_MANY];

/* --- Memory that ends ------------------------------------------------------------ */

static long left; /* requests until one fails; 0: none does */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return left && !--left ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return left && !--left ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return left && !--left ? NULL : __real_realloc(old, bytes);
}

/* The network has memory. */
static const struct wire_ops *real_ops;

static int wire_send(struct wire *wire, int to, enum wire_channel channel,
                     int tag, const void *bytes_from, size_t bytes,
                     struct wire_request *request)
{
    long before = left;
    int err;

    left = 0;
    err = real_ops->send(wire, to, channel, tag, bytes_from, bytes, request);
    left = before;
    return err;
}

/* --- Events --------------------------------------------------------------------------- */

static int on_place(void *user, int from, uint32_t kind, const void *head,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    (void)user;
    (void)from;
    (void)kind;
    (void)head;
    (void)header_bytes;
    (void)context_out;
    return bulk_bytes ? transport_sink_add(sink, room, bulk_bytes) : 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *head,
                       size_t header_bytes, uint64_t context)
{
    (void)user;
    (void)from;
    (void)context;
    arrivals[kind] += !memcmp(head, header, header_bytes);
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    (void)to;
    (void)context;
    sents[kind] += !result;
}

static const struct transport_events events = {on_place, on_arrived, on_sent,
                                               NULL};

/* --- The test --------------------------------------------------------------------------- */

/* Messages before and after one of @bytes, whose @n-th request is refused.  1:
 * there is none; 0: well; -1: not. */
static int sent_without(long n, size_t bytes)
{
    struct transport_piece piece = {data, bytes};
    struct transport_message late = {
        .kind = LATE, .header = header, .header_bytes = 8, .late = true};
    struct transport_message longer = {.kind = LONG,
                                       .header = header,
                                       .header_bytes = HEADER,
                                       .pieces = &piece,
                                       .pieces_count = 1};
    struct transport_message last = {
        .kind = LAST, .header = header, .header_bytes = 8};
    struct transport *ends[NODES];
    struct wire_ops ops;
    struct wire *wire;
    int moved = 1, err, sent, none;

    memset(arrivals, 0, sizeof(arrivals));
    memset(sents, 0, sizeof(sents));
    memset(room, 0, sizeof(room));
    if (transport_loop_open(NODES, TRANSPORT_BULK, &events, NULL, ends))
        return -1;
    wire = ((struct engine *)ends[0])->wire;
    real_ops = wire->ops;
    ops = *real_ops;
    ops.send = wire_send;
    wire->ops = &ops;
    if (transport_send(ends[0], 1, &late))
        return -1;
    left = n;
    err = transport_send(ends[0], 1, &longer);
    none = left > 0;
    left = 0;
    sent = !err;
    if (transport_send(ends[0], 1, &last))
        return -1;
    while (moved > 0) {
        moved = 0;
        for (int i = 0; i < NODES && moved >= 0; i++) {
            int now = transport_poll(ends[i]);
            moved = now < 0 ? now : moved + now;
        }
    }
    for (int i = 0; i < NODES; i++)
        transport_close(ends[i]);
    return moved == 0 && (sent || (err == DRASYNC_ENOMEM && !none)) &&
                   arrivals[LATE] == 1 && arrivals[LAST] == 1 &&
                   arrivals[LONG] == sent && sents[LONG] == sent &&
                   memcmp(room, data, sent ? bytes : 0) == 0
               ? none
               : -1;
}

static int all_requests(size_t bytes)
{
    int result = 0;

    for (long n = 1; !result; n++)
        result = sent_without(n, bytes);
    return result > 0;
}

int main(void)
{
    for (int i = 0; i < HEADER; i++)
        header[i] = (char)(i * 3);
    for (int i = 0; i < DATA_MANY; i++)
        data[i] = (char)(i * 7 + 1);
    tap_ok(all_requests(DATA_FEW), "a message of several packets");
    tap_ok(all_requests(DATA_MANY), "one whose data is announced");
    return tap_end();
}
