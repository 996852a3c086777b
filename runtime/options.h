/*
 * options.h - the environment variables DRASYNC_*, read once at the start.
 *
 * All ranks must have the same values: rank 0's count, and a rank that has
 * others is told so.
 */
#ifndef DRASYNC_RUNTIME_OPTIONS_H
#define DRASYNC_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum runtime_progress {
    RUNTIME_PROGRESS_ADAPTIVE,
    RUNTIME_PROGRESS_SPIN,
};

enum runtime_myrmics {
    RUNTIME_MYRMICS_COPY, /* a send is a copy */
    RUNTIME_MYRMICS_MOVE,
};

enum runtime_wire {
    RUNTIME_WIRE_BULK,
    RUNTIME_WIRE_PAGED,
};

enum runtime_rma {
    RUNTIME_RMA_AUTO, /* by messages where MPI runs over sockets */
    RUNTIME_RMA_MPI,
    RUNTIME_RMA_MESSAGES,
};

enum runtime_core {
    RUNTIME_CORE_SMALL, /* the first OPTIONS_CORE_BYTES of a node */
    RUNTIME_CORE_REGIONS,
    RUNTIME_CORE_NONE,
};

enum runtime_deadlock {
    RUNTIME_DEADLOCK_END, /* the job ends */
    RUNTIME_DEADLOCK_ERROR,
    RUNTIME_DEADLOCK_OFF,
};

enum runtime_report_signal {
    RUNTIME_REPORT_USR2,
    RUNTIME_REPORT_USR1,
    RUNTIME_REPORT_OFF,
};

/* What is asked ahead, by drasync_ahead() and drasync_phase(). */
enum runtime_ahead {
    RUNTIME_AHEAD_AUTO, /* as TOKEN, and what is READ again without a call */
    RUNTIME_AHEAD_OFF,
    RUNTIME_AHEAD_DATA,  /* data only, for WRITE as well */
    RUNTIME_AHEAD_TOKEN, /* for WRITE, the token */
};

#define OPTIONS_STALL_S     60
#define OPTIONS_STALL_S_MAX 1000000
#define OPTIONS_LINK_S      300

/* DRASYNC_CHECK: bits. */
enum runtime_check {
    OPTIONS_CHECK_ACCESS = 1,
    OPTIONS_CHECK_LEAKS = 2,
    OPTIONS_CHECK_OBJECTS = 4,
    OPTIONS_CHECK_DEADLOCK = 8,
    OPTIONS_CHECK_POINTERS = 16,
    OPTIONS_CHECK_LINKS = 32,

    /* Those that find nothing but mistakes: a pointer that only its own rank
     * follows may lead anywhere, and what a program refers to otherwise needs no
     * link. */
    OPTIONS_CHECK_ALL = OPTIONS_CHECK_ACCESS | OPTIONS_CHECK_LEAKS |
                        OPTIONS_CHECK_OBJECTS | OPTIONS_CHECK_DEADLOCK,

    /* Those that need objects with notes. */
    OPTIONS_CHECK_NOTES =
        OPTIONS_CHECK_OBJECTS | OPTIONS_CHECK_POINTERS | OPTIONS_CHECK_LINKS,
};

enum runtime_check_action {
    OPTIONS_CHECK_END,
    OPTIONS_CHECK_CONTINUE,
};

/* When a rank dies: DRASYNC_ON_DEATH. */
enum runtime_on_death {
    RUNTIME_ON_DEATH_END,
    RUNTIME_ON_DEATH_CONTINUE, /* the others of its node go on: survive.h */
};

enum runtime_stats {
    RUNTIME_STATS_OFF,
    RUNTIME_STATS_ON,
    RUNTIME_STATS_WAITS,
};

/* What core dumps show of a node's regions unless the user says. */
#define OPTIONS_CORE_BYTES ((uint64_t)64 << 20)

/* Less memory than this does not start a node of a few ranks. */
#define OPTIONS_MEMORY_BYTES_MIN ((uint64_t)16 << 20)

/* No pointers in it: it is sent from rank 0 to the others as it is. */
struct runtime_options {
    uint64_t space_bytes;   /* DRASYNC_SPACE; 0: not given */
    uint64_t memory_bytes;  /* DRASYNC_MEMORY; 0: not given */
    uint32_t node_ranks;    /* DRASYNC_NODE=shared|rank|N: ranks of a node at
                              most; 0: all that share memory, rank: 1 */
    uint32_t progress;      /* DRASYNC_PROGRESS=adaptive|spin */
    uint32_t myrmics;       /* DRASYNC_MYRMICS=copy|move */
    uint32_t check;         /* DRASYNC_CHECK=access,leaks ...; bits */
    uint32_t check_action;  /* DRASYNC_CHECK_ACTION=end|continue */
    uint32_t stats;         /* DRASYNC_STATS=0|1|waits: print counters, and
                              waits, at the end */
    uint32_t wire;          /* DRASYNC_WIRE=bulk|paged: to compare with, in a
                              build with --enable-wire-paged */
    uint32_t rma;           /* DRASYNC_RMA=auto|mpi|messages */
    uint32_t core;          /* DRASYNC_CORE=small|regions|none */
    uint32_t stall_s;       /* DRASYNC_STALL_S=0|N: a wait is reported then */
    uint32_t link_s;        /* DRASYNC_LINK_S=0|N: a link cut so long is lost */
    uint32_t deadlock;      /* DRASYNC_DEADLOCK=end|error|off */
    uint32_t on_death;      /* DRASYNC_ON_DEATH=end|continue */
    uint32_t report_signal; /* DRASYNC_REPORT_SIGNAL=USR2|USR1|off */
    uint32_t ahead;         /* DRASYNC_AHEAD=auto|off|data|token */
    uint32_t fanout; /* DRASYNC_FANOUT: of trees of readers; 0: not given */
};

/* A line of options_read(), options_differ() or options_unknown() fits. */
#define OPTIONS_LINE_BYTES 384

/*
 * Read the environment.  0, or DRASYNC_EINVAL with one line in @why that names
 * the variable, its value and what it may be.
 */
int options_read(struct runtime_options *options, char *why, size_t why_bytes);

/* The first variable whose value differs, with both values, in @line; false if
 * none does. */
bool options_differ(const struct runtime_options *here,
                    const struct runtime_options *first, char *line,
                    size_t line_bytes);

/*
 * The next variable of the environment that looks like one of ours and is none,
 * from *@at on (0 at first): a line that names it, and the one that is probably
 * meant.  False: no more.  Names that packages and our own scripts use
 * (DRASYNC_ROOT, DRASYNC_TEST_...) are left alone.
 */
bool options_unknown(size_t *at, char *line, size_t line_bytes);

/*
 * A size: digits and an optional K, M, G or T (powers of 1024, lower case
 * allowed), with an optional B or iB: 64G, 64GB and 64GiB are one.  0 or
 * DRASYNC_EINVAL.
 */
int options_parse_bytes(const char *text, uint64_t *bytes_out);

/* The names of all variables, NULL at the end. */
const char *options_name(size_t index);

#endif /* DRASYNC_RUNTIME_OPTIONS_H */
