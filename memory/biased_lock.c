/* The side of a biased lock that waits: barriers, and looking at the owner. */
#include "memory/biased_lock.h"

#include "drasync.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Looks at who is inside before the processor is given away.  The owner is in
 * for some ten instructions, unless it was switched out. */
#ifndef BIASED_SPINS
#define BIASED_SPINS 200
#endif

/* How often a waiter looks whether the owner's thread is there at all. */
#define BIASED_LOOK_US 100000

static const struct {
    int enlist, barrier;
} commands[] = {
    [BIASED_PROCESS] = {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
                        MEMBARRIER_CMD_PRIVATE_EXPEDITED},
    [BIASED_NODE] = {MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
                     MEMBARRIER_CMD_GLOBAL_EXPEDITED},
};

static int membarrier(int command)
{
    int saved = errno;
    int err = syscall(SYS_membarrier, command, 0, 0) ? DRASYNC_EINTERNAL : 0;

    errno = saved;
    return err;
}

struct biased_owner biased_self(void)
{
    return (struct biased_owner){
        .process = getpid(),
        .thread = (int32_t)syscall(SYS_gettid),
    };
}

int biased_open(enum biased_scope scope)
{
    int err = membarrier(commands[scope].enlist);

    /* It is tried now, so that it does not fail later. */
    return err ? err : biased_barrier(scope);
}

int biased_barrier(enum biased_scope scope)
{
    return membarrier(commands[scope].barrier);
}

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool has_ended(const struct biased_owner *owner)
{
    int saved = errno;
    bool ended =
        syscall(SYS_tgkill, owner->process, owner->thread, 0) && errno == ESRCH;

    errno = saved;
    return ended;
}

/* Acquire pairs with the release of biased_leave(); sequentially consistent, as
 * it is also the load of Dekker's pair. */
static bool is_inside(const _Atomic uint64_t *inside, uint64_t mask,
                      uint64_t in)
{
    return (atomic_load_explicit(inside, memory_order_seq_cst) & mask) == in;
}

int biased_wait(const struct biased_owner *owner,
                const _Atomic uint64_t *inside, uint64_t mask, uint64_t in,
                biased_look_fn *look)
{
    uint64_t since, looked, now;
    int err;

    for (int i = 0; i < BIASED_SPINS; i++)
        if (!is_inside(inside, mask, in))
            return 0;
    since = looked = now_us();
    while (is_inside(inside, mask, in)) {
        sched_yield();
        now = now_us();
        err = look ? look(since) : 0;
        if (err)
            return err;
        if (now - looked < BIASED_LOOK_US)
            continue;
        looked = now;
        /* Its last store may have been to leave. */
        if (has_ended(owner) && is_inside(inside, mask, in))
            return DRASYNC_EPEER;
    }
    return 0;
}
