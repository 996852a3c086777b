/*
 * myrmics_move.h - which regions this worker knows in DRASYNC_MYRMICS=move, and
 * which of them it owns.
 *
 * Every Myrmics region is a native root region, so that any part of a tree can
 * be handed over by itself; the tree is kept here, and goes along with what is
 * sent.  Only a region's owner makes subregions of it, so what the owner has
 * here is complete.  It may be too much: a subregion with another owner may
 * have been freed, and its number may be another region's by now.  So records
 * have the incarnation, and before a subregion that is not here counts, its
 * owner is asked whether it is there.
 *
 * This process's; not thread-safe, callers lock.
 */
#ifndef DRASYNC_FRONTS_MYRMICS_MOVE_H
#define DRASYNC_FRONTS_MYRMICS_MOVE_H

#include <stdint.h>

#include "drasync.h"
#include "fronts/myrmics.h"

struct move_region {
    uint32_t rid;
    int here; /* this worker owns it */
    uint64_t incarnation;
    drasync_region_t handle;
    uint32_t number; /* in the list that is being sent */
    struct move_region *hash_next;
    struct move_region *parent; /* NULL: under the root, or not known */
    struct move_region *first_child, *next, *prev;
    /* Of move_prune() only. */
    int kept;
    struct move_region *pruned_next;
    /* Where it was sent last. */
    const char *sent_file;
    int sent_line, sent_to;
};

struct move_region *move_find(uint32_t rid);

/* The record of @rid with @incarnation, made if need be; one of another
 * incarnation goes.  NULL: no memory. */
struct move_region *move_enter(uint32_t rid, uint64_t incarnation,
                               drasync_region_t handle);

/* It is below @parent and nothing else. */
void move_put_under(struct move_region *region, struct move_region *parent);

/* Of what is below @top only this worker's own regions, the parts of these, and
 * what is between is known any more: the others may have been freed. */
void move_prune(struct move_region *top);

/* The record goes; what was below it is below nothing. */
void move_forget(struct move_region *region);

/* The next of @top's subtree, parents first; begins as @top.  And the next that
 * is not below @at. */
struct move_region *move_next(const struct move_region *top,
                              const struct move_region *at);
struct move_region *move_next_beside(const struct move_region *top,
                                     const struct move_region *at);

/* The owned region that @ptr points into, or a code as for freeing. */
int move_region_of(const void *ptr, struct move_region **region_out);

drasync_region_t move_handle(uint32_t rid);

/* Checked mode: reports call the region of @handle by this number. */
void move_numbered(drasync_region_t handle, uint32_t rid);

/* Is the region with @incarnation there, whoever owns it?  0 with the answer, or
 * an error. */
int move_is_there(uint32_t rid, uint64_t incarnation, int *there_out);

/* What is sent along with @top: malloc()ed notes of its subtree, and of what it is
 * below, and how much data comes.  DRASYNC_ENOMEM, DRASYNC_ELIMIT. */
int move_list_make(struct move_region *top, struct replica_part **notes_out,
                   size_t *count_out, uint64_t *bytes_out);

/* Such a list came: take what comes along, and what is said of the rest. */
int move_list_take(const struct replica_part *notes, size_t count,
                   uint64_t *bytes_out);

/* The lock of the calls of this mode. */
void move_lock(void);
void move_unlock(void);

#endif /* DRASYNC_FRONTS_MYRMICS_MOVE_H */
