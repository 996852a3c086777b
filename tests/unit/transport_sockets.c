/*
 * Waiting for the sockets that a library keeps in epoll sets of its own.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/sockets.h"
#include "tap.h"

static void need(int good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static int listener(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    need(fd >= 0 && !bind(fd, (struct sockaddr *)address, bytes) &&
             !listen(fd, 4) &&
             !getsockname(fd, (struct sockaddr *)address, &bytes),
         "listen");
    return fd;
}

static void connection(int listens, const struct sockaddr_in *to, int ends[2])
{
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    need(ends[0] >= 0 &&
             !connect(ends[0], (const struct sockaddr *)to, sizeof(*to)),
         "connect");
    ends[1] = accept(listens, NULL, NULL);
    need(ends[1] >= 0, "accept");
}

static void add(int set, int fd)
{
    struct epoll_event readable = {.events = EPOLLIN};

    need(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &readable), "epoll_ctl");
}

static int readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

int main(void)
{
    struct sockaddr_in address;
    int listens = listener(&address), set = epoll_create1(0), other[2];
    int one[2], two[2], found[2];
    uint64_t moved;
    char byte = 1;

    need(set >= 0 && !pipe(other), "descriptors");
    connection(listens, &address, one);
    connection(listens, &address, two);
    tap_ok(sockets_find_sets(found, 2) == 0,
           "a set without members is not found");
    add(set, listens);
    add(set, other[0]);
    tap_ok(sockets_find_sets(found, 2) == 0,
           "nor is one with a listener and a pipe");

    add(set, one[1]);
    tap_ok(sockets_find_sets(found, 2) == 1 && found[0] == set,
           "one with a connection is");
    tap_ok(!readable(set), "it is silent when the connection is");
    moved = sockets_moved();
    need(write(two[0], &byte, 1) == 1, "write");
    tap_ok(sockets_moved() == moved, "what others do is not counted");
    need(write(one[0], &byte, 1) == 1, "write");
    tap_ok(readable(set), "and can be waited for when something comes");
    tap_ok(sockets_moved() != moved, "which is counted");
    moved = sockets_moved();
    need(read(one[1], &byte, 1) == 1, "read");
    tap_ok(!readable(set), "until that is read");
    tap_ok(sockets_moved() == moved, "once");
    need(write(one[1], &byte, 1) == 1, "write");
    tap_ok(sockets_moved() != moved, "as is what goes");

    add(epoll_create1(0), two[1]);
    add(epoll_create1(0), two[0]);
    tap_ok(sockets_find_sets(found, 2) == 2,
           "no more are found than asked for");
    return tap_end();
}
