/*
 * The engines of UPMlib from tables of counters; what they must give is computed
 * by hand beside each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upm/engine.h"
#include "tap.h"

#define PAGES_MAX 64
#define NODES     4

/* A machine of four nodes in a row: 10, 20, 30, 40. */
static uint8_t row_distance[UPM_NODES_MAX * UPM_NODES_MAX];
static uint8_t flat_distance[UPM_NODES_MAX * UPM_NODES_MAX];

static struct upm_page pages[PAGES_MAX];
static uint32_t counters[PAGES_MAX * NODES];
static const struct upm_tuning usual = {100, 20, 1};

static struct upm_table make_table(size_t count)
{
    memset(counters, 0, sizeof(counters));
    for (size_t i = 0; i < PAGES_MAX; i++)
        upm_page_new(&pages[i]);
    for (size_t i = 0; i < count; i++)
        pages[i].home = 0;
    return (struct upm_table){.pages = count,
                              .unit_pages = 1,
                              .nodes = NODES,
                              .page = pages,
                              .counts = counters,
                              .distance = flat_distance};
}

static void set_counts(size_t page, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t d)
{
    const uint32_t row[NODES] = {a, b, c, d};

    memcpy(counters + page * NODES, row, sizeof(row));
}

/* All moves are made. */
static void carry_out(const struct upm_moves *moves)
{
    for (size_t i = 0; i < moves->count; i++)
        moves->at[i].table->page[moves->at[i].page].home = moves->at[i].node;
}

/* An iteration of the engine in which all that is asked moves: how many. */
static size_t iterate(struct upm_iterative *engine, struct upm_table *table,
                      const struct upm_tuning *tuning)
{
    struct upm_moves moves = {0};

    if (upm_iterate(engine, table, tuning, &moves))
        return SIZE_MAX;
    carry_out(&moves);
    upm_iterated(engine, moves.count);
    size_t moved = moves.count;
    upm_moves_free(&moves);
    return moved;
}

static void test_criterion(void)
{
    const uint32_t counts[NODES] = {10, 7, 25, 3};
    struct upm_ratio ratio = upm_ratio(counts, NODES, 0);

    /* racc_max = 25, of node 2; lacc = 10: 2.5. */
    tap_ok(ratio.node == 2 && ratio.remote == 25 && ratio.local == 10,
           "racc_max is the most of any other node, lacc the home's");
    tap_ok(upm_eligible(ratio, 249) && !upm_eligible(ratio, 250),
           "a page is eligible above thr, not at it");
    ratio = upm_ratio(counts, NODES, 2);
    tap_ok(ratio.node == 0 && ratio.remote == 10 && ratio.local == 25 &&
               !upm_eligible(ratio, 100),
           "a page whose home references it most is not eligible");
    const uint32_t far[NODES] = {0, 1, 0, 0}, none[NODES] = {0};
    tap_ok(upm_eligible(upm_ratio(far, NODES, 0), 1000000),
           "a page that its home never references is eligible");
    tap_ok(!upm_eligible(upm_ratio(none, NODES, 0), 0),
           "a page that nobody references is not");
    const uint32_t huge[NODES] = {UINT32_MAX, UINT32_MAX - 1, 0, 0};
    tap_ok(!upm_eligible(upm_ratio(huge, NODES, 0), 100) &&
               upm_eligible(upm_ratio(huge, NODES, 1), 100),
           "counters near their limit do not overflow");
}

