/*
 * lease_tree.c - leases of a tree of regions (runtime/native/lease*.c, with the
 * steps of step.c, hold.c, request.c and split.c and the real protocol): threads
 * run programs that the schedule makes up, and lease_oracle.c says what may come
 * of each call.  A program that drasync.h allows ends: nobody waits for ever.
 *
 * A thread that has a region asks for another one only if that comes later in the
 * order in which an acquire takes parts, or does not wait.
 */
#include "native_world.h"

#include <stdatomic.h>

#include "engine.h"
#include "lease_oracle.h"
#include "runtime/native/map.h"
#include "runtime/native/native.h"
#include "runtime/native/state.h"

/* 0 has 1, 3 and 4 below it, and 1 has 2: their numbers are in the order of
 * acquires. */
static const int parent[] = {0, 0, 1, 0, 0};

#define REGIONS    ((int)(sizeof(parent) / sizeof(parent[0])))
#define ROUNDS     4
#define TIMEOUT_US 1000

/* What a thread does in a round.  With PAIR it has x when it asks for y, with ASK
 * it has asked for x. */
enum shape { NOTHING, ONE, PAIR, PAIR_CROSSED, TRY, ASK, CANCEL, SHAPES };

static struct round {
    enum shape shape;
    int x, y;
    enum drasync_mode mode_x, mode_y;
} program[STEP_THREADS][ROUNDS];

static int rank_of[STEP_THREADS], threads_of[WORLD_RANKS];
static uint64_t timeout_us;
static _Atomic int inside;

/* --- Rules that are left out ---------------------------------------------- */

static char rules[RULES][8];
static const char *const rule_names[RULES] = {
    [AWAITED_ABOVE] = "rule-awaited-above",
    [ENDED_BELOW] = "rule-ended-below",
    [ENDED_ABOVE] = "rule-ended-above",
    [UNREAD] = "rule-unread",
    [NEWEST] = "rule-newest",
    [COVER_SHOWN] = "rule-cover-shown",
    [READ_SPLITS] = "rule-read-splits",
    [MIXED] = "rule-mixed",
};

static void name_rules(void)
{
    for (int i = 0; i < RULES; i++)
        step_name(rules[i], rule_names[i]);
}

bool native_rule(enum native_rule rule)
{
    enum step_effect effect;

    return !run_fault(STEP_CALL, (uintptr_t)rules[rule], 0, &effect);
}

/* --- Before a run --------------------------------------------------------- */

static enum drasync_mode choose_mode(void)
{
    return step_choose(2) ? DRASYNC_WRITE : DRASYNC_READ;
}

static void choose_program(int threads)
{
    for (int i = 0; i < threads; i++)
        for (int n = 0; n < ROUNDS; n++) {
            struct round *r = &program[i][n];

            r->shape = (enum shape)step_choose(SHAPES);
            r->x = step_choose(REGIONS);
            r->mode_x = choose_mode();
            r->y = step_choose(REGIONS);
            r->mode_y = choose_mode();
        }
}

static void begin_with(const int *ranks, int threads)
{
    for (int i = 0; i < WORLD_RANKS; i++)
        threads_of[i] = 0;
    for (int i = 0; i < threads; i++) {
        rank_of[i] = ranks[i];
        threads_of[ranks[i]]++;
    }
    timeout_us = DRASYNC_FOREVER;
    choose_program(threads);
    oracle_begin(parent, REGIONS, threads_of);
    world_begin_tree(parent, REGIONS);
    name_rules();
}

static void begin_ranks(void)
{
    static const int ranks[] = {0, 1, 2};

    begin_with(ranks, 3);
}

static void begin_threads(void)
{
    static const int ranks[] = {0, 0, 1, 2};

    begin_with(ranks, 4);
}

static void begin_pairs(void)
{
    static const int ranks[] = {0, 0, 1, 1};

    begin_with(ranks, 4);
}

static void begin_timed(void)
{
    begin_ranks();
    timeout_us = TIMEOUT_US;
}

/* --- Data ----------------------------------------------------------------- */

static int me(void)
{
    return rank_of[step_self()];
}

/* Threads of one rank leave each other alone, and what one of them maps the others
 * see as it is. */
static void data_lock(void)
{
    if (threads_of[me()] > 1)
        native_map_lock();
}

static void data_unlock(void)
{
    if (threads_of[me()] > 1)
        native_map_unlock();
}

static void look(int hold, int top)
{
    data_lock();
    for (int r = top; r < REGIONS; r++)
        if (oracle_covers(top, r))
            oracle_saw(hold, r, *world_data_of(r));
    oracle_saw_all(hold);
    data_unlock();
}

static void write_all(int hold, int top)
{
    data_lock();
    for (int r = top; r < REGIONS; r++)
        if (oracle_covers(top, r)) {
            ++*world_data_of(r);
            oracle_wrote(hold, r);
        }
    data_unlock();
}

/* Others may do something meanwhile. */
static void stay(void)
{
    (void)atomic_load_explicit(&inside, memory_order_relaxed);
}

static void use(int hold, int region, enum drasync_mode mode)
{
    look(hold, region);
    stay();
    if (mode == DRASYNC_WRITE)
        write_all(hold, region);
    stay();
    look(hold, region);
}

/* --- Programs ------------------------------------------------------------- */

static void say(const char *what, int region)
{
    step_note(what, (uint64_t)region);
}

static int asks(int region, enum drasync_mode mode)
{
    say(mode == DRASYNC_WRITE ? "asks for WRITE of" : "asks for READ of",
        region);
    return oracle_asks(me(), region, mode);
}

