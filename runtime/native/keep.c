/* How long a rank keeps what other nodes want: see keep.h. */
#include "runtime/native/keep.h"

#include "runtime/messages/messages.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/lease_word.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/wait.h"

/* The least that a grant from another node takes: between these, and learned. */
#define COST_US_MIN 20
#define COST_US_MAX 400

/* A grant adds so many times what it took: little where ranks hand one region to
 * and fro, more where one gathers many, so that a seventh of its time at most goes
 * into that. */
#define WORTH_FIRST ((uint64_t)2)
#define WORTH_NEXT  ((uint64_t)6)

/* How often the leader looks whether what is kept is to be given. */
#define LOOK_US 20

/* So often a thread looks whether another node asks, or seldomer. */
#define LOOK_EACH_US      5
#define LOOKS_SKIPPED_MAX 64

/* A rank has credit for so long at most while others wait. */
#define OTHERS_WAIT_US_MAX ((uint64_t)5 * NATIVE_KEEP_US_MAX)

/* A lease that nobody has asked for in this time is not looked after. */
#define QUIET_US 2000

/* The least that a grant took lately; a longer one moves it a little. */
static _Atomic uint64_t cost_us = COST_US_MAX;

static struct native_credit *credit_of(int local)
{
    return &native.shared->locals[local].credit;
}

/*
 * The words of a rank's credit are written by its own threads and by whoever
 * asks for it.  Relaxed: they are advice on when to give, and who gives takes the
 * lock of the tree.
 */
void native_credit_wait(void)
{
    atomic_store_explicit(&credit_of(runtime.local)->waiting_us,
                          runtime_now_us(), memory_order_relaxed);
}

static void learn(uint64_t took_us)
{
    uint64_t cost = atomic_load_explicit(&cost_us, memory_order_relaxed);

    cost = took_us < cost ? took_us : cost + cost / 32 + 1;
    if (cost < COST_US_MIN)
        cost = COST_US_MIN;
    if (cost > COST_US_MAX)
        cost = COST_US_MAX;
    atomic_store_explicit(&cost_us, cost, memory_order_relaxed);
}

/* The most that a grant adds that is worth so many times what it took.  Credit of
 * more than a first one brings is that of several. */
static uint64_t worth_max(uint64_t times)
{
    return times * 3 / 2 * atomic_load_explicit(&cost_us, memory_order_relaxed);
}

/* What a grant that took @took_us adds to what is @left.  Not all of a long wait
 * counts: that is mostly what the other one kept, and each would keep for longer
 * than the other. */
static uint64_t worth(uint64_t took_us, uint64_t left)
{
    uint64_t times = left ? WORTH_NEXT : WORTH_FIRST;
    uint64_t max = worth_max(times);

    return times * took_us < max ? times * took_us : max;
}

void native_credit_waited(bool granted)
{
    struct native_credit *c = credit_of(runtime.local);
    uint64_t now = runtime_now_us();
    uint64_t since = atomic_load_explicit(&c->waiting_us, memory_order_relaxed);
    uint64_t until = atomic_load_explicit(&c->until_us, memory_order_relaxed);
    uint64_t kept = atomic_load_explicit(&c->kept_us, memory_order_relaxed);
    uint64_t left = until > since ? until - since : 0;

    /* Of several threads that wait at a time the first one told. */
    if (!since)
        return;
    if (kept && kept < now) /* another thread may set it meanwhile */
        atomic_fetch_add_explicit(&c->waits_us,
                                  now - (kept > since ? kept : since),
                                  memory_order_relaxed);
    if (granted) {
        learn(now - since);
        if (!left)
            atomic_store_explicit(&c->began_us, since, memory_order_relaxed);
        if (now >= atomic_load_explicit(&c->barred_us, memory_order_relaxed))
            left += worth(now - since, left);
    }
    if (left > NATIVE_KEEP_US_MAX)
        left = NATIVE_KEEP_US_MAX;
    atomic_store_explicit(&c->until_us, now + left, memory_order_relaxed);
    atomic_store_explicit(&c->used_us, now, memory_order_relaxed);
    atomic_store_explicit(&c->waiting_us, 0, memory_order_relaxed);
}

/* The credit has ended at @end_us. */
static void lose(struct native_credit *c, uint64_t end_us)
{
    uint64_t began = atomic_load_explicit(&c->began_us, memory_order_relaxed);

    if (atomic_load_explicit(&c->kept_us, memory_order_relaxed) &&
        end_us > began && end_us - began <= 2 * OTHERS_WAIT_US_MAX)
        atomic_store_explicit(&c->barred_us, end_us + (end_us - began) / 4 * 3,
                              memory_order_relaxed);
    atomic_store_explicit(&c->until_us, 0, memory_order_relaxed);
    atomic_store_explicit(&c->kept_us, 0, memory_order_relaxed);
    atomic_store_explicit(&c->waits_us, 0, memory_order_relaxed);
}

