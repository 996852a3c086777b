/* Objects of replicated regions: allocate, free, resize, here and far. */
#include <pthread.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/process.h"
#include "runtime/replica/cache.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/page_runs.h"
#include "runtime/replica/state.h"
#include "runtime/replica/wire.h"
#include "runtime/services/chunks.h"

/* --- Finding a heap fast -------------------------------------------------- */

/*
 * Which heap this worker has in a region, remembered.  What is found here is
 * looked at again under the heap's lock: heaps are type-stable.
 */
#define CACHE_SLOTS 1024

struct cached {
    _Atomic(struct replica_heap *) heap;
    _Atomic uint32_t rid;
};

static struct cached cache[CACHE_SLOTS];

static int is_mine(const struct replica_heap *heap, uint32_t rid)
{
    return atomic_load_explicit(&heap->live, memory_order_relaxed) &&
           heap->rid == rid && heap->worker == runtime.rank;
}

/* This worker's heap in region @rid, locked. */
static int take_heap(uint32_t rid, struct replica_heap **heap_out)
{
    struct cached *slot = &cache[rid % CACHE_SLOTS];
    struct replica_heap *heap = atomic_load(&slot->heap);
    struct replica_region *region;
    int err;

    if (heap && atomic_load_explicit(&slot->rid, memory_order_relaxed) == rid) {
        err = lock_take(&heap->lock);
        if (err)
            return err;
        if (is_mine(heap, rid)) {
            *heap_out = heap;
            return 0;
        }
        lock_give(&heap->lock);
    }
    err = replica_open(rid, &region);
    if (err)
        return err;
    err = replica_heap_of(region, &heap);
    if (!err)
        err = lock_take(&heap->lock);
    replica_unlock();
    if (err)
        return err;
    atomic_store(&slot->heap, heap);
    atomic_store_explicit(&slot->rid, rid, memory_order_relaxed);
    *heap_out = heap;
    return 0;
}

/* What the last call of this thread could not have. */
static __thread uint64_t missing_pages;

/* A heap needs an extent.  Its lock is held. */
static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct replica_heap *heap = arg;
    struct extent *extent;
    int err;

    (void)pages_min;
    missing_pages = pages_wanted;
    err = replica_extent_new(pages_wanted, heap, &extent);
    if (err)
        return err;
    frames_enter(&runtime.space, extent->first_page, extent->pages);
    extent->next = heap->extents;
    heap->extents = extent;
    extent_out->first_page = extent->first_page;
    extent_out->pages = extent->pages;
    return 0;
}

struct heap_context replica_heap_own(struct replica_heap *heap)
{
    const struct heap_context context = {
        .space = &runtime.space,
        .owner = heap,
        .more = more,
        .arg = heap,
    };

    return context;
}

struct heap_context replica_heap_elsewhere(struct replica_heap *heap)
{
    struct heap_context context = replica_heap_own(heap);

    context.view = space_window_view(&runtime.space);
    return context;
}

/* At the addresses a worker has its own extents, and of others' maybe copies.
 */
struct heap_context replica_heap_context(struct replica_heap *heap)
{
    return heap->worker == runtime.rank ? replica_heap_own(heap)
                                        : replica_heap_elsewhere(heap);
}

/* --- Allocating ----------------------------------------------------------- */

/* From this worker's heap, which is locked.  *wanted_out: replica_cache_want().
 */
static int alloc_in(struct replica_heap *heap, size_t size_bytes,
                    void **ptr_out, bool *wanted_out)
{
    const struct heap_context context = replica_heap_own(heap);
    struct replica_cache *cache = replica_cache_of(heap);

    if (cache)
        return heap_cache_alloc_slow(&context, &heap->heap,
                                     &replica_caches_mine->shared,
                                     &cache->slots, size_bytes, ptr_out);
    *wanted_out = true;
    return heap_alloc(&context, &heap->heap, size_bytes, ptr_out);
}

static int alloc_here(uint32_t rid, size_t size_bytes, size_t count,
                      void **ptrs_out)
{
    struct replica_found *found = NULL;
    struct heap_context context;
    struct replica_heap *heap;
    bool wanted = false;
    int err;

    err = take_heap(rid, &heap);
    if (err)
        return err;
    if (replica_objects()) {
        err = replica_objects_alloc(heap, size_bytes, count, ptrs_out, &found);
    } else if (count == 1) {
        err = alloc_in(heap, size_bytes, ptrs_out, &wanted);
    } else {
        context = replica_heap_context(heap);
        err =
            heap_alloc_many(&context, &heap->heap, size_bytes, count, ptrs_out);
    }
    lock_give(&heap->lock);
    replica_objects_tell(found, true);
    if (wanted)
        replica_cache_want(heap);
    return err;
}

