/*
 * queue_lock_state.h - the queue of a lock of queue_lock.h: how its tail names
 * entries, and who comes after whom.  For queue_lock*.c only.
 *
 * The functions are for any thread that may send messages; the asking ones run
 * on the node of the tail, those that say who is next on the node of the entry.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_STATE_H
#define DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/control.h"
#include "runtime/process.h"
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
 * A successor may link itself to an entry that was released and reused once,
 * never twice: the second reuse needs the lock, which the successor precedes.
 * So a small count of times is enough.
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

/* --- Messages (queue_lock_wire.c) ----------------------------------------- */

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

/* --- The queue (queue_lock_queue.c) --------------------------------------- */

/* @who has the lock now; or @result is what became of its try. */
int queue_give(uint64_t who, int result);

/* @who comes after @before, whose entry is here.  False: @before released the
 * lock before it knew, so @who has it. */
bool queue_follow(uint64_t before, uint64_t who);

/*
 * @who asks, at @tail's node.  0: it has the lock; else who it waits for:
 * somebody here who knows, or somebody elsewhere who is told.
 */
uint64_t queue_ask(struct queue_tail *tail, uint64_t who);

/* The same if nobody has the lock, or waits.  0: @who has it; else who was the
 * last, and is so still as far as is known here. */
uint64_t queue_try(struct queue_tail *tail, uint64_t who);

/* @who was the last, and has released the lock.  False: somebody came since. */
bool queue_leave(struct queue_tail *tail, uint64_t who);

#endif /* DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_STATE_H */
