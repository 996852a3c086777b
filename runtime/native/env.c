/* What the protocol asks of its environment: numbers, homes, extents, and who
 * does the rest; and what the node's processes share. */
#include "runtime/native/env.h"

#include "memory/control.h"
#include "memory/pages.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

static uint64_t env_stamp(void *ctx)
{
    (void)ctx;
    return atomic_fetch_add(&native.shared->stamp, 1) + 1;
}

static uint64_t env_ticket(void *ctx)
{
    (void)ctx;
    return atomic_fetch_add(&native.shared->ticket, 1) + 1;
}

static int64_t env_home(void *ctx, uint64_t address)
{
    uint64_t offset = address - (uint64_t)(uintptr_t)runtime.space.base;
    uint64_t page = offset >> PAGE_SHIFT;
    int64_t home;

    (void)ctx;
    if (offset >= runtime.space.layout.data_bytes || page == 0)
        return -2;
    home = page_home(&runtime.space, page);
    if (home >= 0)
        return home;
    home = chunks_manager(&runtime.space, page);
    if (home != runtime.node)
        return home >= 0 ? home : -2;
    home = chunks_home(&runtime.space, chunk_book_of(&runtime.space), page);
    /* Not granted to anybody: no region is there, and its manager says so to
     * whoever asks. */
    return home >= 0 ? home : runtime.node;
}

int native_home(uint64_t address)
{
    return (int)env_home(NULL, address);
}

int native_unknown(uint64_t address)
{
    int64_t home = env_home(NULL, address);

    return home == -2 || home == runtime.node ? DRASYNC_ENOREGION
                                              : DRASYNC_ENOTHELD;
}

static bool env_extent(void *ctx, const struct proto_region *region, uint32_t i,
                       uint64_t *address, uint64_t *pages)
{
    struct native_memory *memory = region->memory;
    struct extent *e = memory ? memory->first : NULL;
    uint32_t at = 0;

    (void)ctx;
    /* They are asked for one after another. */
    if (memory && memory->walk && memory->walk_index <= i) {
        e = memory->walk;
        at = memory->walk_index;
    }
    while (e && at < i) {
        e = e->next;
        at++;
    }
    if (!e)
        return false;
    memory->walk = e;
    memory->walk_index = i;
    *address = (uint64_t)(uintptr_t)space_address(
        &runtime.space,
        atomic_load_explicit(&e->first_page, memory_order_relaxed));
    *pages = atomic_load_explicit(&e->pages, memory_order_relaxed);
    return true;
}

void native_env_fill(struct proto_env *env)
{
    *env = (struct proto_env){
        .self = (uint32_t)runtime.node,
        .nodes = (uint32_t)runtime.nodes,
        .take = native_pool_take,
        .give = native_pool_give,
        .reserve = native_pool_reserve,
        .find = native_env_find,
        .insert = native_env_insert,
        .remove = native_env_remove,
        .stamp = env_stamp,
        .ticket = env_ticket,
        .deletes_asked = &native.shared->deletes_asked,
        .home = env_home,
        .extent = env_extent,
    };
}

int native_shared_new(struct native_shared **shared_out)
{
    struct native_shared *s;
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(*s), &v);

    if (err)
        return err;
    s = v;
    err = control_alloc_zero(&runtime.space,
                             (size_t)runtime.locals * sizeof(*s->locals), &v);
    if (err)
        return err;
    s->locals = v;
    err = runtime.options.check ? native_quarantine_new(&s->quarantine) : 0;
    if (err)
        return err;
    for (int i = 0; i < NATIVE_STRIPES; i++) {
        err = native_lease_new(&s->leases[i], (uint32_t)i);
        if (err)
            return err;
    }
    err = lock_init(&s->table_lock, LOCK_RANK_NATIVE_TABLE,
                    control_poison_flag(&runtime.space));
    if (!err)
        *shared_out = s;
    return err;
}
