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

#include "memory/biased_lock.h"
#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/native/lease_word.h"
#include "runtime/process.h"

/* A lease that a thread knows: where, and what it last saw in the word. */
struct native_lease {
    uint64_t address; /* 0: nothing */
    uint64_t word;
    /* These two are read by whoever ends a shared lease; the thread alone writes
     * them.  Relaxed but for biased_lock.h's: what the slot is matters only
     * together with a use, which names its lease. */
    _Atomic(struct native_lease_slot *) slot;
    _Atomic uint64_t use; /* lease_word.h */
};

/* What a thread knows is a table like a processor's cache: sets of two places.
 * A program that works on more regions than it has room for takes a step for
 * each (some 300 ns), so it is to have room for hundreds. */
#define NATIVE_LEASE_SET_BITS 8
#define NATIVE_LEASE_WAYS     2
#define NATIVE_LEASES_KNOWN   (NATIVE_LEASE_WAYS << NATIVE_LEASE_SET_BITS)

/* Which of a thread's uses were counted when their lease ended; under the lock of
 * that lease's tree. */
struct native_lease_ended {
    uint64_t use, incarnation;
};

enum {
    NATIVE_LEASE_TAKES,
    NATIVE_LEASE_WAITS,
    NATIVE_LEASE_GIVES,
    NATIVE_LEASE_COUNTS,
};

/* Of one thread, in control memory; never freed, but used again by other threads
 * of the rank. */
struct native_lease_thread {
    _Atomic uint64_t count[NATIVE_LEASE_COUNTS]; /* the thread adds; */
    /* Of these the rank's counters know. */
    _Atomic uint64_t counted[NATIVE_LEASE_COUNTS];
    struct native_lease_thread *next;
    _Atomic uint32_t taken;     /* by a thread, */
    uint32_t skips, skips_left; /* which passes over so many looks (keep.c) */
    uint64_t looked_us;
    _Atomic uint32_t inside_mpi; /* waiting_inside_mpi */
    _Alignas(64) struct native_lease known[NATIVE_LEASES_KNOWN];
    struct native_lease_ended ended[NATIVE_LEASES_KNOWN]; /* of known[i].use */
};

/* This thread's; NULL: none yet. */
extern _Thread_local struct native_lease_thread *native_leases_mine
    __attribute__((tls_model("initial-exec")));

/* The set of places in which @t may know a lease of the region at @address. */
static inline struct native_lease *
native_lease_set(struct native_lease_thread *t, uint64_t address)
{
    return &t->known[NATIVE_LEASE_WAYS *
                     space_page_hash(address, NATIVE_LEASE_SET_BITS)];
}

_Static_assert(NATIVE_LEASE_WAYS == 2, "native_lease_of() looks at two");

/* The lease of the region at @address that this thread knows; @address may be
 * anything.  NULL: none. */
static inline struct native_lease *native_lease_of(uint64_t address)
{
    struct native_lease_thread *t = native_leases_mine;
    struct native_lease *l;

    if (__builtin_expect(!t || !address, 0))
        return NULL;
    l = native_lease_set(t, address);
    if (__builtin_expect(l->address == address, 1))
        return l;
    l++; /* where the second one of a set is noted */
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
    struct native_lease_slot *slot =
        atomic_load_explicit(&l->slot, memory_order_relaxed);

    if (!atomic_compare_exchange_strong_explicit(&slot->word, &word, next,
                                                 memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    l->word = next;
    return true;
}

/* Use the shared lease @l once more.  False: it has ended, and
 * native_lease_take() is next; or that was one time too many. */
static inline __attribute__((always_inline)) bool
native_lease_use(struct native_lease *l)
{
    const struct native_lease_slot *slot =
        atomic_load_explicit(&l->slot, memory_order_relaxed);
    uint64_t use = atomic_load_explicit(&l->use, memory_order_relaxed);

    if (use_count(use) == USE_COUNT_MAX ||
        !biased_enter(&l->use, use + 1, use, &slot->word, &l->word))
        return false;
    passed_take();
    native_lease_add(NATIVE_LEASE_TAKES);
    return true;
}

/* One use less: 0, NATIVE_LEASE_LEFT, or NATIVE_LEASE_NOT: there is none. */
static inline __attribute__((always_inline)) int
native_lease_unuse(struct native_lease *l)
{
    const struct native_lease_slot *slot =
        atomic_load_explicit(&l->slot, memory_order_relaxed);
    uint64_t use = atomic_load_explicit(&l->use, memory_order_relaxed);

    if (!use_count(use))
        return NATIVE_LEASE_NOT;
    passed_give();
    if (!biased_leave_look(&l->use, use - 1, &slot->word, &l->word))
        return NATIVE_LEASE_LEFT;
    native_lease_add(NATIVE_LEASE_GIVES);
    return 0;
}

/* Is it time that @t, this thread, looks whether another node asks for what it
 * has released (native_keep_look())? */
static inline bool native_keep_due(struct native_lease_thread *t)
{
    if (!t->skips_left)
        return true;
    t->skips_left--;
    return false;
}

/* Acquire a lease that is as this thread last saw it; @mode may be anything.
 * False: native_acquire() has to. */
static inline __attribute__((always_inline)) bool
native_lease_take_own(uint64_t address, enum drasync_mode mode)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word, wanted = mode == DRASYNC_READ ? WORD_FREE | WORD_READ
                                                 : (uint64_t)WORD_FREE;

    if (!l || (mode != DRASYNC_READ && mode != DRASYNC_WRITE))
        return false;
    word = l->word;
    if ((word & (WORD_STATES | WORD_READ | WORD_LOOKS | WORD_SHARED)) != wanted)
        return word & WORD_SHARED && mode == DRASYNC_READ &&
               native_lease_use(l);
    if (!native_lease_pass(l, word, word_take(word, runtime.local)))
        return false;
    passed_take();
    native_lease_add(NATIVE_LEASE_TAKES);
    return true;
}

/* Release it, if nobody waits for it: 0, NATIVE_LEASE_LEFT, or NATIVE_LEASE_NOT:
 * native_release() has to. */
static inline __attribute__((always_inline)) int
native_lease_give_own(uint64_t address)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word;

    if (!l)
        return NATIVE_LEASE_NOT;
    word = l->word;
    if (!word_held_by(word, runtime.local) || word_waiter(word) >= 0 ||
        word & WORD_LOOKS)
        return word & WORD_SHARED ? native_lease_unuse(l) : NATIVE_LEASE_NOT;
    passed_give();
    if (!native_lease_pass(l, word, word_give(word)))
        return NATIVE_LEASE_NOT;
    native_lease_add(NATIVE_LEASE_GIVES);
    return 0;
}

#endif /* DRASYNC_RUNTIME_NATIVE_LEASE_INLINE_H */
