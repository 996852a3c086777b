/* Records of threads: taken, adopted, repaired; and slots for transients. */
#include "state.h"

#include "drasync.h"

/* Blocks that are looked into for free slots before there is a new one, and how
 * many of a block's slots make that worth while. */
#define SWEEP_BLOCKS 4
#define SWEEP_MIN    ((LIFE_BLOCK_SLOTS + 3) / 4)

static void init_transients(struct life_shared *shared, struct life_block *b,
                            uint64_t slot_bytes)
{
    (void)slot_bytes;
    for (uint32_t i = 0; i < b->slots; i++)
        block_transient(shared, b, i)->owner = b->owner;
}

static uint32_t mark_record(uint64_t mark)
{
    return mark >> LIFE_MARK_RECORD & 0xfff;
}

/* Is the slot free, and has who ended it counted that?  Until then it is proof
 * for record_repair(). */
static bool is_free(struct life_shared *shared, struct life_transient *t)
{
    uint64_t mark = atomic_load_explicit(&t->mark, memory_order_relaxed);
    struct life_record *ender;

    if (mark & LIFE_MARK_CLASSES)
        return false;
    if (!mark)
        return true; /* never used */
    ender = &shared->record[mark_record(mark)];
    /* Acquire pairs with the release in life_end(): the slot is ours. */
    return atomic_load_explicit(&ender->ended[mark >> LIFE_MARK_CLASS & 1],
                                memory_order_acquire) >= mark >>
           LIFE_MARK_SERIAL;
}

static uint32_t sweep_block(struct life_thread *me, struct life_block *b)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < b->slots; i++) {
        struct life_transient *t = block_transient(me->shared, b, i);

        if (!is_free(me->shared, t))
            continue;
        t->next_free = me->free;
        me->free = t;
        found++;
    }
    return found;
}

/* The thread has no free slot at hand: those that it finds in its blocks were
 * ended by others, or left by who had the record before. */
static bool sweep(struct life_thread *me)
{
    uint32_t found = 0;

    for (int i = 0; i < SWEEP_BLOCKS && found < SWEEP_MIN; i++) {
        struct life_block *b;

        if (!me->sweeping)
            me->sweeping =
                atomic_load_explicit(&me->record->blocks, memory_order_relaxed);
        if (!me->sweeping)
            break;
        b = life_at(me->shared, me->sweeping);
        found += sweep_block(me, b);
        me->sweeping = b->next;
        if (!b->next)
            break;
    }
    return found >= SWEEP_MIN;
}

/* There is no memory for another block: is there a free slot anywhere? */
static void sweep_all(struct life_thread *me)
{
    struct life_block *b;

    FOR_BLOCKS(me->shared, b, &me->record->blocks)
    {
        if (me->free)
            return;
        sweep_block(me, b);
    }
}

struct life_transient *life_refill(struct life_thread *me,
                                   enum life_scheme scheme)
{
    struct life_shared *shared = me->shared;
    bool critical = scheme == LIFE_HYBRID;
    struct life_block *b;
    uint64_t at;

    if (critical)
        robust_take(&shared->collecting);
    if (scheme != LIFE_EPOCHS || !sweep(me)) {
        at = block_new(me->life, &me->record->blocks, LIFE_BLOCK_SLOTS,
                       shared->transient_bytes, me->index, init_transients);
        b = at ? life_at(shared, at) : NULL;
        for (uint32_t i = b ? b->slots : 0; i-- > 0;) {
            struct life_transient *t = block_transient(shared, b, i);

            t->next_free = me->free;
            me->free = t;
        }
        if (!b && scheme == LIFE_EPOCHS)
            sweep_all(me);
    }
    if (critical)
        robust_give(&shared->collecting);
    return me->free;
}

/* The next change of a counter, named by a mark first. */
static void change(struct life_thread *me, struct life_transient *t,
                   uint64_t classes, unsigned class, bool ended)
{
    struct life_record *r = me->record;
    _Atomic uint64_t *counter = ended ? &r->ended[class] : &r->begun[class];
    uint64_t n = atomic_load_explicit(counter, memory_order_relaxed) + 1;

    atomic_store_explicit(&t->mark,
                          classes | (ended ? LIFE_MARK_ENDED : 0) |
                              (uint64_t) class << LIFE_MARK_CLASS |
                              (uint64_t)me->index << LIFE_MARK_RECORD |
                              n << LIFE_MARK_SERIAL,
                          memory_order_relaxed);
    /* Release: of an end, as in life_end(). */
    atomic_store_explicit(counter, n, memory_order_release);
}