/* The number of the hold; -1: there is none. */
static int take(int region, enum drasync_mode mode, uint64_t timeout,
                bool several)
{
    int hold = asks(region, mode);
    int err = world_take(region, mode, timeout);

    /* What others have given back may be seen late, but it is seen. */
    if (err == DRASYNC_EAGAIN && !timeout && !oracle_met(hold, several)) {
        step_yield();
        err = world_take(region, mode, 0);
    }
    say(err ? "has not got" : "has got", region);
    if (!oracle_answered(hold, err, timeout == DRASYNC_FOREVER, several))
        return -1;
    use(hold, region, mode);
    return hold;
}

static void give(int hold, int region)
{
    if (hold < 0)
        return;
    say("gives", region);
    oracle_gives(hold);
    STEP_CHECK(!world_give(region));
    say("gave", region);
    oracle_gave(hold);
}

/* As long as is allowed to a thread that has, or may get, what comes before @y, but
 * nothing later. */
static uint64_t patience(bool in_order)
{
    return in_order ? timeout_us : 0;
}

static void pair(const struct round *r)
{
    int x = take(r->x, r->mode_x, timeout_us, false);
    int y = take(r->y, r->mode_y, patience(x < 0 || r->y >= r->x), false);
    bool crossed = r->shape == PAIR_CROSSED && r->x != r->y;

    if (crossed)
        give(x, r->x);
    if (crossed && y >= 0)
        use(y, r->y, r->mode_y);
    give(y, r->y);
    if (!crossed)
        give(x, r->x);
}

static void cancel(drasync_request_t *request, int hold)
{
    say("cancels", hold);
    STEP_CHECK(!native_cancel(request));
    oracle_cancelled(hold);
}

static void ask(const struct round *r)
{
    int x = asks(r->x, r->mode_x), done = 0, err, y;
    struct native_newer newer = {NULL};
    drasync_request_t request;

    err = native_iacquire(world_handle(r->x), r->mode_x, &request);
    if (err) {
        oracle_answered(x, err, true, false);
        return;
    }
    y = take(r->y, r->mode_y, patience(r->y > r->x), true);
    give(y, r->y);
    if (r->shape == CANCEL) {
        cancel(&request, x);
        return;
    }
    err = native_test(&request, &done, &newer);
    if (!done) {
        STEP_CHECK(!err && request);
        say("waits for", r->x);
        err = native_wait(&request, timeout_us, &newer);
    }
    if (err == DRASYNC_EAGAIN) {
        cancel(&request, x);
        return;
    }
    say(err ? "has not got" : "has got", r->x);
    STEP_CHECK(!request);
    if (!oracle_answered(x, err, true, true))
        return;
    use(x, r->x, r->mode_x);
    give(x, r->x);
}

static void run_round(const struct round *r)
{
    switch (r->shape) {
    case ONE:
        give(take(r->x, r->mode_x, timeout_us, false), r->x);
        break;
    case TRY:
        give(take(r->x, r->mode_x, 0, false), r->x);
        break;
    case PAIR:
    case PAIR_CROSSED:
        pair(r);
        break;
    case ASK:
    case CANCEL:
        ask(r);
        break;
    default:
        break;
    }
}

static void runs(void)
{
    int threads = 0;

    for (int i = 0; i < WORLD_RANKS; i++)
        threads += threads_of[i];
    world_thread();
    for (int n = 0; n < ROUNDS; n++)
        run_round(&program[step_self()][n]);
    world_leave(threads);
}

/* --- The test ------------------------------------------------------------- */

enum { RANKS, THREADS, PAIRS, TIMED, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [RANKS] = {.title = "ranks get the regions of a tree, and see them as they "
                        "should",
               .begin = begin_ranks,
               .enter = world_enter,
               .thread = {runs, runs, runs},
               .process = {0, 1, 2},
               .seeds = 3000},
    [THREADS] = {.title = "so do threads of a rank, and others",
                 .begin = begin_threads,
                 .enter = world_enter,
                 .thread = {runs, runs, runs, runs},
                 .process = {0, 0, 1, 2},
                 .seeds = 3000},
    [PAIRS] = {.title = "so do two ranks that have two threads each",
               .begin = begin_pairs,
               .enter = world_enter,
               .thread = {runs, runs, runs, runs},
               .process = {0, 0, 1, 1},
               .seeds = 2000},
    [TIMED] = {.title = "so do ranks that wait for so long only",
               .begin = begin_timed,
               .enter = world_enter,
               .thread = {runs, runs, runs},
               .process = {0, 1, 2},
               .seeds = 2000,
               .timers = true,
               .tick_us = 1,
               .idle_us_max = TIMEOUT_US},
};

#define LEFT_OUT(rule) \
    .name = (rule), .kind = STEP_CALL, .at = (rule), .effect = STEP_SKIP

static const struct step_fault faults[] = {
    {LEFT_OUT("rule-awaited-above"),
     .title = "a lease begins below what is being acquired"},
    {LEFT_OUT("rule-ended-below"),
     .title = "an acquire leaves leases of what is below"},
    {LEFT_OUT("rule-ended-above"),
     .title = "an acquire leaves leases of what is above"},
    {LEFT_OUT("rule-unread"),
     .title = "a WRITE lease begins while somebody READs what is below"},
    {LEFT_OUT("rule-newest"), .title = "a READ lease is of an old version"},
    {LEFT_OUT("rule-cover-shown"),
     .title = "READ trusts a hold above that nobody has shown yet"},
    {LEFT_OUT("rule-read-splits"), .scenarios = 1 << THREADS,
     .title = "READ below WRITE is shown what is about to be split"},
    {LEFT_OUT("rule-mixed"),
     .title = "READ below WRITE is not noted, and given back as WRITE"},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("lease_tree");

    world_private();
    return step_main(&test, argc, argv);
}
