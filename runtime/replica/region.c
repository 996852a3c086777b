/* Make, find and free replicated regions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/page_runs.h"
#include "runtime/replica/send.h"
#include "runtime/replica/wire.h"
#include "runtime/services/chunks.h"

static uint64_t address_of(uint32_t rid)
{
    return rid ? (uint64_t)(rid - 1) << PAGE_SHIFT : 0;
}

int replica_open(uint32_t rid, struct replica_region **region_out)
{
    struct replica_shared *shared = replica_shared();
    uint64_t address = address_of(rid);
    struct replica_region *region;
    int asked = 0, err;
    uint32_t seen;

    if (rid == 1 || (rid && rid > runtime.space.pages))
        return DRASYNC_ENOREGION;
    for (;;) {
        seen = doorbell_read(&shared->known);
        err = replica_lock();
        if (err)
            return err;
        region = replica_find(address);
        if (region && region->entry.state == REPLICA_LIVE) {
            *region_out = region;
            return 0;
        }
        if (!region) {
            err = asked ? DRASYNC_ENOREGION
                        : replica_attach(&shared->dir, address, 0);
            asked = 1;
        }
        replica_unlock();
        /* A region that is not live is waited for.  If it is being freed, a new
         * one may begin at its address, and the program may have told this
         * worker of that one already. */
        if (!err)
            err = replica_wait(&shared->known, seen, 1);
        if (err)
            return err;
    }
}

int replica_region_check(uint32_t rid)
{
    struct replica_region *region;
    int err = replica_open(rid, &region);

    if (!err)
        replica_unlock();
    return err;
}

static int region_new(uint32_t parent, uint32_t *region_out)
{
    struct replica_region *above, *region;
    struct heap_extent first;
    struct heap_context context;
    struct replica_heap *heap;
    struct extent *extent;
    int err;

    err = replica_open(parent, &above);
    if (err)
        return err;
    err = replica_heap_new(&heap);
    if (err)
        goto unlock;
    err = replica_extent_new(1, heap, &extent);
    if (err)
        goto pool;
    first.first_page = extent->first_page;
    first.pages = extent->pages;
    err = replica_region_make(first.first_page << PAGE_SHIFT, &region);
    if (err)
        goto give;
    context = replica_heap_own(heap);
    err = heap_init(&context, &heap->heap, REPLICA_ALIGN_BYTES, &first, 0);
    replica_objects_begin(heap);
    if (!err)
        err = replica_heap_open(heap, region, runtime.rank);
    if (err) {
        control_free(&runtime.space, region);
        goto give;
    }
    extent->next = NULL;
    heap->extents = extent;
    region->local[runtime.local].heap = heap;
    replica_region_enter(region);
    replica_create(&replica_shared()->dir, &region->entry, &above->entry);
    *region_out = region->rid;
    replica_unlock();
    return 0;

give:
    extent_delete(&runtime.space, extent);
pool:
    replica_heap_pool(heap);
unlock:
    replica_unlock();
    return err;
}

int replica_region_new(uint32_t parent, uint32_t *region_out)
{
    int err = region_new(parent, region_out);

    while (err == DRASYNC_ENOSPACE && runtime.nodes > 1 && !chunks_ask(1))
        err = region_new(parent, region_out);
    return err;
}

/* One at a time in a process: a rank has one waiter for it. */
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;

static int region_free(uint32_t rid)
{
    struct replica_inbox *inbox = replica_inbox();
    struct replica_region *region;
    uint64_t token;
    int err, result;

    err = replica_open(rid, &region);
    if (err)
        return err;
    waiter_reset(&inbox->free_waiter);
    token = (atomic_load(&inbox->free_token) & ~UINT64_C(0xffff)) + 0x10000;
    token |= (uint64_t)runtime.local;
    atomic_store(&inbox->free_token, token);
    replica_free(&replica_shared()->dir, &region->entry, token);
    replica_unlock();
    if (runtime.nodes > 1)
        runtime_remote_wait(1);
    err = waiter_wait(&inbox->free_waiter, WAIT_FOREVER, &result);
    if (runtime.nodes > 1)
        runtime_remote_wait(-1);
    if (err)
        return err;
    err = replica_settle();
    return result ? result : err;
}

