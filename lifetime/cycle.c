/* A cycle of ours: what became eligible, by counters or by a look at all. */
#include "state.h"

/* A look is done again so often when references moved meanwhile. */
#define LOOKS_MAX 3

/* Acquire pairs with the release of life_end(): uses happen before, and so does
 * each begin. */
static uint64_t ended(const struct life_shared *shared, unsigned class)
{
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < records; i++)
        sum += atomic_load_explicit(&shared->record[i].ended[class],
                                    memory_order_acquire);
    return sum;
}

/* Relaxed: those that matter happen before the object's becoming eligible, or
 * before an end that has been counted. */
static uint64_t begun(const struct life_shared *shared, unsigned class)
{
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < records; i++)
        sum += atomic_load_explicit(&shared->record[i].begun[class],
                                    memory_order_relaxed);
    return sum;
}

/* Has each transient ended that was begun in the class, of those that the caller
 * can know of?  First who ended, then who began: lifetime.h. */
static bool class_is_empty(const struct life_shared *shared, unsigned class)
{
    uint64_t early = LIFE_RULE(ENDED_FIRST) ? 0 : begun(shared, class);
    uint64_t all = ended(shared, class);

    return all == (LIFE_RULE(ENDED_FIRST) ? begun(shared, class) : early);
}

/* Acquire pairs with the count in life_pass(), for the first sum. */
static uint64_t moves(const struct life_shared *shared)
{
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < records; i++)
        sum += atomic_load_explicit(&shared->record[i].moved,
                                    memory_order_acquire);
    return sum;
}

/* Only objects that wait for it are written to: others are read by all. */
static void look_at(struct life_shared *shared, struct life_transient *t)
{
    struct life_object *o;
    uint64_t handle;

    for (int i = 0; i < LIFE_REFS; i++) {
        /* Acquire pairs with the release of life_drop() and life_pass(). */
        handle = atomic_load_explicit(&t->ref[i], memory_order_acquire);
        if (!handle)
            continue;
        o = life_object(shared, handle);
        if (object_queuer(atomic_load_explicit(&o->word, memory_order_relaxed)))
            o->seen = shared->looks;
    }
}

void cycle_look(struct life_shared *shared)
{
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);
    struct life_block *b;

    shared->looks++;
    for (uint32_t i = 0; i < records; i++) {
        FOR_BLOCKS(shared, b, &shared->record[i].blocks)
        {
            for (uint32_t slot = 0; slot < b->slots; slot++)
                look_at(shared, block_transient(shared, b, slot));
        }
    }
}

/* A look at all slots, during which no reference moved. */
static uint64_t look_exactly(struct life_thread *me)
{
    struct life_shared *shared = me->shared;
    uint64_t before, freed;

    records_recover(me);
    before = moves(shared);
    for (int i = 0; i < LOOKS_MAX; i++) {
        uint64_t after;

        cycle_look(shared);
        after = moves(shared);
        if (before == after || !LIFE_RULE(UNMOVED)) {
            freed = cycle_settle(me, &shared->waiting, shared->looks);
            freed += cycle_settle(me, &shared->young, shared->looks);
            atomic_fetch_add_explicit(&shared->exact, freed,
                                      memory_order_relaxed);
            return freed;
        }
        before = after;
        atomic_fetch_add_explicit(&shared->disturbed, 1, memory_order_relaxed);
    }
    return 0;
}

/* What waits has waited for class @old, and nothing else, to be empty. */
static uint64_t settle_waiting(struct life_thread *me, unsigned old)
{
    uint64_t freed;

    if (!me->shared->waiting || !class_is_empty(me->shared, old))
        return 0;
    freed = cycle_settle(me, &me->shared->waiting, 0);
    atomic_fetch_add_explicit(&me->shared->quick, freed, memory_order_relaxed);
    return freed;
}

uint64_t cycle_run(struct life_thread *me, bool exact)
{
    struct life_shared *shared = me->shared;
    /* Relaxed: only we write it. */
    uint32_t epoch = atomic_load_explicit(&shared->epoch, memory_order_relaxed);
    uint64_t freed;
    bool lingers;

    atomic_fetch_add_explicit(&shared->cycles, 1, memory_order_relaxed);
    freed = settle_waiting(me, (epoch & 1) ^ 1);
    /* It has waited for a whole cycle. */
    lingers = shared->waiting != 0;
    cycle_take(shared);
    if (!lingers && shared->young &&
        (class_is_empty(shared, (epoch & 1) ^ 1) || !LIFE_RULE(BOTH_CLASSES))) {
        /* Release is for nobody: who reads an old one does no harm. */
        atomic_store_explicit(&shared->epoch, epoch + 1, memory_order_relaxed);
        said();
        shared->waiting = shared->young;
        said();
        shared->young = 0;
        freed += settle_waiting(me, epoch & 1);
    } else if (shared->young) {
        lingers = true;
    }
    if ((lingers || exact) && (shared->waiting || shared->young))
        freed += look_exactly(me);
    /* Half the bound from here: what waits for the next cycle is not more. */
    atomic_store_explicit(
        &shared->due_bytes,
        atomic_load_explicit(&shared->lingering_bytes, memory_order_relaxed) +
            (shared->linger_bytes + 1) / 2,
        memory_order_relaxed);
    return freed;
}

uint64_t life_collect(struct life_thread *me, enum life_scheme scheme)
{
    struct life_shared *shared = me->shared;
    uint64_t freed = 0, more;

    if (scheme < LIFE_HYBRID)
        return 0;
    do {
        if (scheme == LIFE_HYBRID) {
            if (robust_take(&shared->collecting) == ROBUST_BUSY)
                return freed;
            more = hybrid_cycle(me);
        } else {
            if (collector_take(me, false) == ROBUST_BUSY)
                return freed;
            more = cycle_run(me, true);
        }
        robust_give(&shared->collecting);
        freed += more;
        /* The end of one may have given back the last reference of another. */
    } while (more);
    return freed;
}
