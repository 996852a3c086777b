#include "runtime/replica_lock.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/death.h"

/* Looks at who is inside before the processor is given away. */
#define STRAIGHTEN_SPINS 200

__thread uint32_t replica_lean_mine
    __attribute__((tls_model("initial-exec")));
_Atomic(struct replica_heap *) *replica_lean_word;

static int can_lean;
static _Atomic uint32_t thread_chosen;

static int barrier(int command)
{
    int saved = errno;
    int err = syscall(SYS_membarrier, command, 0, 0) ? DRASYNC_EINTERNAL : 0;

    errno = saved;
    return err;
}

void replica_lock_open(void)
{
    /* All of it is tried now, so that it does not fail later. */
    can_lean = !barrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
               !barrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    replica_lean_word = &replica_inbox()->inside;
}

int replica_lock_init(struct replica_heap *heap)
{
    replica_lock_reset(heap);
    return lock_init(&heap->lock, REPLICA_RANK_HEAP,
                     control_poison_flag(&runtime.space));
}

void replica_lock_reset(struct replica_heap *heap)
{
    atomic_store(&heap->leans, 0);
    heap->takes = 0;
    heap->lean_after = REPLICA_LEAN_AFTER;
}

/* Let nobody in without the mutex, which is held.  0 or DRASYNC_EPEER. */
static int straighten(struct replica_heap *heap, uint32_t leans)
{
    struct replica_inbox *inbox = &replica_shared()->inboxes[leans - 1];
    uint64_t since = 0;
    int err, looks = 0;

    atomic_store_explicit(&heap->leans, 0, memory_order_seq_cst);
    err = barrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    while (!err &&
           atomic_load_explicit(&inbox->inside, memory_order_seq_cst) == heap) {
        if (++looks < STRAIGHTEN_SPINS)
            continue;
        if (!since)
            since = runtime_now_us();
        sched_yield();
        err = death_check(since);
    }
    return err;
}

/* May locks lean towards this thread? */
static int is_chosen(void)
{
    uint32_t none = 0;

    if (replica_lean_mine)
        return 1;
    if (!can_lean || atomic_load_explicit(&thread_chosen, memory_order_relaxed))
        return 0;
    if (!atomic_compare_exchange_strong(&thread_chosen, &none, 1))
        return 0;
    replica_lean_mine = (uint32_t)runtime.local + 1;
    return 1;
}

int replica_heap_take_slow(struct replica_heap *heap)
{
    uint32_t leans;
    int err = lock_take(&heap->lock);

    if (err)
        return err;
    leans = atomic_load_explicit(&heap->leans, memory_order_relaxed);
    if (leans) {
        err = straighten(heap, leans);
        if (err) {
            /* Somebody is in there for good. */
            control_poison(&runtime.space);
            lock_give(&heap->lock);
            return DRASYNC_EPEER;
        }
        heap->takes = 0;
        if (heap->lean_after < REPLICA_LEAN_AFTER_MAX)
            heap->lean_after *= 2;
        return 0;
    }
    if (heap->worker != runtime.rank) {
        heap->takes = 0;
        return 0;
    }
    if (heap->takes < heap->lean_after)
        heap->takes++;
    else if (is_chosen())
        atomic_store_explicit(&heap->leans, replica_lean_mine,
                              memory_order_release);
    return 0;
}