void life_join_class(struct life_thread *me, struct life_transient *t,
                     uint64_t classes)
{
    uint64_t has = atomic_load_explicit(&t->mark, memory_order_relaxed) &
                   LIFE_MARK_CLASSES;

    for (unsigned class = 0; class < 2; class ++)
        if (classes >> class & 1)
            change(me, t, has |= UINT64_C(1) << class, class, false);
}

void life_end_slowly(struct life_thread *me, struct life_transient *t)
{
    change(me, t, 2, 0, true);
}

/* --- Those who died ------------------------------------------------------- */

/* If the mark names a change by the record that was not counted, it is now. */
static void repair_slot(struct life_record *r, uint32_t index, uint64_t mark)
{
    unsigned class = mark >> LIFE_MARK_CLASS & 1;
    _Atomic uint64_t *counter =
        mark & LIFE_MARK_ENDED ? &r->ended[class] : &r->begun[class];
    uint64_t n = mark >> LIFE_MARK_SERIAL;

    if (n && mark_record(mark) == index &&
        n == atomic_load_explicit(counter, memory_order_relaxed) + 1)
        atomic_store_explicit(counter, n, memory_order_release);
}

void record_repair(struct life_thread *me, uint32_t index)
{
    struct life_shared *shared = me->shared;
    struct life_record *r = &shared->record[index];
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);
    uint64_t object = atomic_load_explicit(&r->queuing, memory_order_relaxed);
    struct life_block *b;

    for (uint32_t i = 0; i < records; i++) {
        FOR_BLOCKS(shared, b, &shared->record[i].blocks)
        {
            for (uint32_t slot = 0; slot < b->slots; slot++)
                repair_slot(r, index,
                            atomic_load_explicit(
                                &block_transient(shared, b, slot)->mark,
                                memory_order_relaxed));
        }
    }
    /* It said that it would put the object on the list. */
    if (object &&
        object_queuer(atomic_load_explicit(&life_object(shared, object)->word,
                                           memory_order_acquire)) ==
            index + 1 &&
        !cycle_has(shared, object))
        eligible_push(shared, object);
    atomic_store_explicit(&r->queuing, 0, memory_order_relaxed);
    lingering_recount(shared);
}

static bool has_begun(struct life_transient *t)
{
    /* Relaxed: who began it has died or released the record's lock. */
    return atomic_load_explicit(&t->mark, memory_order_relaxed) &
           LIFE_MARK_CLASSES;
}

/* How many transients of the record have begun and not ended; @end: they end
 * now, counted as the record's. */
static uint64_t record_outstanding(struct life *life, uint32_t index, bool end)
{
    struct life_shared *shared = life->shared;
    struct life_thread as = {.shared = shared,
                             .life = life,
                             .index = index,
                             .record = &shared->record[index]};
    struct life_block *b;
    uint64_t count = 0;

    FOR_BLOCKS(shared, b, &shared->record[index].blocks)
    {
        for (uint32_t slot = 0; slot < b->slots; slot++) {
            struct life_transient *t = block_transient(shared, b, slot);

            if (!has_begun(t))
                continue;
            count++;
            if (end)
                life_end(&as, LIFE_EPOCHS, t);
        }
    }
    return count;
}

static bool is_gone(const struct life *life, int32_t process)
{
    return process && process != life->env.process && life->env.gone &&
           life->env.gone(process);
}

/* The record's lock was just taken, as @how says.  May a thread of this process
 * have it? */
static bool record_settle(struct life_thread *me, uint32_t index,
                          enum robust how)
{
    struct life_record *r = &me->shared->record[index];
    int32_t process = atomic_load_explicit(&r->process, memory_order_relaxed);

    if (how == ROBUST_DIED)
        record_repair(me, index);
    if (is_gone(me->life, process)) {
        record_outstanding(me->life, index, true);
        process = 0;
    } else if (process != me->life->env.process &&
               !record_outstanding(me->life, index, false)) {
        process = 0;
    }
    atomic_store_explicit(&r->process, process, memory_order_relaxed);
    return !process || process == me->life->env.process;
}