static _Atomic uint64_t *freed_place(uint32_t rid)
{
    return &replica_shared()->freed[rid % REPLICA_FREED_MAX];
}

bool replica_region_freed(uint32_t rid, int *worker_out)
{
    /* Relaxed: words for a message follow, nothing else. */
    uint64_t word =
        atomic_load_explicit(freed_place(rid), memory_order_relaxed);

    if (!rid || word >> 32 != rid)
        return false;
    *worker_out = (int)(uint32_t)word - 1;
    return true;
}

int replica_region_free(uint32_t rid)
{
    int err;

    if (!rid)
        return DRASYNC_EINVAL;
    if (replica_objects())
        replica_objects_look(rid, CHECK_AT_DELETE);
    limit_reserve_enter();
    replica_repeat_drop();
    err = replica_flush_frees();
    if (!err) {
        pthread_mutex_lock(&free_mutex);
        err = region_free(rid);
        pthread_mutex_unlock(&free_mutex);
    }
    limit_reserve_leave();
    if (!err)
        atomic_store_explicit(freed_place(rid),
                              (uint64_t)rid << 32 |
                                  (uint32_t)(runtime.rank + 1),
                              memory_order_relaxed);
    return err;
}

/*
 * What a part of a version still needs.  0: nothing.  1: wait for the answer about
 * it.  2: wait and look again, as an older region at that address is still going,
 * or was the one asked about.
 */
static int part_missing(struct replica_shared *shared,
                        const struct replica_part *part, int asked, int *err)
{
    struct replica_region *region = replica_find(part->address);

    if (!region) {
        if (asked)
            return 0;
        *err = replica_attach(&shared->dir, part->address, part->incarnation);
        if (!*err)
            return 1;
        if (*err == DRASYNC_ENOREGION)
            *err = 0; /* it was of this node, and is gone */
        return 0;
    }
    if (region->entry.state == REPLICA_LIVE)
        return 0;
    if (region->entry.incarnation != part->incarnation)
        return 2;
    return region->entry.state < REPLICA_LIVE;
}

void replica_attach_early(struct replica_version *version)
{
    struct replica_part *parts = replica_version_parts(version);
    int err = replica_lock();

    if (err)
        return;
    for (uint64_t i = 0; i < version->parts && !err; i++)
        if (parts[i].address)
            part_missing(replica_shared(), &parts[i], 0, &err);
    replica_unlock();
}

int replica_attach_parts(struct replica_version *version)
{
    struct replica_shared *shared = replica_shared();
    struct replica_part *parts = replica_version_parts(version);
    unsigned char *asked;
    uint64_t here = 0;
    bool all = true;
    int err = 0;

    if (runtime.nodes == 1)
        return 0;
    asked = calloc(version->parts, 1);
    if (!asked)
        return DRASYNC_ENOMEM;
    /* First all are asked about; then each is awaited, and not looked at again:
     * answers come by the thousand. */
    do {
        uint32_t seen = doorbell_read(&shared->known);

        err = replica_lock();
        if (err)
            break;
        for (uint64_t i = here; i < version->parts && !err; i++) {
            int more = parts[i].address
                           ? part_missing(shared, &parts[i], asked[i], &err)
                           : 0;

            asked[i] |= more == 1;
            if (!more && i == here)
                here++;
            else if (!all)
                break;
        }
        replica_unlock();
        all = false;
        if (here < version->parts && !err)
            err = replica_wait(&shared->known, seen, 1);
    } while (here < version->parts && !err);
    free(asked);
    return err;
}