static void test_best(void)
{
    const uint32_t plain[NODES] = {5, 1, 9, 2}, even[NODES] = {6, 6, 0, 0};

    /* At 2 the largest latency of others is 5 * 20, elsewhere 9 * 20. */
    tap_ok(
        upm_best_node(plain, NODES, 0, flat_distance) == 2,
        "equal distances: a page belongs to the node that references it most");
    tap_ok(upm_best_node(even, NODES, 1, flat_distance) == 1 &&
               upm_best_node(even, NODES, 0, flat_distance) == 0,
           "of two equal nodes the home stays");
    /* In a row, node 0 and node 3 with 10 each: at 1 the latencies are 200 and
     * 300, at 0 or 3 0 and 400: the largest is least at 1 and 2.  Of these two
     * with equal sums the lower. */
    const uint32_t ends[NODES] = {10, 0, 0, 10};
    tap_ok(upm_best_node(ends, NODES, 0, row_distance) == 1,
           "the largest latency of any node counts, not the sum");
    tap_ok(upm_best_node(ends, NODES, 2, row_distance) == 2,
           "and a home that is as good as any stays");
}

static void test_iterative(void)
{
    struct upm_table table = make_table(4);
    struct upm_iterative engine = {0};

    set_counts(0, 10, 0, 0, 0);
    set_counts(1, 1, 9, 0, 0);
    set_counts(2, 0, 0, 3, 4);
    pages[3].home = UPM_NOWHERE;
    set_counts(3, 0, 9, 0, 0);
    tap_ok(iterate(&engine, &table, &usual) == 2 && pages[0].home == 0 &&
               pages[1].home == 1 && pages[2].home == 3 &&
               pages[3].home == UPM_NOWHERE,
           "each page goes to its node after the first iteration");
    tap_ok(!engine.off, "the engine stays on while pages move");
    tap_ok(iterate(&engine, &table, &usual) == 0 && engine.off,
           "it is off after a stable iteration");

    table = make_table(4);
    engine = (struct upm_iterative){0};
    tap_ok(iterate(&engine, &table, &usual) == 0 && !engine.off,
           "an iteration in which nothing was counted is not a stable one");
    set_counts(1, 0, 9, 0, 0);
    struct upm_moves moves = {0};
    upm_iterate(&engine, &table, &usual, &moves);
    upm_iterated(&engine, 0);
    tap_ok(moves.count == 1 && engine.off,
           "it is off when the kernel moves nothing of what it asks for");
    upm_moves_free(&moves);
}

/* A page that each iteration another node uses. */
static size_t bounces(int freeze, size_t iterations, struct upm_table *table)
{
    const struct upm_tuning tuning = {100, 20, freeze};
    struct upm_iterative engine = {0};
    size_t moved = 0;

    *table = make_table(1);
    for (size_t i = 0; i < iterations; i++) {
        set_counts(0, i % 2 ? 9 : 0, i % 2 ? 0 : 9, 0, 0);
        moved += iterate(&engine, table, &tuning);
    }
    return moved;
}

static void test_freezing(void)
{
    struct upm_table table;

    tap_ok(bounces(1, 3, &table) == 2 && pages[0].frozen,
           "a page that bounces is frozen within 3 iterations");
    tap_ok(bounces(1, 20, &table) == 2, "a frozen page does not move any more");
    tap_ok(bounces(0, 2, &table) == 1 && pages[0].frozen,
           "with no return allowed it is frozen when it would return");
    tap_ok(bounces(-1, 20, &table) == 20 && !pages[0].frozen,
           "without freezing it bounces for ever");

    /* Moved by an initialisation that is not like the iterations: it may go
     * back, and is not frozen while it stays. */
    struct upm_iterative engine = {0};
    table = make_table(1);
    set_counts(0, 0, 9, 0, 0);
    iterate(&engine, &table, &usual);
    set_counts(0, 9, 0, 0, 0);
    tap_ok(iterate(&engine, &table, &usual) == 1 && pages[0].home == 0 &&
               iterate(&engine, &table, &usual) == 0 && !pages[0].frozen &&
               engine.off,
           "a page that returns once and stays is not frozen");
}

static void test_units(void)
{
    struct upm_table table = make_table(10);
    struct upm_iterative engine = {0};

    table.unit_pages = 4;
    set_counts(0, 0, 5, 0, 0); /* pages 0 to 3 */
    set_counts(2, 0, 0, 5, 0); /* pages 8 and 9 */
    pages[2].home = 1;
    tap_ok(iterate(&engine, &table, &usual) == 5 && pages[0].home == 1 &&
               pages[3].home == 1 && pages[4].home == 0 && pages[9].home == 2,
           "all pages of a unit go where its counters say");
}

