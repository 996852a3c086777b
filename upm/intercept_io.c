/*
 * The C library's calls that give the kernel memory of the program: protected
 * pages are opened first, since a system call ends with EFAULT where the program
 * would get a signal.  See source_protect.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "upm/holds.h"
#include "upm/next.h"
#include "upm/source_protect.h"

/* Vectors longer than this are refused by the kernel. */
#define VECTORS_MAX 1024

/* Of one call: header, name, control data, vectors, what the first of them name,
 * and what the others do. */
#define HOLDS_VECTORS 8
#define HOLDS_MAX     (4 + HOLDS_VECTORS + 1)

struct holds {
    unsigned count;
    unsigned hold[HOLDS_MAX];
};

static void release(const struct holds *holds)
{
    int saved = errno;

    for (unsigned i = 0; i < holds->count; i++)
        upm_protect_release(holds->hold[i]);
    errno = saved;
}

/* What is added to it is held until the block ends, or its thread is cancelled
 * in it. */
#define HOLDS           struct holds holds_ __attribute__((cleanup(release))) = {0}
#define HOLD(at, bytes) hold(&holds_, at, bytes)

static void hold(struct holds *holds, const void *at, size_t bytes)
{
    unsigned one = upm_protect_hold((uintptr_t)at, bytes);

    for (unsigned i = 0; i < holds->count; i++)
        if (holds->hold[i] == one && one != UPM_HOLD_ALL)
            return;
    if (one)
        holds->hold[holds->count++] = one;
}

/* What many vectors name is held as one range, with what lies between. */
static void hold_vectors(struct holds *holds, const struct iovec *vectors,
                         size_t count)
{
    uintptr_t from = UINTPTR_MAX, to = 0;

    if (count > VECTORS_MAX)
        return;
    hold(holds, vectors, count * sizeof(*vectors));
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = (uintptr_t)vectors[i].iov_base;
        uintptr_t end = start + vectors[i].iov_len;

        if (end <= start)
            continue;
        if (i < HOLDS_VECTORS) {
            hold(holds, vectors[i].iov_base, vectors[i].iov_len);
            continue;
        }
        from = start < from ? start : from;
        to = end > to ? end : to;
    }
    if (to > from)
        hold(holds, (const void *)from, to - from);
}

static void hold_message(struct holds *holds, const struct msghdr *message)
{
    hold(holds, message, sizeof(*message));
    hold(holds, message->msg_name, message->msg_namelen);
    hold_vectors(holds, message->msg_iov, message->msg_iovlen);
    hold(holds, message->msg_control, message->msg_controllen);
}

/* Where the kernel is to write whom the data is from. */
static void hold_from(struct holds *holds, const struct sockaddr *from,
                      const socklen_t *length)
{
    if (!from || !length)
        return;
    hold(holds, length, sizeof(*length));
    hold(holds, from, *length);
}

/* @call, with [at, at + bytes) held. */
#define HELD(at, bytes, call) \
    ({                        \
        HOLDS;                \
        HOLD(at, bytes);      \
        call;                 \
    })

ssize_t read(int fd, void *at, size_t bytes)
{
    return HELD(at, bytes, UPM_NEXT(read)(fd, at, bytes));
}

ssize_t write(int fd, const void *at, size_t bytes)
{
    return HELD(at, bytes, UPM_NEXT(write)(fd, at, bytes));
}

ssize_t pread(int fd, void *at, size_t bytes, off_t offset)
{
    return HELD(at, bytes, UPM_NEXT(pread)(fd, at, bytes, offset));
}

ssize_t pwrite(int fd, const void *at, size_t bytes, off_t offset)
{
    return HELD(at, bytes, UPM_NEXT(pwrite)(fd, at, bytes, offset));
}

ssize_t pread64(int fd, void *at, size_t bytes, off64_t offset)
{
    return HELD(at, bytes, UPM_NEXT(pread64)(fd, at, bytes, offset));
}

ssize_t pwrite64(int fd, const void *at, size_t bytes, off64_t offset)
{
    return HELD(at, bytes, UPM_NEXT(pwrite64)(fd, at, bytes, offset));
}

ssize_t recv(int fd, void *at, size_t bytes, int flags)
{
    return HELD(at, bytes, UPM_NEXT(recv)(fd, at, bytes, flags));
}