int replica_alloc_many(uint32_t rid, size_t size_bytes, size_t count,
                       void **ptrs_out)
{
    int err = alloc_here(rid, size_bytes, count, ptrs_out);

    /* Each time round there are more addresses, or none. */
    while (err == DRASYNC_ENOSPACE && runtime.nodes > 1 &&
           !chunks_ask(missing_pages))
        err = alloc_here(rid, size_bytes, count, ptrs_out);
    return err;
}

int replica_alloc(uint32_t rid, size_t size_bytes, void **ptr_out)
{
    return replica_alloc_many(rid, size_bytes, 1, ptr_out);
}

/* --- Freeing -------------------------------------------------------------- */

/* Frees for other nodes that wait for company; this process's. */
#define FREES_MAX 64

static struct {
    pthread_mutex_t mutex;
    struct replica_wire_free frees[FREES_MAX];
    size_t count;
    int node;
} pending = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int flush_locked(void)
{
    int err = 0;

    if (pending.count)
        err = replica_wire_frees(pending.node, pending.frees, pending.count);
    if (!err)
        pending.count = 0;
    return err;
}

int replica_flush_frees(void)
{
    int err;

    if (runtime.nodes == 1)
        return 0;
    pthread_mutex_lock(&pending.mutex);
    err = flush_locked();
    pthread_mutex_unlock(&pending.mutex);
    return err;
}

/* In this worker's heap, which is locked.  *wanted_out: replica_cache_want(). */
static int free_in(struct replica_heap *heap, void *ptr, bool *wanted_out)
{
    const struct heap_context context = replica_heap_own(heap);
    struct replica_cache *cache = replica_cache_of(heap);

    if (cache)
        return heap_cache_free_slow(&context, &heap->heap,
                                    &replica_caches_mine->shared, &cache->slots,
                                    ptr);
    *wanted_out = true;
    return heap_free(&context, &heap->heap, ptr);
}

/* Others may not ask nodes: it may be the progress thread. */
static bool may_ask(struct heap_who who)
{
    return who.rank == runtime.rank;
}

/* @cached: for a thread of the program, which may have a cache. */
static int heap_free_for(struct replica_heap *heap, void *ptr,
                         struct heap_who who, bool cached)
{
    struct replica_found *found = NULL;
    struct heap_context context;
    bool wanted = false;
    int err = lock_take(&heap->lock);

    if (err)
        return err;
    if (!atomic_load_explicit(&heap->live, memory_order_relaxed)) {
        err = DRASYNC_EDELETED;
    } else if (replica_objects()) {
        context = replica_heap_context(heap);
        err = replica_objects_free(heap, &context, ptr, who, &found);
    } else if (cached && heap->worker == runtime.rank) {
        err = free_in(heap, ptr, &wanted);
    } else {
        context = replica_heap_context(heap);
        err = heap_free(&context, &heap->heap, ptr);
    }
    lock_give(&heap->lock);
    replica_objects_tell(found, may_ask(who));
    if (wanted)
        replica_cache_want(heap);
    return err;
}

int replica_heap_free(struct replica_heap *heap, void *ptr, struct heap_who who)
{
    return heap_free_for(heap, ptr, who, false);
}

/*
 * The heap that has the extent with @ptr, and the node that knows its objects.
 * The heap is NULL if this node does not know it.
 */
static int heap_with(const void *ptr, struct replica_heap **heap_out,
                     int *node_out)
{
    uint64_t page = space_page(&runtime.space, ptr);
    struct extent_copy copy;
    int err;

    if (page == SPACE_NO_PAGE)
        return DRASYNC_ENOOBJECT;
    if ((uintptr_t)ptr % REPLICA_ALIGN_BYTES)
        return DRASYNC_EALIGN;
    err = extent_find(&runtime.space, ptr, &copy);
    if (!err && copy.incarnation != REPLICA_EXTENT)
        return DRASYNC_ENOOBJECT;
    if (!err) {
        *heap_out = copy.owner;
        *node_out = (*heap_out)->node;
        return 0;
    }
    if (err != DRASYNC_ENOREGION)
        return err;
    *heap_out = NULL;
    *node_out = replica_home(page << PAGE_SHIFT);
    return *node_out < 0 || *node_out == runtime.node ? DRASYNC_EFREED : 0;
}

/*
 * How many bytes from @ptr on the worker with local number @local has of
 * another node's extent; @local -1: some worker of this node.  Locked.
 */
static uint64_t received_bytes(const struct replica_heap *heap, const void *ptr,
                               int local)
{
    struct extent *extent = heap ? extent_of(&runtime.space, ptr) : NULL;
    const struct replica_copy *copy;
    uint64_t offset;

    if (!extent || extent->owner != heap || !atomic_load(&heap->live))
        return 0;
    offset =
        (uint64_t)((const char *)ptr -
                   (char *)space_address(&runtime.space, extent->first_page));
    for (copy = (struct replica_copy *)(uintptr_t)extent->user[0]; copy;
         copy = copy->peer)
        if (offset >= copy->begin_bytes && offset < copy->end_bytes &&
            (local < 0 || copy->local == local))
            return copy->end_bytes - offset;
    return 0;
}

