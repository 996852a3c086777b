/* Versions and their frames, and copies of extents. */
#include <stdlib.h>
#include <string.h>

#include "runtime/process.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/page_runs.h"
#include "runtime/replica/version.h"

/* --- Frames --------------------------------------------------------------- */

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

/* --- Copies --------------------------------------------------------------- */

void replica_drop_copies(struct replica_region *region)
{
    uint64_t most = replica_mapping_bytes_max();

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

/* --- Versions ------------------------------------------------------------- */

int replica_version_new(const struct replica_part *parts, uint64_t parts_count,
                        const struct replica_piece *pieces,
                        uint64_t pieces_count,
                        struct replica_version **version_out)
{
    struct replica_version *version;
    void *ptr;
    int err = control_alloc(&runtime.space,
                            sizeof(*version) + parts_count * sizeof(parts[0]) +
                                pieces_count * sizeof(pieces[0]),
                            &ptr);

    if (err)
        return err;
    version = ptr;
    memset(version, 0, sizeof(*version));
    version->from = runtime.rank;
    version->parts = parts_count;
    version->pieces = pieces_count;
    atomic_store(&version->ready, 1);
    memcpy(replica_version_parts(version), parts,
           parts_count * sizeof(parts[0]));
    if (pieces_count)
        memcpy(replica_version_pieces(version), pieces,
               pieces_count * sizeof(pieces[0]));
    *version_out = version;
    return 0;
}

int replica_version_share(struct replica_version *of,
                          struct replica_version **version_out)
{
    const struct replica_piece *pieces = replica_version_pieces(of);
    struct replica_version *version;
    int err = replica_version_new(replica_version_parts(of), of->parts, pieces,
                                  of->pieces, &version);

    if (err)
        return err;
    for (uint64_t i = 0; i < of->pieces; i++)
        atomic_fetch_add(&pieces[i].block->references, 1);
    version->from = of->from;
    version->bytes = of->bytes;
    version->serial = of->serial;
    version->shared = 1;
    *version_out = version;
    return 0;
}

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

void replica_version_ready(struct replica_version *version)
{
    struct doorbell *doorbell =
        &replica_shared()->inboxes[runtime.local_of[version->to]].doorbell;

    atomic_store(&version->ready, 1);
    doorbell_ring(doorbell);
}
