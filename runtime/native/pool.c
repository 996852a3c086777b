/*
 * Objects of the protocol's types: those that are not in use, in a pool for each
 * stripe of trees, and one for what a stripe has too much of.
 */
#include "memory/control.h"
#include "runtime/native/env.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* A pool keeps up to so many unused objects, or as many as were needed at once,
 * and takes so many at a time. */
#define POOL_OBJECTS_MAX 128
#define POOL_BATCH       32

/* The stripe whose lock this thread holds: its pools are this thread's. */
static _Thread_local int held_stripe;

/* A pool of it holds more than it should keep from the others. */
static _Thread_local bool must_shed;

_Thread_local volatile bool native_in_step;

void native_pool_use(int stripe)
{
    held_stripe = stripe < 0 ? 0 : stripe;
    native_in_step = true;
}

int native_pool_used(void)
{
    return held_stripe;
}

static void **pool_link(enum proto_type type, void *object)
{
    size_t bytes = (proto_object_size(type) + 7) & ~(size_t)7;

    return (void **)(void *)((char *)object + bytes);
}

static void *pool_pop(struct native_pool *pool, enum proto_type type)
{
    void *object = atomic_load_explicit(&pool->free, memory_order_relaxed);

    if (object) {
        atomic_store_explicit(&pool->free, *pool_link(type, object),
                              memory_order_relaxed);
        pool->count--;
    }
    return object;
}

static void pool_push(struct native_pool *pool, enum proto_type type,
                      void *object)
{
    *pool_link(type, object) =
        atomic_load_explicit(&pool->free, memory_order_relaxed);
    atomic_store_explicit(&pool->free, object, memory_order_relaxed);
    pool->count++;
}

/*
 * Up to @count objects from one pool to another.  Objects stay of their type
 * for ever, because native_find() may follow a stale pointer: what one stripe
 * has too much of goes to the others through the spare pool, not to the heap.
 */
static void pool_move(struct native_pool *to, struct native_pool *from,
                      enum proto_type type, uint32_t count)
{
    void *object;

    if (lock_take(&native.shared->table_lock))
        return;
    while (count-- > 0 && (object = pool_pop(from, type)))
        pool_push(to, type, object);
    lock_give(&native.shared->table_lock);
}

static void *pool_new(enum proto_type type)
{
    size_t bytes = ((proto_object_size(type) + 7) & ~(size_t)7) + 8;
    void *object;

    if (!control_alloc_zero(&runtime.space, bytes, &object))
        return object;
    atomic_store_explicit(&native.shared->scarce, true, memory_order_relaxed);
    return NULL;
}

void *native_pool_take(void *ctx, enum proto_type type)
{
    struct native_pool *pool = &native.shared->pools[held_stripe][type];
    struct native_pool *spare = &native.shared->spare[type];
    void *object = pool_pop(pool, type);

    (void)ctx;
    if (!object && atomic_load_explicit(&spare->free, memory_order_relaxed)) {
        pool_move(pool, spare, type, POOL_BATCH);
        object = pool_pop(pool, type);
    }
    return object ? object : pool_new(type);
}

static uint32_t objects_kept(const struct native_pool *pool)
{
    bool scarce =
        atomic_load_explicit(&native.shared->scarce, memory_order_relaxed);

    return pool->keep > POOL_OBJECTS_MAX && !scarce ? pool->keep
                                                    : POOL_OBJECTS_MAX;
}

void native_pool_give(void *ctx, enum proto_type type, void *object)
{
    struct native_pool *pool = &native.shared->pools[held_stripe][type];

    (void)ctx;
    pool_push(pool, type, object);
    if (pool->count > objects_kept(pool))
        must_shed = true;
}

/* Not within a step: it counts on what it has reserved. */
void native_pool_shed(void)
{
    native_in_step = false;
    if (!must_shed)
        return;
    must_shed = false;
    for (int type = 0; type < PROTO_TYPES; type++) {
        struct native_pool *pool = &native.shared->pools[held_stripe][type];

        if (pool->count > objects_kept(pool))
            pool_move(&native.shared->spare[type], pool, (enum proto_type)type,
                      pool->count - objects_kept(pool) / 2);
    }
}

int native_pool_reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    for (int type = 0; type < PROTO_TYPES; type++) {
        struct native_pool *pool = &native.shared->pools[held_stripe][type];

        if (pool->keep < counts[type])
            pool->keep = counts[type];
        if (pool->count < counts[type] &&
            atomic_load_explicit(&native.shared->spare[type].free,
                                 memory_order_relaxed))
            pool_move(pool, &native.shared->spare[type], (enum proto_type)type,
                      counts[type] - pool->count);
        while (pool->count < counts[type]) {
            void *object = pool_new((enum proto_type)type);

            if (!object)
                return DRASYNC_ENOMEM;
            pool_push(pool, (enum proto_type)type, object);
        }
    }
    return 0;
}
