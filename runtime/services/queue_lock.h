/*
 * queue_lock.h - locks of many ranks that are had in the order in which they
 * were asked for, wherever the ranks are; for front ends.
 *
 * A queue in the manner of Mellor-Crummey and Scott.  A lock has a *tail* on
 * the node of one rank, its home, that names who asked last, and an *entry* for
 * each rank on that rank's own node, where it waits, and where whoever asked
 * next says so.  On the home's node all is done by the processor's atomic
 * operations. Elsewhere by messages, which progress threads answer:
 *
 *   ASK     to the home: who asks becomes the last.  If nobody was before:
 *   GIVEN   to who asked: it has the lock; else
 *   FOLLOW  from the home to the node of who was before: who comes next
 *   LEFT    to the home: I was the last, and have given the lock back
 *   PUSH    from the home to the node of who is the last: is that so still?
 *   PUSHED  the answer, which comes after every LEFT that was sent before
 *
 * Nobody waits for LEFT.  If somebody came after all, his FOLLOW finds that the
 * lock was given back, and is answered with GIVEN at once.  So a lock that
 * nobody else wants costs a rank of another node one round trip, and one
 * message that goes with the next one; and a lock that others wait for is
 * handed on by one message, on a node by one store and perhaps a wake.
 *
 * A try must not take a LEFT that is under way for somebody who has the lock:
 * the program may know, by its own messages, that he gave it back.  So where
 * the last is of another node than the home and than who tries, the home sends
 * PUSH, and decides when PUSHED has come.  Nobody waits for that but who tries.
 *
 * The ranks that share a lock make it together.  Each calls queue_lock_new(),
 * one of them as its home; they agree that all succeeded and on the home's
 * tail; each calls queue_lock_open().  In the end they agree that none uses it
 * (queue_lock_used()), on the sum of queue_lock_left(), and each calls
 * queue_lock_end() with it.
 *
 * A region's WRITE hold is no such lock, and DART's locks are not made of it:
 *   - A hold is the rank's: WRITE by two threads nests, and one thread may
 *     release what another one took (drasync.h).  A queue lock is a thread's.
 *   - Between nodes holds are not had in the order of asking: while the rank
 *     that gave the region back has credit (runtime/native/keep.h), a REQUEST
 *     waits, and that rank may take the region again before it.
 *   - A region goes to another node by TRANSFER, with what changed of its data,
 *     and SETTLED; before that the REQUEST may be sent on several times
 *     (docs/protocol.md, "Lines").  A lock goes by GIVEN, after ASK and at most
 *     one FOLLOW.
 *   - A region has a page and a record at least, a lock an entry in control
 *     memory for each rank, and a tail.
 * A hold is better where one rank takes the same region again and again: the
 * region stays on its node, which sends nothing, while a rank that is not on
 * the home's node sends ASK each time.  No benchmark compares the two.
 *
 * Threads of a rank wait for each other, in their order, before the rank asks;
 * a try waits for another one, until it is decided, and for nothing else. Take,
 * try and give may be called by any thread at any time in between, but not on
 * the progress thread; the others by one thread at a time.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_H
#define DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/wait.h"

/* Front ends are in other libraries, and this one exports drasync_ only. */
#define queue_lock_new  drasync_queue_lock_new
#define queue_lock_open drasync_queue_lock_open
#define queue_lock_end  drasync_queue_lock_end
#define queue_lock_take drasync_queue_lock_take
#define queue_lock_try  drasync_queue_lock_try
#define queue_lock_give drasync_queue_lock_give
#define queue_lock_free drasync_queue_lock_free

struct queue_entry;
struct queue_tail;
/* What a process has of a lock; nobody looks inside. */
struct queue_lock {
    struct queue_entry *entry;
    struct queue_tail *tail;  /* NULL: on another node */
    uint64_t mine;            /* how the tail names our entry, next time */
    _Atomic uintptr_t owner;  /* the thread that has the lock; 0: none here */
    _Atomic uint32_t tickets; /* twice those given; odd: it is a try's */
    struct doorbell served;   /* it has rung as often as one is over */
    struct doorbell tried;    /* rings when a try is decided */
    _Atomic uint32_t left;    /* LEFTs sent */
    int32_t home;             /* node */
    uint64_t tail_there;      /* address on that node */
    bool is_home;             /* this rank made the tail */
};

/*
 * This rank's entry, and if it is the @home, the tail: *tail_out, otherwise 0.
 *   DRASYNC_ENOMEM
 *   DRASYNC_ELIMIT  this job has too many nodes
 */
int queue_lock_new(struct queue_lock *lock, bool home, uint64_t *tail_out);

/* The tail is @tail, on @node. */
void queue_lock_open(struct queue_lock *lock, int node, uint64_t tail);

/* Does a thread of this rank have the lock, or ask for it? */
static inline bool queue_lock_used(const struct queue_lock *lock)
{
    return (atomic_load(&lock->tickets) ^ doorbell_read(&lock->served) << 1) >
           1;
}

/* So many messages to the home tell of releases. */
static inline uint64_t queue_lock_left(const struct queue_lock *lock)
{
    return atomic_load_explicit(&lock->left, memory_order_relaxed);
}

/*
 * Nobody uses the lock any more: give its memory back.  At the home this waits
 * for what is on its way: messages that all ranks together sent, @left.  So it
 * is for a lock that was not opened, with 0.
 *   DRASYNC_EPEER  and the memory is not given back
 */
int queue_lock_end(struct queue_lock *lock, uint64_t left);

/*
 * Wait for the lock, and have it; the try: if nobody has it.
 *   DRASYNC_EINVAL  this thread has it already
 *   DRASYNC_EAGAIN  (try) since it began, somebody had it, or waited
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int queue_lock_take(struct queue_lock *lock);
int queue_lock_try(struct queue_lock *lock);

/*
 * Give it back, or to whoever is next.
 *   DRASYNC_ENOTHELD  this thread does not have it
 *   DRASYNC_ENOMEM    no message can be sent; the thread has it as before
 *   DRASYNC_EPEER
 */
int queue_lock_give(struct queue_lock *lock);

/* The same for whichever thread of this rank has it, which does nothing more
 * with it: that may have ended.  DRASYNC_ENOTHELD: none has. */
int queue_lock_free(struct queue_lock *lock);

#endif /* DRASYNC_RUNTIME_SERVICES_QUEUE_LOCK_H */
