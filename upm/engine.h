/*
 * engine.h - the three engines of UPMlib: counters in, moves out.
 *
 * Pure: they call no system, read no clock and take no lock, so that a table of
 * counters tests them.  The caller fills the tables, carries the moves out, and
 * writes into `home` where pages are.  After Nikolopoulos et al., "Leveraging
 * Transparent Data Distribution in OpenMP via User-Level Dynamic Page
 * Migration", 2000: sec. 2.1 iterative and sampling, sec. 2.2 record/replay.
 *
 * Functions return 0 or a negative errno; nothing else than -ENOMEM where no
 * other is named.
 */
#ifndef UPM_ENGINE_H
#define UPM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes are numbers from 0 on without gaps, whatever the kernel calls them. */
#define UPM_NODES_MAX 64

/* Recorded phases of an iteration. */
#define UPM_PHASES_MAX 64

/* A home: the page has no frame, or the kernel did not say. */
#define UPM_NOWHERE (-1)

/* What an engine remembers of a page. */
struct upm_page {
    uint64_t left;  /* a bit for each node that it left */
    int16_t home;   /* node, or UPM_NOWHERE: the caller writes it */
    int16_t before; /* its home when an engine last looked */
    int16_t origin; /* its home before the first replay, or UPM_NOWHERE */
    int16_t
        planned; /* where the phases recorded so far bring it, or the same */
    uint8_t returns; /* how often it came back to a node that it had left */
    bool frozen;
    bool undoing; /* upm_undo_moves() has listed it */
};

/* The pages of a hot area.  A unit is a run of pages that one counter stands
 * for: where an area is so large that counting each page would cost more. */
struct upm_table {
    size_t pages;
    size_t unit_pages;
    unsigned nodes;
    struct upm_page *page;
    uint32_t *counts;        /* [unit][node], since it was last cleared */
    uint32_t *recorded;      /* the set of the last record, or NULL */
    const uint8_t *distance; /* [from][to], as in the kernel: 10 is local */
};

struct upm_tuning {
    unsigned threshold_pct; /* racc_max / lacc must be above it, in percent */
    size_t critical;        /* moves of one replay at most */
    int freeze;             /* returns that a page may make; -1: any number */
};

struct upm_move {
    struct upm_table *table;
    size_t page;
    int16_t node;
    uint32_t remote, local; /* racc_max and lacc */
};

struct upm_moves {
    struct upm_move *at;
    size_t count, room;
};

int upm_moves_add(struct upm_moves *moves, struct upm_move move);
void upm_moves_free(struct upm_moves *moves);

/* --- The criterion (criterion.c) ---------------------------------------- */

/* The accesses of the node other than @home that has most, and of @home. */
struct upm_ratio {
    int16_t node;
    uint32_t remote, local;
};

struct upm_ratio upm_ratio(const uint32_t *counts, unsigned nodes, int home);

/* Is racc_max / lacc above the threshold?  Where lacc is 0: if racc_max is not. */
bool upm_eligible(struct upm_ratio ratio, unsigned threshold_pct);

/* The ratios of two moves, exactly: < 0 if @a's is the higher one.  Equal ones
 * by accesses, then by page. */
int upm_more_critical(const struct upm_move *a, const struct upm_move *b);

/*
 * The node on which the largest latency that any node's remote accesses add up
 * to is least; of several the one with the least sum, then @home, then the
 * lowest.
 */
int upm_best_node(const uint32_t *counts, unsigned nodes, int home,
                  const uint8_t *distance);

/* The counters of @page. */
const uint32_t *upm_counts(const struct upm_table *table, size_t page);

/* A page that has never been looked at. */
void upm_page_new(struct upm_page *page);

/*
 * Add to @moves the pages from @first on, @count of them, that the criterion
 * moves; freeze those that bounced once too often.
 */
int upm_judge(struct upm_table *table, size_t first, size_t count,
              const struct upm_tuning *tuning, struct upm_moves *moves);

/* --- Iterative (iterative.c) --------------------------------------------- */

struct upm_iterative {
    bool off; /* nothing moves any more: the caller stops counting */
    bool counted;
};

/* At the end of an iteration, for each table, with the counters of that
 * iteration; then once upm_iterated() with how many pages did move. */
int upm_iterate(struct upm_iterative *engine, struct upm_table *table,
                const struct upm_tuning *tuning, struct upm_moves *moves);
void upm_iterated(struct upm_iterative *engine, size_t moved);

/* --- Sampling (sampling.c) ------------------------------------------------ */

/* Which pages come next: `count` pages of table `table`, from `first` on. */
struct upm_window {
    size_t table, first, count;
};

/*
 * The window after @window, of at most @batch pages, going round all @tables;
 * of no pages if they have none.  It ends with a unit, as it began with one.
 */
struct upm_window upm_next_window(struct upm_window window,
                                  struct upm_table *const *tables, size_t count,
                                  size_t batch);

/* --- Record and replay (replay.c) ----------------------------------------- */

struct upm_replay {
    unsigned
        records; /* of this recording; the first forgets what was replayed */
    unsigned phases; /* that are recorded */
    unsigned next;   /* phase that is replayed next */
    struct upm_moves moves[UPM_PHASES_MAX];
};

/*
 * At a phase transition.  The counters only grow between two records.  From the
 * second record on this gives a phase: the accesses since the record before it,
 * and the moves that the criterion makes of them, the most critical ones.
 * -ENOSPC: more than UPM_PHASES_MAX phases.
 */
int upm_record(struct upm_replay *engine, struct upm_table *const *tables,
               size_t count, const struct upm_tuning *tuning);

/* The moves of the next phase, in order; NULL: nothing is recorded. */
const struct upm_moves *upm_replay_next(struct upm_replay *engine);

/* For a move of a replay that happened, before `home` says so. */
void upm_replay_note(struct upm_move move);

/* The moves that bring all replayed pages back; upm_undone() comes when they
 * have been done and `home` says where pages are: those that did not go back are
 * listed again by the next. */
int upm_undo_moves(const struct upm_replay *engine, struct upm_moves *moves);
void upm_undone(struct upm_replay *engine);

/* Forget the recording, or what it says about @table only. */
void upm_replay_clear(struct upm_replay *engine);
void upm_replay_forget(struct upm_replay *engine,
                       const struct upm_table *table);

#endif /* UPM_ENGINE_H */
