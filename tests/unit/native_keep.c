/* The credit by which a rank keeps what other nodes want, and the leases that
 * begin by it: keep.h, lease_slots.c, with a clock of the test's. */
#include "runtime/native/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/lease_word.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "tap.h"

struct runtime runtime;
struct native native;

/* With room for one rank. */
static union {
    struct runtime_shared shared;
    char bytes[sizeof(struct runtime_shared) + sizeof(struct runtime_rank)];
} page;

static struct native_shared shared;
static struct native_local own[2];
static uint64_t clock_us = 1000000, tick_us; /* each look at it takes */
static int looks;                            /* of runtime_look() */

uint64_t runtime_now_us(void)
{
    clock_us += tick_us;
    return clock_us;
}

void runtime_look(uint64_t now)
{
    (void)now;
    looks++;
}

/* What begins and ends leases calls, of which these cases need nothing. */
int control_alloc_zero(const struct space *space, size_t bytes, void **out)
{
    (void)space;
    bytes = (bytes + 63) & ~(size_t)63;
    *out = aligned_alloc(64, bytes); /* as leases are, and control memory */
    if (!*out)
        return DRASYNC_ENOMEM;
    memset(*out, 0, bytes);
    return 0;
}

bool native_lease_note(uint64_t address, struct native_lease_slot *slot,
                       uint64_t word)
{
    (void)address;
    (void)slot;
    (void)word;
    return true;
}

bool native_lease_shares(const struct proto_region *region, uint32_t count)
{
    (void)region;
    (void)count;
    return false;
}

bool native_lease_used(const struct native_lease_slot *slot)
{
    (void)slot;
    return false;
}

void native_lease_wanted(const struct proto_region *region)
{
    (void)region;
}

void native_lease_end_shared(struct native_lease_slot *slot, uint64_t word)
{
    (void)slot;
    (void)word;
}

struct proto_effects *native_effects(void)
{
    return NULL;
}

void native_do(struct proto_effects *effects, struct native_arrival *arrival)
{
    (void)effects;
    (void)arrival;
}

int proto_release(struct proto_node *node, int32_t rank,
                  struct proto_region *region, enum drasync_mode mode,
                  struct proto_effects *effects)
{
    (void)node;
    (void)rank;
    (void)region;
    (void)mode;
    (void)effects;
    return 0;
}

void proto_pass(struct proto_node *node, struct proto_region *region,
                int32_t rank, struct proto_effects *effects)
{
    (void)node;
    (void)region;
    (void)rank;
    (void)effects;
}

struct proto_copy *proto_newest(const struct proto_region *region)
{
    (void)region;
    return NULL;
}

struct proto_hold *proto_read_hold(const struct proto_region *region,
                                   int32_t rank)
{
    (void)region;
    (void)rank;
    return NULL;
}

bool proto_waited_elsewhere(const struct proto_region *region,
                            int32_t *node_out)
{
    *node_out = NATIVE_KEEP_GIVES;
    return region->waiting > 0;
}

void wait_word_wake(_Atomic uint64_t *word)
{
    (void)word;
}

void native_pool_use(int stripe)
{
    (void)stripe;
}

void native_pool_shed(void)
{
}

#if SANITIZER_THREAD
_Bool passed_shared; /* lock.c's, for lease_slots.c */
#endif

int lock_take(struct lock *lock)
{
    (void)lock;
    return 0;
}

void lock_give(struct lock *lock)
{
    (void)lock;
}

/* The rank waits for another node for @us. */
static void wait_us(uint64_t us, bool granted)
{
    native_credit_wait();
    clock_us += us;
    native_credit_waited(granted);
}

/* It acquires something, without a wait. */
static void work(void)
{
    atomic_fetch_add(&page.shared.ranks[0].counters[RUNTIME_COUNT_ACQUIRES], 1);
}

static bool has(int from)
{
    return native_credit_left(0, from, false);
}

/* How long the rank's credit lasts if it works and does not wait. */
static uint64_t credit_us(void)
{
    uint64_t since = clock_us;

    while (has(NATIVE_KEEP_GIVES)) {
        work();
        clock_us++;
    }
    return clock_us - since;
}

static void credit_is_more_than_what_a_grant_takes(void)
{
    uint64_t one, two;

    tap_ok(!has(NATIVE_KEEP_GIVES),
           "a rank that has never waited has no credit");
    wait_us(100, true);
    one = credit_us();
    tap_ok(one > 100 && one <= 200, "a grant gives twice what it took");
    wait_us(1000, true);
    tap_ok(credit_us() <= 330, "however long it took, little more than others");
    wait_us(100, true);
    tap_ok(!native_credit_left(0, NATIVE_KEEP_GIVES, true),
           "that of one grant is not that of several");
    wait_us(100, true);
    tap_ok(native_credit_left(0, NATIVE_KEEP_GIVES, true), "that of two is");
    two = credit_us();
    tap_ok(two > one + 500 && two <= one + 600, "the next one gives six times");
    wait_us(100, false);
    tap_ok(!has(NATIVE_KEEP_GIVES),
           "a wait that ends without a hold gives none");
}

