/*
 * receive.h - a message of the protocol that arrives, between the files that take
 * it in: receive.c the message, receive_region.c the data of its regions.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_RECEIVE_H
#define DRASYNC_RUNTIME_NATIVE_RECEIVE_H

#include "runtime/native/later.h"
#include "runtime/native/state.h"

/* A copy that waits for its data. */
struct native_placed {
    struct proto_copy *copy;
    struct native_frames *frames;
    struct native_memory *memory;
};

struct native_arrival {
    int from;
    const char *at, *end; /* what comes after the encoded message */
    struct transport_sink *sink;
    struct native_placed *placed;
    size_t placed_count, placed_room;
    struct later *later; /* comes with a message of its own; or NULL */
    int parts;           /* of the data, that are not here */
    int err;
    bool expected, token;
    uint64_t root, ticket;
};

/* The peer sent what cannot be: says so and fails the arrival. */
void native_arrival_broken(struct native_arrival *a, const char *what);

#endif /* DRASYNC_RUNTIME_NATIVE_RECEIVE_H */
