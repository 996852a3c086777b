/*
 * env.h - inside pool.c, table.c and env.c: functions of struct proto_env, with its
 * contracts (protocol/protocol.h).
 */
#ifndef DRASYNC_RUNTIME_NATIVE_ENV_H
#define DRASYNC_RUNTIME_NATIVE_ENV_H

#include "protocol/protocol.h"

void *native_pool_take(void *ctx, enum proto_type type);
void native_pool_give(void *ctx, enum proto_type type, void *object);
int native_pool_reserve(void *ctx, const uint32_t counts[PROTO_TYPES]);

struct proto_region *native_env_find(void *ctx, uint64_t address);
int native_env_insert(void *ctx, struct proto_region *region);
void native_env_remove(void *ctx, struct proto_region *region);

#endif /* DRASYNC_RUNTIME_NATIVE_ENV_H */