static void test_windows(void)
{
    struct upm_table a = {.pages = 5, .unit_pages = 1},
                     b = {.pages = 0, .unit_pages = 1},
                     c = {.pages = 6, .unit_pages = 4};
    struct upm_table *const tables[] = {&a, &b, &c};
    struct upm_window window = {0};
    static const struct upm_window expected[] = {
        {0, 0, 3}, {0, 3, 2}, {2, 0, 4}, {2, 4, 2}, {0, 0, 3}};
    int good = 1;

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        window = upm_next_window(window, tables, 3, 3);
        good &= window.table == expected[i].table &&
                window.first == expected[i].first &&
                window.count == expected[i].count;
    }
    tap_ok(good, "sampling goes round all areas, by whole units");
    struct upm_table *const empty[] = {&b};
    window = upm_next_window((struct upm_window){7, 100, 5}, empty, 1, 3);
    tap_ok(window.count == 0, "with no pages there is no window");
    window = upm_next_window((struct upm_window){7, 100, 5}, tables, 3, 3);
    tap_ok(window.count == 3 && window.table == 0,
           "a window of an area that is gone is followed by the first");
    window = upm_next_window((struct upm_window){0}, NULL, 0, 3);
    tap_ok(window.count == 0, "nor is there one without areas");
}

static void add_counts(size_t page, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t d)
{
    const uint32_t row[NODES] = {a, b, c, d};

    for (size_t i = 0; i < NODES; i++)
        counters[page * NODES + i] += row[i];
}

/* As the library does it. */
static size_t replay_next(struct upm_replay *engine)
{
    const struct upm_moves *moves = upm_replay_next(engine);
    size_t moved = 0;

    for (size_t i = 0; moves && i < moves->count; i++) {
        struct upm_move move = moves->at[i];

        if (move.table->page[move.page].home == move.node)
            continue;
        upm_replay_note(move);
        move.table->page[move.page].home = move.node;
        moved++;
    }
    return moved;
}

static size_t undo(struct upm_replay *engine)
{
    struct upm_moves moves = {0};

    upm_undo_moves(engine, &moves);
    carry_out(&moves);
    upm_undone(engine);
    size_t moved = moves.count;
    upm_moves_free(&moves);
    return moved;
}

static void test_replay(void)
{
    struct upm_table table = make_table(6), *const tables[] = {&table};
    const struct upm_tuning two = {100, 2, 1};
    struct upm_replay engine = {0};

    tap_ok(!upm_replay_next(&engine), "without a record there is no replay");
    /* Before the phase: to be left out, though it is more than the phase. */
    add_counts(0, 0, 100, 0, 0);
    upm_record(&engine, tables, 1, &two);
    tap_ok(!upm_replay_next(&engine), "nor with one");
    add_counts(1, 10, 20, 0, 0); /* 2 */
    add_counts(2, 10, 0, 31, 0); /* 3.1 */
    add_counts(3, 10, 0, 0, 30); /* 3: third */
    add_counts(4, 0, 2, 0, 0);   /* the home has none: first */
    add_counts(5, 10, 10, 0, 0); /* 1: not above thr */
    upm_record(&engine, tables, 1, &two);
    tap_ok(
        engine.phases == 1 && engine.moves[0].count == 2 &&
            engine.moves[0].at[0].page == 4 &&
            engine.moves[0].at[0].node == 1 &&
            engine.moves[0].at[1].page == 2 && engine.moves[0].at[1].node == 2,
        "of the eligible pages of a phase the n with the highest ratios move");
    pages[5].home = 3;
    tap_ok(replay_next(&engine) == 2 && pages[4].home == 1 &&
               pages[2].home == 2 && pages[1].home == 0,
           "a replay makes these moves");
    tap_ok(undo(&engine) == 2 && pages[4].home == 0 && pages[2].home == 0 &&
               pages[5].home == 3 && undo(&engine) == 0,
           "undo brings back what was replayed, and nothing else");
    int good = 1;
    for (int i = 0; i < 10; i++)
        good &= replay_next(&engine) == 2 && undo(&engine) == 2;
    tap_ok(good, "this goes on for all iterations");
    replay_next(&engine);
    pages[4].home = 2; /* somebody else moved it meanwhile */
    tap_ok(undo(&engine) == 2 && pages[4].home == 0,
           "undo restores the place before the first replay");
    free(table.recorded);
    upm_replay_clear(&engine);
}

