/*
 * litmus.c - the engine itself: what C11 forbids does not happen in it, and what
 * C11 allows, once an order or a fence is missing, is found.  After the tests
 * that hardware models are compared by.
 */
#include "step.h"

#include <stdatomic.h>

#include "tests/step/calls.h"

static _Atomic int x, y;
static int data, got[STEP_THREADS];

static void begin(void)
{
    step_name(&x, "x");
    step_name(&y, "y");
}

static void membarrier_call(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* --- Store buffering: both threads miss the other's store ----------------- */

static void store_x_load_y(void)
{
    atomic_store(&x, 1);
    got[0] = atomic_load(&y);
}

static void store_y_load_x(void)
{
    atomic_store(&y, 1);
    got[1] = atomic_load(&x);
}

static void fenced_x_y(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    got[0] = atomic_load_explicit(&y, memory_order_relaxed);
}

static void fenced_y_x(void)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    got[1] = atomic_load_explicit(&x, memory_order_relaxed);
}

static void unfenced_x_y(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    got[0] = atomic_load_explicit(&y, memory_order_relaxed);
}

static void barrier_y_x(void)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    membarrier_call();
    got[1] = atomic_load_explicit(&x, memory_order_relaxed);
}

static void exchange_y_x(void)
{
    atomic_exchange(&y, 1);
    got[1] = atomic_exchange(&x, 2);
}

static void one_saw(void)
{
    STEP_CHECK(got[0] || got[1]);
}

/* --- Message passing ------------------------------------------------------ */

static void send(void)
{
    data = 1;
    atomic_store_explicit(&x, 1, memory_order_release);
}

static void receive(void)
{
    if (atomic_load_explicit(&x, memory_order_acquire))
        STEP_CHECK(data == 1);
}

/* Through a third thread's read-modify-write, which orders nothing itself. */
static void add_two(void)
{
    atomic_fetch_add_explicit(&x, 2, memory_order_relaxed);
}

static void receive_three(void)
{
    if (atomic_load_explicit(&x, memory_order_acquire) == 3)
        STEP_CHECK(data == 1);
}

/* --- Two writers, two readers --------------------------------------------- */

static void write_x(void)
{
    atomic_store(&x, 1);
}

static void write_y(void)
{
    atomic_store(&y, 1);
}

static void read_x_y(void)
{
    if (atomic_load(&x))
        got[0] = atomic_load(&y) ? 1 : 2;
}

static void read_y_x(void)
{
    if (atomic_load(&y))
        got[1] = atomic_load(&x) ? 1 : 2;
}

static void one_order(void)
{
    STEP_CHECK(got[0] != 2 || got[1] != 2);
}

/* --- Two threads that write both ------------------------------------------ */

static void write_x_y(void)
{
    atomic_store(&x, 1);
    atomic_store(&y, 2);
}

static void write_y_x(void)
{
    atomic_store(&y, 1);
    atomic_store(&x, 2);
}

static void one_is_last(void)
{
    STEP_CHECK(x != 1 || y != 1);
}

/* --- Coherence, and counting ---------------------------------------------- */

static void count_up(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
}

static void never_back(void)
{
    int before = atomic_load_explicit(&x, memory_order_relaxed);

    STEP_CHECK(atomic_load_explicit(&x, memory_order_relaxed) >= before);
}

static void add_one(void)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}

static void is_two(void)
{
    STEP_CHECK(x == 2);
}

/* --- Locks and sleep ------------------------------------------------------ */

static struct step_mutex mutex;

static void locked_add(void)
{
    step_lock(&mutex);
    data++;
    step_unlock(&mutex);
}

static void data_is_two(void)
{
    STEP_CHECK(data == 2);
}

static void sleep_until_one(void)
{
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        syscall(SYS_futex, &x, FUTEX_WAIT_BITSET, 0, NULL, NULL,
                FUTEX_BITSET_MATCH_ANY);
}

