/* The collector's lists, its lock, and what a collector that died left. */
#include "state.h"

/* On a list there is a next, or 0; the last one's address. */
static struct life_object *last_of(struct life_shared *shared, uint64_t head,
                                   uint64_t end)
{
    struct life_object *o = life_object(shared, head);

    while (o->next && o->next != end)
        o = life_object(shared, o->next);
    return o;
}

static bool list_has(const struct life_shared *shared, uint64_t head,
                     uint64_t object)
{
    while (head && head != object)
        head = life_object(shared, head)->next;
    return head != 0;
}

/* Put the list @taking in front of @young.  Safe to repeat after a crash. */
static void join_young(struct life_shared *shared)
{
    if (shared->young != shared->taking) {
        last_of(shared, shared->taking, shared->young)->next = shared->young;
        said();
        shared->young = shared->taking;
    }
    said();
    shared->taking = 0;
    said();
}

void cycle_take(struct life_shared *shared)
{
    /* Acquire, here and below, pairs with the release of eligible_push(). */
    uint64_t head =
        atomic_load_explicit(&shared->eligible, memory_order_acquire);

    if (!head)
        return;
    do {
        shared->taking = head;
        said();
    } while (!atomic_compare_exchange_weak_explicit(&shared->eligible, &head, 0,
                                                    memory_order_acquire,
                                                    memory_order_acquire));
    join_young(shared);
}

static void lingers_less(struct life_shared *shared, uint64_t object)
{
    uint32_t class = life_object(shared, object)->class;

    atomic_fetch_sub_explicit(&shared->lingering_bytes,
                              shared->class[class].slot_bytes,
                              memory_order_relaxed);
}

/*
 * @o has, or had since, more than one reference.  Take it off the lists; if its
 * count is 1 again, it goes back to `eligible`.  True: it is there.
 */
static bool let_go(struct life_object *o)
{
    uint64_t word = atomic_load_explicit(&o->word, memory_order_relaxed);
    uint64_t now;

    do
        now = object_count(word) > 1 ? word & ~(LIFE_AGAIN | LIFE_SETTLING |
                                                LIFE_QUEUER << LIFE_QUEUED)
                                     : word & ~LIFE_AGAIN;
    /* Release: who puts it on the list again, and so writes `next`, acquires
     * the word.  Acquire: of count_down(), what it released is ordered before
     * the next cycle, as if it had pushed. */
    while (!atomic_compare_exchange_weak_explicit(
        &o->word, &word, now, memory_order_acq_rel, memory_order_relaxed));
    return object_queuer(now) != 0;
}

/* Let go of it; if its count is 1 again it goes back to `eligible`, where it may
 * be already if who put it there died. */
static void put_back(struct life_shared *shared, uint64_t object, bool again)
{
    if (!again || !cycle_has(shared, object)) {
        if (!let_go(life_object(shared, object)))
            return;
        eligible_push(shared, object);
    }
    /* Relaxed: only a collector, whose lock we have, looks at it. */
    atomic_fetch_and_explicit(&life_object(shared, object)->word,
                              ~LIFE_SETTLING, memory_order_relaxed);
}

/* @settling is on none of our lists any more: what becomes of it?  True: it
 * ended.  @again: who began this died, perhaps in its end, which is not called
 * again. */
static bool settle(struct life_thread *me, bool again)
{
    struct life_shared *shared = me->shared;
    uint64_t object = shared->settling;
    struct life_object *o = life_object(shared, object);
    bool ended =
        atomic_load_explicit(&o->word, memory_order_relaxed) & LIFE_DEAD;

    lingers_less(shared, object);
    if (!ended) {
        put_back(shared, object, again);
    } else if (again) {
        object_give(me->life, object);
    } else {
        object_end(me, object);
    }
    said();
    shared->settling = 0;
    said();
    return ended;
}

/* @o leaves its list; LIFE_SETTLING says so until it is settled.  It is dead if
 * it has had no counted reference but the collector's ever since it came to the
 * list, and so from now on; but not where a look has @kept it. */
