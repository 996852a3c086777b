/* The log of frames that are gone, and catching up with it: see punched.h. */
#include "memory/punched.h"

#include <pthread.h>
#include <stdbool.h>

#define TAG_MASK (((uint64_t)1 << PUNCHED_TAG_BITS) - 1)

/* How far this process has caught up; changed under the mutex. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t caught_up;

static uint64_t tagged(uint64_t value, uint32_t number)
{
    return value << PUNCHED_TAG_BITS | (number & TAG_MASK);
}

/*
 * Relaxed: who gets frames in this range, and who sends what lies in them, has
 * taken a lock or a word since, which orders this before it.  One who sees the
 * count but not the words finds another tag.
 */
void punched_add(struct punched *p, uint64_t first, uint64_t pages)
{
    uint32_t number =
        atomic_fetch_add_explicit(&p->count, 1, memory_order_relaxed);
    uint32_t slot = number % PUNCHED_LOGGED;

    atomic_store_explicit(&p->log[slot].first, tagged(first, number),
                          memory_order_relaxed);
    atomic_store_explicit(&p->log[slot].pages, tagged(pages, number),
                          memory_order_relaxed);
}

/* Entry @number; false if it is not there (any more). */
static bool drop_logged(struct punched *p, punched_drop *drop,
                        const struct space *space, uint32_t number)
{
    uint32_t slot = number % PUNCHED_LOGGED;
    uint64_t first =
        atomic_load_explicit(&p->log[slot].first, memory_order_relaxed);
    uint64_t pages =
        atomic_load_explicit(&p->log[slot].pages, memory_order_relaxed);

    if ((first & TAG_MASK) != (number & TAG_MASK) ||
        (pages & TAG_MASK) != (number & TAG_MASK))
        return false;
    drop(space, first >> PUNCHED_TAG_BITS, pages >> PUNCHED_TAG_BITS);
    return true;
}

void punched_catch_up(struct punched *p, punched_drop *drop,
                      const struct space *space)
{
    uint32_t count = punched_count(p), done;

    /* Pairs with the release below: another thread's madvise() has returned. */
    if (atomic_load_explicit(&caught_up, memory_order_acquire) == count)
        return;
    pthread_mutex_lock(&mutex);
    count = punched_count(p);
    done = atomic_load_explicit(&caught_up, memory_order_relaxed);
    if (count - done <= PUNCHED_LOGGED)
        while (done != count && drop_logged(p, drop, space, done))
            done++;
    if (done != count)
        drop(space, 0, 0);
    atomic_store_explicit(&caught_up, count, memory_order_release);
    pthread_mutex_unlock(&mutex);
}
