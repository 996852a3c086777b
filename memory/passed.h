/*
 * passed.h - for ThreadSanitizer: memory that came through another process.
 *
 * A process frees an object or hands it over; another takes it, fills it and
 * hands it back, or frees it, and the first uses it again.  ThreadSanitizer
 * sees only one process, and takes the two uses in it for a race, as what
 * ordered them was done by the other.  So where several processes share a node,
 * whoever takes a shared lock, or a list that another process filled, comes
 * after all that this process did before it gave any of them.  With one process
 * to a node, locks are told apart as usual.  Without ThreadSanitizer all this
 * does nothing.
 */
#ifndef MEMORY_PASSED_H
#define MEMORY_PASSED_H

#include "memory/sanitizer.h"

/* Several processes use this node's memory. */
void passed_set_shared(void);

#if SANITIZER_THREAD

#include <sanitizer/tsan_interface.h>

extern _Bool passed_shared; /* set before threads are started */

/* From here on other processes may use what this one has written so far. */
static inline void passed_give(void)
{
    if (passed_shared)
        __tsan_release(&passed_shared);
}

/* From here on this thread may read what other processes have written. */
static inline void passed_take(void)
{
    if (passed_shared)
        __tsan_acquire(&passed_shared);
}

extern char passed_far;

/* Ordering by messages between nodes: all before passed_far_give() precedes
 * what follows its counterpart, in any process. */
static inline void passed_far_give(void)
{
    __tsan_release(&passed_far);
}

static inline void passed_far_take(void)
{
    __tsan_acquire(&passed_far);
}

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/* Between the two, this thread reads and writes the program's memory for
 * another process.  What orders that is the program's messages, which nobody
 * sees. */
static inline void passed_unseen_begin(void)
{
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void passed_unseen_end(void)
{
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#else

static inline void passed_unseen_begin(void)
{
}

static inline void passed_unseen_end(void)
{
}

static inline void passed_give(void)
{
}

static inline void passed_take(void)
{
}

static inline void passed_far_give(void)
{
}

static inline void passed_far_take(void)
{
}

#endif

#endif
