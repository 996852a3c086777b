/* Descriptors over a socket: see start_socket.h. */
#include "runtime/start_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/peer.h"
#include "runtime/process.h"
#include "runtime/start.h"

/* Most descriptors at once. */
#define FDS_MAX 8

#define TIMEOUT_MS 20000

/* One byte goes along, since descriptors do not travel alone: the error. */
struct packet {
    int32_t err;
};

/* An abstract name, of this host's network namespace.  Other users may take it:
 * same_user() tells. */
static socklen_t name_of(int pid, uint64_t start_ticks,
                         struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                          "drasync-%" PRIx64 "-%d-%" PRIx64, runtime.host_key,
                          pid, start_ticks);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)length);
}

static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
           peer.uid == geteuid();
}

int start_socket_listen(void)
{
    struct sockaddr_un address;
    socklen_t bytes =
        name_of(getpid(), process_start_ticks(getpid()), &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (!bind(fd, (struct sockaddr *)&address, bytes) &&
        !listen(fd, runtime.locals))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void send_to(int fd, const int *fds, int count, int err)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct packet packet = {.err = err};
    struct iovec data = {.iov_base = &packet, .iov_len = sizeof(packet)};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    size_t bytes = (size_t)count * sizeof(int);

    memset(&control, 0, sizeof(control));
    if (count) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(bytes);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(&control.header), fds, bytes);
    }
    /* Who does not take it is gone. */
    sendmsg(fd, &message, MSG_NOSIGNAL);
}

uint32_t start_socket_serve(int listener, const int *fds, int count, int err)
{
    uint32_t served = 0;

    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            return served;
        if (same_user(fd)) {
            send_to(fd, fds, count, err);
            served++;
        }
        close(fd);
    }
}

/* 0 or an errno. */
static int receive(int fd, int *fds, int max, int *count_out, int *err_out)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct packet packet;
    struct iovec data = {.iov_base = &packet, .iov_len = sizeof(packet)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);

    if (got != (ssize_t)sizeof(packet))
        return got < 0 ? errno : ECONNRESET;
    /* Those without room here are left out. */
    if (message.msg_flags & MSG_CTRUNC)
        return EMFILE;
    *err_out = packet.err;
    *count_out = 0;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (!c)
        return 0;
    size_t bytes = c->cmsg_len - CMSG_LEN(0);
    if (c->cmsg_type != SCM_RIGHTS || bytes > (size_t)max * sizeof(int))
        return EPROTO;
    memcpy(fds, CMSG_DATA(c), bytes);
    *count_out = (int)(bytes / sizeof(int));
    return 0;
}

int start_socket_ask(const struct start_facts *leader, int *fds, int max,
                     int *count_out, int *err_out)
{
    struct sockaddr_un address;
    socklen_t bytes = name_of(leader->pid, leader->start_ticks, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    if (fd < 0)
        return errno;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (connect(fd, (const struct sockaddr *)&address, bytes))
        error = errno;
    else if (!same_user(fd))
        error = EACCES;
    else if (poll(&wait, 1, TIMEOUT_MS) != 1)
        error = ETIMEDOUT;
    else
        error = receive(fd, fds, max, count_out, err_out);
    close(fd);
    return error;
}
