#include <stdlib.h>

#include "runtime/replica_spare.h"
#include "runtime/replica_stock.h"

/* --- Frames --- */

int replica_block_new(uint64_t pages, struct replica_block **block_out)
{
    struct replica_block *block;
    void *ptr;
    int err;

    err = control_alloc_zero(&runtime.space, sizeof(*block), &ptr);
    if (err)
        return err;
    block = ptr;
    err = frames_take(&runtime.space, pages, &block->offset);
    if (err == DRASYNC_ENOMEM && replica_make_room())
        err = frames_take(&runtime.space, pages, &block->offset);
    if (err) {
        control_free(&runtime.space, block);
        return err;
    }
    block->pages = pages;
    atomic_store(&block->references, 1);
    *block_out = block;
    return 0;
}

void replica_block_put(struct replica_block *block)
{
    if (!block || atomic_fetch_sub(&block->references, 1) > 1)
        return;
    frames_give(&runtime.space, block->offset, block->pages);
    control_free(&runtime.space, block);
}

/* --- Copies --- */

void replica_drop_copies(struct replica_region *region)
{
    uint64_t most = replica_spare_bytes_max();

    for (int i = 0; i < runtime.locals; i++) {
        struct replica_inbox *inbox = &replica_shared()->inboxes[i];
        struct replica_copy *copy = region->local[i].copies;

        region->local[i].copies = NULL;
        if (!copy || lock_take(&inbox->lock))
            continue;
        while (copy) {
            struct replica_copy *next = copy->next;

            /* All copies of the region's extents go. */
            copy->extent->user[0] = 0;
            if (inbox->kept_bytes + space_page_offset(copy->pages) > most) {
                replica_block_put(copy->block);
                copy->block = NULL;
            } else {
                inbox->kept_bytes += space_page_offset(copy->pages);
            }
            copy->next = inbox->stale;
            inbox->stale = copy;
            copy = next;
        }
        atomic_store(&inbox->has_stale, 1);
        lock_give(&inbox->lock);
    }
}

/* --- Versions --- */

void replica_version_free(struct replica_version *version)
{
    struct replica_piece *pieces;

    if (!version)
        return;
    pieces = replica_version_pieces(version);
    for (uint64_t i = 0; i < version->pieces; i++)
        replica_block_put(pieces[i].block);
    control_free(&runtime.space, version);
}

/*
 * Pieces come in the order of their addresses, so neighbours in a block are
 * neighbours in the address space, and are mapped in one go.
 */
int replica_version_frames(struct replica_version *version)
{
    struct replica_piece *pieces = replica_version_pieces(version);
    uint64_t i, from, pages;
    int err;

    for (i = 0; i < version->pieces; i++)
        pieces[i].block = NULL;
    for (from = 0; from < version->pieces; from = i) {
        struct replica_block *block;

        pages = replica_piece_pages(&pieces[from]);
        for (i = from + 1; i < version->pieces; i++) {
            uint64_t next = replica_piece_pages(&pieces[i]);

            if (pages + next > REPLICA_BLOCK_PAGES)
                break;
            pages += next;
        }
        err = replica_block_new(pages, &block);
        if (err)
            return err;
        atomic_store(&block->references, (uint32_t)(i - from));
        pages = 0;
        for (uint64_t k = from; k < i; k++) {
            pieces[k].block = block;
            pieces[k].offset = block->offset + (pages << PAGE_SHIFT);
            pages += replica_piece_pages(&pieces[k]);
        }
    }
    return 0;
}

int replica_version_post(struct replica_version *version)
{
    struct replica_inbox *inbox =
        &replica_shared()->inboxes[runtime.local_of[version->to]];
    struct replica_queue *queue = &inbox->queues[version->from];
    int err = lock_take(&inbox->lock);

    if (err)
        return err;
    version->next = NULL;
    if (queue->last)
        queue->last->next = version;
    else
        queue->first = version;
    queue->last = version;
    lock_give(&inbox->lock);
    doorbell_ring(&inbox->doorbell);
    return 0;
}
