/*
 * How the leader's files, which have no name, reach the other ranks: opened
 * through /proc/PID/fd; where that is forbidden (hidepid, ptrace rules), sent
 * over a socket.
 */
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/start.h"
#include "transport/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FILES             START_FILES
#define SOCKET_TIMEOUT_MS 20000

struct files_note {
    int32_t pid;
    int32_t fds[FILES];
    struct sockaddr_un address; /* abstract; family 0: no socket */
    socklen_t address_bytes;
};

static int open_through_proc(const struct files_note *note, int *fds)
{
    char path[64];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)note->pid,
                 (int)note->fds[i]);
        fds[i] = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fds[i] < 0) {
            int error = errno;
            while (i-- > 0)
                close(fds[i]);
            /* A socket would not help. */
            return error == EMFILE || error == ENFILE
                       ? refused_by_system(
                             "cannot open the node's memory files", error)
                       : DRASYNC_EINTERNAL;
        }
    }
    return 0;
}

static int same_user(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
           peer.uid == geteuid();
}

static int wait_readable(int socket)
{
    struct pollfd wait = {.fd = socket, .events = POLLIN};
    int ready;

    do
        ready = poll(&wait, 1, SOCKET_TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        errno = ETIMEDOUT;
    return ready == 1;
}

static int send_files(int socket, const int *fds)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FILES * sizeof(int))];
    } control;
    char byte = 0;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);

    memset(&control, 0, sizeof(control));
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(FILES * sizeof(int));
    memcpy(CMSG_DATA(c), fds, FILES * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : DRASYNC_EINTERNAL;
}

static int receive_files(int socket, int *fds)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FILES * sizeof(int))];
    } control;
    char byte;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return DRASYNC_EINTERNAL;
    /* Without a descriptor for them they are left out. */
    errno = message.msg_flags & MSG_CTRUNC ? EMFILE : EPROTO;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (!c || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(FILES * sizeof(int)))
        return DRASYNC_EINTERNAL;
    memcpy(fds, CMSG_DATA(c), FILES * sizeof(int));
    return 0;
}

/* A listening socket with a name that the kernel chooses. */
static int listen_somewhere(struct files_note *note)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(&note->address, 0, sizeof(note->address));
    note->address.sun_family = AF_UNIX;
    note->address_bytes = sizeof(note->address);
    if (fd >= 0 &&
        !bind(fd, (struct sockaddr *)&note->address, sizeof(sa_family_t)) &&
        !listen(fd, runtime.locals) &&
        !getsockname(fd, (struct sockaddr *)&note->address,
                     &note->address_bytes))
        return fd;
    if (fd >= 0)
        close(fd);
    note->address.sun_family = 0;
    return -1;
}

/* The leader: serve @count ranks. */
static int serve_files(int listener, const int *fds, int count)
{
    int err = 0;

    while (count > 0 && !err) {
        int peer = -1;
        if (wait_readable(listener))
            peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0)
            return DRASYNC_EINTERNAL;
        if (same_user(peer)) {
            err = send_files(peer, fds);
            count--;
        }
        close(peer);
    }
    return err;
}

static int ask_for_files(const struct files_note *note, int *fds)
{
    int err = DRASYNC_EINTERNAL;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return err;
    if (!connect(fd, (const struct sockaddr *)&note->address,
                 note->address_bytes) &&
        wait_readable(fd))
        err = receive_files(fd, fds);
    close(fd);
    return err;
}

/* Over a socket, to all ranks of the node, so that nobody has to know who needs
 * it.  Collective over the node.  After DRASYNC_EINTERNAL errno says why. */
static int share_over_socket(const int *own, int *fds)
{
    struct files_note note = {0};
    int listener = -1, error = ECONNREFUSED, err;

    if (runtime.leader) {
        listener = listen_somewhere(&note);
        error = errno;
    }
    err = boot_bcast(runtime_boot, BOOT_NODE, &note, sizeof(note));
    if (!err && !note.address.sun_family) {
        errno = error;
        err = DRASYNC_EINTERNAL;
    }
    if (!err)
        err = runtime.leader ? serve_files(listener, own, runtime.locals - 1)
                             : ask_for_files(&note, fds);
    if (listener >= 0)
        close(listener);
    return err;
}

static void close_all(const int *fds)
{
    for (int i = 0; i < FILES; i++)
        close(fds[i]);
}

int start_share_files(int *files)
{
    struct files_note note = {.pid = getpid()};
    int fds[FILES];
    int64_t worst;

    memcpy(note.fds, files, sizeof(note.fds));
    int err = boot_bcast(runtime_boot, BOOT_NODE, &note, sizeof(note));
    if (err)
        return err;
    worst = runtime.leader ? 0 : open_through_proc(&note, fds);
    if (getenv("DRASYNC_TEST_SOCKET") && !runtime.leader && !worst) {
        close_all(fds);
        worst = DRASYNC_EINTERNAL;
    }
    bool opened = !runtime.leader && !worst;
    err = boot_min(runtime_boot, BOOT_NODE, &worst);
    if (!err && worst) {
        if (opened)
            close_all(fds);
        err = worst == DRASYNC_ESTART ? DRASYNC_ESTART
                                      : share_over_socket(files, fds);
        if (err == DRASYNC_EINTERNAL) {
            char what[128];

            snprintf(what, sizeof(what),
                     "the node's memory files can be had neither through "
                     "/proc/%d/fd nor over a socket",
                     (int)note.pid);
            err = refused_by_system(what, errno);
        }
    }
    err = runtime_agree(err);
    if (err)
        return err;
    if (!runtime.leader)
        memcpy(files, fds, sizeof(fds));
    return 0;
}
