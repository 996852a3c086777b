/*
 * loop.h - a transport inside one process, for tests: transport/engine.c on a
 * wire that is a queue for each node (loop.c).  Any thread may have each node,
 * one at a time.
 */
#ifndef TESTS_UNIT_LOOP_H
#define TESTS_UNIT_LOOP_H

#include "transport/transport.h"

/*
 * @nodes transports that reach each other.  Data of more than a few kilobytes
 * moves only when the receiver polls again.  Two nodes each, 0 and 1 first, are
 * on one host.
 */
int transport_loop_open(int nodes, enum transport_data data,
                        const struct transport_events *events,
                        void *const *users, struct transport **transports_out);

#endif /* TESTS_UNIT_LOOP_H */
