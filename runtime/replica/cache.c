/* Which heaps have caches, and what goes back and is void: see cache.h. */
#include "runtime/replica/cache.h"
#include "runtime/replica/objects.h"

#include <pthread.h>
#include <sys/mman.h>

#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/thread.h"

static _Atomic uint64_t none_inside = REPLICA_NO_CALLS;
struct replica_caches replica_caches_none = {.inside = &none_inside};
__thread struct replica_caches *replica_caches_mine
    __attribute__((tls_model("initial-exec"))) = &replica_caches_none;
_Atomic(struct replica_caches *) replica_caches_all;

static int possible; /* the kernel has what it takes */

static struct heap_caches *shared(void)
{
    return &replica_caches_mine->shared;
}

/* --- Notes ---------------------------------------------------------------- */

/* How many notes there are, and none from now on. */
static unsigned take_notes(void)
{
    _Atomic uint64_t *at = replica_caches_mine->inside;
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

    /* Release, as all that the thread stores there: who revokes may read this
     * and not what it stored when it was out. */
    atomic_store_explicit(at, word & ~REPLICA_NOTES, memory_order_release);
    return (unsigned)((word & REPLICA_NOTES) / REPLICA_NOTE);
}

/* Does what a cache has, if it has something, still hold? */
static int holds(const struct replica_cache *cache)
{
    struct replica_heap *heap = replica_cache_heap(cache);

    /* Relaxed: it is looked at again in the heap. */
    return heap && cache->epoch ==
                       atomic_load_explicit(&heap->epoch, memory_order_relaxed);
}

/* Sort notes [first, count) of @cache, whose stacks may be full. */
static void sort_slowly(struct replica_cache *cache, unsigned first,
                        unsigned count)
{
    struct replica_heap *heap = replica_cache_heap(cache);
    const struct heap_context context = replica_heap_own(heap);

    if (lock_take(&heap->lock))
        return; /* the job is poisoned */
    if (holds(cache))
        heap_cache_sort_all(&context, &heap->heap, shared(), &cache->slots,
                            first, count);
    lock_give(&heap->lock);
}

/* Those of a cache that is void are void as well. */
void replica_cache_note(struct replica_cache *cache)
{
    struct replica_cache *before = replica_caches_mine->noting;
    _Atomic uint64_t *at = replica_caches_mine->inside;
    struct replica_heap *heap = replica_cache_heap(before);
    unsigned count = take_notes(), sorted = count;
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

    if (count && heap && replica_cache_enter(before, heap, at, word)) {
        sorted = heap_cache_sort(shared(), &before->slots, 0, count);
        biased_leave(at, word);
    }
    if (sorted < count)
        sort_slowly(before, sorted, count);
    replica_caches_mine->noting = cache;
}

/* --- Caches of the calling thread ----------------------------------------- */

/* What it has, and what is noted of it. */
static void forget(struct replica_cache *cache)
{
    if (replica_caches_mine->noting == cache)
        take_notes();
    heap_cache_clear(shared(), &cache->slots);
}

/* Begin anew.  The lock of @heap, whose it is, is held. */
static void renew(struct replica_cache *cache, struct replica_heap *heap)
{
    struct replica_caches *mine = replica_caches_mine;

    forget(cache);
    cache->key = replica_cache_key(heap->rid);
    cache->epoch = atomic_load_explicit(&heap->epoch, memory_order_relaxed);
    if (!heap->cached)
        heap->cached = mine->thread;
    else if (heap->cached != mine->thread)
        heap->cached = REPLICA_THREADS_MANY;
}

struct replica_cache *replica_cache_of(struct replica_heap *heap)
{
    struct replica_caches *mine = replica_caches_mine;
    const struct heap_context context = replica_heap_own(heap);
    struct replica_cache *cache;

