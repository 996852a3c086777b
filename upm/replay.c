/* The record/replay engine: see engine.h. */
#include "upm/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t counters(const struct upm_table *table)
{
    return (table->pages + table->unit_pages - 1) / table->unit_pages *
           table->nodes;
}

/* The eligible pages of @table by the accesses since the last record. */
static int candidates(struct upm_table *table, const struct upm_tuning *tuning,
                      struct upm_moves *moves)
{
    uint32_t since[UPM_NODES_MAX];

    for (size_t i = 0; i < table->pages; i++) {
        const uint32_t *now = upm_counts(table, i);
        const uint32_t *then = table->recorded + (now - table->counts);

        if (table->page[i].home == UPM_NOWHERE)
            continue;
        /* Counters may wrap: their difference is right nevertheless. */
        for (unsigned node = 0; node < table->nodes; node++)
            since[node] = now[node] - then[node];
        /* Where it will be when the phases before this one were replayed. */
        int16_t home = table->page[i].planned;
        if (home == UPM_NOWHERE)
            home = table->page[i].home;
        struct upm_ratio ratio = upm_ratio(since, table->nodes, home);
        if (!upm_eligible(ratio, tuning->threshold_pct))
            continue;
        int err =
            upm_moves_add(moves, (struct upm_move){table, i, ratio.node,
                                                   ratio.remote, ratio.local});
        if (err)
            return err;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return upm_more_critical(a, b);
}

/* The room for the others goes back: phases are many, and candidates may be all
 * pages there are. */
static void keep_first(struct upm_moves *moves, size_t count)
{
    struct upm_move *few =
        count ? realloc(moves->at, count * sizeof(*few)) : NULL;

    moves->count = count;
    if (few) {
        moves->at = few;
        moves->room = count;
    }
}

static int end_phase(struct upm_replay *engine, struct upm_table *const *tables,
                     size_t count, const struct upm_tuning *tuning)
{
    struct upm_moves moves = {0};

    if (engine->phases == UPM_PHASES_MAX)
        return -ENOSPC;
    for (size_t i = 0; i < count; i++) {
        int err =
            tables[i]->recorded ? candidates(tables[i], tuning, &moves) : 0;
        if (err) {
            upm_moves_free(&moves);
            return err;
        }
    }
    if (moves.count)
        qsort(moves.at, moves.count, sizeof(*moves.at), compare);
    if (moves.count > tuning->critical)
        keep_first(&moves, tuning->critical);
    for (size_t i = 0; i < moves.count; i++)
        moves.at[i].table->page[moves.at[i].page].planned = moves.at[i].node;
    engine->moves[engine->phases++] = moves;
    return 0;
}

int upm_record(struct upm_replay *engine, struct upm_table *const *tables,
               size_t count, const struct upm_tuning *tuning)
{
    int err = engine->records ? end_phase(engine, tables, count, tuning) : 0;

    for (size_t i = 0; i < count && !err; i++) {
        struct upm_table *table = tables[i];
        size_t bytes = counters(table) * sizeof(*table->counts);

        for (size_t j = 0; j < table->pages && !engine->records; j++)
            table->page[j].planned = table->page[j].origin = UPM_NOWHERE;
        if (!table->recorded)
            table->recorded = malloc(bytes ? bytes : 1);
        if (table->recorded)
            memcpy(table->recorded, table->counts, bytes);
        else
            err = -ENOMEM;
    }
    if (!err)
        engine->records++;
    return err;
}

const struct upm_moves *upm_replay_next(struct upm_replay *engine)
{
    if (!engine->phases)
        return NULL;
    const struct upm_moves *moves = &engine->moves[engine->next];
    engine->next = (engine->next + 1) % engine->phases;
    return moves;
}

void upm_replay_note(struct upm_move move)
{
    struct upm_page *page = &move.table->page[move.page];

    if (page->origin == UPM_NOWHERE)
        page->origin = page->home;
}

/* A page may stand in the lists of several phases: it goes back once. */
static int add_undo(struct upm_move move, struct upm_moves *moves)
{
    struct upm_page *page = &move.table->page[move.page];

    if (page->origin == UPM_NOWHERE || page->undoing)
        return 0;
    page->undoing = true;
    return upm_moves_add(moves, (struct upm_move){.table = move.table,
                                                  .page = move.page,
                                                  .node = page->origin});
}

int upm_undo_moves(const struct upm_replay *engine, struct upm_moves *moves)
{
    int err = 0;

    for (unsigned phase = 0; phase < engine->phases; phase++) {
        for (size_t i = 0; i < engine->moves[phase].count && !err; i++)
            err = add_undo(engine->moves[phase].at[i], moves);
    }
    for (size_t i = 0; i < moves->count; i++)
        moves->at[i].table->page[moves->at[i].page].undoing = false;
    return err;
}

void upm_undone(struct upm_replay *engine)
{
    engine->next = 0;
    for (unsigned phase = 0; phase < engine->phases; phase++) {
        for (size_t i = 0; i < engine->moves[phase].count; i++) {
            const struct upm_move *move = &engine->moves[phase].at[i];
            struct upm_page *page = &move->table->page[move->page];

            if (page->origin == page->home)
                page->origin = UPM_NOWHERE;
        }
    }
}

void upm_replay_clear(struct upm_replay *engine)
{
    for (unsigned i = 0; i < engine->phases; i++)
        upm_moves_free(&engine->moves[i]);
    *engine = (struct upm_replay){0};
}

void upm_replay_forget(struct upm_replay *engine, const struct upm_table *table)
{
    for (unsigned i = 0; i < engine->phases; i++) {
        struct upm_moves *moves = &engine->moves[i];
        size_t kept = 0;

        for (size_t j = 0; j < moves->count; j++) {
            if (moves->at[j].table != table)
                moves->at[kept++] = moves->at[j];
        }
        moves->count = kept;
    }
}