static void wake_with_one(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    syscall(SYS_futex, &x, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- The test ------------------------------------------------------------- */

enum {
    BUFFER,
    BUFFER_FENCED,
    BUFFER_BARRIER,
    BUFFER_EXCHANGE,
    MESSAGE,
    MESSAGE_THIRD,
    WRITERS,
    OVERWRITTEN,
    COHERENCE,
    COUNT,
    LOCKED,
    SLEEP,
    SCENARIOS,
};

static const struct step_scenario scenarios[SCENARIOS] = {
    [BUFFER] = {.title = "of two threads that store and load one sees the "
                         "other's store",
                .begin = begin,
                .thread = {store_x_load_y, store_y_load_x},
                .end = one_saw,
                .deviations = 8},
    [BUFFER_FENCED] = {.title = "so it is with fences",
                       .begin = begin,
                       .thread = {fenced_x_y, fenced_y_x},
                       .end = one_saw,
                       .deviations = 8},
    [BUFFER_BARRIER] = {.title = "so it is with membarrier() on one side",
                        .begin = begin,
                        .thread = {unfenced_x_y, barrier_y_x},
                        .end = one_saw,
                        .deviations = 8},
    [BUFFER_EXCHANGE] = {.title = "so it is with exchanges on one side",
                         .begin = begin,
                         .thread = {store_x_load_y, exchange_y_x},
                         .end = one_saw,
                         .deviations = 8},
    [MESSAGE] = {.title = "an acquire sees what came before the release",
                 .begin = begin,
                 .thread = {send, receive},
                 .deviations = 8},
    [MESSAGE_THIRD] = {.title = "so it is after a read-modify-write between",
                       .begin = begin,
                       .thread = {send, add_two, receive_three},
                       .deviations = 8},
    [WRITERS] = {.title = "two readers agree on the order of two writers",
                 .begin = begin,
                 .thread = {write_x, write_y, read_x_y, read_y_x},
                 .end = one_order,
                 .deviations = 8},
    [OVERWRITTEN] = {.title = "of two threads that write both one is last",
                     .begin = begin,
                     .thread = {write_x_y, write_y_x},
                     .end = one_is_last,
                     .deviations = 8},
    [COHERENCE] = {.title = "nobody sees an atomic go back",
                   .begin = begin,
                   .thread = {count_up, never_back},
                   .deviations = 8},
    [COUNT] = {.title = "a read-modify-write loses nothing",
               .begin = begin,
               .thread = {add_one, add_one},
               .end = is_two,
               .deviations = 8},
    [LOCKED] = {.title = "a mutex orders",
                .begin = begin,
                .thread = {locked_add, locked_add},
                .end = data_is_two,
                .deviations = 8},
    [SLEEP] = {.title = "a futex that is woken after the store sleeps no more",
               .begin = begin,
               .thread = {sleep_until_one, wake_with_one},
               .deviations = 8},
};

static const struct step_fault faults[] = {
    {.name = "buffer-load",
     .title = "a load is relaxed between two stores and loads",
     .kind = STEP_LOAD,
     .at = "y",
     .effect = STEP_RELAX,
     .scenarios = 1 << BUFFER},
    {.name = "buffer-store",
     .title = "a store is relaxed between two stores and loads",
     .kind = STEP_STORE,
     .at = "y",
     .effect = STEP_RELAX,
     .scenarios = 1 << BUFFER},
    {.name = "no-fence",
     .title = "fences are missing",
     .kind = STEP_FENCE,
     .effect = STEP_SKIP,
     .scenarios = 1 << BUFFER_FENCED},
    {.name = "no-membarrier",
     .title = "membarrier() is missing",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP,
     .scenarios = 1 << BUFFER_BARRIER},
    {.name = "exchange-store",
     .title = "a store is relaxed where the other side exchanges",
     .kind = STEP_STORE,
     .at = "x",
     .effect = STEP_RELAX,
     .scenarios = 1 << BUFFER_EXCHANGE},
    {.name = "message-store",
     .title = "the release is missing",
     .kind = STEP_STORE,
     .at = "x",
     .effect = STEP_RELAX,
     .scenarios = 1 << MESSAGE},
    {.name = "message-load",
     .title = "the acquire is missing",
     .kind = STEP_LOAD,
     .at = "x",
     .effect = STEP_RELAX,
     .scenarios = 1 << MESSAGE},
    {.name = "third-split",
     .title = "a store between ends what a release orders",
     .kind = STEP_RMW,
     .at = "x",
     .effect = STEP_SPLIT,
     .scenarios = 1 << MESSAGE_THIRD},
    {.name = "writers",
     .title = "readers of two writers are relaxed",
     .kind = STEP_LOAD,
     .effect = STEP_RELAX,
     .scenarios = 1 << WRITERS},
    {.name = "overwritten",
     .title = "stores that overwrite are relaxed",
     .kind = STEP_STORE,
     .effect = STEP_RELAX,
     .scenarios = 1 << OVERWRITTEN},
    {.name = "count",
     .title = "a count is a load and a store",
     .kind = STEP_RMW,
     .effect = STEP_SPLIT,
     .scenarios = 1 << COUNT},
    {.name = "no-wake",
     .title = "a sleeper is not woken",
     .kind = STEP_FUTEX_WAKE,
     .effect = STEP_SKIP,
     .scenarios = 1 << SLEEP},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("litmus");

    return step_main(&test, argc, argv);
}
