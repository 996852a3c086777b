/*
 * wire.h - what transport/engine.c needs of a network: sends and receives that
 * do not wait, matched in order for each sender, channel and tag.  Over MPI
 * (mpi.c), or inside one process (tests/unit/loop.c).
 *
 * One thread at a time uses the wire of a node.  Buffers stay until the request
 * is done.
 */
#ifndef DRASYNC_TRANSPORT_WIRE_H
#define DRASYNC_TRANSPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

enum wire_channel {
    WIRE_CONTROL, /* packets; tag 0 */
    WIRE_BULK,    /* segments of data; tag: the receiver's slot */
    WIRE_CHANNELS,
};

#define WIRE_ANY (-1)

struct wire_request {
    uint64_t handle; /* the wire's */
    bool active;
};

struct wire;

/* All return 0 or a negative code. */
struct wire_ops {
    int (*send)(struct wire *wire, int to, enum wire_channel channel, int tag,
                const void *data, size_t bytes, struct wire_request *request);
    int (*receive)(struct wire *wire, int from, enum wire_channel channel,
                   int tag, void *data, size_t bytes_max,
                   struct wire_request *request);
    /* Is it done?  Then it is not active any more.  @from_out, @bytes_out (of a
     * receive) may be NULL. */
    int (*test)(struct wire *wire, struct wire_request *request, bool *done_out,
                int *from_out, size_t *bytes_out);
    /* Give a receive up that nobody will send to. */
    void (*cancel)(struct wire *wire, struct wire_request *request);
    /* Do messages to and from node @peer go through memory that both have? */
    bool (*near)(const struct wire *wire, int peer);
    uint64_t (*now_us)(const struct wire *wire);
    void (*close)(struct wire *wire);
};

struct wire {
    const struct wire_ops *ops;
    int node, nodes;
    int leaders; /* of the nodes, those that send much data */
    bool few; /* not many packets will come at a time */
    /* Messages of fewer bytes leave at once, to nodes that are not near; 0: not
     * known. */
    size_t at_once_bytes;
    bool on_tcp; /* all to nodes that are not near goes over TCP */
};

/* A transport over @wire, which it owns from then on. */
int engine_open(struct wire *wire, enum transport_data data,
                const struct transport_events *events, void *user,
                struct transport **out);

#endif /* DRASYNC_TRANSPORT_WIRE_H */
