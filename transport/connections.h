/*
 * connections.h - MPI's TCP connections over which nothing gets through.
 *
 * The kernel knows of each connection what was sent and not acknowledged, and
 * when something came last.  The other side's kernel acknowledges what comes for
 * a process that computes, or is stopped, and also when it has no room for more;
 * so what stays unacknowledged, however often it is sent again, is a cut link, or
 * a host that is off.  So is one whose probes are not answered: the kernel sends
 * them where this host itself could not send (an interface that is down, no
 * route), and where a connection was quiet for long.
 */
#ifndef DRASYNC_TRANSPORT_CONNECTIONS_H
#define DRASYNC_TRANSPORT_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A number for an address of a host; IPv4 alone and within IPv6 are the same. 0:
 * none, or one that says nothing of the host (loopback, link-local). */
struct sockaddr;
uint32_t connections_address_key(const struct sockaddr *address);

/* Those of this host's interfaces, without doubles, at most @max; how many. */
int connections_own_keys(uint32_t *keys, int max);

/* What the kernel says of one connection. */
struct connection_facts {
    uint32_t retransmits;    /* in a row, since the last acknowledgement */
    uint32_t unacknowledged; /* packets */
    uint32_t probes;         /* in a row, not answered */
    uint32_t last_ack_ms;    /* since an acknowledgement came last */
};

/*
 * Since when nothing gets through: @since_us, @now_us or 0 (it does), from what
 * was said at the last look, 0 at first.  Pure.  A cut that this look is the first
 * to see begins with it, so by at most the time between two looks too late.
 */
uint64_t connection_cut_since(uint64_t since_us, uint64_t now_us,
                              const struct connection_facts *facts);

struct connections;

/* NULL: no memory. */
struct connections *connections_new(void);
void connections_free(struct connections *connections);

/* A connection over which nothing gets through. */
struct connection_cut {
    uint32_t key; /* of the other side's address */
    uint64_t since_us;
};

/*
 * Look at all connections in the first 16 epoll sets of this process (MPI has one
 * or two), and call @visit for each that is cut.  One thread at a time; at most a
 * few times a second: it reads /proc, and costs some microseconds for each
 * descriptor of this process.
 */
void connections_look(struct connections *connections, uint64_t now_us,
                      void (*visit)(void *arg,
                                    const struct connection_cut *cut),
                      void *arg);

#endif /* DRASYNC_TRANSPORT_CONNECTIONS_H */