/* Has the rank kept others for long enough, its own waits until @at not counted
 * as work? */
static bool kept_enough(const struct native_credit *c, uint64_t now,
                        uint64_t at)
{
    uint64_t kept = atomic_load_explicit(&c->kept_us, memory_order_relaxed);
    uint64_t waits = atomic_load_explicit(&c->waits_us, memory_order_relaxed);

    return kept && kept < now &&
           (now - kept > OTHERS_WAIT_US_MAX ||
            at > kept + waits + NATIVE_KEEP_US_MAX);
}

/* How often the rank's threads have acquired something: by steps, and by
 * leases. */
static uint64_t acquired(int local)
{
    uint64_t count = atomic_load_explicit(
        &runtime.shared->ranks[local].counters[RUNTIME_COUNT_ACQUIRES],
        memory_order_relaxed);

    /* Acquire, as what it points to is read. */
    for (const struct native_lease_thread *t = atomic_load_explicit(
             &native.shared->locals[local].threads, memory_order_acquire);
         t; t = t->next)
        count += atomic_load_explicit(&t->count[NATIVE_LEASE_TAKES],
                                      memory_order_relaxed);
    return count;
}

/* Is each thread of the rank that has leases inside MPI? */
static bool inside_mpi(int local)
{
    bool all = false;

    /* Acquire, as what it points to is read. */
    for (const struct native_lease_thread *t = atomic_load_explicit(
             &native.shared->locals[local].threads, memory_order_acquire);
         t; t = t->next) {
        if (!atomic_load_explicit(&t->taken, memory_order_relaxed))
            continue;
        all = atomic_load_explicit(&t->inside_mpi, memory_order_relaxed) > 0;
        if (!all)
            break;
    }
    return all;
}

/* Has the rank acquired nothing for a while?  To be asked again and again. */
static bool idle(struct native_credit *c, int local, uint64_t now)
{
    uint64_t count;

    if (inside_mpi(local))
        return true;
    count = acquired(local);
    if (count == atomic_load_explicit(&c->acquired, memory_order_relaxed))
        return now - atomic_load_explicit(&c->used_us, memory_order_relaxed) >
               NATIVE_IDLE_US;
    atomic_store_explicit(&c->acquired, count, memory_order_relaxed);
    atomic_store_explicit(&c->used_us, now, memory_order_relaxed);
    return false;
}

bool native_credit_left(int local, int from, bool several)
{
    struct native_credit *c = credit_of(local);
    uint64_t now = runtime_now_us();
    uint64_t until = atomic_load_explicit(&c->until_us, memory_order_relaxed);
    uint64_t since = atomic_load_explicit(&c->waiting_us, memory_order_relaxed);
    uint64_t at = since ? since : now;

    if (until <= at || kept_enough(c, now, at)) {
        lose(c, until && until < at ? until : now);
        return false;
    }
    if (since ? from < runtime.node || now - since > NATIVE_PATIENCE_US
              : idle(c, local, now))
        return false;
    return !several || until - at > worth_max(WORTH_FIRST);
}

bool native_credit_keeps(void)
{
    return native_credit_left(runtime.local, NATIVE_KEEP_GIVES, false);
}

static int local_of(const struct native_lease_slot *slot, uint64_t word)
{
    return word_state(word) == WORD_HELD ? word_holder(word)
                                         : runtime.local_of[slot->rank];
}

static bool left(const struct native_lease_slot *slot, uint64_t word)
{
    return native_credit_left(
        atomic_load_explicit(&slot->local, memory_order_relaxed),
        atomic_load_explicit(&slot->from, memory_order_relaxed),
        !(word & WORD_TAKEN));
}

static uint32_t stripe_bit(const struct native_leases *leases)
{
    return UINT32_C(1) << (leases - native.shared->leases);
}

_Static_assert(NATIVE_STRIPES == 32, "a bit of `kept` for each");

void native_keep_defer(const struct native_leases *leases,
                       struct native_lease_slot *slot, uint64_t word, int from)
{
    int local = local_of(slot, word);
    struct native_credit *c = credit_of(local);

