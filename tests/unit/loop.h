/*
 * loop.h - a transport inside one process, for tests: transport/engine.c on a
 * wire that is a queue for each node (loop.c).  Any thread may have each node,
 * one at a time.
 */
#ifndef TESTS_UNIT_LOOP_H
#define TESTS_UNIT_LOOP_H

#include <stddef.h>

#include "transport/transport.h"

/* The `at_once_bytes` of wires that are opened from now on; and the longest packet
 * so far between nodes that are not near, in bytes, and how many there were. */
extern size_t transport_loop_at_once, transport_loop_longest;
extern _Atomic size_t transport_loop_packets;

/*
 * @nodes transports that reach each other.  Data of more than a few kilobytes
 * moves only when the receiver polls again.  Two nodes each, 0 and 1 first, are
 * on one host.
 */
int transport_loop_open(int nodes, enum transport_data data,
                        const struct transport_events *events,
                        void *const *users, struct transport **transports_out);

#endif /* TESTS_UNIT_LOOP_H */
