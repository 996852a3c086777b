/*
 * lifetime.h - when has the last use of an object ended?  Counted references,
 * and references of transient objects that cost a store each, after "Minimizing
 * MPI resource contention in multithreaded multicore environments" (Goodell et
 * al., 2010); docs/lifetimes.md says what is theirs and what is ours.
 *
 * Objects are few and live long (a communicator, a datatype); many threads refer
 * to the same ones.  Transients are many and short (a request).  A counted
 * reference is the naive one: life_ref(), life_unref().  A transient's reference
 * is a store into its slot and changes no count.  An object is born with a count
 * of 2, of its user and of the collector; at 1 it is eligible, and a cycle ends
 * it once no transient refers to it.
 *
 * runtime/ does not use it, for want of an object that ends so.  A request there
 * refers to a region, and the region's delete waits for nobody: it looks for holds
 * and requests where the protocol has them anyway.  What is left is a pool of
 * each thread whose slots stay requests, with a generation, and that
 * runtime/native/request.h has without the counters and marks that transients
 * need.  References to managed regions are counted, each by a call of the
 * program.  The engine is for programs with objects as MPI's: benchmarks/ has one.
 *
 * An engine lives in memory that its user gives, zeroed: private, or shared by
 * processes, at any address in each.  It knows no MPI, sends nothing, has no
 * thread of its own and never sleeps but for a lock.
 *
 * Callers guarantee:
 *   R1  Who stores a reference in a transient, or takes a counted one, has the
 *       object until then: by a counted reference that somebody gives back later
 *       ("later" by happens-before, as their program orders it: MPI_Irecv(comm)
 *       before MPI_Comm_free(&comm)), or by a transient of its own.
 *   R2  What one transient has another gets by life_pass() alone.
 *   R3  A transient is used by one thread at a time.  Another may go on with it,
 *       and end it, if the program orders the two.
 *   R4  A thread uses its own struct life_thread only, which stays where it is.
 *   R5  Counted references make no cycle.
 *
 * Then: an object's end is called once, when nobody has it, and all its uses
 * happen before.  Nothing else is needed of users: no fence, no atomic
 * read-modify-write on the way of a transient.
 *
 * Why.  Say that X became eligible by an unref U, and T is a transient that
 * refers to X by a store.  By R1 T's begin and store happen before U.  A cycle
 * takes X from the list of eligible ones by an acquire that pairs with the
 * release of U's push; so whatever it loads from then on is not older than T's
 * begin and store.
 *
 *   Exact look.  It loads all slots, with acquire.  It finds X in T, or T's slot
 *   as it was cleared later; clearing is a release, so T's uses happen before.
 *   Another transient can have got X after U only from one that had it, by
 *   life_pass(): store to, then count the move (M1), then clear from (M2).  Who
 *   sees M2 cleared in its look sees M1 counted after the look; who has seen M1
 *   before the look sees the store in it.  So a look during which no count of
 *   moves changed saw X wherever it is.
 *
 *   Quick look.  A record counts the transients that its thread began and ended,
 *   in the class (0 or 1) of the epoch that was when they began.  A class is
 *   empty if its ended, summed up first, are as many as its begun.  Each
 *   counted end (release, read with acquire) has its begin counted; each begin
 *   of a T that refers to X is counted, as above.  So equal sums say that all of
 *   those have ended.  A thread that read an old epoch late does no harm: it is
 *   counted in the class that it read, and what it refers to is not X, as it is
 *   not yet ordered before U.  X is dead if the class that is not current was
 *   empty after X was taken, and, after the epoch has changed, the other one is.
 *   life_pass() counts the receiver in the giver's class too, before the giver
 *   can end.
 *
 * Threads and processes that die.  Locks are robust mutexes; a thread's record
 * is a lock that it holds while it runs.  Each word that is changed in more than
 * one step says first what it is about (mark, queuing, taking, settling,
 * growing), so who comes next finishes it.  Transients of a thread that died or
 * ended stay: other threads of its process may end them.  Those of a process
 * that died are ended by who finds it (life_env.gone).  Its counted references
 * stay: their number is not known by process.  An object in whose end it died is
 * given back without another call.
 *
 * Async cancellation inside a call leaves the record to adoption, as death does:
 * such a thread must not call life_thread_end() in its clean-up.
 */
#ifndef LIFETIME_LIFETIME_H
#define LIFETIME_LIFETIME_H

