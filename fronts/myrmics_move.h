/*
 * myrmics_move.h - which regions this worker knows in DRASYNC_MYRMICS=move, and
 * which of them it owns.
 *
 * Every Myrmics region is a native root region, so that any part of a tree can
 * be handed over by itself; the tree is kept here, and goes along with what is
 * sent.  This process's; not thread-safe, callers lock.
 */
#ifndef DRASYNC_FRONTS_MYRMICS_MOVE_H
#define DRASYNC_FRONTS_MYRMICS_MOVE_H

#include <stdint.h>

#include "drasync.h"
#include "fronts/myrmics.h"

struct move_region {
    uint32_t rid;
    int here; /* this worker owns it */
    drasync_region_t handle;
    struct move_region *hash_next;
    struct move_region *parent; /* NULL: under the root, or not known */
    struct move_region *first_child, *next, *prev;
    /* Where it was sent last. */
    const char *sent_file;
    int sent_line, sent_to;
};

struct move_region *move_find(uint32_t rid);

/* Make or renew the record of @rid under @parent (NULL: the root).  NULL: no
 * memory. */
struct move_region *move_enter(uint32_t rid, struct move_region *parent,
                               drasync_region_t handle);

/* Forget it; it has no children. */
void move_forget(struct move_region *region);

/* The next of @top's subtree, parents first; begins as @top. */
struct move_region *move_next(const struct move_region *top,
                              const struct move_region *at);

/* The owned region that @ptr points into, or a code as for freeing. */
int move_region_of(const void *ptr, struct move_region **region_out);

/* DRASYNC_CHECK=1 (myrmics_check.c): the region, which is held, is about to be
 * sent; it is not held any more, and from now on this process may not touch
 * it; and it may again. */
void check_sent(struct move_region *region);
void check_gone(const struct move_region *region);
void check_back(struct move_region *region);

#endif /* DRASYNC_FRONTS_MYRMICS_MOVE_H */