void records_recover(struct life_thread *me)
{
    uint32_t records =
        atomic_load_explicit(&me->shared->records, memory_order_acquire);

    for (uint32_t i = 0; i < records; i++) {
        pthread_mutex_t *lock = &me->shared->record[i].lock;
        enum robust how;

        if (i == me->index)
            continue;
        how = robust_try(lock);
        if (how == ROBUST_BUSY)
            continue;
        record_settle(me, i, how);
        robust_give(lock);
    }
}

void life_recover(struct life_thread *me)
{
    if (collector_take(me, true) != ROBUST_TAKEN)
        return;
    records_recover(me);
    robust_give(&me->shared->collecting);
}

/* --- Threads -------------------------------------------------------------- */

/* Under the lock of growth: a record more, whose lock the caller has. */
static int record_new(struct life_shared *shared, uint32_t *index_out)
{
    uint32_t i = atomic_load_explicit(&shared->records, memory_order_relaxed);

    if (i == LIFE_THREADS)
        return DRASYNC_EAGAIN;
    if (robust_open(&shared->record[i].lock))
        return DRASYNC_EINTERNAL;
    robust_try(&shared->record[i].lock);
    /* Release pairs with those who look at all records. */
    atomic_store_explicit(&shared->records, i + 1, memory_order_release);
    *index_out = i;
    return 0;
}

/* One that nobody has; under the collector's lock. */
static bool record_adopt(struct life_thread *me, uint32_t *index_out)
{
    uint32_t records =
        atomic_load_explicit(&me->shared->records, memory_order_acquire);

    for (uint32_t i = 0; i < records; i++) {
        pthread_mutex_t *lock = &me->shared->record[i].lock;
        enum robust how = robust_try(lock);

        if (how == ROBUST_BUSY)
            continue;
        if (record_settle(me, i, how)) {
            *index_out = i;
            return true;
        }
        robust_give(lock);
    }
    return false;
}

int life_thread_begin(struct life *life, struct life_thread *me)
{
    struct life_shared *shared = life->shared;
    uint32_t index = 0;
    int err = 0;

    *me = (struct life_thread){
        .life = life, .shared = shared, .index = LIFE_THREADS};
    if (collector_take(me, true) != ROBUST_TAKEN)
        return DRASYNC_EINTERNAL;
    if (!record_adopt(me, &index)) {
        /* A thread that died here left a block, or nothing. */
        if (robust_take(&shared->growth) == ROBUST_DIED)
            growth_repair(shared);
        err = record_new(shared, &index);
        robust_give(&shared->growth);
    }
    robust_give(&shared->collecting);
    if (err)
        return err;
    me->index = index;
    me->record = &shared->record[index];
    atomic_store_explicit(&me->record->process, life->env.process,
                          memory_order_relaxed);
    return 0;
}

void life_thread_end(struct life_thread *me)
{
    pthread_mutex_t *lock = &me->record->lock;

    me->record = NULL;
    me->free = NULL;
    robust_give(lock);
}

void life_stats(const struct life *life, struct life_stats *stats_out)
{
    struct life_shared *shared = life->shared;
    uint32_t records =
        atomic_load_explicit(&shared->records, memory_order_acquire);

    /* Relaxed: counts. */
#define READ(name) atomic_load_explicit(&shared->name, memory_order_relaxed)
    *stats_out = (struct life_stats){
        .lingering_bytes = READ(lingering_bytes),
        .cycles = READ(cycles),
        .quick = READ(quick),
        .exact = READ(exact),
        .disturbed = READ(disturbed),
        .freed = READ(freed),
    };
#undef READ
    for (int i = 0; i < LIFE_CLASSES; i++)
        stats_out->live +=
            atomic_load_explicit(&shared->class[i].live, memory_order_relaxed);
    for (uint32_t i = 0; i < records; i++)
        for (int class = 0; class < 2; class ++)
            stats_out->outstanding +=
                atomic_load_explicit(&shared->record[i].begun[class],
                                     memory_order_relaxed) -
                atomic_load_explicit(&shared->record[i].ended[class],
                                     memory_order_relaxed);
}
