/*
 * engine.h - the two engines that find out what is to be asked ahead: acquires
 * in, hints out.
 *
 * Pure: they call no system, read no clock and take no lock, and their memory is
 * one struct each, all zero at first, so that a table of acquires tests them.
 * The caller lets one call after the other in, asks the owner for each hint, and
 * answers it.  One of each serves one rank.
 *
 * phases.c  The program says where phases begin, and what the next one acquired
 *           is asked ahead.  After the record/replay of Nikolopoulos et al.,
 *           "Leveraging Transparent Data Distribution in OpenMP via User-Level
 *           Dynamic Page Migration", 2000, sec. 2.2, with acquires for moves of
 *           pages.
 * follow.c  The program says nothing: what followed an acquire several times is
 *           asked ahead at the next.
 */
#ifndef AHEAD_ENGINE_H
#define AHEAD_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"

/* What became of a hint. */
enum ahead_answer {
    AHEAD_ASKED,
    AHEAD_HERE, /* there was no need to ask */
    AHEAD_GONE, /* no such region */
};

/* A rank acquires a region. */
struct ahead_acquire {
    uint64_t address;
    enum drasync_mode mode;
    bool away;  /* its token is on another node */
    bool waits; /* for a message */
};

/* --- Phases (phases.c) ----------------------------------------------------- */

/* Regions that are recorded: each counts once for each of its phases. */
#define AHEAD_NOTES_MAX   4096
#define AHEAD_NOTES_HEADS 1024

/* Acquires of a region in one phase that are told of. */
#define AHEAD_TIMES_MAX 16

/* A region that was dropped from a phase comes back so often, then it stays out:
 * what is acquired every other time would be in vain half the times. */
#define AHEAD_RETURNS_MAX 2

/* A region that a phase acquires. */
struct ahead_note {
    uint64_t address;
    uint16_t next, next_of_phase; /* indexes + 1; 0: none */
    uint8_t phase;
    uint8_t mode, mode_now; /* WRITE if one acquire was: last time, this time */
    uint8_t times, seen;    /* acquires: last time, this time */
    uint8_t returns;
    bool asked;   /* and its phase has not ended since */
    bool dropped; /* it is not asked */
};

struct ahead_phases {
    struct ahead_note note[AHEAD_NOTES_MAX];
    uint16_t heads[AHEAD_NOTES_HEADS];  /* by phase and address */
    uint16_t first[DRASYNC_PHASES_MAX]; /* of the notes of a phase */
    uint16_t used;                      /* notes ever used; */
    uint16_t free;                      /* a list of those given back; */
    uint16_t hand;                      /* where room was looked for last */
    uint16_t hint;                      /* which comes next */
    int8_t follows[DRASYNC_PHASES_MAX]; /* phase + 1; 0: not known */
    int8_t now, before;                 /* phase + 1; 0: none */
    uint8_t iterations;                 /* begun; counts to 2 */
    bool full; /* set when an acquire has no room; the caller clears it */
};

/* The head of an iteration.  Acquires before its first phase are not recorded. */
void ahead_phases_iteration(struct ahead_phases *p);

/* @phase, 0 to DRASYNC_PHASES_MAX - 1, begins.  False, and nothing changed:
 * there was no iteration yet.  Then come hints for the phase that followed it
 * last time; none in the first iteration. */
bool ahead_phases_begin(struct ahead_phases *p, int phase);

/* The next hint: READ is to be asked `times` times; NULL: that was all. */
struct ahead_note *ahead_phases_hint(struct ahead_phases *p);

/* Once for each hint, before the next one. */
void ahead_phases_answer(struct ahead_phases *p, struct ahead_note *note,
                         enum ahead_answer answer);

void ahead_phases_acquired(struct ahead_phases *p,
                           const struct ahead_acquire *a);

/* --- What follows what (follow.c) ------------------------------------------ */

/* Rows, in sets of a few. */
#define AHEAD_SETS 1024
#define AHEAD_WAYS 4

/* What comes next depends on as many acquires before it, at most. */
#define AHEAD_HISTORY 4

/* So often in a row one acquire followed another before it is asked ahead; and
 * where that is counted up to. */
#define AHEAD_CONFIDENT      2
#define AHEAD_CONFIDENCE_MAX 4

/* Hints that nobody has acquired yet, at most; and how far ahead they look. */
#define AHEAD_OPEN_MAX  16
#define AHEAD_DEPTH_MAX 8

/* A hint is in vain if it was not acquired after so many other acquires, beyond
 * how far ahead it looked. */
#define AHEAD_PATIENCE 8

/* What gave a hint in vain rests while it would have given so many more, twice as
 * many each time, AHEAD_REST << AHEAD_FAULTS_MAX at most. */
#define AHEAD_REST       4
#define AHEAD_FAULTS_MAX 8

/* One hint in so many acquires may be in vain, of about the last ones. */
#define AHEAD_VAIN_PART  20
#define AHEAD_SEEN_COUNT 2048

/* What followed one acquire, or several. */
struct ahead_row {
    uint64_t context; /* a hash of those */
    uint64_t next;    /* address | mode */
    uint16_t rest;    /* gives no hint so often */
    uint8_t confidence, faults;
};

struct ahead_open {
    uint64_t acquire; /* address | mode; 0: none */
    uint64_t until;   /* in vain from this acquire on */
    uint16_t row;
};

struct ahead_follow {
    struct ahead_row row[AHEAD_SETS * AHEAD_WAYS];
    struct ahead_open open[AHEAD_OPEN_MAX];
    uint64_t last[AHEAD_HISTORY]; /* acquires of what is away, the last first */
    uint64_t count;               /* of them */
    uint32_t seen, vain;
    uint8_t depth; /* how far ahead hints look: further if they come late */
    /* Of the hints for the last acquire: what precedes the next one, the last one
     * in `open`, and how many may follow. */
    uint64_t walk[AHEAD_HISTORY];
    int hinted;
    uint8_t left;
};

/* Then come hints. */
void ahead_follow_acquired(struct ahead_follow *f,
                           const struct ahead_acquire *a);

/* The next hint; false: that was all. */
bool ahead_follow_hint(struct ahead_follow *f, uint64_t *address_out,
                       enum drasync_mode *mode_out);

/* Once for each hint, before the next one. */
void ahead_follow_answer(struct ahead_follow *f, enum ahead_answer answer);

#endif /* AHEAD_ENGINE_H */
