/*
 * socket.c - what comes by the start's socket instead of a leader's answer: some
 * bytes, descriptors, credentials.  Only descriptors that are told of stay open.
 */
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/start_socket.h"
#include "tests/fuzz/fuzz.h"

enum { FDS_MAX = 16, ASKED = 4 };

struct runtime runtime;

static int open_count(void)
{
    DIR *all = opendir("/proc/self/fd");
    int count = 0;

    FUZZ_HOLDS(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static void send_all(int fd, const uint8_t *data, size_t bytes, size_t fds,
                     bool credentials)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = {(void *)(uintptr_t)data, bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    const struct ucred own = {getpid(), getuid(), getgid()};
    size_t body = credentials ? sizeof(own) : fds * sizeof(int);

    memset(&control, 0, sizeof(control));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = credentials ? SCM_CREDENTIALS : SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(body);
    if (credentials)
        memcpy(CMSG_DATA(&control.header), &own, sizeof(own));
    for (size_t i = 0; i < fds && !credentials; i++)
        memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fd, sizeof(fd));
    if (fds || credentials) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(body);
    }
    (void)!sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_input in = {data, bytes};
    uint64_t what = fuzz_number(&in, 1);
    int ends[2], fds[ASKED], on = 1, count = 0, err = 0;

    FUZZ_HOLDS(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    if (what & 1)
        setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    send_all(ends[0], in.at, in.left, (size_t)(what >> 2) % (FDS_MAX + 1),
             what & 2);
    close(ends[0]);
    int before = open_count();
    int error = start_socket_receive(ends[1], fds, ASKED, &count, &err);
    FUZZ_HOLDS(!error || !count);
    FUZZ_HOLDS(count >= 0 && count <= ASKED);
    FUZZ_HOLDS(open_count() == before + count);
    while (count)
        close(fds[--count]);
    close(ends[1]);
    return 0;
}
