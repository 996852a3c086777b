/* Gather what a worker has of a subtree, and freeze it as a version. */
#include <stdlib.h>
#include <string.h>

#include "memory/grow.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/replica/cache.h"
#include "runtime/replica/send.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"

static int add_part(struct replica_gathering *g,
                    const struct replica_entry *entry)
{
    void *more = g->parts_count < UINT32_MAX
                     ? room_for_one(g->parts, g->parts_count, &g->parts_room,
                                    sizeof(g->parts[0]))
                     : NULL;

    if (!more)
        return DRASYNC_ENOMEM;
    g->parts = more;
    g->parts[g->parts_count].address = entry->address;
    g->parts[g->parts_count].incarnation = entry->incarnation;
    g->parts_count++;
    return 0;
}

static int add_piece(struct replica_gathering *g,
                     const struct replica_piece *piece)
{
    void *more;

    if (piece->end_bytes <= piece->begin_bytes)
        return 0;
    more = room_for_one(g->pieces, g->pieces_count, &g->pieces_room,
                        sizeof(g->pieces[0]));
    if (!more)
        return DRASYNC_ENOMEM;
    g->pieces = more;
    g->pieces[g->pieces_count++] = *piece;
    g->bytes += piece->end_bytes - piece->begin_bytes;
    return 0;
}

/*
 * This worker's own extents of a region.  What is in use now is not handed out
 * again while the region lives, for a copy of it may come back: nor by threads
 * from their caches.
 */
static int add_own(struct replica_gathering *g, struct replica_heap *heap)
{
    struct heap_context context = replica_heap_own(heap);
    struct extent *extent;
    int err;

    err = lock_take(&heap->lock);
    if (err)
        return err;
    err = replica_caches_withdraw(heap);
    if (!err)
        err = heap_seal(&context, &heap->heap);
    for (extent = heap->extents; extent && !err; extent = extent->next) {
        struct replica_piece piece = {
            .first_page = extent->first_page,
            .pages = extent->pages,
            .part = (uint32_t)(g->parts_count - 1),
            .worker = heap->worker,
        };

        err = heap_data_begin(&context, piece.first_page, &piece.begin_bytes);
        if (!err)
            err = heap_high_water(&context, &heap->heap, piece.first_page,
                                  &piece.end_bytes);
        if (err)
            break;
        piece.offset =
            space_page_offset(piece.first_page + replica_piece_skip(&piece));
        err = add_piece(g, &piece);
    }
    lock_give(&heap->lock);
    return err;
}

/* Another thread may receive the region, and give these frames back, before they
 * are copied. */
static int add_block(struct replica_gathering *g, struct replica_block *block)
{
    void *more;

    if (!block)
        return 0;
    more = room_for_one(g->blocks, g->blocks_count, &g->blocks_room,
                        sizeof(g->blocks[0]));
    if (!more)
        return DRASYNC_ENOMEM;
    g->blocks = more;
    g->blocks[g->blocks_count++] = block;
    atomic_fetch_add(&block->references, 1);
    return 0;
}

static int add_copies(struct replica_gathering *g,
                      const struct replica_copy *copy)
{
    int err = 0;

    for (; copy && !err; copy = copy->next) {
        struct replica_heap *owner = copy->extent->owner;
        struct replica_piece piece = {
            .first_page = copy->extent->first_page,
            .pages = copy->extent->pages,
            .begin_bytes = copy->begin_bytes,
            .end_bytes = copy->end_bytes,
            .offset = copy->offset,
            .part = (uint32_t)(g->parts_count - 1),
            .worker = owner->worker,
        };

        err = add_piece(g, &piece);
        if (!err)
            err = add_block(g, copy->block);
    }
    return err;
}

/* The directory is locked. */
static int gather(struct replica_gathering *g, struct replica_region *top)
{
    struct replica_entry *entry;
    int err = 0;

    for (entry = &top->entry; entry && !err;
         entry = replica_next(&top->entry, entry)) {
        struct replica_region *region = replica_region_of(entry);
        struct replica_heap *heap = region->local[runtime.local].heap;

        if (entry->state != REPLICA_LIVE)
            continue;
        err = add_part(g, entry);
        if (!err && heap)
            err = add_own(g, heap);
        if (!err)
            err = add_copies(g, region->local[runtime.local].copies);
    }
    return err;
}

static int by_address(const void *a, const void *b)
{
    const struct replica_piece *left = a, *right = b;

    return left->first_page < right->first_page   ? -1
           : left->first_page > right->first_page ? 1
                                                  : 0;
}

/* Copy the data of all pieces into frames of the version's own. */
static int freeze(const struct replica_gathering *g,
                  struct replica_version **version_out)
{
    struct replica_version *version;
    struct replica_piece *pieces;
    int err = replica_version_new(g->parts, g->parts_count, g->pieces,
                                  g->pieces_count, &version);

    if (err)
        return err;
    version->bytes = g->bytes;
    pieces = replica_version_pieces(version);
    err = replica_version_frames(version);
    for (size_t i = 0; i < g->pieces_count && !err; i++) {
        uint64_t in_page = pieces[i].begin_bytes & (PAGE_BYTES - 1);

        err = frames_copy(&runtime.space, pieces[i].offset + in_page,
                          g->pieces[i].offset + in_page,
                          pieces[i].end_bytes - pieces[i].begin_bytes);
    }
    if (err) {
        replica_version_free(version);
        return err;
    }
    *version_out = version;
    return 0;
}

/* To the receiver's queue, here or on another node. */
static int dispatch(struct replica_version *version)
{
    int err;

    if (runtime.node_of[version->to] != runtime.node)
        err = replica_repeat_wire(version);
    else
        err = replica_version_post(version);
    if (err)
        replica_version_free(version);
    return err;
}

int replica_send(uint32_t rid, int worker, uint64_t *bytes_out)
{
    struct replica_gathering g = {0};
    struct replica_version *version = NULL;
    struct replica_region *top;
    int keep, kept = 0, err;

    if (worker < 0 || worker >= runtime.ranks)
        return DRASYNC_EINVAL;
    if (replica_objects())
        replica_objects_look(rid, CHECK_AT_SEND);
    err = replica_flush_frees();
    if (!err)
        err = replica_open(rid, &top);
    if (err)
        return err;
    err = gather(&g, top);
    replica_unlock();
    *bytes_out = g.bytes;
    if (!err && g.pieces_count)
        qsort(g.pieces, g.pieces_count, sizeof(g.pieces[0]), by_address);
    if (!err)
        kept = replica_repeat(rid, &g, &version, &keep);
    if (!err && !kept) {
        err = freeze(&g, &version);
        if (!err && keep)
            replica_repeat_keep(rid, version);
    }
    for (size_t i = 0; i < g.blocks_count; i++)
        replica_block_put(g.blocks[i]);
    free(g.blocks);
    free(g.parts);
    free(g.pieces);
    if (err)
        return err;
    if (record_wanted() && version->serial)
        drasync_record_kept(kept ? RECORD_SAME : RECORD_KEPT);
    version->to = worker;
    return dispatch(version);
}

int replica_notify(int worker, const struct replica_part *notes, size_t count)
{
    struct replica_version *version;
    int err;

    if (worker < 0 || worker >= runtime.ranks || !count)
        return DRASYNC_EINVAL;
    err = replica_version_new(notes, count, NULL, 0, &version);
    if (err)
        return err;
    version->to = worker;
    version->notice = 1;
    return dispatch(version);
}