ssize_t send(int fd, const void *at, size_t bytes, int flags)
{
    return HELD(at, bytes, UPM_NEXT(send)(fd, at, bytes, flags));
}

ssize_t recvfrom(int fd, void *restrict at, size_t bytes, int flags,
                 struct sockaddr *restrict from, socklen_t *restrict length)
{
    HOLDS;

    hold_from(&holds_, from, length);
    HOLD(at, bytes);
    return UPM_NEXT(recvfrom)(fd, at, bytes, flags, from, length);
}

ssize_t sendto(int fd, const void *at, size_t bytes, int flags,
               const struct sockaddr *to, socklen_t length)
{
    HOLDS;

    HOLD(to, to ? length : 0);
    HOLD(at, bytes);
    return UPM_NEXT(sendto)(fd, at, bytes, flags, to, length);
}

/* The C library's own write() inside these cannot be taken over. */
size_t fread(void *restrict at, size_t bytes, size_t count, FILE *restrict file)
{
    return HELD(at, bytes * count, UPM_NEXT(fread)(at, bytes, count, file));
}

size_t fwrite(const void *restrict at, size_t bytes, size_t count,
              FILE *restrict file)
{
    return HELD(at, bytes * count, UPM_NEXT(fwrite)(at, bytes, count, file));
}

/* --- What the compiler makes of them with _FORTIFY_SOURCE ----------------- */

ssize_t __read_chk(int fd, void *at, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *at, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *at, size_t bytes, off64_t offset,
                      size_t room);
ssize_t __recv_chk(int fd, void *at, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict at, size_t bytes, size_t room,
                       int flags, struct sockaddr *restrict from,
                       socklen_t *restrict length);
size_t __fread_chk(void *restrict at, size_t room, size_t bytes, size_t count,
                   FILE *restrict file);

ssize_t __read_chk(int fd, void *at, size_t bytes, size_t room)
{
    return HELD(at, bytes, UPM_NEXT(__read_chk)(fd, at, bytes, room));
}

ssize_t __pread_chk(int fd, void *at, size_t bytes, off_t offset, size_t room)
{
    return HELD(at, bytes, UPM_NEXT(__pread_chk)(fd, at, bytes, offset, room));
}

ssize_t __pread64_chk(int fd, void *at, size_t bytes, off64_t offset,
                      size_t room)
{
    return HELD(at, bytes,
                UPM_NEXT(__pread64_chk)(fd, at, bytes, offset, room));
}

ssize_t __recv_chk(int fd, void *at, size_t bytes, size_t room, int flags)
{
    return HELD(at, bytes, UPM_NEXT(__recv_chk)(fd, at, bytes, room, flags));
}

ssize_t __recvfrom_chk(int fd, void *restrict at, size_t bytes, size_t room,
                       int flags, struct sockaddr *restrict from,
                       socklen_t *restrict length)
{
    HOLDS;

    hold_from(&holds_, from, length);
    HOLD(at, bytes);
    return UPM_NEXT(__recvfrom_chk)(fd, at, bytes, room, flags, from, length);
}

size_t __fread_chk(void *restrict at, size_t room, size_t bytes, size_t count,
                   FILE *restrict file)
{
    return HELD(at, bytes * count,
                UPM_NEXT(__fread_chk)(at, room, bytes, count, file));
}

/* --- Vectors -------------------------------------------------------------- */

ssize_t preadv(int fd, const struct iovec *vectors, int count, off_t offset)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(preadv)(fd, vectors, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(pwritev)(fd, vectors, count, offset);
}

ssize_t preadv64(int fd, const struct iovec *vectors, int count, off64_t offset)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(preadv64)(fd, vectors, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *vectors, int count,
                  off64_t offset)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(pwritev64)(fd, vectors, count, offset);
}

ssize_t readv(int fd, const struct iovec *vectors, int count)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(readv)(fd, vectors, count);
}

ssize_t writev(int fd, const struct iovec *vectors, int count)
{
    HOLDS;

    hold_vectors(&holds_, vectors, count > 0 ? (size_t)count : 0);
    return UPM_NEXT(writev)(fd, vectors, count);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    HOLDS;

    hold_message(&holds_, message);
    return UPM_NEXT(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    HOLDS;

    hold_message(&holds_, message);
    return UPM_NEXT(sendmsg)(fd, message, flags);
}
