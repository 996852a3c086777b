/* What threads do with leases, without locks: see lease.h. */
#include "runtime/native/lease.h"

#include <sched.h>
#include <stdlib.h>

#include "memory/control.h"
#include "runtime/death.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/thread.h"
#include "runtime/waiting.h"

/* queue_up(): look again. */
#define NATIVE_LEASE_LOOK (NATIVE_LEASE_NOT + 1)

_Thread_local struct native_lease_thread *native_leases_mine
    __attribute__((tls_model("initial-exec")));

static struct native_lease_slot *slot_of(const struct native_lease *l)
{
    return atomic_load_explicit(&l->slot, memory_order_relaxed);
}

static inline bool swap(const struct native_lease *l, uint64_t *word,
                        uint64_t next)
{
    return atomic_compare_exchange_strong_explicit(&slot_of(l)->word, word,
                                                   next, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static int took(struct native_lease *l, uint64_t word)
{
    passed_take();
    l->word = word;
    native_lease_add(NATIVE_LEASE_TAKES);
    return 0;
}

static _Atomic uint64_t *my_wait(void)
{
    return &native.shared->locals[runtime.local].state;
}

/* The slot was emptied while this rank waited in it: by whoever has the lock,
 * who says at once what came of it. */
static int wait_ended(const struct native_lease_slot *slot)
{
    uint64_t since = runtime_now_us();

    while (atomic_load_explicit(my_wait(), memory_order_acquire) ==
           wait_of(slot, LEASE_WAIT_GOES_ON)) {
        if (death_check(since))
            return DRASYNC_EPEER;
        sched_yield();
    }
    return atomic_load(my_wait()) == wait_of(slot, LEASE_WAIT_CAME)
               ? 0
               : NATIVE_LEASE_NOT;
}

/* This rank waits in @word, as my_wait() says. */
static int wait_in_word(struct native_lease *l, uint64_t word,
                        uint64_t deadline_us)
{
    uint64_t now = word;
    int err;

    /* The flags come and go while it waits. */
    do {
        err = wait_word(&slot_of(l)->word, now, WORD_ASLEEP, deadline_us);
        now = atomic_load_explicit(&slot_of(l)->word, memory_order_acquire);
    } while (!err && word_waits_as(now, word));
    if (err == DRASYNC_EPEER)
        return err;
    while (err && word_waits_as(now, word)) {
        uint64_t left = word_leave(now);

        if (swap(l, &now, left)) {
            l->word = left;
            return err;
        }
    }
    if (word_same(now, word) && word_held_by(now, runtime.local)) {
        native_lease_add(NATIVE_LEASE_WAITS);
        return took(l, now);
    }
    l->address = 0;
    err = wait_ended(slot_of(l));
    if (err)
        return err;
    native_lease_add(NATIVE_LEASE_WAITS);
    return took(l, 0);
}

/* Wait in *@word, if it is that; else *word is what it is, and
 * NATIVE_LEASE_LOOK. */
static int queue_up(struct native_lease *l, uint64_t *word,
                    uint64_t deadline_us)
{
    uint64_t none = 0, waits = word_wait(*word, runtime.local);
    int err = NATIVE_LEASE_LOOK;

    /* Another thread of this rank waits somewhere. */
    if (!atomic_compare_exchange_strong(
            my_wait(), &none, wait_of(slot_of(l), LEASE_WAIT_GOES_ON)))
        return NATIVE_LEASE_NOT;
    if (swap(l, word, waits)) {
        struct waiting w = {
            .what = WAITING_REGION,
            .mode = DRASYNC_WRITE,
            .address = l->address,
            .timed = deadline_us != WAIT_FOREVER,
        };

        waiting_begin(&w);
        err = wait_in_word(l, waits, deadline_us);
        waiting_end(&w);
    }
    /* If the slot was emptied after all that does not matter any more. */
    atomic_store_explicit(my_wait(), 0, memory_order_release);
    return err;
}

/* The word is not as it was when this thread left it; maybe @word. */
static int take_or_wait(struct native_lease *l, uint64_t word,
                        uint64_t deadline_us)
{
    int err;

    /* Most likely another rank has the hold: so no look before the swap. */
    if (!deadline_us || word_state(word) != WORD_HELD ||
        word_holder(word) == runtime.local || word_waiter(word) >= 0)
        word = atomic_load_explicit(&slot_of(l)->word, memory_order_acquire);
    for (;;) {
        if (!word_same(word, l->word)) {
            l->address = 0;
            return NATIVE_LEASE_NOT;
        }
        if (word & WORD_LOOKS && native_keep_over(slot_of(l)))
            return NATIVE_LEASE_NOT;
        if (word_state(word) == WORD_FREE) {
            if (swap(l, &word, word_take(word, runtime.local)))
                return took(l, word_take(word, runtime.local));
            continue;
        }
        /* Another thread of this rank has it, or waits; or another rank. */
        if ((word & WORD_READ) || word_holder(word) == runtime.local ||
            word_waiter(word) >= 0)
            return NATIVE_LEASE_NOT;
        if (!deadline_us)
            return DRASYNC_EAGAIN;
        err = queue_up(l, &word, deadline_us);
        if (err != NATIVE_LEASE_LOOK)
            return err;
    }
}

/* Use the shared lease @l once more, or find out what became of it. */
static int use(struct native_lease *l)
{
    if (native_lease_use(l))
        return 0;
    if (atomic_load_explicit(&slot_of(l)->word, memory_order_relaxed) !=
        l->word)
        native_lease_resolve(l, false);
    return NATIVE_LEASE_NOT;
}

int native_lease_take(uint64_t address, enum drasync_mode mode,
                      uint64_t deadline_us)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word;

    if (!l)
        return NATIVE_LEASE_NOT;
    word = l->word;
    if (!(word & WORD_READ) != (mode == DRASYNC_WRITE))
        return NATIVE_LEASE_NOT;
    if (word & WORD_SHARED)
        return use(l);
    return take_or_wait(l, word, deadline_us);
}

int native_lease_give(uint64_t address)
{
    struct native_lease *l = native_lease_of(address);
    uint64_t word, next;

    if (!l)
        return NATIVE_LEASE_NOT;
    word = l->word;
    if (word & WORD_SHARED)
        return native_lease_unuse(l);
    if (!word_held_by(word, runtime.local))
        return NATIVE_LEASE_NOT;
    passed_give();
    do {
        if (!word_same(word, l->word) || !word_held_by(word, runtime.local)) {
            l->address = 0;
            return NATIVE_LEASE_NOT;
        }
        if (word & WORD_LOOKS && native_keep_over(slot_of(l)))
            return NATIVE_LEASE_NOT;
        next = word_waiter(word) >= 0 ? word_take(word, word_waiter(word))
                                      : word_give(word);
    } while (!swap(l, &word, next));
    if (word & WORD_ASLEEP)
        wait_word_wake(&slot_of(l)->word);
    l->word = next;
    native_lease_add(NATIVE_LEASE_GIVES);
    if (next & WORD_LOOKS && native_keep_due(native_leases_mine) &&
        !native_keep_look(native_leases_mine, slot_of(l)) &&
        swap(l, &next, next & ~(uint64_t)WORD_LOOKS))
        l->word = next & ~(uint64_t)WORD_LOOKS;
    return 0;
}

bool native_lease_held(uint64_t address)
{
    const struct native_lease *l = native_lease_of(address);
    uint64_t word;

    if (!l)
        return false;
    word = atomic_load_explicit(&slot_of(l)->word, memory_order_acquire);
    if (word & WORD_SHARED)
        return word == l->word &&
               use_count(atomic_load_explicit(&l->use, memory_order_relaxed));
    return word_same(word, l->word) && word_held_by(word, runtime.local);
}

bool native_lease_mine(uint64_t address)
{
    const struct native_lease *l = native_lease_of(address);

    if (!l)
        return false;
    if (l->word & WORD_SHARED)
        return use_count(atomic_load_explicit(&l->use, memory_order_relaxed));
    return word_held_by(l->word, runtime.local);
}

/* --- Threads -------------------------------------------------------------- */

static _Atomic(struct native_lease_thread *) *my_threads(void)
{
    return &native.shared->locals[runtime.local].threads;
}

/* This thread, which acquires something, is not inside MPI. */
static struct native_lease_thread *mine(struct native_lease_thread *t)
{
    atomic_store_explicit(&t->inside_mpi, 0, memory_order_relaxed);
    waiting_inside_mpi = &t->inside_mpi;
    return t;
}

/* That of a thread that has ended, or a new one; NULL: no memory. */
static struct native_lease_thread *thread_new(void)
{
    struct native_lease_thread *t;
    void *v;

    for (t = atomic_load(my_threads()); t; t = t->next) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&t->taken, &unused, 1)) {
            for (int i = 0; i < NATIVE_LEASES_KNOWN; i++)
                t->known[i].address = 0;
            return mine(t);
        }
    }
    if (control_alloc_zero(&runtime.space, sizeof(*t), &v))
        return NULL;
    t = v;
    atomic_store(&t->taken, 1);
    t->next = atomic_load(my_threads());
    while (!atomic_compare_exchange_weak(my_threads(), &t->next, t))
        ;
    return mine(t);
}

