/*
 * dispatch.h - what arrives goes to the handler of its kind; on the progress
 * thread.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_DISPATCH_H
#define DRASYNC_RUNTIME_MESSAGES_DISPATCH_H

#include <stdint.h>

#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "transport/transport.h"

/* The callbacks for the transport; `user` is not used. */
extern const struct transport_events dispatch_events;

/*
 * Messages that shutdown must not leave in flight: sent, and arrived with all
 * their data.  Those of shutdown itself do not count; nor do those of ranks
 * with engines of their own, who see to it that nothing is under way before
 * they have quiesced.
 */
struct dispatch_counts {
    uint64_t sent, received;
};

/* Send to node @node, which is to say to its leader. */
int dispatch_send(struct transport *transport, int node,
                  const struct transport_message *message);

/* The same for an answer to what came from @rank. */
int dispatch_answer(struct transport *transport, int rank,
                    const struct transport_message *message);

/*
 * What the node's transport counted, for all ranks of the node to see; nothing
 * before dispatch_counters() said where it counts.  Whoever goes on because of a
 * message finds it counted, so that is also done before a handler is called.
 */
void dispatch_counters(const struct transport_counters *counters);
void dispatch_publish(void);
struct dispatch_counts dispatch_get_counts(void);

/* With the turns: how many messages came that somebody may wait for. */
uint64_t dispatch_urgent(void);

/* Of calls; runtime/messages/call.c. */
void call_serve(runtime_server *server, int from, const void *header,
                size_t header_bytes);
void call_replied(int from, const void *header, size_t header_bytes);

/* Of the end; runtime/messages/quiesce.c. */
void shutdown_done_arrived(int from, const void *header, size_t header_bytes);
void shutdown_stop_arrived(int from, const void *header, size_t header_bytes);

/* Is this node's part of the shutdown over? */
bool shutdown_over(void);

/* Take the next step if there is one; how many messages it sent. */
int shutdown_advance(struct transport *transport);

#endif /* DRASYNC_RUNTIME_MESSAGES_DISPATCH_H */