static void credit_is_not_spent_waiting(void)
{
    wait_us(100, true);
    native_credit_wait();
    clock_us += 1000;
    tap_ok(has(NATIVE_KEEP_GIVES), "while the rank waits it is not spent");
    clock_us += NATIVE_PATIENCE_US;
    tap_ok(!has(NATIVE_KEEP_GIVES), "but who waits for long keeps nothing");
    native_credit_waited(false);
    tap_ok(has(NATIVE_KEEP_GIVES) && credit_us() <= 210,
           "nor does it grow, and when the wait has ended it is there");
}

static void who_is_idle_keeps_nothing(void)
{
    for (int i = 0; i < 10; i++)
        wait_us(100, true);
    work();
    tap_ok(has(NATIVE_KEEP_GIVES), "a rank that acquires keeps it");
    clock_us += NATIVE_IDLE_US / 2;
    tap_ok(has(NATIVE_KEEP_GIVES), "for a while");
    clock_us += NATIVE_IDLE_US;
    tap_ok(!has(NATIVE_KEEP_GIVES), "one that does not acquire does not");
    work();
    tap_ok(has(NATIVE_KEEP_GIVES), "until it does again");
    credit_us();
}

/* A thread that has leases, and another one. */
static void who_is_inside_mpi_keeps_nothing(void)
{
    static struct native_lease_thread threads[2];

    atomic_store(&threads[0].taken, 1);
    threads[0].next = &threads[1];
    atomic_store(&own[0].threads, &threads[0]);
    wait_us(100, true);
    atomic_store(&threads[1].inside_mpi, 1);
    tap_ok(has(NATIVE_KEEP_GIVES), "a rank outside of MPI keeps what it had");
    atomic_store(&threads[0].inside_mpi, 1);
    tap_ok(!has(NATIVE_KEEP_GIVES), "one that is inside does not");
    atomic_store(&threads[1].taken, 1);
    atomic_store(&threads[1].inside_mpi, 0);
    tap_ok(has(NATIVE_KEEP_GIVES), "unless another thread has leases too");
    atomic_store(&own[0].threads, NULL);
    credit_us();
}

/* How often a thread looks that releases @count times, each @ns after the last. */
static int looks_of(int count, uint64_t ns)
{
    static struct native_lease_thread thread;
    struct native_lease_slot slot = {.rank = 0};
    uint64_t since = clock_us;

    looks = 0;
    for (int i = 1; i <= count; i++) {
        clock_us = since + (uint64_t)i * ns / 1000;
        if (native_keep_due(&thread))
            native_keep_look(&thread, &slot);
    }
    return looks;
}

static void who_releases_often_looks_seldom(void)
{
    tap_ok(looks_of(100, 100000) == 100, "who releases seldom looks each time");
    tap_ok(looks_of(20000, 50) <= 320 && looks > 10,
           "who does all the time looks every few microseconds");
    tap_ok(looks_of(1000, 1000000) >= 900, "and soon each time again");
}

static void somebody_gives(void)
{
    runtime.node = 1;
    wait_us(100, true);
    tap_ok(has(0) && has(2), "a rank that works keeps it from all nodes");
    native_credit_wait();
    tap_ok(!has(0) && has(2),
           "one that waits gives to nodes with smaller numbers");
    tap_ok(has(NATIVE_KEEP_GIVES), "unless those give themselves");
    native_credit_waited(false);
    credit_us();
    runtime.node = 0;
}

/* Of a lease that is in use, which another node asks for. */
static void ask(struct native_lease_slot *slot)
{
    wait_us(100, true);
    atomic_store(&slot->word, WORD_FREE | WORD_TAKEN);
    tap_ok(native_keep(shared.leases, slot, WORD_FREE | WORD_TAKEN, 1),
           "a lease in use is kept");
}

static void others_wait_for_so_long_at_most(void)
{
    struct native_lease_slot slot = {.rank = 0};
    uint64_t since;

    ask(&slot);
    tap_ok(atomic_load(&slot.word) & WORD_LOOKS, "and its user is to look");
    since = clock_us;
    while (has(NATIVE_KEEP_GIVES) && clock_us - since < 10 * NATIVE_KEEP_US_MAX)
        wait_us(50, true);
    tap_ok(clock_us - since <= 5 * NATIVE_KEEP_US_MAX + 100,
           "however much credit comes, others wait no longer than the limit");
    tap_ok(native_keep_over(&slot), "and then it is to be given");
    clock_us += 5 * NATIVE_KEEP_US_MAX;
    ask(&slot);
    since = clock_us;
    while (has(NATIVE_KEEP_GIVES)) {
        wait_us(10, true);
        work();
        clock_us += 15;
    }
    tap_ok(clock_us - since <= 2 * NATIVE_KEEP_US_MAX,
           "that is shorter if the rank works for most of it");
}

