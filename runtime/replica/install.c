/* Make a version that came this worker's: plan under the lock, then map and copy. */
#include <stdlib.h>
#include <string.h>

#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/version.h"

/* What is to be done with a piece once the books are right. */
enum action {
    DROP, /* its region is gone */
    COPY, /* into the frames at `target` */
    MAP,  /* its frames become this worker's */
    CLONE /* others have them too: into frames at `target`, and map those */
};

struct plan {
    enum action action;
    uint64_t target;             /* frame of the page where the data begins */
    struct replica_block *spare; /* frames that nobody uses any more */
    struct replica_block *held;  /* those written or mapped: a reference */
    struct replica_heap *own; /* this worker's, whose extent it is, as long */
    uint64_t incarnation;     /* as this is its region's */
};

/* Data of own extents is copied by so many bytes at a time. */
#define OWN_BYTES ((uint64_t)1 << 20)

/* The extent of a piece, entered if another node cut it.  Locked. */
static int extent_for(struct replica_region *region,
                      const struct replica_piece *piece,
                      struct extent **extent_out)
{
    struct extent *extent = extent_of(
        &runtime.space, space_address(&runtime.space, piece->first_page));
    struct replica_heap *owner;
    int err;

    if (extent) {
        owner = extent->owner;
        *extent_out = extent;
        return extent->incarnation == REPLICA_EXTENT &&
                       extent->first_page == piece->first_page &&
                       extent->pages == piece->pages &&
                       owner->region == region && owner->worker == piece->worker
                   ? 0
                   : DRASYNC_EINTERNAL;
    }
    if (runtime.node_of[piece->worker] == runtime.node)
        return DRASYNC_EINTERNAL;
    err = replica_foreign_heap(region, piece->worker, &owner);
    if (err)
        return err;
    err = extent_insert(&runtime.space, piece->first_page, piece->pages, owner,
                        REPLICA_EXTENT, &extent);
    if (err)
        return err;
    extent->next = owner->extents;
    owner->extents = extent;
    *extent_out = extent;
    return 0;
}

/* What this worker has of the extent.  It stands in two lists, of all workers'
 * copies of the extent and of this worker's of the region: whichever ends first
 * says it. */
static struct replica_copy *copy_of(const struct replica_region *region,
                                    const struct extent *extent)
{
    struct replica_copy *peer =
        (struct replica_copy *)(uintptr_t)extent->user[0];
    struct replica_copy *own = region->local[runtime.local].copies;

    for (; peer && own; peer = peer->peer, own = own->next) {
        if (peer->local == runtime.local)
            return peer;
        if (own->extent == extent)
            return own;
    }
    return NULL;
}

/* The frames of @copy stay as long as @plan needs them: without the lock of the
 * directory another worker may free the region, or another thread of this one
 * receive it too. */
static void hold(struct plan *plan, const struct replica_copy *copy)
{
    plan->held = copy->block;
    if (plan->held)
        atomic_fetch_add(&plan->held->references, 1);
}

/* This worker takes the piece's frames for its own, or others where those are
 * not this version's alone. */
static int adopt(struct replica_copy *copy, struct replica_piece *piece,
                 int shared, struct plan *plan)
{
    uint64_t pages = replica_piece_pages(piece);
    struct replica_block *block = piece->block;
    int err = shared ? replica_block_new(pages, &block) : 0;

    if (err)
        return err;
    copy->block = block;
    copy->offset = shared ? block->offset : piece->offset;
    copy->first_page = piece->first_page + replica_piece_skip(piece);
    copy->pages = pages;
    copy->begin_bytes = piece->begin_bytes;
    copy->end_bytes = piece->end_bytes;
    plan->action = shared ? CLONE : MAP;
    plan->target = copy->offset;
    hold(plan, copy);
    if (!shared)
        piece->block = NULL;
    return 0;
}

/* This worker takes frames for it that it has mapped there: 1, or 0. */
static int reuse(struct replica_copy *copy, const struct extent *extent,
                 const struct replica_piece *piece)
{
    if (piece->end_bytes - piece->begin_bytes > REPLICA_COPY_BYTES_MAX ||
        !replica_mapping_take(piece->first_page + replica_piece_skip(piece),
                              replica_piece_pages(piece),
                              extent->first_page + extent->pages, copy))
        return 0;
    copy->begin_bytes = piece->begin_bytes;
    copy->end_bytes = piece->end_bytes;
    return 1;
}

/* The first that this worker has of the extent. */
static int plan_first(struct replica_region *region, struct extent *extent,
                      struct replica_piece *piece, int shared,
                      struct plan *plan)
{
    struct replica_copy *copy;
    void *ptr;
    int err;

    err = control_alloc_zero(&runtime.space, sizeof(*copy), &ptr);
    if (err)
        return err;
    copy = ptr;
    if (reuse(copy, extent, piece)) {
        plan->action = COPY;
        plan->target = copy->offset;
        hold(plan, copy);
    } else {
        err = adopt(copy, piece, shared, plan);
        if (err) {
            control_free(&runtime.space, copy);
            return err;
        }
    }
    copy->extent = extent;
    copy->local = runtime.local;
    copy->next = region->local[runtime.local].copies;
    region->local[runtime.local].copies = copy;
    copy->peer = (struct replica_copy *)(uintptr_t)extent->user[0];
    extent->user[0] = (uint64_t)(uintptr_t)copy;
    return 0;
}

static int plan_copy(struct replica_region *region, struct extent *extent,
                     struct replica_piece *piece, int shared, struct plan *plan)
{
    struct replica_copy *copy = copy_of(region, extent);
    uint64_t bytes = piece->end_bytes - piece->begin_bytes;

