/* The lock of a worker's heap, biased to one of its threads: see lock.h. */
#include "runtime/replica/lock.h"

#include <pthread.h>

#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/thread.h"

uint64_t replica_bias_mine;
_Atomic uint64_t replica_bias_none = REPLICA_BIAS_NONE;
__thread _Atomic uint64_t *replica_bias_word
    __attribute__((tls_model("initial-exec"))) = &replica_bias_none;

static int can_bias;
static _Atomic uint32_t thread_chosen;

/* The child of a fork has no heaps. */
static void in_child(void)
{
    replica_bias_word = &replica_bias_none;
}

void replica_lock_open(void)
{
    can_bias =
        !biased_open(BIASED_NODE) && !pthread_atfork(NULL, NULL, in_child);
    replica_bias_mine = (uint64_t)runtime.local + 1;
    replica_lock_close();
}

void replica_lock_close(void)
{
    atomic_fetch_or(&replica_inbox()->inside, REPLICA_BIAS_NONE);
}

int replica_lock_init(struct replica_heap *heap)
{
    atomic_store(&heap->bias, 0);
    replica_lock_reset(heap);
    return lock_init(&heap->lock, REPLICA_RANK_HEAP,
                     control_poison_flag(&runtime.space));
}

void replica_lock_reset(struct replica_heap *heap)
{
    atomic_fetch_and(&heap->bias, ~REPLICA_BIAS_WHO);
    heap->takes = 0;
    heap->bias_after = REPLICA_BIAS_AFTER;
}

/* Let nobody in without the mutex, which is held.  DRASYNC_EPEER: somebody is
 * in for good, or that cannot be told; the job is poisoned. */
static int revoke(struct replica_heap *heap, uint64_t bias)
{
    struct replica_inbox *inbox =
        &replica_shared()->inboxes[(bias & REPLICA_BIAS_WHO) - 1];
    int err;

    atomic_fetch_and(&heap->bias, ~REPLICA_BIAS_WHO);
    err = biased_barrier(BIASED_NODE);
    if (err) {
        runtime_poison("rank %d cannot take a region's heap back from the "
                       "thread that uses it: the system refuses membarrier(); "
                       "let a filter of system calls allow it, or install it "
                       "before MPI_Init",
                       runtime.rank);
        return DRASYNC_EPEER;
    }
    err = biased_wait(&inbox->owner, &inbox->inside, REPLICA_BIAS_HEAP,
                      (uintptr_t)heap, death_check);
    if (err)
        runtime_poison("thread %d of process %d has ended while it allocated "
                       "or freed",
                       (int)inbox->owner.thread, (int)inbox->owner.process);
    return err;
}

void replica_lock_come_out(void)
{
    _Atomic uint64_t *at = replica_bias_word;

    biased_leave(at, atomic_load_explicit(at, memory_order_relaxed) &
                         ~REPLICA_BIAS_HEAP);
}

void replica_lock_pass_on(void)
{
    replica_bias_word = &replica_bias_none;
    /* Release pairs with the exchange in is_chosen(): what the next one finds
     * of this thread's is as this one left it. */
    atomic_store_explicit(&thread_chosen, 0, memory_order_release);
}

/* May locks be biased to this thread? */
static int is_chosen(void)
{
    uint32_t none = 0;

    if (replica_bias_chosen())
        return 1;
    if (!can_bias ||
        atomic_load_explicit(&thread_chosen, memory_order_relaxed) ||
        thread_watch())
        return 0;
    if (!atomic_compare_exchange_strong(&thread_chosen, &none, 1))
        return 0;
    replica_inbox()->owner = biased_self();
    replica_bias_word = &replica_inbox()->inside;
    return 1;
}

int replica_heap_take_slow(struct replica_heap *heap)
{
    uint64_t bias;
    int err = lock_take(&heap->lock);

    if (err)
        return err;
    bias = atomic_load_explicit(&heap->bias, memory_order_relaxed);
    if (bias & REPLICA_BIAS_WHO) {
        err = revoke(heap, bias);
        if (err) {
            lock_give(&heap->lock);
            return err;
        }
        heap->takes = 0;
        if (heap->bias_after < REPLICA_BIAS_AFTER_MAX)
            heap->bias_after *= 2;
        return 0;
    }
    if (heap->worker != runtime.rank) {
        heap->takes = 0;
        return 0;
    }
    if (heap->takes < heap->bias_after)
        heap->takes++;
    else if (is_chosen())
        atomic_fetch_or(&heap->bias, replica_bias_mine);
    return 0;
}