static void take_off(struct life_object *o, bool kept)
{
    uint64_t word = atomic_load_explicit(&o->word, memory_order_relaxed), now;

    do {
        now = word | LIFE_SETTLING;
        if (!kept && (object_count(word) == 1 || !LIFE_RULE(COUNT)) &&
            !(word & LIFE_AGAIN))
            now |= LIFE_DEAD;
        /* Acquire pairs with the release in count_down(). */
    } while (!atomic_compare_exchange_weak_explicit(
        &o->word, &word, now, memory_order_acquire, memory_order_relaxed));
}

uint64_t cycle_settle(struct life_thread *me, uint64_t *list, uint64_t look)
{
    struct life_shared *shared = me->shared;
    uint64_t *link = list, freed = 0;

    while (*link) {
        uint64_t object = *link;
        struct life_object *o = life_object(shared, object);
        bool kept = look && o->seen == look;

        if (kept && object_count(atomic_load_explicit(
                        &o->word, memory_order_relaxed)) == 1) {
            link = &o->next;
            continue;
        }
        shared->settling = object;
        said();
        take_off(o, kept);
        *link = o->next;
        said();
        freed += settle(me, false);
    }
    return freed;
}

bool cycle_has(const struct life_shared *shared, uint64_t object)
{
    /* Acquire pairs with eligible_push(): the list below is whole. */
    uint64_t head =
        atomic_load_explicit(&shared->eligible, memory_order_acquire);

    return list_has(shared, head, object) ||
           list_has(shared, shared->young, object) ||
           list_has(shared, shared->waiting, object);
}

static void unlink_from(struct life_shared *shared, uint64_t *list,
                        uint64_t object)
{
    for (uint64_t *link = list; *link; link = &life_object(shared, *link)->next)
        if (*link == object) {
            *link = life_object(shared, object)->next;
            return;
        }
}

static uint64_t list_bytes(const struct life_shared *shared, uint64_t head)
{
    uint64_t bytes = 0;

    for (; head; head = life_object(shared, head)->next)
        bytes += shared->class[life_object(shared, head)->class].slot_bytes;
    return bytes;
}

/* Not exact where others are about to push: by an object of each, for good. */
void lingering_recount(struct life_shared *shared)
{
    uint64_t head =
        atomic_load_explicit(&shared->eligible, memory_order_acquire);

    atomic_store_explicit(&shared->lingering_bytes,
                          list_bytes(shared, head) +
                              list_bytes(shared, shared->young) +
                              list_bytes(shared, shared->waiting),
                          memory_order_relaxed);
}

/* Who was to settle it died before it began, within, or behind: there it may be
 * another object already, or on its way to a list by somebody else. */
static void settle_again(struct life_thread *me)
{
    struct life_shared *shared = me->shared;
    uint64_t object = shared->settling;

    if (atomic_load_explicit(&life_object(shared, object)->word,
                             memory_order_relaxed) &
        LIFE_SETTLING) {
        unlink_from(shared, &shared->young, object);
        unlink_from(shared, &shared->waiting, object);
        settle(me, true);
    }
    shared->settling = 0;
}

void cycle_repair(struct life_thread *me)
{
    struct life_shared *shared = me->shared;
    uint64_t head =
        atomic_load_explicit(&shared->eligible, memory_order_acquire);

    if (shared->young && shared->young == shared->waiting)
        shared->young = 0;
    /* It says so before it takes. */
    if (shared->taking && list_has(shared, head, shared->taking))
        shared->taking = 0;
    if (shared->taking)
        join_young(shared);
    if (shared->settling)
        settle_again(me);
    lingering_recount(shared);
}

enum robust collector_take(struct life_thread *me, bool wait)
{
    pthread_mutex_t *lock = &me->shared->collecting;
    enum robust result = wait ? robust_take(lock) : robust_try(lock);

    if (result == ROBUST_DIED) {
        cycle_repair(me);
        result = ROBUST_TAKEN;
    }
    return result;
}