    if (!copy)
        return plan_first(region, extent, piece, shared, plan);
    if (copy->begin_bytes != piece->begin_bytes)
        return DRASYNC_EINTERNAL;
    /* All of the old data is covered, and no page stays mapped as it was; or the
     * frames are too few. */
    if (piece->end_bytes >= copy->end_bytes &&
        (replica_piece_pages(piece) > copy->pages ||
         (replica_piece_pages(piece) == copy->pages &&
          bytes > REPLICA_COPY_BYTES_MAX))) {
        struct replica_block *old = copy->block;
        int err = adopt(copy, piece, shared, plan);

        if (!err)
            plan->spare = old;
        return err;
    }
    plan->action = COPY;
    plan->target = copy->offset;
    hold(plan, copy);
    if (copy->end_bytes < piece->end_bytes)
        copy->end_bytes = piece->end_bytes;
    return 0;
}

/* Bring the books up to date with all pieces.  Locked. */
static int make_plans(struct replica_version *version, struct plan *plans)
{
    struct replica_part *parts = replica_version_parts(version);
    struct replica_piece *pieces = replica_version_pieces(version);

    for (uint64_t i = 0; i < version->pieces; i++) {
        struct replica_piece *piece = &pieces[i];
        struct replica_part *part = &parts[piece->part];
        struct replica_region *region = replica_find(part->address);
        struct extent *extent;
        int err;

        plans[i].action = DROP;
        if (!region || region->entry.state != REPLICA_LIVE ||
            region->entry.incarnation != part->incarnation)
            continue;
        err = extent_for(region, piece, &extent);
        if (err)
            return err;
        if (piece->worker == runtime.rank) {
            plans[i].action = COPY;
            plans[i].target = space_page_offset(piece->first_page +
                                                replica_piece_skip(piece));
            plans[i].own = extent->owner;
            plans[i].incarnation = part->incarnation;
            continue;
        }
        err = plan_copy(region, extent, piece, version->shared != 0, &plans[i]);
        if (err)
            return err;
    }
    return 0;
}

static int map_over(uint64_t first, uint64_t pages, uint64_t offset)
{
    int err = replica_mapping_cover(first, pages);

    if (!err)
        err = frames_map(&runtime.space, first, pages, offset);
    if (err == DRASYNC_ELIMIT && replica_mapping_drop())
        err = frames_map(&runtime.space, first, pages, offset);
    return err;
}

/* Map the frames of pieces from @i on that are neighbours at both ends. */
static int map_run(const struct replica_piece *pieces, const struct plan *plans,
                   uint64_t count, uint64_t *i)
{
    const struct replica_piece *piece = &pieces[*i];
    uint64_t first = piece->first_page + replica_piece_skip(piece);
    uint64_t pages = replica_piece_pages(piece), offset = piece->offset;

    for (++*i; *i < count && plans[*i].action == MAP; ++*i) {
        piece = &pieces[*i];
        if (piece->first_page + replica_piece_skip(piece) != first + pages ||
            piece->offset != offset + (pages << PAGE_SHIFT))
            break;
        pages += replica_piece_pages(piece);
    }
    return map_over(first, pages, offset);
}

/* Into this worker's own extent.  Its pages are another region's as soon as that
 * region is freed, by whomever: which ends its heap, under this lock, first. */
static int copy_own(const struct plan *plan, uint64_t from, uint64_t bytes,
                    uint64_t in_page)
{
    struct replica_heap *heap = plan->own;
    uint64_t done = 0, part;
    int err = 0;

    while (done < bytes && !err) {
        err = lock_take(&heap->lock);
        if (err)
            return err;
        part = bytes - done < OWN_BYTES ? bytes - done : OWN_BYTES;
        if (!atomic_load(&heap->live) ||
            heap->region->entry.incarnation != plan->incarnation)
            done = bytes;
        else
            err = frames_copy(&runtime.space, plan->target + in_page + done,
                              from + in_page + done, part);
        lock_give(&heap->lock);
        done += part;
    }
    return err;
}

/* Move the data: with the books right, it concerns this worker alone. */
static int carry_out(struct replica_version *version, const struct plan *plans)
{
    struct replica_piece *pieces = replica_version_pieces(version);
    uint64_t i = 0;
    int err = 0;

    while (i < version->pieces && !err) {
        struct replica_piece *piece = &pieces[i];
        uint64_t in_page = piece->begin_bytes & (PAGE_BYTES - 1);

        if (plans[i].action == MAP) {
            err = map_run(pieces, plans, version->pieces, &i);
            continue;
        }
        if (plans[i].own)
            err = copy_own(&plans[i], piece->offset,
                           piece->end_bytes - piece->begin_bytes, in_page);
        else if (plans[i].action != DROP)
            err = frames_copy(&runtime.space, plans[i].target + in_page,
                              piece->offset + in_page,
                              piece->end_bytes - piece->begin_bytes);
        if (plans[i].action == CLONE && !err)
            err = map_over(piece->first_page + replica_piece_skip(piece),
                           replica_piece_pages(piece), plans[i].target);
        i++;
    }
    return err;
}

static void plans_free(struct plan *plans, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        replica_block_put(plans[i].spare);
        replica_block_put(plans[i].held);
    }
    free(plans);
}

int replica_install(struct replica_version *version)
{
    struct plan *plans = calloc(version->pieces + 1, sizeof(*plans));
    int err;

    if (!plans)
        return DRASYNC_ENOMEM;
    err = replica_attach_parts(version);
    if (!err)
        err = replica_settle();
    if (!err)
        err = replica_lock();
    if (!err) {
        err = make_plans(version, plans);
        replica_unlock();
    }
    if (!err)
        err = carry_out(version, plans);
    plans_free(plans, version->pieces);
    return err;
}