    if (!replica_caches_have())
        return NULL;
    cache = replica_cache_at(mine, heap->rid);
    if (replica_cache_heap(cache) != heap)
        return NULL;
    if (!holds(cache))
        renew(cache, heap);
    else if (mine->noting == cache)
        heap_cache_sort_all(&context, &heap->heap, &mine->shared, &cache->slots,
                            0, take_notes());
    return cache;
}

/* The heap that has it now gets its slots back, if it is still the same. */
static int take_away(struct replica_cache *cache)
{
    struct replica_heap *heap = replica_cache_heap(cache);
    struct heap_context context;
    int err;

    if (!heap)
        return 0;
    err = lock_take(&heap->lock);
    if (err)
        return err;
    if (holds(cache)) {
        context = replica_heap_own(heap);
        if (replica_caches_mine->noting == cache)
            heap_cache_sort_all(&context, &heap->heap, shared(), &cache->slots,
                                0, take_notes());
        heap_cache_flush(&context, &heap->heap, shared(), &cache->slots);
    } else {
        forget(cache);
    }
    cache->key = 0;
    atomic_store_explicit(&cache->heap, NULL, memory_order_relaxed);
    lock_give(&heap->lock);
    return 0;
}

/* --- All that a thread has ------------------------------------------------ */

/* Those of a thread that has ended, or new ones; NULL: no memory. */
static struct replica_caches *caches_new(void)
{
    struct replica_inbox *inbox = replica_inbox();
    struct replica_caches *c;
    void *thread;

    for (c = atomic_load(&replica_caches_all); c; c = c->next) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&c->taken, &unused, 1))
            return c;
    }
    if (control_alloc_zero(&runtime.space, sizeof(*c->thread), &thread))
        return NULL;
    /* Not all of it will be used: pages that are not touched are not there. */
    c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED) {
        control_free(&runtime.space, thread);
        return NULL;
    }
    c->thread = thread;
    c->inside = &c->thread->inside;
    atomic_store(c->inside, REPLICA_NO_CALLS);
    for (int i = 0; i < REPLICA_CACHES; i++)
        c->place[i] = &c->cache[i];
    c->noting = &c->cache[0];
    heap_caches_open(&c->shared, &runtime.space, 0);
    atomic_store(&c->taken, 1);
    c->thread->next = atomic_load(&inbox->threads);
    while (!atomic_compare_exchange_weak(&inbox->threads, &c->thread->next,
                                         c->thread))
        ;
    c->next = atomic_load(&replica_caches_all);
    while (!atomic_compare_exchange_weak(&replica_caches_all, &c->next, c))
        ;
    return c;
}

/* May the calling thread have caches?  It has them then. */
static int get_caches(void)
{
    /* Of all threads: a thread's own count would be thread-local storage, which
     * is scarce.  So later threads get theirs sooner. */
    static _Atomic unsigned calls;
    struct replica_caches *c;

    if (replica_caches_have())
        return 1;
    if (!possible ||
        (atomic_load_explicit(&calls, memory_order_relaxed) <
             REPLICA_CACHE_AFTER &&
         atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1 <
             REPLICA_CACHE_AFTER) ||
        thread_watch())
        return 0;
    c = caches_new();
    if (!c)
        return 0;
    c->thread->owner = biased_self();
    replica_caches_mine = c;
    return 1;
}

void replica_cache_want(struct replica_heap *heap)
{
    uint64_t key = replica_cache_key(heap->rid);
    struct replica_cache *cache;
    ptrdiff_t i;

    if (!get_caches())
        return;
    cache = replica_cache_at(replica_caches_mine, heap->rid);
    i = cache - replica_caches_mine->cache;
    if (replica_caches_mine->wanted[i].key != key) {
        if (replica_caches_mine->wanted[i].count) {
            replica_caches_mine->wanted[i].count--;
            return;
        }
        replica_caches_mine->wanted[i].key = key;
    }
    if (++replica_caches_mine->wanted[i].count <
        (holds(cache) ? REPLICA_CACHE_STEAL : REPLICA_CACHE_AFTER))
        return;
    replica_caches_mine->wanted[i].count = 0;
    if (take_away(cache) || lock_take(&heap->lock))
        return;
    if (atomic_load(&heap->live) && heap->worker == runtime.rank &&
        replica_cache_key(heap->rid) == key) {
        atomic_store_explicit(&cache->heap, heap, memory_order_relaxed);
        renew(cache, heap);
    }
    lock_give(&heap->lock);
}

