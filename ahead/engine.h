/*
 * engine.h - the engine that finds out what is to be asked ahead: acquires in,
 * hints out.
 *
 * The program says where phases begin, and what the next one acquired is asked
 * ahead.  After the record/replay of Nikolopoulos et al., "Leveraging Transparent
 * Data Distribution in OpenMP via User-Level Dynamic Page Migration", 2000, sec.
 * 2.2, with acquires for moves of pages.
 *
 * Pure: it calls no system, reads no clock and takes no lock, and its memory is
 * one struct, all zero at first, so that a table of acquires tests it.  The
 * caller lets one call after the other in, asks the owner for each hint, and
 * answers it.  One serves one rank.
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

#endif /* AHEAD_ENGINE_H */
