/*
 * table.h - what the protocol asks of its environment, in control memory: objects
 * of its types (pool.c), records by address (table.c), homes and numbers (env.c).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_TABLE_H
#define DRASYNC_RUNTIME_NATIVE_TABLE_H

#include "runtime/native/state.h"

int native_shared_new(struct native_shared **shared_out);
void native_env_fill(struct proto_env *env);
struct proto_region *native_find(uint64_t address);
/* Its entry, under the tree's lock.  With address 0 nobody finds the record. */
struct native_entry *native_find_entry(uint64_t address);
/* What is wrong with an address without a record: DRASYNC_ENOREGION; or if only
 * its home could say that, DRASYNC_ENOTHELD, which is true in any case. */
int native_unknown(uint64_t address);
/* This thread has locked @stripe (-1: all) and may use its pools. */
void native_pool_use(int stripe);
/* The stripe whose pools it uses; it has that stripe's lock. */
int native_pool_used(void);
void native_pool_shed(void); /* before the locks are given back */
/* This thread has the lock of a tree; for a signal's handler. */
extern _Thread_local volatile bool native_in_step
    __attribute__((tls_model("initial-exec")));
/* Call @visit for all records; without locks, so what it gets may be gone. */
void native_each(void (*visit)(uint64_t address, void *arg), void *arg);

#endif /* DRASYNC_RUNTIME_NATIVE_TABLE_H */
