/* An engine's memory, and the blocks that are cut from it. */
#include "state.h"

#include "drasync.h"

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 63) & ~UINT64_C(63);
}

/* A thread died here: its block is linked, and then counts as used, or not. */
void growth_repair(struct life_shared *shared)
{
    _Atomic uint64_t *head;
    struct life_block *b;

    if (!shared->growing)
        return;
    head = life_at(shared, shared->growing);
    b = life_at(shared, shared->used);
    if (atomic_load_explicit(head, memory_order_relaxed) == shared->used)
        shared->used += b->bytes;
    shared->growing = 0;
}

uint64_t block_new(struct life *life, _Atomic uint64_t *head, uint32_t slots,
                   uint64_t slot_bytes, uint32_t owner, block_init_fn *init)
{
    struct life_shared *shared = life->shared;
    uint64_t bytes = sizeof(struct life_block) + slots * slot_bytes;
    struct life_block *b;
    uint64_t at = 0;

    if (robust_take(&shared->growth) == ROBUST_DIED)
        growth_repair(shared);
    if (bytes <= shared->bytes - shared->used) {
        at = shared->used;
        b = life_at(shared, at);
        b->bytes = bytes;
        b->slots = slots;
        b->owner = owner;
        b->next = atomic_load_explicit(head, memory_order_relaxed);
        init(shared, b, slot_bytes);
        shared->growing = life_offset(shared, head);
        said();
        /* Release pairs with FOR_BLOCKS(). */
        atomic_store_explicit(head, at, memory_order_release);
        shared->used += bytes;
        said();
        shared->growing = 0;
    }
    robust_give(&shared->growth);
    return at;
}

int life_open(struct life *life, void *memory, uint64_t bytes,
              const struct life_options *options, const struct life_env *env)
{
    struct life_shared *shared = memory;
    pthread_mutex_t *const locks[] = {&shared->collecting, &shared->growth,
                                      &shared->counts};

    if (bytes < sizeof(*shared) || (uintptr_t)memory % 64 || !env->process ||
        options->scheme > LIFE_EPOCHS)
        return DRASYNC_EINVAL;
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
        if (robust_open(locks[i]))
            return DRASYNC_EINTERNAL;
    shared->bytes = bytes;
    shared->scheme = options->scheme;
    shared->poisons = !options->shared;
    shared->transient_bytes = round_up(offsetof(struct life_transient, data) +
                                       options->transient_bytes);
    shared->linger_bytes =
        options->linger_bytes ? options->linger_bytes : LIFE_LINGER_BYTES;
    atomic_store_explicit(&shared->due_bytes, shared->linger_bytes / 2,
                          memory_order_relaxed);
    shared->used = round_up(sizeof(*shared));
    shared->magic = LIFE_MAGIC ^ sizeof(*shared);
    return life_attach(life, memory, env);
}

int life_attach(struct life *life, void *memory, const struct life_env *env)
{
    struct life_shared *shared = memory;

    if (shared->magic != (LIFE_MAGIC ^ sizeof(*shared)) || !env->process)
        return DRASYNC_EINVAL;
    *life = (struct life){.shared = shared, .env = *env};
    return 0;
}

int life_class(struct life *life, uint32_t class, uint64_t bytes,
               life_end_fn *end)
{
    uint64_t slot_bytes = round_up(offsetof(struct life_object, data) + bytes);
    struct life_class *c;

    if (class >= LIFE_CLASSES)
        return DRASYNC_EINVAL;
    c = &life->shared->class[class];
    if (c->slot_bytes && c->slot_bytes != slot_bytes)
        return DRASYNC_EINVAL;
    if (!c->slot_bytes && robust_open(&c->lock))
        return DRASYNC_EINTERNAL;
    c->slot_bytes = slot_bytes;
    life->end[class] = end;
    return 0;
}
