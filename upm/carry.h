/*
 * carry.h - carries an engine's moves out, in batches, over host.h.
 */
#ifndef UPM_CARRY_H
#define UPM_CARRY_H

#include "upm/area.h"
#include "upm/engine.h"

struct upm_carried {
    size_t moved, stayed;
};

/*
 * Move the pages of @moves, @batch at once, and write into the tables where they
 * are then.  @note, if not NULL, is called for each that moved, before its `home`
 * changes.  A page that does not move is no error: it stays.  0 or -ENOMEM.
 */
int upm_carry(const struct upm_moves *moves, size_t batch,
              void (*note)(struct upm_move move), struct upm_carried *carried);

/* Ask the kernel where the pages of @moves are, and take out of them those that
 * are there already or have no frame.  0 or a negative errno. */
int upm_carry_look(struct upm_moves *moves);

#endif /* UPM_CARRY_H */