#include "lifetime/layout.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What a reference costs.  The first four are what MPI libraries do; they and
 * the fifth are here to be compared with.  They want one process, and no thread
 * of it to die inside.
 */
enum life_scheme {
    LIFE_NOTHING,    /* no management: objects end in life_close() */
    LIFE_NAIVE,      /* atomic increment; decrement and test */
    LIFE_MUTEX,      /* the same under one mutex */
    LIFE_SUPPRESSED, /* naive, but predefined objects are not counted */
    LIFE_HYBRID,     /* the paper's Fig. 2, with its critical section; R2 is not
                      * kept by it, so nothing may be passed on */
    LIFE_EPOCHS,     /* ours */
};

/* An object; 0: none.  Bit 0: it is predefined. */
typedef uint64_t life_handle;
#define LIFE_PREDEFINED UINT64_C(1)

struct life_options {
    enum life_scheme scheme;
    uint32_t transient_bytes; /* the user's, in each transient */
    /* A cycle begins when so many bytes might have ended and have not; 0:
     * LIFE_LINGER_BYTES.  What lingers is at most twice as much. */
    uint64_t linger_bytes;
    bool shared; /* by processes: ASan is not told what is free */
};

#define LIFE_LINGER_BYTES ((uint64_t)256 << 10)

struct life_thread;

/* What a process brings along. */
struct life_env {
    /* Has that process ended?  NULL: they end together. */
    bool (*gone)(int32_t process);
    int32_t process; /* this one, not 0 */
    void *arg;       /* for `end` of each class */
};

/* An object has ended; @data is its own, @me who found it.  It may give back
 * counted references (life_unref()) and make objects.  It must not wait for
 * another thread's life_ call: it is called with the collector's lock held
 * (naive schemes: without). */
typedef void life_end_fn(struct life_thread *me, uint32_t class, void *data,
                         void *arg);

/* An engine as one process sees it. */
struct life {
    struct life_shared *shared;
    struct life_env env;
    life_end_fn *end[LIFE_CLASSES];
    bool closing; /* in life_close() */
};

/* A thread of it; in memory of its own, best thread-local. */
struct life_thread {
    struct life_transient *free; /* type-stable slots that nobody uses */
    struct life_record *record;
    struct life_shared *shared;
    struct life *life;
    uint64_t sweeping; /* the block to look into next for slots */
    uint32_t index;    /* of its record */
};

/* --- Engines -------------------------------------------------------------- */

/* Make one in @bytes of zeroed @memory, aligned to 64, which must outlive it.
 * 0, DRASYNC_EINVAL (options; fewer bytes than struct life_shared takes), or
 * DRASYNC_EINTERNAL (no robust mutexes). */
int life_open(struct life *life, void *memory, uint64_t bytes,
              const struct life_options *options, const struct life_env *env);

/* Use one that another process made in the same memory.  0 or DRASYNC_EINVAL:
 * there is none, or it is another version's. */
int life_attach(struct life *life, void *memory, const struct life_env *env);

/* Kind number @class of objects, of @bytes each, with @end (or NULL); the same
 * in each process, before the first of them is made.  0, or DRASYNC_EINVAL: it
 * is no number of a class, or has other objects already. */
int life_class(struct life *life, uint32_t class, uint64_t bytes,
               life_end_fn *end);

/* Nobody uses it any more, and no transient is left that matters: end all
 * objects, whoever has them.  Returns how many still had a counted reference.
 * The calling thread's life_thread_end() may follow, and nothing else. */
uint64_t life_close(struct life_thread *me);

/* --- Threads -------------------------------------------------------------- */

/* The calling thread takes part; it may adopt what an ended one left behind.
 * 0; DRASYNC_EAGAIN: LIFE_THREADS do; DRASYNC_EINTERNAL. */
int life_thread_begin(struct life *life, struct life_thread *me);

/* No more.  Its transients stay, for other threads of the process. */
void life_thread_end(struct life_thread *me);

/* End what died processes left behind.  A cycle that finds objects lingering
 * does so too. */
void life_recover(struct life_thread *me);

/* --- Objects -------------------------------------------------------------- */

/* A new object; the caller has a counted reference to it.  May run a cycle.  0,
 * or DRASYNC_ENOMEM. */
int life_new(struct life_thread *me, enum life_scheme scheme, uint32_t class,
             life_handle *handle_out);

