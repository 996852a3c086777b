/* MPI's TCP connections over which nothing gets through: see connections.h. */
#include "transport/connections.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/sockets.h"

#define SETS_MAX 16

/* --- Addresses ------------------------------------------------------------ */

static uint32_t key_of(const struct in6_addr *address)
{
    uint32_t key = UINT32_C(0x811c9dc5);

    for (size_t i = 0; i < sizeof(address->s6_addr); i++)
        key = (key ^ address->s6_addr[i]) * UINT32_C(0x01000193);
    return key ? key : 1;
}

uint32_t connections_address_key(const struct sockaddr *address)
{
    struct in6_addr as6 = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    if (address->sa_family == AF_INET) {
        memcpy(&as6.s6_addr[12],
               &((const struct sockaddr_in *)(const void *)address)->sin_addr,
               4);
    } else if (address->sa_family == AF_INET6) {
        as6 = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    } else {
        return 0;
    }
    if (IN6_IS_ADDR_LOOPBACK(&as6) || IN6_IS_ADDR_LINKLOCAL(&as6) ||
        (IN6_IS_ADDR_V4MAPPED(&as6) && as6.s6_addr[12] == 127))
        return 0;
    return key_of(&as6);
}

static int add_key(uint32_t *keys, int count, int max, uint32_t key)
{
    for (int i = 0; i < count; i++)
        if (keys[i] == key)
            return count;
    if (key && count < max)
        keys[count++] = key;
    return count;
}

int connections_own_keys(uint32_t *keys, int max)
{
    struct ifaddrs *list;
    int count = 0;

    if (getifaddrs(&list))
        return 0;
    for (const struct ifaddrs *i = list; i; i = i->ifa_next)
        if (i->ifa_addr)
            count =
                add_key(keys, count, max, connections_address_key(i->ifa_addr));
    freeifaddrs(list);
    return count;
}

/* --- Connections ---------------------------------------------------------- */

uint64_t connection_cut_since(uint64_t since_us, uint64_t now_us,
                              const struct connection_facts *facts)
{
    if ((!facts->retransmits || !facts->unacknowledged) && !facts->probes)
        return 0;
    /* Something came since then: it begins anew. */
    if (!since_us || (uint64_t)facts->last_ack_ms * 1000 < now_us - since_us)
        return now_us;
    return since_us;
}

/* Of a descriptor; another connection that has its number now was acknowledged
 * when it was made. */
struct seen {
    uint64_t since_us;
    uint64_t look; /* the last one in which it was a connection */
};

struct connections {
    struct seen *seen; /* [room] by descriptor */
    size_t room;
    uint64_t looks;
};

struct connections *connections_new(void)
{
    return calloc(1, sizeof(struct connections));
}

void connections_free(struct connections *connections)
{
    if (connections)
        free(connections->seen);
    free(connections);
}

static struct seen *seen_at(struct connections *connections, size_t fd)
{
    size_t room = 2 * fd + 64;
    struct seen *grown;

    if (fd < connections->room)
        return &connections->seen[fd];
    grown = realloc(connections->seen, room * sizeof(*grown));
    if (!grown)
        return NULL;
    memset(&grown[connections->room], 0,
           (room - connections->room) * sizeof(*grown));
    connections->seen = grown;
    connections->room = room;
    return &grown[fd];
}

static bool facts_of(int fd, struct connection_facts *facts_out)
{
    struct tcp_info info = {0};
    socklen_t bytes = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) ||
        info.tcpi_state != TCP_ESTABLISHED)
        return false;
    *facts_out = (struct connection_facts){
        .retransmits = info.tcpi_retransmits,
        .unacknowledged = info.tcpi_unacked,
        .probes = info.tcpi_probes,
        .last_ack_ms = info.tcpi_last_ack_recv,
    };
    return true;
}

static uint32_t peer_key(int fd)
{
    struct sockaddr_storage peer;
    socklen_t bytes = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &bytes)
               ? 0
               : connections_address_key((struct sockaddr *)&peer);
}

struct look {
    struct connections *connections;
    uint64_t now_us;
    void (*visit)(void *arg, const struct connection_cut *cut);
    void *arg;
};

static bool look_at(void *v, int fd)
{
    struct look *look = v;
    struct seen *seen = seen_at(look->connections, (size_t)fd);
    struct connection_facts facts;
    uint64_t since;

    if (!seen || !facts_of(fd, &facts))
        return true;
    since = seen->look + 1 == look->connections->looks ? seen->since_us : 0;
    seen->since_us = connection_cut_since(since, look->now_us, &facts);
    seen->look = look->connections->looks;
    if (seen->since_us) {
        struct connection_cut cut = {peer_key(fd), seen->since_us};

        look->visit(look->arg, &cut);
    }
    return true;
}

void connections_look(struct connections *connections, uint64_t now_us,
                      void (*visit)(void *arg,
                                    const struct connection_cut *cut),
                      void *arg)
{
    struct look look = {connections, now_us, visit, arg};
    int sets[SETS_MAX], count = sockets_find_sets(sets, SETS_MAX);

    connections->looks++;
    for (int i = 0; i < count; i++)
        sockets_each_connection(sets[i], look_at, &look);
}
