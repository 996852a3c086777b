/*
 * Copying to and from the memory of other processes.
 *
 * On the node the kernel does that where the system allows it.  A word of the
 * other process, which no other process has at that address, tells whether it
 * does, and whether it is the process that is meant: a process identifier may
 * mean another one in a container, or after the process has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>

#include "runtime/process.h"
#include "runtime/rma/state.h"
#include "runtime/shared.h"

enum { UNKNOWN, ALLOWED, FORBIDDEN };

static _Atomic uint8_t *allowed; /* [locals] */
static uint64_t token;           /* others read it */

static int pid_of(int local)
{
    return runtime.shared->ranks[local].pid;
}

static ssize_t move_some(int pid, uint64_t address, void *here, size_t bytes,
                         bool write)
{
    struct iovec mine = {.iov_base = here, .iov_len = bytes};
    struct iovec theirs = {.iov_base = (void *)(uintptr_t)address,
                           .iov_len = bytes};

    return write ? process_vm_writev(pid, &mine, 1, &theirs, 1, 0)
                 : process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
}

static bool is_allowed(int local)
{
    const struct rma_peer *peer = &rma_shared->peers[local];
    uint8_t state = atomic_load_explicit(&allowed[local], memory_order_relaxed);
    uint64_t seen = 0;

    if (state != UNKNOWN)
        return state == ALLOWED;
    state = move_some(pid_of(local), atomic_load(&peer->token_address), &seen,
                      sizeof(seen), false) == sizeof(seen) &&
                    seen == atomic_load(&peer->token)
                ? ALLOWED
                : FORBIDDEN;
    atomic_store(&allowed[local], state);
    return state == ALLOWED;
}

/* All of it by the kernel.  DRASYNC_EAGAIN: it may not. */
static int move(int rank, uint64_t place, void *here, size_t bytes, bool write)
{
    uint64_t address = place & ~RMA_PRIVATE;
    int saved = errno, err = 0;

    if (!is_allowed(runtime.local_of[rank]))
        err = DRASYNC_EAGAIN;
    while (bytes && !err) {
        ssize_t moved = move_some(pid_of(runtime.local_of[rank]), address, here,
                                  bytes, write);

        if (moved > 0) {
            address += (uint64_t)moved;
            here = (char *)here + moved;
            bytes -= (size_t)moved;
        } else {
            err = errno == ESRCH    ? DRASYNC_EPEER
                  : errno == ENOMEM ? DRASYNC_ENOMEM
                                    : DRASYNC_EINVAL;
        }
    }
    errno = saved;
    return err;
}

static int copy(int rank, uint64_t place, void *here, size_t bytes, bool write)
{
    struct rma_request request = {
        .place = place,
        .count = bytes,
        .rank = rank,
        .what = write ? RMA_WRITE : RMA_READ,
    };
    void *address;
    int err;

    if (bytes && !here)
        return DRASYNC_EINVAL;
    err = rma_find(rank, place, bytes, &address);
    if (!err && bytes)
        memmove(write ? address : here, write ? here : address, bytes);
    if (err != DRASYNC_EAGAIN)
        return err;
    if (runtime.node_of[rank] == runtime.node) {
        err = move(rank, place, here, bytes, write);
        if (err != DRASYNC_EAGAIN)
            return err;
    }
    return rma_request_ask(&request, 1, write ? here : NULL,
                           write ? NULL : here);
}

/* In one call of the kernel.  DRASYNC_EAGAIN: not all, so one by one. */
static int move_pieces(int rank, const struct rma_piece *pieces, size_t count,
                       void *here, bool write)
{
    struct iovec theirs[RMA_PIECES_MAX], mine = {.iov_base = here};
    int pid = pid_of(runtime.local_of[rank]), saved = errno;
    ssize_t moved;

    for (size_t i = 0; i < count; i++) {
        uint64_t address = pieces[i].place & ~RMA_PRIVATE;

        theirs[i].iov_base = (void *)(uintptr_t)address;
        theirs[i].iov_len = pieces[i].bytes;
        mine.iov_len += pieces[i].bytes;
    }
    moved = write ? process_vm_writev(pid, &mine, 1, theirs, count, 0)
                  : process_vm_readv(pid, &mine, 1, theirs, count, 0);
    errno = saved;
    return moved >= 0 && (size_t)moved == mine.iov_len ? 0 : DRASYNC_EAGAIN;
}

static int copy_pieces(int rank, const struct rma_piece *pieces, size_t count,
                       void *here, bool write)
{
    bool at_once = true;
    int err = 0;

    if (count > RMA_PIECES_MAX || (count && !here))
        return DRASYNC_EINVAL;
    /* All that is announced private memory of another process here? */
    for (size_t i = 0; i < count && at_once; i++) {
        void *address;
        err = rma_find(rank, pieces[i].place, pieces[i].bytes, &address);
        at_once = err == DRASYNC_EAGAIN;
    }
    if (err && err != DRASYNC_EAGAIN)
        return err;
    at_once = at_once && count > 1 && runtime.node_of[rank] == runtime.node &&
              is_allowed(runtime.local_of[rank]);
    err = at_once ? move_pieces(rank, pieces, count, here, write)
                  : DRASYNC_EAGAIN;
    if (err != DRASYNC_EAGAIN)
        return err;
    err = 0;
    for (size_t i = 0; i < count && !err; i++) {
        err = copy(rank, pieces[i].place, here, pieces[i].bytes, write);
        here = (char *)here + pieces[i].bytes;
    }
    return err;
}

int rma_read_pieces(int rank, const struct rma_piece *pieces, size_t count,
                    void *to)
{
    return copy_pieces(rank, pieces, count, to, false);
}

int rma_write_pieces(int rank, const struct rma_piece *pieces, size_t count,
                     const void *from)
{
    return copy_pieces(rank, pieces, count, (void *)(uintptr_t)from, true);
}

int rma_data_start(void)
{
    struct rma_peer *self = &rma_shared->peers[runtime.local];

    if (getrandom(&token, sizeof(token), 0) != sizeof(token))
        token = runtime_now_us() << 20 | (uint32_t)runtime.rank;
    atomic_store(&self->token_address, (uintptr_t)&token);
    atomic_store(&self->token, token);
    allowed = calloc((size_t)runtime.locals, sizeof(*allowed));
    return allowed ? 0 : DRASYNC_ENOMEM;
}

void rma_data_stop(void)
{
    free(allowed);
    allowed = NULL;
}