/* The same for one that is never given back. */
int life_new_predefined(struct life_thread *me, enum life_scheme scheme,
                        uint32_t class, life_handle *handle_out);

/* A counted reference more, under R1. */
static inline void life_ref(struct life_thread *me, enum life_scheme scheme,
                            life_handle handle);

/* One less.  May run a cycle.  0, or DRASYNC_EINVAL with nothing changed: there
 * is no counted reference (not found out by naive schemes). */
int life_unref(struct life_thread *me, enum life_scheme scheme,
               life_handle handle);

/* Run a cycle with an exact look, unless another thread is at it, and go on
 * while objects end.  How many ended. */
uint64_t life_collect(struct life_thread *me, enum life_scheme scheme);

struct life_stats {
    uint64_t live; /* objects of all classes */
    uint64_t lingering_bytes;
    uint64_t cycles, quick, exact; /* by counters alone; by an exact look */
    uint64_t disturbed;            /* looks in vain: references moved */
    uint64_t freed;
    /* Transients; 0 if there is none and nobody is at work.  One that had a
     * reference passed to it may count twice. */
    uint64_t outstanding;
};
void life_stats(const struct life *life, struct life_stats *stats_out);

/* --- Transients ----------------------------------------------------------- */

/* In the calls below @scheme is the engine's; where it is a constant the others
 * cost nothing. */

static inline struct life_object *life_object(const struct life_shared *shared,
                                              life_handle handle)
{
    return (struct life_object *)((uintptr_t)shared +
                                  (handle & ~LIFE_PREDEFINED));
}

/* The user's part of an object. */
static inline void *life_data(const struct life_thread *me, life_handle handle)
{
    return life_object(me->shared, handle)->data;
}

/* For what follows: when the thread's slots are used up; the count of the naive
 * schemes fell to 0; the slow parts. */
struct life_transient *life_refill(struct life_thread *me,
                                   enum life_scheme scheme);
void life_count_more(struct life_thread *me, enum life_scheme scheme,
                     life_handle handle);
void life_count_less(struct life_thread *me, enum life_scheme scheme,
                     life_handle handle);
void life_join_class(struct life_thread *me, struct life_transient *t,
                     uint64_t classes);
void life_end_slowly(struct life_thread *me, struct life_transient *t);

/* The counting schemes: does a reference of a transient count? */
static inline bool life_counts(enum life_scheme scheme, life_handle handle)
{
    return scheme == LIFE_NAIVE || scheme == LIFE_MUTEX ||
           (scheme == LIFE_SUPPRESSED && !(handle & LIFE_PREDEFINED));
}

/* A transient begins, without references.  NULL: no memory is left. */
static inline __attribute__((always_inline)) struct life_transient *
life_begin(struct life_thread *me, enum life_scheme scheme)
{
    struct life_transient *t = me->free;

    if (__builtin_expect(!t, 0)) {
        t = life_refill(me, scheme);
        if (!t)
            return NULL;
    }
    me->free = t->next_free;
    if (scheme == LIFE_EPOCHS) {
        /* Relaxed: who reads an old epoch is counted in its class (above).  The
         * counter and the mark become visible by what the program orders
         * between this begin and an unref; to who takes over from a thread that
         * died, by the lock. */
        unsigned e =
            atomic_load_explicit(&me->shared->epoch, memory_order_relaxed) & 1;
        uint64_t n =
            atomic_load_explicit(&me->record->begun[e], memory_order_relaxed) +
            1;

        atomic_store_explicit(
            &t->mark,
            (UINT64_C(1) << e) | (uint64_t)e << LIFE_MARK_CLASS |
                (uint64_t)me->index << LIFE_MARK_RECORD | n << LIFE_MARK_SERIAL,
            memory_order_relaxed);
        atomic_store_explicit(&me->record->begun[e], n, memory_order_relaxed);
    }
    return t;
}

/* Reference number @i of @t, which is empty, is to @handle (R1). */
static inline __attribute__((always_inline)) void
life_refer(struct life_thread *me, enum life_scheme scheme,
           struct life_transient *t, int i, life_handle handle)
{
    if (life_counts(scheme, handle))
        life_ref(me, scheme, handle);
    /* Release, for a look that finds this instead of the clearing before it:
     * what came before that happens before the look all the same. */
    atomic_store_explicit(&t->ref[i], handle, memory_order_release);
}

