/*
 * protocol_node.h - for unit tests of the protocol: one node, its environment
 * and its ranks' calls.  Callers call node_begin() first.
 */
#ifndef DRASYNC_TESTS_PROTOCOL_NODE_H
#define DRASYNC_TESTS_PROTOCOL_NODE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/protocol.h"

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                \
        }                                                           \
    } while (0)

static struct proto_region *table[64];
static void *taken[1024]; /* some are NULL */
static long objects;
static int fail_takes; /* 1: takes fail */
static uint64_t counter;
static struct proto_node node;
static struct proto_effects out = {.grow = realloc};
static struct proto_grant grant;
static struct proto_op *op;

static inline void *take(void *ctx, enum proto_type type)
{
    (void)ctx;
    if (fail_takes)
        return NULL;
    objects++;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (!taken[i])
            return taken[i] = malloc(proto_object_size(type));
    return NULL;
}

static inline void give(void *ctx, enum proto_type type, void *object)
{
    (void)ctx;
    (void)type;
    objects--;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i] == object)
            taken[i] = NULL;
    free(object);
}

/* The node begins anew. */
static inline void give_all(void)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i])
            give(NULL, PROTO_REGION, taken[i]);
    memset(table, 0, sizeof(table));
}

static inline int reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    (void)counts;
    return 0;
}

static inline struct proto_region *find(void *ctx, uint64_t address)
{
    (void)ctx;
    return address < 64 ? table[address] : NULL;
}

static inline int insert(void *ctx, struct proto_region *r)
{
    (void)ctx;
    table[r->address] = r;
    return 0;
}

static inline void forget(void *ctx, struct proto_region *r)
{
    (void)ctx;
    table[r->address] = NULL;
}

static inline uint64_t stamp(void *ctx)
{
    (void)ctx;
    return ++counter;
}

static inline int64_t home(void *ctx, uint64_t address)
{
    (void)ctx;
    return address < 64 ? 0 : -2;
}

static inline bool extent(void *ctx, const struct proto_region *r, uint32_t i,
                          uint64_t *address, uint64_t *pages)
{
    (void)ctx;
    *address = r->address;
    *pages = 1;
    return i == 0;
}

static inline struct proto_region *root_of(int rank, uint64_t address)
{
    struct proto_region *r;
    proto_effects_clear(&out);
    CHECK(!proto_create_root(&node, rank, address, NULL, NULL, &r, &out));
    return r;
}

static inline struct proto_region *
child_of(int rank, struct proto_region *parent, uint64_t address)
{
    struct proto_region *r;
    proto_effects_clear(&out);
    CHECK(!proto_create_subregion(&node, rank, parent, address, NULL, NULL, &r,
                                  &out));
    return r;
}

static inline int acquire(int rank, struct proto_region *r, int mode)
{
    proto_effects_clear(&out);
    return proto_acquire(&node, rank, r, 0, (enum drasync_mode)mode, false, &op,
                         &grant, &op, &out);
}

static inline int release_for(int rank, struct proto_region *r, int mode)
{
    proto_effects_clear(&out);
    return proto_release(&node, rank, r, (enum drasync_mode)mode, &out);
}

static inline int release(int rank, struct proto_region *r)
{
    return release_for(rank, r, DRASYNC_WRITE);
}

/* The error of the only end among the effects; 0: granted; 1: none. */
static inline int result(void)
{
    int found = 1;
    for (size_t i = 0; i < out.count; i++) {
        if (out.effect[i].kind == PROTO_GRANTED)
            found = 0;
        if (out.effect[i].kind == PROTO_FAILED)
            found = out.effect[i].error;
    }
    return found;
}

static inline int delete (int rank, struct proto_region *r)
{
    proto_effects_clear(&out);
    int err = proto_delete(&node, rank, r, 0, &op, &out);
    return err == PROTO_WAIT ? result() : err;
}

static inline void node_begin(void)
{
    const struct proto_env env = {.nodes = 1,
                                  .take = take,
                                  .give = give,
                                  .reserve = reserve,
                                  .find = find,
                                  .insert = insert,
                                  .remove = forget,
                                  .stamp = stamp,
                                  .ticket = stamp,
                                  .home = home,
                                  .extent = extent};
    proto_node_open(&node, &env);
}

#endif
