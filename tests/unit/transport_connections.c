/*
 * Which TCP connections count as cut, and how hosts are known by their addresses.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/connections.h"
#include "tap.h"

#define SECOND UINT64_C(1000000)

static uint32_t key(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return connections_address_key((struct sockaddr *)&four);
    if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
        tap_ok(0, text);
    return connections_address_key((struct sockaddr *)&six);
}

static void test_addresses(void)
{
    uint32_t keys[4] = {0};
    int count = connections_own_keys(keys, 4);
    int distinct = 1;

    tap_ok(key("10.77.0.1") && key("10.77.0.1") != key("10.77.0.2") &&
               key("fd00::1") && key("fd00::1") != key("fd00::2"),
           "hosts have different keys");
    tap_ok(key("10.77.0.1") == key("::ffff:10.77.0.1"),
           "IPv4 within IPv6 is the same host");
    tap_ok(!key("127.0.0.1") && !key("127.1.2.3") && !key("::1") &&
               !key("::ffff:127.0.0.1") && !key("fe80::1"),
           "what every host has is no host's");
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            distinct &= keys[i] != keys[k];
    tap_ok(count >= 0 && count <= 4 && distinct, "no own key comes twice");
    tap_ok(connections_own_keys(keys, 0) == 0, "nor more than there is room");
}

static uint64_t since(uint64_t before, uint64_t now, uint32_t retransmits,
                      uint32_t unacknowledged, uint32_t last_ack_ms)
{
    struct connection_facts facts = {.retransmits = retransmits,
                                     .unacknowledged = unacknowledged,
                                     .last_ack_ms = last_ack_ms};

    return connection_cut_since(before, now, &facts);
}

static uint64_t since_probes(uint64_t before, uint64_t now, uint32_t probes,
                             uint32_t last_ack_ms)
{
    struct connection_facts facts = {.probes = probes,
                                     .last_ack_ms = last_ack_ms};

    return connection_cut_since(before, now, &facts);
}

static void test_since(void)
{
    tap_ok(since(0, 9 * SECOND, 0, 0, 3600000) == 0 &&
               since(0, 9 * SECOND, 0, 5, 3600000) == 0 &&
               since(0, 9 * SECOND, 1, 0, 3600000) == 0,
           "what is quiet, just sent, or acknowledged is not cut");
    tap_ok(since(0, 9 * SECOND, 1, 5, 3600000) == 9 * SECOND,
           "however long it was quiet, it begins when something is resent");
    tap_ok(since(9 * SECOND, 11 * SECOND, 3, 5, 3602000) == 9 * SECOND,
           "it stays so while nothing comes");
    tap_ok(since(9 * SECOND, 11 * SECOND, 3, 5, 1500) == 11 * SECOND,
           "what came meanwhile begins it anew");
    tap_ok(since_probes(0, 9 * SECOND, 1, 3600000) == 9 * SECOND &&
               since_probes(9 * SECOND, 11 * SECOND, 3, 3602000) ==
                   9 * SECOND &&
               since_probes(9 * SECOND, 11 * SECOND, 0, 1500) == 0,
           "and so it is with probes that nobody answers");
    tap_ok(since(9 * SECOND, 11 * SECOND, 0, 5, 10) == 0, "or ends it");
}

static void count_cut(void *arg, const struct connection_cut *cut)
{
    (void)cut;
    ++*(int *)arg;
}

/* Its other side reads nothing, as one that is stopped. */
static int connection_that_is_full(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(address);
    int listens = socket(AF_INET, SOCK_STREAM, 0), fd;
    static const char data[65536];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listens, (struct sockaddr *)&address, bytes) ||
        listen(listens, 1) ||
        getsockname(listens, (struct sockaddr *)&address, &bytes))
        return -1;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
        accept(listens, NULL, NULL) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK))
        return -1;
    while (write(fd, data, sizeof(data)) > 0)
        ;
    return fd;
}

static void test_look(void)
{
    struct connections *connections = connections_new();
    struct epoll_event event = {.events = EPOLLIN};
    int fd = connection_that_is_full(), set = epoll_create1(0), cut = 0;

    tap_ok(connections && fd >= 0 && set >= 0 &&
               !epoll_ctl(set, EPOLL_CTL_ADD, fd, &event),
           "a connection that takes no more");
    for (uint64_t second = 1; connections && second < 1000; second += 300)
        connections_look(connections, second * SECOND, count_cut, &cut);
    tap_ok(!cut, "is not cut");
    close(fd);
    connections_look(connections, 2000 * SECOND, count_cut, &cut);
    tap_ok(!cut, "nor is one that is closed");
    connections_free(connections);
    connections_free(NULL);
}

int main(void)
{
    test_addresses();
    test_since();
    test_look();
    return tap_end();
}