/* It is empty again. */
static inline __attribute__((always_inline)) void
life_drop(struct life_thread *me, enum life_scheme scheme,
          struct life_transient *t, int i)
{
    life_handle handle;

    if (scheme == LIFE_NAIVE || scheme == LIFE_MUTEX ||
        scheme == LIFE_SUPPRESSED) {
        handle = atomic_load_explicit(&t->ref[i], memory_order_relaxed);
        if (handle && life_counts(scheme, handle))
            life_count_less(me, scheme, handle);
    }
    /* Release pairs with the acquire of a look: uses happen before the end. */
    if (scheme != LIFE_NOTHING)
        atomic_store_explicit(&t->ref[i], 0, memory_order_release);
}

/* What @from[j] has @to[i] has, which was empty; @from[j] is empty (R2).  Both
 * have begun. */
static inline void life_pass(struct life_thread *me, enum life_scheme scheme,
                             struct life_transient *to, int i,
                             struct life_transient *from, int j)
{
    life_handle handle =
        atomic_load_explicit(&from->ref[j], memory_order_relaxed);

    assert(scheme != LIFE_HYBRID);
    if (scheme == LIFE_EPOCHS) {
        uint64_t had = atomic_load_explicit(&to->mark, memory_order_relaxed);
        uint64_t give = atomic_load_explicit(&from->mark, memory_order_relaxed);

        /* Before @from can end, which is a release. */
        if (give & ~had & LIFE_MARK_CLASSES && LIFE_RULE(JOIN))
            life_join_class(me, to, give & ~had & LIFE_MARK_CLASSES);
    }
    atomic_store_explicit(&to->ref[i], handle, memory_order_release);
    /* Release: a look that acquires this count before it begins sees the store
     * above. */
    if (scheme == LIFE_EPOCHS)
        atomic_store_explicit(
            &me->record->moved,
            atomic_load_explicit(&me->record->moved, memory_order_relaxed) + 1,
            memory_order_release);
    /* Release: a look that acquires this finds the count changed after it. */
    atomic_store_explicit(&from->ref[j], 0, memory_order_release);
}

/* It ends, with what references it still has.  Any thread of those that use it
 * may call this (R3). */
static inline __attribute__((always_inline)) void
life_end(struct life_thread *me, enum life_scheme scheme,
         struct life_transient *t)
{
    for (int i = 0; i < LIFE_REFS; i++)
        life_drop(me, scheme, t, i);
    if (scheme == LIFE_EPOCHS) {
        uint64_t classes =
            atomic_load_explicit(&t->mark, memory_order_relaxed) &
            LIFE_MARK_CLASSES;
        unsigned e = (unsigned)(classes >> 1);
        uint64_t n;

        if (__builtin_expect(classes == LIFE_MARK_CLASSES, 0)) {
            life_end_slowly(me, t);
            classes = atomic_load_explicit(&t->mark, memory_order_relaxed) &
                      LIFE_MARK_CLASSES;
            e = (unsigned)(classes >> 1);
        }
        n = atomic_load_explicit(&me->record->ended[e], memory_order_relaxed) +
            1;
        atomic_store_explicit(&t->mark,
                              LIFE_MARK_ENDED | (uint64_t)e << LIFE_MARK_CLASS |
                                  (uint64_t)me->index << LIFE_MARK_RECORD |
                                  n << LIFE_MARK_SERIAL,
                              memory_order_relaxed);
        /* Release pairs with the acquire of a quick look, and with that of the
         * slot's owner, who may use the slot again once it sees this count. */
        atomic_store_explicit(&me->record->ended[e], n, memory_order_release);
        if (t->owner != me->index)
            return; /* its owner finds it: life_refill() */
    }
    t->next_free = me->free;
    me->free = t;
}

static inline void life_ref(struct life_thread *me, enum life_scheme scheme,
                            life_handle handle)
{
    if (scheme == LIFE_NOTHING ||
        (scheme == LIFE_SUPPRESSED && handle & LIFE_PREDEFINED))
        return;
    if (scheme == LIFE_MUTEX)
        life_count_more(me, scheme, handle);
    else
        /* Relaxed: the caller has the object (R1).  For a transient's holder
         * the clearing of its slot, a release, comes later. */
        atomic_fetch_add_explicit(&life_object(me->shared, handle)->word, 1,
                                  memory_order_relaxed);
}

#endif
