/*
 * queue_lock_queue.h - the queue of a lock of runtime/services/queue_lock.h:
 * how its tail names entries, and who comes after whom.
 *
 * The functions are for any thread that may send messages; the asking ones run
 * on the node of the tail, those that say who is next on the node of the entry.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_QUEUE_H
#define DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/control.h"
#include "memory/passed.h"
#include "runtime/runtime.h"
#include "runtime/wait.h"

/* In control memory; what was freed has no magic any more. */
struct queue_entry {
    uint32_t magic;
    struct waiter waiter;  /* for the lock; or for the answer to a try */
    _Atomic uint64_t next; /* NAME of who comes next, or nobody yet: NONE */
};

struct queue_tail {
    uint32_t magic;
    _Atomic uint32_t left; /* so many LEFTs have come */
    _Atomic uint64_t last; /* NAME of who asked last; 0: the lock is free */
};

#define ENTRY_MAGIC UINT32_C(0x6c6f656e)
#define TAIL_MAGIC  UINT32_C(0x6c6f7461)

/*
 * A NAME says which rank's entry, and which time it asks: its node, the place
 * of its entry in that node's control memory, the time, and a bit that is set.
 * NONE is the time and a bit that is not.
 *
 * Who is after somebody in the queue but has not said so yet may find that the
 * other one has given the lock back, and asks again; but not for the second
 * time, as he would have to have it before.  So few bits tell these times
 * apart.
 */
#define NAME_BIT        UINT64_C(1)
#define NAME_TIME_BIT   1
#define NAME_TIME_BITS  7
#define NAME_PLACE_BIT  (NAME_TIME_BIT + NAME_TIME_BITS)
#define NAME_PLACE_BITS 36
#define NAME_NODE_BIT   (NAME_PLACE_BIT + NAME_PLACE_BITS)
#define NAME_NODE_BITS  (64 - NAME_NODE_BIT)
#define NAME_TIME_MASK  (((UINT64_C(1) << NAME_TIME_BITS) - 1) << NAME_TIME_BIT)
#define NAME_PLACE_MASK \
    (((UINT64_C(1) << NAME_PLACE_BITS) - 1) << NAME_PLACE_BIT)

/* --- Messages: runtime/services/queue_lock_wire.c ------------------------- */

/*
 * To the node of a tail: @who asks, or tries.  To the node of an entry: @who
 * comes after @before; @who has it, or that is what became of its try.  To the
 * node of a tail: @who was the last, and has given the lock back.  To the node
 * of @last: when what was sent from there has come here, decide the try of
 * @who.
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int queue_tell_ask(int node, uint64_t tail, uint64_t who, bool try);
int queue_tell_follow(uint64_t before, uint64_t who);
int queue_tell_given(uint64_t who, int result);
int queue_tell_left(int node, uint64_t tail, uint64_t who);
int queue_tell_push(uint64_t last, uint64_t tail, uint64_t who);

/* --- Names ---------------------------------------------------------------- */

static inline int queue_node(uint64_t name)
{
    return (int)(name >> NAME_NODE_BIT);
}

static inline bool queue_is_here(uint64_t name)
{
    return queue_node(name) == runtime.node;
}

/* The entry, on its node. */
static inline struct queue_entry *queue_entry_of(uint64_t name)
{
    uint64_t place = (name & NAME_PLACE_MASK) >> NAME_PLACE_BIT;

    return (void *)(runtime.space.control + place * CONTROL_ALIGN_BYTES);
}

static inline uint64_t queue_none(uint64_t name)
{
    return name & NAME_TIME_MASK;
}

static inline uint64_t next_time(uint64_t name)
{
    return (name & ~NAME_TIME_MASK) |
           ((name + (UINT64_C(1) << NAME_TIME_BIT)) & NAME_TIME_MASK);
}

/* --- The queue ------------------------------------------------------------ */

/* @who has the lock now; or what became of its try. */
static inline int queue_give(uint64_t who, int result)
{
    if (!queue_is_here(who))
        return queue_tell_given(who, result);
    waiter_wake(&queue_entry_of(who)->waiter, result);
    return 0;
}

/* @who comes after @before, whose entry is here.  False: that gave the lock
 * back before it knew, so who has it. */
static inline bool queue_follow(uint64_t before, uint64_t who)
{
    uint64_t none = queue_none(before);

    passed_give();
    if (atomic_compare_exchange_strong_explicit(
            &queue_entry_of(before)->next, &none, who, memory_order_acq_rel,
            memory_order_acquire))
        return true;
    passed_take();
    return false;
}

/*
 * @who asks, at @tail's node.  0: it has the lock; else who it waits for:
 * somebody here who knows, or somebody elsewhere who is told.
 */
static inline uint64_t queue_ask(struct queue_tail *tail, uint64_t who)
{
    uint64_t before;

    passed_give();
    before = atomic_exchange_explicit(&tail->last, who, memory_order_acq_rel);
    passed_take();
    if (!before)
        return 0;
    if (queue_is_here(before))
        return queue_follow(before, who) ? before : 0;
    if (queue_tell_follow(before, who))
        runtime_poison("no memory to wait for a lock");
    return before;
}

/* The same if nobody has the lock, or waits.  0: @who has it; else who was the
 * last, and is so still as far as is known here. */
static inline uint64_t queue_try(struct queue_tail *tail, uint64_t who)
{
    uint64_t last = 0;

    passed_give();
    atomic_compare_exchange_strong_explicit(
        &tail->last, &last, who, memory_order_acq_rel, memory_order_acquire);
    passed_take();
    return last;
}

/* @who was the last, and has given the lock back. */
static inline bool queue_leave(struct queue_tail *tail, uint64_t who)
{
    passed_give();
    return atomic_compare_exchange_strong_explicit(
        &tail->last, &who, 0, memory_order_acq_rel, memory_order_relaxed);
}

#endif /* DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_QUEUE_H */
