/*
 * native_stock.h - regions that come and go: a few that were deleted are kept
 * by the thread that deleted them, ready to be new ones.
 *
 * A region of one page that nobody but its creator ever knew is not taken apart
 * when it is deleted: its record gets a new incarnation and stays, held for
 * WRITE by this rank, with its extent, frames and an empty heap; it is only
 * hidden in the table of records, so that everybody finds that the region is
 * gone.  The next new region of the thread is that one, shown again: no lock,
 * no system call, and one store that others see.  It is shown as new
 * (NATIVE_ENTRY_NEW): if nobody has looked up the region or anything in it by the
 * time its creator deletes it, that is one compare-and-swap.  Else deleting takes
 * the lock of the tree, because others may be about to ask for the region.
 *
 * In stock, the heap's one piece belongs to a window (native_window.h), which
 * the new region's creator has at once.  If that was all that touched the heap
 * by the time the region is deleted, the heap is not made anew: the window is
 * set back, and the map cleared as far as objects went.
 *
 * What is in stock costs a page and a record each, NATIVE_STOCK for a thread.
 * It is given up when the thread ends, and in finalize.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_STOCK_H
#define DRASYNC_RUNTIME_NATIVE_STOCK_H

#include <stdbool.h>

#include "runtime/native_state.h"
#include "runtime/native_window.h"

/* A new region of this thread's stock; false: there is none. */
bool native_stock_take(drasync_region_t *region_out);

/* Delete the region at @address, if this thread took it out of stock and nobody
 * has looked it up; false: not so.  No lock held. */
bool native_stock_put_new(uint64_t address);

/*
 * Under the lock of @tree, which has its region: delete it by taking it into
 * stock.  False, with nothing changed, if it must be deleted otherwise.
 */
bool native_stock_put(const struct native_tree *tree);

/* No lock held: delete what the thread of @windows has in stock, and let
 * nothing in; or what all have. */
void native_stock_clear(struct native_windows *windows);
void native_stock_clear_all(void);

/* How many records of the node are hidden. */
uint64_t native_stock_hidden(void);

#endif /* DRASYNC_RUNTIME_NATIVE_STOCK_H */
