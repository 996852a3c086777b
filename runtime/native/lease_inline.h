/*
 * lease_inline.h - the shortest way of lease.h: a hold that this rank
 * left, and that nobody has touched since, is taken and given back by one
 * compare-and-swap each, in code short enough to be part of the public calls.
 * Whatever else is true is a matter for native_acquire() and native_release().
 *
 * Callers have looked whether the runtime runs.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H
#define DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H

#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/native/lease_word.h"
#include "runtime/process.h"

/* What a thread was told of: where, and what the word was when it saw it last.
 */
struct native_left {
    uint64_t address; /* 0: nothing */
    uint64_t word;
    struct native_fast_slot *slot;
};

#define NATIVE_LEFT_SLOTS 64

enum {
    NATIVE_FAST_TAKES,
    NATIVE_FAST_WAITS,
    NATIVE_FAST_GIVES,
    NATIVE_FAST_COUNTS,
};

/* Of one thread; never freed, but used again by other threads. */
struct native_fast_thread {
    _Atomic uint64_t count[NATIVE_FAST_COUNTS]; /* the thread adds; */
    /* Of these the rank's counters know. */
    _Atomic uint64_t counted[NATIVE_FAST_COUNTS];
    struct native_left left[NATIVE_LEFT_SLOTS];
    struct native_fast_thread *next;
    _Atomic uint32_t taken; /* by a thread */
};

/* This thread's; NULL: none yet. */
extern _Thread_local struct native_fast_thread *native_fast_mine
    __attribute__((tls_model("initial-exec")));

static inline struct native_left *native_left_at(struct native_fast_thread *t,
                                                 uint64_t address)
{
    return &t->left[space_page_hash(address, 6)];
}

_Static_assert(NATIVE_LEFT_SLOTS == 1 << 6, "native_left_at() keeps 6 bits");

/* What this thread was told of the region at @address, which may be anything;
 * NULL: nothing. */
static inline struct native_left *native_left_of(uint64_t address)
{
    struct native_fast_thread *t = native_fast_mine;
    struct native_left *l;

    if (__builtin_expect(!t || !address, 0))
        return NULL;
    l = native_left_at(t, address);
    return l->address == address ? l : NULL;
}

static inline void native_fast_add(unsigned which)
{
    _Atomic uint64_t *count = &native_fast_mine->count[which];

    atomic_store_explicit(count,
                          atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The word is @word no more, but @next.  False: it was something else. */
static inline bool native_left_pass(struct native_left *l, uint64_t word,
                                    uint64_t next)
{
    if (!atomic_compare_exchange_strong_explicit(&l->slot->word, &word, next,
                                                 memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    l->word = next;
    return true;
}

/* Take a hold that was left, as it was left; @mode may be anything.  False: not
 * that way. */
static inline bool native_fast_take_own(uint64_t address,
                                        enum drasync_mode mode)
{
    struct native_left *l = native_left_of(address);
    uint64_t word, wanted = mode == DRASYNC_READ ? WORD_FREE | WORD_READ
                                                 : (uint64_t)WORD_FREE;

    if (!l || (mode != DRASYNC_READ && mode != DRASYNC_WRITE))
        return false;
    word = l->word;
    if ((word & (WORD_STATES | WORD_READ)) != wanted ||
        !native_left_pass(l, word, word_take(word, runtime.local)))
        return false;
    passed_take();
    native_fast_add(NATIVE_FAST_TAKES);
    return true;
}

/* Leave it again, if nobody waits for it.  False: not that way. */
static inline bool native_fast_give_own(uint64_t address)
{
    struct native_left *l = native_left_of(address);
    uint64_t word;

    if (!l)
        return false;
    word = l->word;
    if (!word_held_by(word, runtime.local) || word_waiter(word) >= 0)
        return false;
    passed_give();
    if (!native_left_pass(l, word, word_give(word)))
        return false;
    native_fast_add(NATIVE_FAST_GIVES);
    return true;
}

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H */