    /* Of several, the one that it has to give to soonest. */
    if (!atomic_load_explicit(&slot->deferred, memory_order_relaxed) ||
        from < atomic_load_explicit(&slot->from, memory_order_relaxed))
        atomic_store_explicit(&slot->from, from, memory_order_relaxed);
    atomic_store_explicit(&slot->local, local, memory_order_relaxed);
    if (!atomic_load_explicit(&c->kept_us, memory_order_relaxed))
        atomic_store_explicit(&c->kept_us, runtime_now_us(),
                              memory_order_relaxed);
    atomic_store_explicit(&slot->deferred, true, memory_order_relaxed);
    /* Users that know the word without the flag fail, and look again.  Relaxed:
     * the flag hands nothing over. */
    while (word_state(word) && !(word & WORD_LOOKS) &&
           !atomic_compare_exchange_weak_explicit(
               &slot->word, &word, word | WORD_LOOKS, memory_order_relaxed,
               memory_order_relaxed))
        ;
    /* For native_keep_turn().  Relaxed: it takes the lock. */
    atomic_fetch_or_explicit(&native.shared->kept, stripe_bit(leases),
                             memory_order_relaxed);
}

/* What is given was not used again: if it brought all the credit that there is,
 * the next grant is a first one too. */
static void give_first(struct native_credit *c)
{
    uint64_t until = atomic_load_explicit(&c->until_us, memory_order_relaxed);
    uint64_t since = atomic_load_explicit(&c->waiting_us, memory_order_relaxed);

    if (until <= (since ? since : runtime_now_us()) + worth_max(WORTH_FIRST))
        atomic_store_explicit(&c->until_us, 0, memory_order_relaxed);
}

bool native_keep(const struct native_leases *leases,
                 struct native_lease_slot *slot, uint64_t word, int from)
{
    int local = local_of(slot, word);

    if (word & WORD_READ || !word_state(word))
        return false;
    if (!native_credit_left(local, from, !(word & WORD_TAKEN))) {
        if (!(word & WORD_TAKEN))
            give_first(credit_of(local));
        return false;
    }
    native_keep_defer(leases, slot, word, from);
    return true;
}

bool native_keep_over(struct native_lease_slot *slot)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

    return atomic_load_explicit(&slot->deferred, memory_order_relaxed) &&
           !left(slot, word);
}

/* A look at the clock takes longer than to acquire and release.  So a thread that
 * does so all the time passes over as many looks as come in LOOK_EACH_US, by the
 * last ones.  If it then works for long before the next, the progress thread is
 * there, which sockets wake. */
static void plan_looks(struct native_lease_thread *t, uint64_t now)
{
    uint64_t us = now - t->looked_us, skips = LOOKS_SKIPPED_MAX;

    if (us)
        skips = (t->skips + UINT64_C(1)) * LOOK_EACH_US / us;
    t->skips =
        (uint32_t)(skips < LOOKS_SKIPPED_MAX ? skips : LOOKS_SKIPPED_MAX);
    t->skips_left = t->skips;
    t->looked_us = now;
}

bool native_keep_look(struct native_lease_thread *t,
                      struct native_lease_slot *slot)
{
    uint64_t now = runtime_now_us();

    plan_looks(t, now);
    runtime_look(now);
    return atomic_load_explicit(&slot->deferred, memory_order_relaxed) ||
           now - atomic_load_explicit(&slot->since_us, memory_order_relaxed) <
               QUIET_US;
}

static void end_in(int stripe)
{
    struct native_leases *leases = &native.shared->leases[stripe];

    if (lock_take(&runtime.shared->trees[stripe]))
        return;
    native_pool_use(stripe);
    for (int i = native_lease_next(leases, -1); i >= 0;
         i = native_lease_next(leases, i)) {
        struct native_lease_slot *slot = leases->slot[i];

        if (!atomic_load_explicit(&slot->deferred, memory_order_relaxed))
            continue;
        if (native_keep_over(slot))
            native_lease_end(leases, (uint32_t)i);
        else
            atomic_fetch_or_explicit(&native.shared->kept, stripe_bit(leases),
                                     memory_order_relaxed);
    }
    native_pool_shed();
    lock_give(&runtime.shared->trees[stripe]);
}

bool native_keep_turn(void)
{
    static uint64_t looked_us;
    uint64_t now;

    if (!atomic_load_explicit(&native.shared->kept, memory_order_relaxed))
        return false;
    now = runtime_now_us();
    if (now - looked_us < LOOK_US)
        return true;
    looked_us = now;
    for (uint32_t more = atomic_exchange_explicit(&native.shared->kept, 0,
                                                  memory_order_relaxed);
         more; more &= more - 1)
        end_in(__builtin_ctz(more));
    return atomic_load_explicit(&native.shared->kept, memory_order_relaxed);
}
