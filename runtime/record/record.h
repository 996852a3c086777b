/*
 * record.h - DRASYNC_RECORD=FILE: what this rank does, for the replay in sim/.
 *
 * One text file a rank, FILE.RANK; docs/records.md says what stands in it. Off,
 * a call of the fronts pays for one look at drasync_record_on.
 *
 * Callers bracket each call: drasync_record_begin() when it is entered,
 * drasync_record_end() when it succeeded, drasync_record_vain() when it did
 * not. Only the outermost call of a thread counts.  Allocation is too frequent
 * for that: it is counted, and its time is the program's.
 *
 * Thread-safe; calls of several threads come one after the other.  Nothing here
 * needs the runtime but record_module: the baseline has it too.
 */
#ifndef DRASYNC_RUNTIME_RECORD_RECORD_H
#define DRASYNC_RUNTIME_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In a record, the first letter of a line. */
enum drasync_record_kind {
    RECORD_NEW = 'N',     /* region, parent */
    RECORD_DELETE = 'D',  /* region */
    RECORD_ACQUIRE = 'A', /* region, mode, drasync_record_versions() */
    RECORD_RELEASE = 'L', /* region, drasync_record_versions() */
    RECORD_HINT = 'H',    /* drasync_ahead: region, mode */
    RECORD_PUBLISH = 'P', /* name, as a number */
    RECORD_LOOKUP = 'U',  /* name, as a number */
    RECORD_SEND = 'S',    /* region, worker, bytes, drasync_record_kept() */
    RECORD_RECV = 'R',    /* region, worker, bytes */
    RECORD_BARRIER = 'B',
    RECORD_MPI_SEND = 's',    /* rank, tag, bytes */
    RECORD_MPI_RECV = 'r',    /* rank, tag, bytes */
    RECORD_MPI_BARRIER = 'b', /* or another call that all ranks make */
    RECORD_MARK = 'M', /* MPI_Pcontrol: level, nanoseconds by the clock */
    RECORD_ASK = 'Q',  /* the baseline: scheduler, bytes of the answer,
                          1: where data is */
    RECORD_END = 'E',  /* nanoseconds by the clock */
};

extern bool drasync_record_on;

static inline bool record_wanted(void)
{
    return __builtin_expect(drasync_record_on, false);
}

void drasync_record_begin(void);
void drasync_record_end(int kind, uint64_t a, uint64_t b, uint64_t c);

/* Of what this call sends: RECORD_KEPT it is kept, in case that the next call
 * sends the same; RECORD_SAME it is what was kept. */
enum { RECORD_KEPT = 1, RECORD_SAME = 2 };

void drasync_record_kept(int how);

/*
 * The incarnation of the region that this call is about, and of its second one
 * (0: not known): the same address may be another region's before and after.
 * What looks for them begins at @since_ns by the thread's clock, and does not
 * count.
 */
void drasync_record_lives(uint64_t region, uint64_t second, uint64_t since_ns);

/* Of an acquire for what is newer than @known: @got came.  Of a release: @got is
 * left behind; 0: not known.  @since_ns as above. */
void drasync_record_versions(uint64_t known, uint64_t got, uint64_t since_ns);

/* It failed, or there was nothing yet: its time is that of a wait. */
void drasync_record_vain(void);

/* The program looked for something that is not there (@found 0), or at last is:
 * the time from the first look in vain to now was a wait. */
void drasync_record_poll(int found);

/* @count objects of @bytes together were allocated in @region; @frees freed. */
void drasync_record_alloc(uint64_t region, uint64_t count, uint64_t bytes,
                          uint64_t frees);

/* Nanoseconds by the clock on the wall. */
uint64_t drasync_record_clock(void);

/* Those of the clock of the thread, and what a look at it takes. */
uint64_t drasync_record_thread_ns(void);
uint64_t drasync_record_clock_cost_ns(void);

/* A name as a number. */
uint64_t drasync_record_name(const char *name);

/* PATH.RANK, empty, to be written, for this user only; NULL with errno. */
FILE *drasync_record_file(const char *path, int rank);

/* Begin to write PATH.RANK; 0 or an errno.  Nobody else calls meanwhile. */
int drasync_record_open(const char *path, int rank, int ranks, int node);

/* The last line.  Then close: 0, or the errno of what could not be written. */
void drasync_record_finish(void);
int drasync_record_close(void);

/* For fronts: record a call that is over, with what it came to. */
#define RECORD_BEGIN()              \
    do {                            \
        if (record_wanted())        \
            drasync_record_begin(); \
    } while (0)
#define RECORD_DONE(err, kind, a, b, c)                                \
    do {                                                               \
        if (record_wanted()) {                                         \
            if (err)                                                   \
                drasync_record_vain();                                 \
            else                                                       \
                drasync_record_end(kind, (uint64_t)(a), (uint64_t)(b), \
                                   (uint64_t)(c));                     \
        }                                                              \
    } while (0)

#endif /* DRASYNC_RUNTIME_RECORD_RECORD_H */
