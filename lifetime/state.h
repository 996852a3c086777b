/*
 * state.h - what the files of lifetime/ have in common.
 */
#ifndef LIFETIME_STATE_H
#define LIFETIME_STATE_H

#include "lifetime/lifetime.h"

/* --- robust.c: locks that outlive their holders --------------------------- */

enum robust { ROBUST_TAKEN, ROBUST_DIED, ROBUST_BUSY };

/* 0 or DRASYNC_EINTERNAL. */
int robust_open(pthread_mutex_t *lock);

/* Take it: ROBUST_TAKEN, or ROBUST_DIED: taken, its last holder died with it, so
 * what it guards is to be looked at; ROBUST_BUSY: not taken, who asks holds it
 * itself, or (robust_try()) another thread does. */
enum robust robust_take(pthread_mutex_t *lock);
enum robust robust_try(pthread_mutex_t *lock);
void robust_give(pthread_mutex_t *lock);

/* What was stored before is there if the process dies after this: the compiler
 * does not move stores across.  Others see it by the lock, which the kernel marks
 * when its holder dies. */
static inline void said(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* --- blocks.c: memory ----------------------------------------------------- */

/* An empty block of @slots slots of @slot_bytes, at the head of the list @head:
 * @init gets it first.  Its offset, or 0: the memory is used up. */
typedef void block_init_fn(struct life_shared *shared, struct life_block *b,
                           uint64_t slot_bytes);
uint64_t block_new(struct life *life, _Atomic uint64_t *head, uint32_t slots,
                   uint64_t slot_bytes, uint32_t owner, block_init_fn *init);

/* Who held the lock of growth died. */
void growth_repair(struct life_shared *shared);

static inline void *life_at(const struct life_shared *shared, uint64_t offset)
{
    return (void *)((uintptr_t)shared + offset);
}

static inline uint64_t life_offset(const struct life_shared *shared,
                                   const void *ptr)
{
    return (uint64_t)((uintptr_t)ptr - (uintptr_t)shared);
}

static inline struct life_transient *
block_transient(const struct life_shared *shared, struct life_block *b,
                uint32_t i)
{
    return (struct life_transient *)(uintptr_t)(b->slot +
                                                i * shared->transient_bytes);
}

/* Each block of a list, each slot of a block.  Acquire pairs with the release of
 * block_new(). */
#define FOR_BLOCKS(shared, b, head)                                         \
    for (uint64_t at_ = atomic_load_explicit((head), memory_order_acquire); \
         at_ && ((b) = life_at((shared), at_), true); at_ = (b)->next)

/* --- thread.c ------------------------------------------------------------- */

/* The record's last thread died: finish what it was about.  Under the record's
 * and the collector's lock. */
void record_repair(struct life_thread *me, uint32_t index);

/* life_recover(), under the collector's lock. */
void records_recover(struct life_thread *me);

/* --- pool.c: objects ------------------------------------------------------ */

/* A free object of @class with @word; 0: no memory. */
uint64_t object_take(struct life *life, uint32_t class, uint64_t word);
void object_give(struct life *life, uint64_t object);

/* The memory is nobody's any more: ASan lets others have it. */
void pool_close(struct life_shared *shared);

/* Its end is called, and it is given back. */
void object_end(struct life_thread *me, uint64_t object);

/* --- object.c ------------------------------------------------------------- */

/* It lies on the list of eligible objects, and they are so many bytes more. */
void eligible_push(struct life_shared *shared, uint64_t object);

/* Do @limit bytes lie there?  Relaxed: a hint.  Signed, because the
 * sum is not exact after a death. */
static inline bool lingers_over(const struct life_shared *shared,
                                uint64_t limit)
{
    return (int64_t)atomic_load_explicit(&shared->lingering_bytes,
                                         memory_order_relaxed) >=
           (int64_t)limit;
}

/* It is time, perhaps for the caller. */
static inline bool life_is_due(const struct life_shared *shared)
{
    return lingers_over(
        shared, atomic_load_explicit(&shared->due_bytes, memory_order_relaxed));
}

/* So many that who makes objects has to wait for the cycle under way. */
static inline bool life_is_overdue(const struct life_shared *shared)
{
    return lingers_over(
        shared, atomic_load_explicit(&shared->due_bytes, memory_order_relaxed) +
                    shared->linger_bytes);
}

/* --- cycle.c, cycle_lists.c ----------------------------------------------- */

/* A cycle, under the lock; @exact: the look at all slots is not put off.  How
 * many objects ended. */
uint64_t cycle_run(struct life_thread *me, bool exact);

/* Mark what transients refer to; @eligible: of the eligible objects only. */
void cycle_look(struct life_shared *shared);

/* Take the collector's lock; if its last holder died, finish its work.
 * ROBUST_TAKEN or ROBUST_BUSY. */
enum robust collector_take(struct life_thread *me, bool wait);

/* What became eligible goes onto `young`. */
void cycle_take(struct life_shared *shared);

/* End those of @list that have a count of 1 and were not seen by look number
 * @look (0: all); take off those that have more.  How many ended. */
uint64_t cycle_settle(struct life_thread *me, uint64_t *list, uint64_t look);

/* After a death: the bytes of all lists are counted anew. */
void lingering_recount(struct life_shared *shared);

/* What a collector that died left behind is whole again. */
void cycle_repair(struct life_thread *me);

/* Is it on one of the lists?  Under the lock. */
bool cycle_has(const struct life_shared *shared, uint64_t object);

/* --- hybrid.c ------------------------------------------------------------- */

uint64_t hybrid_cycle(struct life_thread *me);

static inline uint64_t object_count(uint64_t word)
{
    return word & LIFE_COUNT;
}

static inline uint32_t object_queuer(uint64_t word)
{
    return (uint32_t)(word >> LIFE_QUEUED & LIFE_QUEUER);
}

#endif
