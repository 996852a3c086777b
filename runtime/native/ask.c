/* Questions about regions. */
#include <string.h>

#include "runtime/native/objects.h"
#include "runtime/native/recycle.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/services/chunks.h"
#include "runtime/stats.h"

static uint64_t queued(const struct proto_link *head)
{
    uint64_t count = 0;

    for (const struct proto_link *l = head->next; l && l != head; l = l->next)
        count++;
    return count;
}

static void fill_holds(struct drasync_info *info,
                       const struct proto_region *region)
{
    if (region->write_rank == native.rank)
        info->held_write = (int)region->write_count;
    for (const struct proto_link *l = region->holds.next;
         l && l != &region->holds; l = l->next) {
        const struct proto_hold *hold =
            (const struct proto_hold *)(const void *)l;

        if (hold->rank == native.rank)
            info->held_read += (int)hold->count;
    }
}

_Static_assert(offsetof(struct proto_hold, link) == 0, "see fill_holds()");

int native_identify(drasync_region_t region, struct native_identity *out)
{
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock((uint64_t)(uintptr_t)region, &tree);
    if (err)
        return err;
    if (!tree.region || tree.region->dead || !tree.region->incarnation)
        err = DRASYNC_ENOREGION;
    else
        *out = (struct native_identity){
            .incarnation = tree.region->incarnation,
            .root = !tree.region->parent,
            .alone = proto_alone(native.rank, tree.region),
            .held = proto_held(tree.region, native.rank) ||
                    proto_held_below(tree.region, native.rank),
        };
    native_unlock(&tree);
    return err;
}

int native_root_of(const void *ptr, struct native_root *out)
{
    const struct proto_region *r;
    drasync_region_t region;
    struct native_tree tree;
    int err = native_region_of(ptr, &region);

    if (!err)
        err = native_lock_for(NATIVE_FOR_DATA, (uint64_t)(uintptr_t)region,
                              &tree);
    if (err)
        return err;
    r = tree.region;
    while (r && r->parent)
        r = r->parent;
    if (!r || r->dead || !r->incarnation)
        err = DRASYNC_ENOREGION;
    else
        *out = (struct native_root){r->address, r->incarnation};
    native_unlock(&tree);
    return err;
}

bool native_read_here(drasync_region_t region, uint64_t incarnation)
{
    struct native_tree tree;
    bool here;

    if (!native_address_valid(region) ||
        native_lock((uint64_t)(uintptr_t)region, &tree))
        return false;
    here = tree.region && tree.region->incarnation == incarnation &&
           proto_read_here(tree.region);
    native_unlock(&tree);
    return here;
}

static uint64_t used_bytes(const struct proto_region *r)
{
    return native.objects ? native_objects_used(r)
                          : native_header_of(r->address)->heap.used_bytes +
                                (uint64_t)native_magazine_uncounted(r->address);
}

int native_get_info(drasync_region_t region, struct drasync_info *info_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    const struct native_memory *memory;
    struct drasync_info info = {.region = region};
    const struct proto_region *r;
    struct proto_copy *copy;
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock(address, &tree);
    if (err)
        return err;
    r = tree.region;
    if (!r || r->dead || r->incarnation == 0) {
        native_unlock(&tree);
        return DRASYNC_ENOREGION;
    }
    if (r->parent)
        info.parent = (drasync_region_t)(uintptr_t)r->parent->address;
    memory = r->memory;
    if (memory) {
        info.reserved_bytes = memory->pages << PAGE_SHIFT;
        info.extents = memory->extents;
        if (proto_held(r, native.rank))
            info.used_bytes = used_bytes(r);
    }
    info.subregions = queued(&r->children);
    copy = proto_newest(r);
    info.version = r->owned ? proto_version(r) : copy ? copy->version : 0;
    info.owner_node = native_owner_seen(r);
    info.owned_here = r->owned;
    info.waiting = (int)(queued(&r->queue) + queued(&r->pending));
    fill_holds(&info, r);
    native_unlock(&tree);
    *info_out = info;
    return 0;
}

int native_get_stats(struct drasync_stats *stats_out)
{
    /* What is not counted yet is so now. */
    native_magazines_count();
    native_lease_count();
    memset(stats_out, 0, sizeof(*stats_out));
    stats_read(stats_out);
    stats_out->regions =
        atomic_load(&native.shared->regions) - native_recycle_hidden();
    return 0;
}

int native_incarnation_here(drasync_region_t region, bool name, uint64_t *out)
{
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock_for(name ? NATIVE_FOR_ALL : NATIVE_FOR_DATA,
                          (uint64_t)(uintptr_t)region, &tree);
    if (err)
        return err;
    if (!tree.region || tree.region->dead || !tree.region->incarnation)
        err = DRASYNC_ENOREGION;
    else
        *out = tree.region->incarnation;
    if (!err && name && tree.region->memory)
        ((struct native_memory *)tree.region->memory)->named = true;
    native_unlock(&tree);
    return err;
}

/* Ask who has the region, without waiting for it, which lives:
 * *incarnation_out.  What is refused is not known here afterwards. */
static int ask_elsewhere(drasync_region_t region, uint64_t *incarnation_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_pending q = {.address = address, .mode = DRASYNC_READ};
    int err = native_lease_take(address, q.mode, 0);

    if (err == NATIVE_LEASE_NOT)
        err = native_acquire_pending(&q, 0);
    *incarnation_out = q.incarnation;
    if (!err) {
        err = native_incarnation_here(region, false, incarnation_out);
        native_release(region);
    }
    if (err == DRASYNC_EDELETED)
        return DRASYNC_ENOREGION;
    if (err != DRASYNC_EAGAIN)
        return err;
    return *incarnation_out
               ? 0
               : native_incarnation_here(region, false, incarnation_out);
}

int native_ask_home(uint64_t address, int *home_out)
{
    uint64_t offset = address - (uint64_t)(uintptr_t)runtime.space.base;

    *home_out = native_home(address);
    if (*home_out < 0)
        return DRASYNC_ENOREGION;
    return runtime.nodes == 1 ? 0
                              : chunks_ask_home(offset >> PAGE_SHIFT, home_out);
}

int native_incarnation(drasync_region_t region, uint64_t *incarnation_out)
{
    return native_incarnation_here(region, false, incarnation_out);
}

int native_ask_incarnation(drasync_region_t region, uint64_t *incarnation_out)
{
    return runtime.nodes > 1 && native_address_valid(region)
               ? ask_elsewhere(region, incarnation_out)
               : native_incarnation_here(region, false, incarnation_out);
}