void replica_caches_thread_ends(void)
{
    struct replica_caches *c = replica_caches_mine;
    uint64_t word;

    if (!replica_caches_have() || !runtime_running())
        return;
    /* Before it takes a lock: whoever has that may be waiting for this. */
    word = atomic_load_explicit(c->inside, memory_order_relaxed);
    biased_leave(c->inside, word & ~REPLICA_INSIDE_HEAP);
    /* A heap that cannot be had is one of a job that is poisoned. */
    for (int i = 0; i < REPLICA_CACHES; i++)
        take_away(&c->cache[i]);
    replica_cache_calls_end();
    replica_caches_mine = &replica_caches_none;
    atomic_store(&c->taken, 0);
}

/* The child of a fork has no heaps. */
static void in_child(void)
{
    replica_caches_mine = &replica_caches_none;
}

void replica_caches_open(void)
{
    heap_caches_start();
    possible =
        !biased_open(BIASED_NODE) && !pthread_atfork(NULL, NULL, in_child);
}

void replica_caches_close(void)
{
    struct replica_caches *c;

    for (c = atomic_load(&replica_caches_all); c; c = c->next)
        atomic_fetch_or(c->inside, REPLICA_NO_CALLS);
}

/* --- Revoking ------------------------------------------------------------- */

/* Wait until no thread of the heap's worker but this one is in the heap. */
static int wait_until_out(struct replica_heap *heap)
{
    struct replica_inbox *inbox =
        &replica_shared()->inboxes[runtime.local_of[heap->worker]];
    struct replica_thread *t;
    int err = biased_barrier(BIASED_NODE);

    if (err) {
        runtime_poison("rank %d cannot take a region's heap back from the "
                       "threads that use it: the system refuses membarrier(); "
                       "let a filter of system calls allow it, or install it "
                       "before MPI_Init",
                       runtime.rank);
        return DRASYNC_EPEER;
    }
    for (t = atomic_load(&inbox->threads); t; t = t->next) {
        if (t == replica_caches_mine->thread)
            continue;
        err = biased_wait(&t->owner, &t->inside, REPLICA_INSIDE_HEAP,
                          (uintptr_t)heap, death_check);
        if (err) {
            runtime_poison("thread %d of process %d has ended while it "
                           "allocated or freed",
                           (int)t->owner.thread, (int)t->owner.process);
            return DRASYNC_EPEER;
        }
    }
    return 0;
}

int replica_caches_revoke(struct replica_heap *heap)
{
    int err = 0;

    /* R1 of biased_lock.h, where it says why that suffices. */
    atomic_fetch_add(&heap->epoch, 1);
    if (heap->cached && heap->cached != replica_caches_mine->thread)
        err = wait_until_out(heap);
    if (!err)
        heap->cached = NULL;
    return err;
}

int replica_caches_withdraw(struct replica_heap *heap)
{
    const struct heap_context context = replica_heap_own(heap);
    uint64_t epoch = atomic_load_explicit(&heap->epoch, memory_order_relaxed);
    struct replica_caches *c;
    int err;

    if (!heap->cached)
        return 0;
    err = replica_caches_revoke(heap);
    if (err)
        return err;
    for (c = atomic_load(&replica_caches_all); c; c = c->next) {
        struct replica_cache *cache = replica_cache_at(c, heap->rid);

        /* Relaxed: if it is this heap, it was set under the lock that is held,
         * and what else there is was written before, or inside. */
        if (atomic_load_explicit(&cache->heap, memory_order_relaxed) == heap &&
            cache->epoch == epoch)
            heap_cache_withdraw(&context, &heap->heap, &cache->slots);
    }
    return 0;
}