/* Where this thread is to note a lease of the region at @address: where it knows
 * an older one, or where there is none, or in place of another one.  NULL: both
 * places are in use, and whoever ends those leases must find the uses there. */
static struct native_lease *place_for(uint64_t address, uint64_t word)
{
    struct native_lease *set = native_lease_set(native_leases_mine, address);
    /* Either alternately, more or less: a slot's tickets count. */
    struct native_lease *l = &set[word >> WORD_TICKET_BIT & 1];

    for (int i = NATIVE_LEASE_WAYS; i-- > 0;)
        if (!set[i].address)
            l = &set[i];
    for (int i = 0; i < NATIVE_LEASE_WAYS; i++)
        if (set[i].address == address)
            l = &set[i];
    return use_count(atomic_load_explicit(&l->use, memory_order_relaxed)) ? NULL
                                                                          : l;
}

bool native_lease_note(uint64_t address, struct native_lease_slot *slot,
                       uint64_t word)
{
    struct native_lease *l;

    if (runtime.local >= WORD_LOCALS_MAX || native.check)
        return false;
    if (!native_leases_mine) {
        if (thread_watch())
            return false;
        native_leases_mine = thread_new();
        if (!native_leases_mine)
            return false;
    }
    l = place_for(address, word);
    if (!l)
        return false;
    l->address = address;
    l->word = word;
    atomic_store_explicit(&l->slot, slot, memory_order_relaxed);
    atomic_store_explicit(&l->use,
                          word & WORD_SHARED ? use_of(word, slot->number) : 0,
                          memory_order_relaxed);
    return true;
}

void native_lease_count(void)
{
    static const enum runtime_counter counters[NATIVE_LEASE_COUNTS] = {
        [NATIVE_LEASE_TAKES] = RUNTIME_COUNT_ACQUIRES,
        [NATIVE_LEASE_WAITS] = RUNTIME_COUNT_ACQUIRES_WAITED,
        [NATIVE_LEASE_GIVES] = RUNTIME_COUNT_RELEASES,
    };

    for (struct native_lease_thread *t = atomic_load(my_threads()); t;
         t = t->next)
        for (int i = 0; i < NATIVE_LEASE_COUNTS; i++) {
            uint64_t now =
                atomic_load_explicit(&t->count[i], memory_order_relaxed);
            uint64_t before =
                atomic_load_explicit(&t->counted[i], memory_order_relaxed);

            if (now != before &&
                atomic_compare_exchange_strong(&t->counted[i], &before, now))
                runtime_count(native.self, counters[i], now - before);
        }
}

void native_lease_forget(void)
{
    waiting_inside_mpi = NULL;
    if (native_leases_mine)
        atomic_store(&native_leases_mine->taken, 0);
    native_leases_mine = NULL;
}
