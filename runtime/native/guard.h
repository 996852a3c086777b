/*
 * guard.h - inside runtime/native/: checked mode, in which what this process may
 * touch follows the holds of its rank.  Only if native.check.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_GUARD_H
#define DRASYNC_RUNTIME_NATIVE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"

struct native_goes;
struct native_tree;
struct proto_region;

/* Under the lock of its tree: let what this process may touch of @top's subtree
 * follow the holds of its rank. */
void native_guard(const struct proto_region *top);
/* The same by address; takes the lock. */
void native_guard_at(uint64_t address);
/* The same after a step that may have ended the region; under the lock. */
void native_guard_again(const struct native_tree *tree, uint64_t address);
/* A call of the program has taken a hold (no lock is held), or given one back or
 * away, by a step under the lock of @tree. */
void native_guard_took(uint64_t address, uint64_t incarnation,
                       enum drasync_mode mode);
void native_guard_gave(const struct native_tree *tree, uint64_t address,
                       uint64_t incarnation, enum drasync_mode mode);
void native_guard_given(const struct native_tree *tree, uint64_t address,
                        uint64_t incarnation);
/* Under the lock of its tree: the subtree is going to be deleted. */
struct native_goes *native_guard_close(const struct proto_region *top);
/* What native_guard_close() gave, which this frees: it is @deleted, or was
 * refused.  May be NULL. */
void native_guard_deleted(struct native_goes *goes, bool deleted);
void native_guard_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_GUARD_H */