/* Does somebody on this node have a copy of the object?  Then it was there when
 * it was sent, and its free may be checked later. */
static int is_copied(const struct replica_heap *heap, const void *ptr,
                     struct replica_wire_free *free_out)
{
    int copied;

    if (replica_lock())
        return 0;
    copied = received_bytes(heap, ptr, -1) > 0;
    if (copied) {
        free_out->region = heap->region->entry.address;
        free_out->incarnation = heap->region->entry.incarnation;
    }
    replica_unlock();
    return copied;
}

static int free_foreign(struct replica_heap *heap, int node, void *ptr,
                        const struct replica_place *place)
{
    const struct heap_who who = replica_who();
    struct replica_wire_free entry = {
        .ptr = (uint64_t)(uintptr_t)ptr,
        .worker = runtime.rank,
        .line = place->line,
        .stack = who.stack,
    };
    const char *file = place->file;
    size_t bytes;
    int err = 0;

    if (!is_copied(heap, ptr, &entry))
        return replica_wire_object(node, ptr, 1, who, &bytes);
    if (strlen(file) >= sizeof(entry.file))
        file += strlen(file) - sizeof(entry.file) + 1;
    memcpy(entry.file, file, strlen(file));
    pthread_mutex_lock(&pending.mutex);
    if (pending.count == FREES_MAX || (pending.count && pending.node != node))
        err = flush_locked();
    if (!err) {
        pending.node = node;
        pending.frees[pending.count++] = entry;
    }
    pthread_mutex_unlock(&pending.mutex);
    return err;
}

int replica_free_object(void *ptr, const struct replica_place *place)
{
    struct replica_heap *heap;
    int node, err;

    err = heap_with(ptr, &heap, &node);
    if (err)
        return err;
    limit_reserve_enter();
    err = node == runtime.node ? heap_free_for(heap, ptr, replica_who(), true)
                               : free_foreign(heap, node, ptr, place);
    limit_reserve_leave();
    return err == DRASYNC_EDELETED ? DRASYNC_EFREED : err;
}

/* --- Changing ------------------------------------------------------------- */

/* How large the object at @ptr is; 0 in *moves_out if it could be given the new
 * size where it is. */
static int resize(struct replica_heap *heap, int node, void *ptr,
                  size_t size_bytes, uint32_t rid, size_t *old_bytes_out,
                  int *moves_out)
{
    struct heap_context context;
    int err;

    *moves_out = 1;
    if (node != runtime.node) {
        err = replica_flush_frees();
        return err ? err
                   : replica_wire_object(node, ptr, 0, (struct heap_who){0},
                                         old_bytes_out);
    }
    context = replica_heap_context(heap);
    err = lock_take(&heap->lock);
    if (err)
        return err;
    err = atomic_load(&heap->live)
              ? replica_objects_usable(heap, &context, ptr, old_bytes_out)
              : DRASYNC_EFREED;
    /* With red zones it moves, so that the old one is not used. */
    if (!err && is_mine(heap, rid) && !replica_objects()) {
        err = heap_resize(&context, &heap->heap, ptr, size_bytes);
        *moves_out = err == DRASYNC_EAGAIN;
        if (*moves_out)
            err = 0;
    }
    lock_give(&heap->lock);
    return err;
}

/*
 * The first @bytes of the object at @ptr, as this worker sees them, to @to.
 * What it was not sent of another node's is 0, as in memory that nobody wrote:
 * there are no frames behind it here, and looking would make some.
 */
static int read_object(const struct replica_heap *heap, int node,
                       const void *ptr, char *to, size_t bytes)
{
    uint64_t received = bytes;
    int err;

    if (node != runtime.node) {
        err = replica_lock();
        if (err)
            return err;
        received = received_bytes(heap, ptr, runtime.local);
        replica_unlock();
    }
    if (received > bytes)
        received = bytes;
    memcpy(to, ptr, received);
    memset(to + received, 0, bytes - received);
    return 0;
}

int replica_realloc(void *ptr, size_t size_bytes, uint32_t rid,
                    const struct replica_place *place, void **ptr_out)
{
    struct replica_heap *heap;
    size_t old_bytes = 0;
    void *moved;
    int err, moves, node = 0;

    err = replica_region_check(rid);
    if (!err)
        err = heap_with(ptr, &heap, &node);
    if (!err)
        err = resize(heap, node, ptr, size_bytes, rid, &old_bytes, &moves);
    if (err)
        return err;
    if (!moves) {
        *ptr_out = ptr;
        return 0;
    }
    err = replica_alloc(rid, size_bytes, &moved);
    if (err)
        return err;
    err = read_object(heap, node, ptr, moved,
                      old_bytes < size_bytes ? old_bytes : size_bytes);
    if (!err)
        err = replica_free_object(ptr, place);
    if (err) {
        replica_free_object(moved, place);
        return err;
    }
    *ptr_out = moved;
    return 0;
}
