/*
 * The C library's calls that give the kernel memory of the program: protected
 * pages are opened first, since a system call ends with EFAULT where the program
 * would get a signal.  See source_protect.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "upm/source_protect.h"

/* Vectors longer than this are refused by the kernel. */
#define VECTORS_MAX 1024

/* The C library's own @name, as a pointer of the type of ours. */
#define NEXT(name)                            \
    ({                                        \
        static _Atomic(void *) next_;         \
        void *found_ = atomic_load(&next_);   \
        if (!found_) {                        \
            found_ = dlsym(RTLD_NEXT, #name); \
            atomic_store(&next_, found_);     \
        }                                     \
        (__typeof__(&name))found_;            \
    })

static void release(const unsigned *held)
{
    int saved = errno;

    for (unsigned i = 0; i < *held; i++)
        upm_protect_release();
    errno = saved;
}

/* So many are held until the block ends, or its thread is cancelled in it. */
#define HOLDING(count) \
    unsigned held_ __attribute__((cleanup(release))) = (count)

/* How many of the vectors are held. */
static unsigned hold_all(const struct iovec *vectors, size_t count)
{
    unsigned held =
        upm_protect_hold((uintptr_t)vectors, count * sizeof(*vectors));

    for (size_t i = 0; i < count && i < VECTORS_MAX; i++)
        held += upm_protect_hold((uintptr_t)vectors[i].iov_base,
                                 vectors[i].iov_len);
    return held;
}

static unsigned hold_message(const struct msghdr *message)
{
    return upm_protect_hold((uintptr_t)message, sizeof(*message)) +
           upm_protect_hold((uintptr_t)message->msg_name,
                            message->msg_namelen) +
           hold_all(message->msg_iov, message->msg_iovlen) +
           upm_protect_hold((uintptr_t)message->msg_control,
                            message->msg_controllen);
}

/* Where the kernel is to write whom the data is from. */
static unsigned hold_from(const struct sockaddr *from, const socklen_t *length)
{
    unsigned held;

    if (!from || !length)
        return 0;
    held = upm_protect_hold((uintptr_t)length, sizeof(*length));
    return held + upm_protect_hold((uintptr_t)from, *length);
}

/* @call, with [at, at + bytes) held. */
#define HELD(at, bytes, call)                              \
    ({                                                     \
        HOLDING(upm_protect_hold((uintptr_t)(at), bytes)); \
        call;                                              \
    })

ssize_t read(int fd, void *at, size_t bytes)
{
    return HELD(at, bytes, NEXT(read)(fd, at, bytes));
}

ssize_t write(int fd, const void *at, size_t bytes)
{
    return HELD(at, bytes, NEXT(write)(fd, at, bytes));
}

ssize_t pread(int fd, void *at, size_t bytes, off_t offset)
{
    return HELD(at, bytes, NEXT(pread)(fd, at, bytes, offset));
}

ssize_t pwrite(int fd, const void *at, size_t bytes, off_t offset)
{
    return HELD(at, bytes, NEXT(pwrite)(fd, at, bytes, offset));
}

ssize_t pread64(int fd, void *at, size_t bytes, off64_t offset)
{
    return HELD(at, bytes, NEXT(pread64)(fd, at, bytes, offset));
}

ssize_t pwrite64(int fd, const void *at, size_t bytes, off64_t offset)
{
    return HELD(at, bytes, NEXT(pwrite64)(fd, at, bytes, offset));
}

ssize_t recv(int fd, void *at, size_t bytes, int flags)
{
    return HELD(at, bytes, NEXT(recv)(fd, at, bytes, flags));
}

ssize_t send(int fd, const void *at, size_t bytes, int flags)
{
    return HELD(at, bytes, NEXT(send)(fd, at, bytes, flags));
}

ssize_t recvfrom(int fd, void *restrict at, size_t bytes, int flags,
                 struct sockaddr *restrict from, socklen_t *restrict length)
{
    HOLDING(hold_from(from, length) + upm_protect_hold((uintptr_t)at, bytes));

    return NEXT(recvfrom)(fd, at, bytes, flags, from, length);
}

ssize_t sendto(int fd, const void *at, size_t bytes, int flags,
               const struct sockaddr *to, socklen_t length)
{
    HOLDING(upm_protect_hold((uintptr_t)to, to ? length : 0) +
            upm_protect_hold((uintptr_t)at, bytes));

    return NEXT(sendto)(fd, at, bytes, flags, to, length);
}

/* The C library's own write() inside these cannot be taken over. */
size_t fread(void *restrict at, size_t bytes, size_t count, FILE *restrict file)
{
    return HELD(at, bytes * count, NEXT(fread)(at, bytes, count, file));
}

size_t fwrite(const void *restrict at, size_t bytes, size_t count,
              FILE *restrict file)
{
    return HELD(at, bytes * count, NEXT(fwrite)(at, bytes, count, file));
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
    return HELD(at, bytes, NEXT(__read_chk)(fd, at, bytes, room));
}

ssize_t __pread_chk(int fd, void *at, size_t bytes, off_t offset, size_t room)
{
    return HELD(at, bytes, NEXT(__pread_chk)(fd, at, bytes, offset, room));
}

ssize_t __pread64_chk(int fd, void *at, size_t bytes, off64_t offset,
                      size_t room)
{
    return HELD(at, bytes, NEXT(__pread64_chk)(fd, at, bytes, offset, room));
}

ssize_t __recv_chk(int fd, void *at, size_t bytes, size_t room, int flags)
{
    return HELD(at, bytes, NEXT(__recv_chk)(fd, at, bytes, room, flags));
}

ssize_t __recvfrom_chk(int fd, void *restrict at, size_t bytes, size_t room,
                       int flags, struct sockaddr *restrict from,
                       socklen_t *restrict length)
{
    HOLDING(hold_from(from, length) + upm_protect_hold((uintptr_t)at, bytes));

    return NEXT(__recvfrom_chk)(fd, at, bytes, room, flags, from, length);
}

size_t __fread_chk(void *restrict at, size_t room, size_t bytes, size_t count,
                   FILE *restrict file)
{
    return HELD(at, bytes * count,
                NEXT(__fread_chk)(at, room, bytes, count, file));
}

/* --- Vectors -------------------------------------------------------------- */

ssize_t preadv(int fd, const struct iovec *vectors, int count, off_t offset)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(preadv)(fd, vectors, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(pwritev)(fd, vectors, count, offset);
}

ssize_t preadv64(int fd, const struct iovec *vectors, int count, off64_t offset)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(preadv64)(fd, vectors, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *vectors, int count,
                  off64_t offset)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(pwritev64)(fd, vectors, count, offset);
}

ssize_t readv(int fd, const struct iovec *vectors, int count)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(readv)(fd, vectors, count);
}

ssize_t writev(int fd, const struct iovec *vectors, int count)
{
    HOLDING(count > 0 ? hold_all(vectors, (size_t)count) : 0);

    return NEXT(writev)(fd, vectors, count);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    HOLDING(hold_message(message));

    return NEXT(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    HOLDING(hold_message(message));

    return NEXT(sendmsg)(fd, message, flags);
}
