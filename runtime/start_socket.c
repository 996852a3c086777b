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
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/start_facts.h"

/* Most descriptors at once. */
#define FDS_MAX 8

#define TIMEOUT_MS 20000

/* More are left for the next round: whoever connects all the time cannot keep
 * the leader. */
#define ACCEPTS_A_ROUND_MAX 256

/* It goes along, since descriptors do not travel alone. */
struct packet {
    int32_t err;
};

/* A connection that has not said the secret yet; the oldest comes first. */
struct asking {
    int fd;
    uint64_t since_us;
};

static int listener = -1;
static uint64_t secret; /* of this leader; the other word is in the name */
static struct asking asking[START_SOCKET_ASKING_MAX];
static int asking_count;

/* An abstract name, of this host's network namespace, which nobody can guess and
 * take before the leader has it. */
static socklen_t name_of(const struct start_facts *leader,
                         struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                          "drasync-%" PRIx64 "-%d-%" PRIx64, runtime.host_key,
                          (int)leader->pid, leader->secret[0]);
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

int start_socket_listen(const struct start_facts *own)
{
    struct sockaddr_un address;
    socklen_t bytes = name_of(own, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    /* Room for the ranks beside whoever else connects. */
    if (!bind(fd, (struct sockaddr *)&address, bytes) &&
        !listen(fd, SOMAXCONN)) {
        listener = fd;
        secret = own->secret[1];
        return 0;
    }
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void drop(int at)
{
    close(asking[at].fd);
    asking_count--;
    memmove(&asking[at], &asking[at + 1],
            (size_t)(asking_count - at) * sizeof(asking[0]));
}

void start_socket_close(void)
{
    while (asking_count)
        drop(0);
    if (listener >= 0)
        close(listener);
    listener = -1;
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

static void accept_all(uint64_t now_us)
{
    for (int i = 0; i < ACCEPTS_A_ROUND_MAX; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            return;
        if (!same_user(fd)) {
            close(fd);
            continue;
        }
        if (asking_count == START_SOCKET_ASKING_MAX)
            drop(0);
        asking[asking_count++] = (struct asking){fd, now_us};
    }
}

/* Has @a said the secret?  0: yes; EAGAIN: not yet; else it said something else,
 * or is gone. */
static int heard(const struct asking *a)
{
    uint64_t said;
    ssize_t got = recv(a->fd, &said, sizeof(said), 0);

    if (got < 0)
        return errno == EINTR ? EAGAIN : errno;
    return got == (ssize_t)sizeof(said) && said == secret ? 0 : EPERM;
}

uint32_t start_socket_serve(const int *fds, int count, int err, uint64_t now_us)
{
    uint32_t served = 0;

    accept_all(now_us);
    for (int i = 0; i < asking_count;) {
        int error = heard(&asking[i]);

        if (error == EAGAIN &&
            now_us - asking[i].since_us < START_SOCKET_SILENT_US) {
            i++;
            continue;
        }
        if (!error) {
            send_to(asking[i].fd, fds, count, err);
            served++;
        }
        drop(i);
    }
    return served;
}

/* The descriptors of @message; all of them are ours now. */
static int take_fds(struct msghdr *message, int all[FDS_MAX])
{
    int count = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
         c = CMSG_NXTHDR(message, c)) {
        size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        memcpy(all + count, CMSG_DATA(c), here * sizeof(int));
        count += (int)here;
    }
    return count;
}

int start_socket_receive(int fd, int *fds, int max, int *count_out,
                         int *err_out)
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
    int all[FDS_MAX], count, error = 0;
    ssize_t got;

    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    count = take_fds(&message, all);
    if (got != (ssize_t)sizeof(packet))
        error = ECONNRESET;
    else if (message.msg_flags & MSG_CTRUNC)
        error = EMFILE; /* those without room here are left out */
    else if (count > max)
        error = EPROTO;
    while (error && count)
        close(all[--count]);
    memcpy(fds, all, (size_t)count * sizeof(int));
    *count_out = count;
    *err_out = error ? 0 : packet.err;
    return error;
}

/* Connecting waits where many do.  A connection of this kind that a signal
 * interrupts is not made, and is asked for again. */
static int connect_to(int fd, const struct start_facts *leader)
{
    const struct timeval limit = {.tv_sec = TIMEOUT_MS / 1000};
    struct sockaddr_un address;
    socklen_t bytes = name_of(leader, &address);
    int err;

    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
        return errno;
    do
        err = connect(fd, (const struct sockaddr *)&address, bytes) ? errno : 0;
    while (err == EINTR);
    return err;
}

/* However often a signal comes; the limit begins anew with each. */
static int wait_for_answer(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready;

    do
        ready = poll(&wait, 1, TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    return ready == 1 ? 0 : ETIMEDOUT;
}

static int ask(int fd, const struct start_facts *leader, int *fds, int max,
               int *count_out, int *err_out)
{
    int err = connect_to(fd, leader);

    if (err)
        return err;
    if (!same_user(fd))
        return EACCES;
    if (send(fd, &leader->secret[1], sizeof(leader->secret[1]), MSG_NOSIGNAL) <
        0)
        return errno == EPIPE ? ECONNRESET : errno;
    err = wait_for_answer(fd);
    if (err)
        return err;
    return start_socket_receive(fd, fds, max, count_out, err_out);
}

int start_socket_ask(const struct start_facts *leader, int *fds, int max,
                     int *count_out, int *err_out)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    int error = ask(fd, leader, fds, max, count_out, err_out);
    close(fd);
    return error;
}
