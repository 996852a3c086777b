/* The free objects of a class: taken and given back under its lock. */
#include "state.h"

#include "memory/sanitizer.h"

#if SANITIZER_ADDRESS
#include <sanitizer/asan_interface.h>
#define POISON(ptr, bytes)   __asan_poison_memory_region((ptr), (bytes))
#define UNPOISON(ptr, bytes) __asan_unpoison_memory_region((ptr), (bytes))
#else
#define POISON(ptr, bytes)   ((void)(ptr), (void)(bytes))
#define UNPOISON(ptr, bytes) ((void)(ptr), (void)(bytes))
#endif

/* The user's part of a free object is nobody's. */
static void poison(const struct life_shared *shared, struct life_object *o,
                   uint64_t slot_bytes)
{
    if (shared->poisons)
        POISON(o->data, slot_bytes - offsetof(struct life_object, data));
}

static void unpoison(const struct life_shared *shared, struct life_object *o,
                     uint64_t slot_bytes)
{
    if (shared->poisons)
        UNPOISON(o->data, slot_bytes - offsetof(struct life_object, data));
}

/* Its holder died: what it took, and had told nobody about, or gave, is free,
 * and the list of free objects is made anew. */
static void class_repair(struct life_shared *shared, struct life_class *c)
{
    struct life_object *o;
    struct life_block *b;
    uint64_t live = 0;

    if (c->taking)
        atomic_store_explicit(&life_object(shared, c->taking)->word, 0,
                              memory_order_relaxed);
    c->taking = 0;
    c->free = 0;
    FOR_BLOCKS(shared, b, &c->blocks)
    {
        for (uint32_t i = 0; i < b->slots; i++) {
            o = (struct life_object *)(uintptr_t)(b->slot + i * c->slot_bytes);
            if (atomic_load_explicit(&o->word, memory_order_relaxed)) {
                live++;
                continue;
            }
            o->next = c->free;
            c->free = life_offset(shared, o);
        }
    }
    atomic_store_explicit(&c->live, live, memory_order_relaxed);
}

static void class_take(struct life_shared *shared, struct life_class *c)
{
    if (robust_take(&c->lock) == ROBUST_DIED)
        class_repair(shared, c);
}

static void init_objects(struct life_shared *shared, struct life_block *b,
                         uint64_t slot_bytes)
{
    struct life_object *o;

    for (uint32_t i = 0; i < b->slots; i++) {
        o = (struct life_object *)(uintptr_t)(b->slot + i * slot_bytes);
        o->class = b->owner;
        o->next =
            i + 1 < b->slots ? life_offset(shared, (char *)o + slot_bytes) : 0;
        poison(shared, o, slot_bytes);
    }
}

static bool class_grow(struct life *life, uint32_t class, struct life_class *c)
{
    uint64_t at = block_new(life, &c->blocks, LIFE_BLOCK_OBJECTS, c->slot_bytes,
                            class, init_objects);

    if (at)
        c->free = at + offsetof(struct life_block, slot);
    return at != 0;
}

uint64_t object_take(struct life *life, uint32_t class, uint64_t word)
{
    struct life_shared *shared = life->shared;
    struct life_class *c = &shared->class[class];
    struct life_object *o;
    uint64_t object = 0;

    class_take(shared, c);
    if (c->free || class_grow(life, class, c)) {
        object = c->free;
        o = life_object(shared, object);
        c->taking = object;
        said();
        c->free = o->next;
        atomic_store_explicit(&o->word, word, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->live, 1, memory_order_relaxed);
        unpoison(shared, o, c->slot_bytes);
        said();
        c->taking = 0;
    }
    robust_give(&c->lock);
    return object;
}

void object_give(struct life *life, uint64_t object)
{
    struct life_shared *shared = life->shared;
    struct life_object *o = life_object(shared, object);
    struct life_class *c = &shared->class[o->class];

    class_take(shared, c);
    /* Relaxed: under the lock, and nobody else has the object.  It is free if
     * who died here was at this one. */
    if (atomic_load_explicit(&o->word, memory_order_relaxed)) {
        poison(shared, o, c->slot_bytes);
        c->taking = object;
        said();
        if (shared->settling == object)
            shared->settling = 0;
        said();
        atomic_store_explicit(&o->word, 0, memory_order_relaxed);
        o->next = c->free;
        c->free = object;
        atomic_fetch_sub_explicit(&c->live, 1, memory_order_relaxed);
        c->taking = 0;
    }
    robust_give(&c->lock);
}

void pool_close(struct life_shared *shared)
{
    if (shared->poisons)
        UNPOISON(shared, shared->bytes);
}

void object_end(struct life_thread *me, uint64_t object)
{
    struct life_object *o = life_object(me->shared, object);
    life_end_fn *end = me->life->end[o->class];

    if (end)
        end(me, o->class, o->data, me->life->env.arg);
    object_give(me->life, object);
    atomic_fetch_add_explicit(&me->shared->freed, 1, memory_order_relaxed);
}