static void test_phases(void)
{
    struct upm_table table = make_table(2), *const tables[] = {&table};
    struct upm_replay engine = {0};

    upm_record(&engine, tables, 1, &usual);
    add_counts(0, 0, 9, 0, 0); /* phase 0: page 0 to 1, page 1 to 3 */
    add_counts(1, 0, 0, 0, 9);
    upm_record(&engine, tables, 1, &usual);
    add_counts(0, 9, 0, 0, 0); /* phase 1: page 0 home again, page 1 to 2 */
    add_counts(1, 0, 0, 9, 0);
    upm_record(&engine, tables, 1, &usual);
    tap_ok(engine.phases == 2 && replay_next(&engine) == 2 &&
               pages[0].home == 1 && pages[1].home == 3 &&
               replay_next(&engine) == 2 && pages[0].home == 0 &&
               pages[1].home == 2,
           "a phase's moves start from where the phases before it leave pages");
    tap_ok(undo(&engine) == 2 && pages[0].home == 0 && pages[1].home == 0 &&
               engine.next == 0,
           "undo goes back over all phases at once, to the first");

    /* The kernel lets page 1 not go back: the next undo has it again. */
    replay_next(&engine);
    struct upm_moves moves = {0};
    upm_undo_moves(&engine, &moves);
    pages[0].home = 0;
    upm_undone(&engine);
    tap_ok(moves.count == 2 && pages[1].home == 3,
           "a page may fail to go back");
    upm_moves_free(&moves);
    tap_ok(undo(&engine) == 1 && pages[1].home == 0,
           "and does with the next undo");

    upm_replay_forget(&engine, &table);
    tap_ok(engine.phases == 2 && replay_next(&engine) == 0,
           "an area that is dropped has no moves any more");
    upm_replay_clear(&engine);
    int err = 0;
    for (int i = 0; i <= UPM_PHASES_MAX && !err; i++)
        err = upm_record(&engine, tables, 1, &usual);
    tap_ok(!err && upm_record(&engine, tables, 1, &usual) == -ENOSPC &&
               engine.phases == UPM_PHASES_MAX,
           "one phase too many is an error, and the others stay");
    upm_replay_clear(&engine);
    free(table.recorded);
}

static void test_wrap(void)
{
    struct upm_table table = make_table(1), *const tables[] = {&table};
    struct upm_replay engine = {0};

    set_counts(0, UINT32_MAX - 1, UINT32_MAX - 1, 0, 0);
    upm_record(&engine, tables, 1, &usual);
    add_counts(0, 1, 5, 0, 0);
    upm_record(&engine, tables, 1, &usual);
    tap_ok(engine.moves[0].count == 1 && engine.moves[0].at[0].remote == 5 &&
               engine.moves[0].at[0].local == 1,
           "counters that wrap within a phase give its difference");
    upm_replay_clear(&engine);
    free(table.recorded);
}

int main(void)
{
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < NODES; j++) {
            int apart = i > j ? i - j : j - i;

            row_distance[i * UPM_NODES_MAX + j] = (uint8_t)(10 + 10 * apart);
            flat_distance[i * UPM_NODES_MAX + j] = i == j ? 10 : 20;
        }
    }
    test_criterion();
    test_best();
    test_iterative();
    test_freezing();
    test_units();
    test_windows();
    test_replay();
    test_phases();
    test_wrap();
    return tap_end();
}
