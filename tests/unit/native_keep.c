/* The credit by which a rank keeps what other nodes want: keep.h, with a clock
 * of the test's. */
#include "runtime/native/keep.h"

#include <stdio.h>

#include "runtime/messages/messages.h"
#include "runtime/native/lease_word.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

static int tests, failures;

static void ok(bool good, const char *what)
{
    tests++;
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tests, what);
}

struct runtime runtime;
struct native native;

static struct native_shared shared;
static struct native_turn turns[2];
static uint64_t clock_us = 1000000;

uint64_t runtime_now_us(void)
{
    return clock_us;
}

void runtime_look(uint64_t now)
{
    (void)now;
}

void native_lease_end(struct native_leases *leases, uint32_t i)
{
    (void)leases;
    (void)i;
}

void native_pool_use(int stripe)
{
    (void)stripe;
}

void native_pool_shed(void)
{
}

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

static bool has(int from)
{
    return native_credit_left(0, from, false);
}

/* How long the rank's credit lasts if it does not wait. */
static uint64_t credit_us(void)
{
    uint64_t since = clock_us;

    while (has(-1))
        clock_us++;
    return clock_us - since;
}

static void credit_is_what_a_grant_takes(void)
{
    uint64_t one, two;

    ok(!has(-1), "a rank that has never waited has no credit");
    wait_us(100, true);
    one = credit_us();
    ok(one > 0 && one <= 100, "a grant gives what it took at most");
    wait_us(100, true);
    ok(!native_credit_left(0, -1, true),
       "that of one grant is not that of several");
    wait_us(100, true);
    ok(native_credit_left(0, -1, true), "that of two is");
    two = credit_us();
    ok(two > one, "that of two lasts longer");
    wait_us(100, false);
    ok(!has(-1), "a wait that ends without a hold gives none");
}

static void credit_is_not_spent_waiting(void)
{
    wait_us(100, true);
    native_credit_wait();
    clock_us += 1000;
    ok(has(-1), "while the rank waits its credit is not spent");
    native_credit_waited(false);
    ok(has(-1) && credit_us() <= 120, "nor does it grow");
}

static void somebody_gives(void)
{
    runtime.node = 1;
    wait_us(100, true);
    ok(has(0) && has(2), "a rank that works keeps it from all nodes");
    native_credit_wait();
    ok(!has(0) && has(2), "one that waits gives to nodes with smaller numbers");
    native_credit_waited(false);
    credit_us();
    runtime.node = 0;
}

static void others_wait_for_so_long_at_most(void)
{
    struct native_lease_slot slot = {.rank = 0};
    uint64_t since;

    runtime.local_of = (int[]){0};
    wait_us(100, true);
    atomic_store(&slot.word, WORD_FREE | WORD_TAKEN);
    ok(native_keep(shared.leases, &slot, WORD_FREE | WORD_TAKEN, 1),
       "a lease in use is kept");
    ok(atomic_load(&slot.word) & WORD_LOOKS, "and its user is to look");
    since = clock_us;
    while (has(-1) && clock_us - since < 10 * NATIVE_KEEP_US_MAX)
        wait_us(50, true);
    ok(clock_us - since <= NATIVE_KEEP_US_MAX + 100,
       "however much credit comes, others wait no longer than the limit");
    ok(native_keep_over(&slot), "and then it is to be given");
}

static void one_grant_is_no_reason_to_keep_what_is_not_used(void)
{
    struct native_lease_slot slot = {.rank = 0};

    credit_us();
    wait_us(100, true);
    atomic_store(&slot.word, WORD_FREE);
    ok(!native_keep(shared.leases, &slot, WORD_FREE, 1),
       "a lease that was not used again is given at once");
    ok(!native_keep(shared.leases, &slot, WORD_FREE | WORD_READ | WORD_TAKEN,
                    1),
       "one for READ too");
}

int main(void)
{
    native.shared = &shared;
    shared.turns = turns;
    runtime.nodes = 3;
    credit_is_what_a_grant_takes();
    credit_is_not_spent_waiting();
    somebody_gives();
    others_wait_for_so_long_at_most();
    one_grant_is_no_reason_to_keep_what_is_not_used();
    printf("1..%d\n", tests);
    return failures != 0;
}
