/* Batches of moves: see carry.h. */
#include "upm/carry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "upm/host.h"

/* The moves to one node. */
struct batch {
    void **pages;
    const struct upm_move **moves;
    size_t count;
    int16_t node;
    bool full; /* the node: nothing more is tried */
    void (*note)(struct upm_move move);
    struct upm_carried *carried;
};

static void arrived(struct batch *batch, size_t index)
{
    const struct upm_move *move = batch->moves[index];

    if (batch->note)
        batch->note(*move);
    move->table->page[move->page].home = move->node;
    batch->carried->moved++;
}

/* The kernel stops at a page that it cannot move, and does not say what it has
 * left: so halves of the batch are tried, down to single pages. */
static void move_some(struct batch *batch, size_t first, size_t count)
{
    if (batch->full) {
        batch->carried->stayed += count;
        return;
    }
    int err = upm_host_move(batch->pages + first, count, batch->node);
    if (!err) {
        for (size_t i = 0; i < count; i++)
            arrived(batch, first + i);
    } else if (count > 1) {
        move_some(batch, first, count / 2);
        move_some(batch, first + count / 2, count - count / 2);
    } else {
        batch->full = err == -ENOMEM;
        batch->carried->stayed++;
    }
}

static void move_to(struct batch *batch, const struct upm_moves *moves,
                    size_t batch_max)
{
    batch->count = 0;
    batch->full = false;
    for (size_t i = 0; i < moves->count; i++) {
        const struct upm_move *move = &moves->at[i];

        if (move->node != batch->node)
            continue;
        batch->pages[batch->count] =
            upm_area_page(upm_area_of(move->table), move->page);
        batch->moves[batch->count++] = move;
        if (batch->count == batch_max) {
            move_some(batch, 0, batch->count);
            batch->count = 0;
        }
    }
    if (batch->count)
        move_some(batch, 0, batch->count);
}

int upm_carry(const struct upm_moves *moves, size_t batch_max,
              void (*note)(struct upm_move move), struct upm_carried *carried)
{
    struct batch batch = {.note = note, .carried = carried};
    uint64_t nodes = 0;
    int err = -ENOMEM;

    *carried = (struct upm_carried){0};
    batch.pages = calloc(batch_max, sizeof(*batch.pages));
    batch.moves = calloc(batch_max, sizeof(*batch.moves));
    if (!batch.pages || !batch.moves)
        goto out;
    for (size_t i = 0; i < moves->count; i++)
        nodes |= (uint64_t)1 << moves->at[i].node;
    for (int16_t node = 0; node < UPM_NODES_MAX; node++) {
        batch.node = node;
        if (nodes >> node & 1)
            move_to(&batch, moves, batch_max);
    }
    err = 0;
out:
    free(batch.pages);
    free(batch.moves);
    return err;
}

int upm_carry_look(struct upm_moves *moves)
{
    enum { PART = 512 };
    void *pages[PART];
    int16_t homes[PART];
    size_t kept = 0;

    for (size_t done = 0; done < moves->count;) {
        size_t left = moves->count - done, part = left < PART ? left : PART;

        for (size_t i = 0; i < part; i++) {
            const struct upm_move *move = &moves->at[done + i];

            pages[i] = upm_area_page(upm_area_of(move->table), move->page);
        }
        int err = upm_host_homes(pages, part, homes);
        if (err)
            return err;
        for (size_t i = 0; i < part; i++) {
            struct upm_move move = moves->at[done + i];

            move.table->page[move.page].home = homes[i];
            if (homes[i] != UPM_NOWHERE && homes[i] != move.node)
                moves->at[kept++] = move;
        }
        done += part;
    }
    moves->count = kept;
    return 0;
}
