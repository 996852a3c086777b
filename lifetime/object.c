/* Counted references, and objects that become eligible. */
#include "state.h"

#include "drasync.h"

/* Release pairs with the acquire of cycle_take(): R1's chain goes on there. */
void eligible_push(struct life_shared *shared, uint64_t object)
{
    struct life_object *o = life_object(shared, object);
    uint64_t head =
        atomic_load_explicit(&shared->eligible, memory_order_relaxed);

    atomic_fetch_add_explicit(&shared->lingering_bytes,
                              shared->class[o->class].slot_bytes,
                              memory_order_relaxed);
    do
        o->next = head;
    while (!atomic_compare_exchange_weak_explicit(&shared->eligible, &head,
                                                  object, memory_order_release,
                                                  memory_order_relaxed));
}

/* Run a cycle; @wait: even if another thread is at it, for it does not keep
 * up. */
static void collect_due(struct life_thread *me, bool wait)
{
    if (collector_take(me, wait) != ROBUST_TAKEN)
        return;
    cycle_run(me, false);
    robust_give(&me->shared->collecting);
}

static int new_object(struct life_thread *me, enum life_scheme scheme,
                      uint32_t class, uint64_t flags, life_handle *handle_out)
{
    struct life_shared *shared = me->shared;
    bool collected = scheme == LIFE_HYBRID || scheme == LIFE_EPOCHS;
    bool mine = false;
    uint64_t object;

    if (class >= LIFE_CLASSES || !shared->class[class].slot_bytes)
        return DRASYNC_EINVAL;
    if (scheme == LIFE_HYBRID) {
        /* In a callback of life_end_fn a cycle is under way. */
        mine = robust_take(&shared->collecting) != ROBUST_BUSY;
        if (mine && life_is_due(shared))
            hybrid_cycle(me);
    } else if (scheme == LIFE_EPOCHS && life_is_due(shared)) {
        collect_due(me, life_is_overdue(shared));
    }
    object = object_take(me->life, class, collected ? 2 : 1);
    if (mine)
        robust_give(&shared->collecting);
    /* What lingers may be all that there is. */
    if (!object && scheme == LIFE_EPOCHS && life_collect(me, scheme))
        object = object_take(me->life, class, 2);
    if (!object)
        return DRASYNC_ENOMEM;
    *handle_out = object | flags;
    return 0;
}

int life_new(struct life_thread *me, enum life_scheme scheme, uint32_t class,
             life_handle *handle_out)
{
    return new_object(me, scheme, class, 0, handle_out);
}

int life_new_predefined(struct life_thread *me, enum life_scheme scheme,
                        uint32_t class, life_handle *handle_out)
{
    return new_object(me, scheme, class, LIFE_PREDEFINED, handle_out);
}

/* The mutex scheme's life_ref(). */
void life_count_more(struct life_thread *me, enum life_scheme scheme,
                     life_handle handle)
{
    _Atomic uint64_t *word = &life_object(me->shared, handle)->word;

    (void)scheme;
    pthread_mutex_lock(&me->shared->counts);
    atomic_store_explicit(word,
                          atomic_load_explicit(word, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    pthread_mutex_unlock(&me->shared->counts);
}

/* A counted reference of a naive scheme goes. */
void life_count_less(struct life_thread *me, enum life_scheme scheme,
                     life_handle handle)
{
    _Atomic uint64_t *word = &life_object(me->shared, handle)->word;
    uint64_t left;

    if (scheme == LIFE_MUTEX) {
        pthread_mutex_lock(&me->shared->counts);
        left = atomic_load_explicit(word, memory_order_relaxed) - 1;
        atomic_store_explicit(word, left, memory_order_relaxed);
        pthread_mutex_unlock(&me->shared->counts);
    } else {
        /* Each use happens before the end, whoever has the last one. */
        left = atomic_fetch_sub_explicit(word, 1, memory_order_acq_rel) - 1;
    }
    if (left)
        return;
    /* Relaxed: nobody else has it.  0 would say that it is free. */
    atomic_store_explicit(word, LIFE_DEAD, memory_order_relaxed);
    object_end(me, handle & ~LIFE_PREDEFINED);
}

/* One counted reference less; on the list if that leaves the collector's.  The
 * queuer in the word says who is to put it there.  If it lies there already,
 * transients may have come by the count that goes: what a cycle knows of it is
 * not enough (LIFE_AGAIN). */
static int count_down(struct life_thread *me, uint64_t object)
{
    struct life_shared *shared = me->shared;
    struct life_object *o = life_object(shared, object);
    /* Relaxed: the exchange below is what counts. */
    uint64_t old = atomic_load_explicit(&o->word, memory_order_relaxed), now;

    atomic_store_explicit(&me->record->queuing, object, memory_order_relaxed);
    do {
        if (object_count(old) < 2 || old & LIFE_DEAD) {
            atomic_store_explicit(&me->record->queuing, 0,
                                  memory_order_relaxed);
            return DRASYNC_EINVAL;
        }
        now = old - 1;
        if (object_count(now) == 1)
            now |= object_queuer(now)
                       ? LIFE_RULE(AGAIN) ? LIFE_AGAIN : 0
                       : (uint64_t)(me->index + 1) << LIFE_QUEUED;
        /* Release: uses by this reference happen before the object's end, for
         * which the collector acquires the word.  Acquire: who puts it on the
         * list has what all others did, and hands it on with the list. */
    } while (!atomic_compare_exchange_weak_explicit(
        &o->word, &old, now, memory_order_acq_rel, memory_order_relaxed));
    if (object_queuer(now) != object_queuer(old))
        eligible_push(shared, object);
    atomic_store_explicit(&me->record->queuing, 0, memory_order_relaxed);
    return 0;
}

int life_unref(struct life_thread *me, enum life_scheme scheme,
               life_handle handle)
{
    int err;

    if (scheme == LIFE_NOTHING || me->life->closing ||
        (scheme == LIFE_SUPPRESSED && handle & LIFE_PREDEFINED))
        return 0;
    if (scheme < LIFE_HYBRID) {
        life_count_less(me, scheme, handle);
        return 0;
    }
    err = count_down(me, handle & ~LIFE_PREDEFINED);
    if (scheme == LIFE_EPOCHS && !err && life_is_due(me->shared))
        collect_due(me, false);
    return err;
}

uint64_t life_close(struct life_thread *me)
{
    struct life_shared *shared = me->shared;
    struct life_block *b;
    uint64_t held = 0, word;

    if (shared->scheme == LIFE_EPOCHS)
        life_collect(me, LIFE_EPOCHS);
    me->life->closing = true;
    for (uint32_t class = 0; class < LIFE_CLASSES; class ++) {
        FOR_BLOCKS(shared, b, &shared->class[class].blocks)
        {
            for (uint32_t i = 0; i < b->slots; i++) {
                uint64_t at = life_offset(shared, b->slot) +
                              i * shared->class[class].slot_bytes;
                _Atomic uint64_t *w = &life_object(shared, at)->word;

                word = atomic_load_explicit(w, memory_order_acquire);
                if (!word)
                    continue;
                held += object_count(word) > 1;
                object_end(me, at);
            }
        }
    }
    atomic_store_explicit(&shared->eligible, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->lingering_bytes, 0, memory_order_relaxed);
    shared->young = shared->waiting = shared->taking = shared->settling = 0;
    me->life->closing = false;
    pool_close(shared);
    return held;
}
