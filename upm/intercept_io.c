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

static void release(unsigned held)
{
    int saved = errno;

    while (held-- > 0)
        upm_protect_release();
    errno = saved;
}

/* How many of the vectors are held. */
static unsigned hold_all(const struct iovec *vectors, size_t count)
{
    unsigned held = 0;

    for (size_t i = 0; i < count && i < VECTORS_MAX; i++)
        held += upm_protect_hold((uintptr_t)vectors[i].iov_base,
                                 vectors[i].iov_len);
    return held;
}

static unsigned hold_message(const struct msghdr *message)
{
    return hold_all(message->msg_iov, message->msg_iovlen) +
           upm_protect_hold((uintptr_t)message->msg_control,
                            message->msg_controllen);
}

/* @call, with [at, at + bytes) held. */
#define HELD(at, bytes, call)                                      \
    ({                                                             \
        unsigned held_ = upm_protect_hold((uintptr_t)(at), bytes); \
        __typeof__(call) result_ = (call);                         \
        release(held_);                                            \
        result_;                                                   \
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
    return HELD(at, bytes, NEXT(recvfrom)(fd, at, bytes, flags, from, length));
}

ssize_t sendto(int fd, const void *at, size_t bytes, int flags,
               const struct sockaddr *to, socklen_t length)
{
    return HELD(at, bytes, NEXT(sendto)(fd, at, bytes, flags, to, length));
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

ssize_t readv(int fd, const struct iovec *vectors, int count)
{
    unsigned held = count > 0 ? hold_all(vectors, (size_t)count) : 0;
    ssize_t result = NEXT(readv)(fd, vectors, count);

    release(held);
    return result;
}

ssize_t writev(int fd, const struct iovec *vectors, int count)
{
    unsigned held = count > 0 ? hold_all(vectors, (size_t)count) : 0;
    ssize_t result = NEXT(writev)(fd, vectors, count);

    release(held);
    return result;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    unsigned held = hold_message(message);
    ssize_t result = NEXT(recvmsg)(fd, message, flags);

    release(held);
    return result;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    unsigned held = hold_message(message);
    ssize_t result = NEXT(sendmsg)(fd, message, flags);

    release(held);
    return result;
}
