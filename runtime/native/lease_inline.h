/*
 * lease_inline.h - the usual case of lease.h: a lease of this rank that nobody
 * has touched since is acquired and released by one compare-and-swap each, in
 * code short enough to be part of the public calls.  native_acquire() and
 * native_release() do the other cases.
 *
 * Callers have looked whether the runtime runs.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H
#define DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H

#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/native/lease_word.h"
#include "runtime/process.h"

/* A lease that a thread knows: where, and what it last saw in the word. */
struct native_lease {
    uint64_t address; /* 0: nothing */
    uint64_t word;
    struct native_lease_slot *slot;
};

#define NATIVE_LEASES_KNOWN 64

enum {
    NATIVE_LEASE_TAKES,
    NATIVE_LEASE_WAITS,
    NATIVE_LEASE_GIVES,
    NATIVE_LEASE_COUNTS,
};

/* Of one thread; never freed, but used again by other threads. */
struct native_lease_thread {
    _Atomic uint64_t count[NATIVE_LEASE_COUNTS]; /* the thread adds; */
    /* Of these the rank's counters know. */
    _Atomic uint64_t counted[NATIVE_LEASE_COUNTS];
    struct native_lease known[NATIVE_LEASES_KNOWN];
    struct native_lease_thread *next;
    _Atomic uint32_t taken; /* by a thread */
};

/* This thread's; NULL: none yet. */
extern _Thread_local struct native_lease_thread *native_leases_mine
    __attribute__((tls_model("initial-exec")));

static inline struct native_lease *
native_lease_at(struct native_lease_thread *t, uint64_t address)
{
    return &t->known[space_page_hash(address, 6)];
}

_Static_assert(NATIVE_LEASES_KNOWN == 1 << 6, "native_lease_at() keeps 6 bits");

/* The lease of the region at @address that this thread knows; @address may be
 * anything.  NULL: none. */
static inline struct native_lease *native_lease_of(uint64_t address)
{
    struct native_lease_thread *t = native_leases_mine;
    struct native_lease *l;

    if (__builtin_expect(!t || !address, 0))
        return NULL;
    l = native_lease_at(t, address);
    return l->address == address ? l : NULL;
}

static inline void native_lease_add(unsigned which)
{
    _Atomic uint64_t *count = &native_leases_mine->count[which];

    atomic_store_explicit(count,
                          atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The word is @word no more, but @next.  False: it was something else. */
static inline bool native_lease_pass(struct native_lease *l, uint64_t word,
                                     uint64_t next)
{
    if (!atomic_compare_exchange_strong_explicit(&l->slot->word, &word, next,
                                                 memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    l->word = next;
    return true;
}

/* Acquire a lease that is as this thread last saw it; @mode may be anything.
 * False: native_acquire() has to. */
static inline bool native_lease_take_own(uint64_t address,
                                         enum drasync_mode mode)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word, wanted = mode == DRASYNC_READ ? WORD_FREE | WORD_READ
                                                 : (uint64_t)WORD_FREE;

    if (!l || (mode != DRASYNC_READ && mode != DRASYNC_WRITE))
        return false;
    word = l->word;
    if ((word & (WORD_STATES | WORD_READ | WORD_LOOKS)) != wanted ||
        !native_lease_pass(l, word, word_take(word, runtime.local)))
        return false;
    passed_take();
    native_lease_add(NATIVE_LEASE_TAKES);
    return true;
}

/* Release it, if nobody waits for it.  False: native_release() has to. */
static inline bool native_lease_give_own(uint64_t address)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word;

    if (!l)
        return false;
    word = l->word;
    if (!word_held_by(word, runtime.local) || word_waiter(word) >= 0 ||
        word & WORD_LOOKS)
        return false;
    passed_give();
    if (!native_lease_pass(l, word, word_give(word)))
        return false;
    native_lease_add(NATIVE_LEASE_GIVES);
    return true;
}

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H */
