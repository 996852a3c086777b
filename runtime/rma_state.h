/*
 * rma_state.h - what runtime/rma*.c share.
 */
#ifndef DRASYNC_RUNTIME_RMA_STATE_H
#define DRASYNC_RUNTIME_RMA_STATE_H

#include "memory/lock.h"
#include "runtime/rma.h"
#include "runtime/runtime.h"

/* For the table in runtime/modules.c. */
extern const struct runtime_module rma_module;

/* Where two elements have the same bytes they have the same lock, through
 * whichever mapping: it is chosen by the offset in the page. */
#define RMA_LOCKS 64

/* Held for one operation on one element; the progress thread takes them too. */
#define LOCK_RANK_RMA 250

/* In control memory, for the ranks of the node. */
struct rma_shared {
    uint64_t reserved[2];
    struct {
        struct lock lock;
    } __attribute__((aligned(64))) locks[RMA_LOCKS];
};

extern struct rma_shared *rma_shared; /* NULL before the start */

/* @shared is zero. */
int rma_shared_init(struct rma_shared *shared, _Atomic uint32_t *poison);

/* Is the operation defined for the type, and are both any? */
bool rma_defined(enum rma_type type, enum rma_op op);

#endif /* DRASYNC_RUNTIME_RMA_STATE_H */