static void then_others_gather(void)
{
    struct native_lease_slot slot = {.rank = 0};
    uint64_t since;

    clock_us += 5 * NATIVE_KEEP_US_MAX;
    since = clock_us;
    ask(&slot);
    credit_us();
    since = clock_us - since;
    wait_us(since / 4, true);
    tap_ok(!has(NATIVE_KEEP_GIVES),
           "who kept others waiting gains no credit for a while");
    wait_us(since, true);
    tap_ok(has(NATIVE_KEEP_GIVES), "and then again");
    credit_us();
}

static void one_grant_is_no_reason_to_keep_what_is_not_used(void)
{
    struct native_lease_slot slot = {.rank = 0};

    credit_us();
    wait_us(100, true);
    atomic_store(&slot.word, WORD_FREE);
    tap_ok(!native_keep(shared.leases, &slot, WORD_FREE, 1),
           "a lease that was not used again is given at once");
    wait_us(100, true);
    tap_ok(!native_credit_left(0, NATIVE_KEEP_GIVES, true),
           "and the next grant is a first one again");
    tap_ok(!native_keep(shared.leases, &slot,
                        WORD_FREE | WORD_READ | WORD_TAKEN, 1),
           "one for READ too");
}

/* Of rank 0, which writes it once; requests of other nodes wait for it. */
static void wanted_region(struct proto_region *r)
{
    static struct native_memory memory;

    *r = (struct proto_region){.address = 4096,
                               .root = r,
                               .memory = &memory,
                               .owned = true,
                               .busy = 1,
                               .write_rank = 0,
                               .write_count = 1,
                               .waiting = 1};
    r->parts.next = r->parts.prev = &r->parts;
}

static void forget(struct native_leases *leases)
{
    leases->used[0] = leases->count = 0;
}

/* However the clock moves while it begins. */
static void a_lease_that_others_wait_for_is_given_in_the_end(void)
{
    bool served = true;
    int begun = 0;

    for (uint64_t tick = 0; tick < 300; tick++) {
        struct native_leases *leases = &shared.leases[tick % NATIVE_STRIPES];
        struct proto_region region;

        tick_us = 0;
        credit_us();
        for (int i = 0; i < 5; i++)
            wait_us(100, true);
        wanted_region(&region);
        atomic_store(&shared.kept, 0);
        tick_us = tick;
        if (!native_lease_begin(leases, &region))
            continue;
        begun++;
        served = served && atomic_load(&shared.kept) &&
                 atomic_load(&leases->slot[0]->deferred);
        forget(leases);
    }
    tick_us = 0;
    tap_ok(begun > 0 && served, "a lease that others wait for is looked after");
}

static void what_others_wait_for_is_handed_over_by_a_step(void)
{
    struct native_leases *leases = &shared.leases[0];
    struct proto_region region;
    struct native_wait wait = {.word = 0};
    struct proto_effect granted = {
        .kind = PROTO_GRANTED, .region = &region, .waiter = &wait};
    struct proto_effects effects = {.effect = &granted, .count = 1};

    wanted_region(&region);
    wait_us(100, true);
    wait_us(100, true);
    native_lease_hand(leases, &region, &effects);
    tap_ok(!wait.slot && !leases->count,
           "one granted here begins no lease, if so");
    region.waiting = 0;
    native_lease_hand(leases, &region, &effects);
    tap_ok(wait.slot && leases->count, "but else");
    forget(leases);
}

int main(void)
{
    static int locals[] = {0};

    native.shared = &shared;
    runtime.shared = &page.shared;
    shared.locals = own;
    runtime.local_of = locals;
    runtime.ranks = 1;
    runtime.nodes = 3;
    credit_is_more_than_what_a_grant_takes();
    credit_is_not_spent_waiting();
    who_is_idle_keeps_nothing();
    who_is_inside_mpi_keeps_nothing();
    who_releases_often_looks_seldom();
    somebody_gives();
    others_wait_for_so_long_at_most();
    then_others_gather();
    one_grant_is_no_reason_to_keep_what_is_not_used();
    for (uint32_t i = 0; i < NATIVE_STRIPES; i++)
        if (native_lease_new(&shared.leases[i], i))
            return 1;
    a_lease_that_others_wait_for_is_given_in_the_end();
    what_others_wait_for_is_handed_over_by_a_step();
    return tap_end();
}
