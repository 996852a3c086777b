/*
 * state.h - the library's own state, between library.c, count.c and helper.c.
 */
#ifndef UPM_STATE_H
#define UPM_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "upm/carry.h"
#include "upm/engine.h"
#include "upm/host.h"
#include "upm/options.h"
#include "upm/source.h"
#include "upmlib.h"

struct upm_state {
    pthread_mutex_t lock; /* for all that follows, and the list of areas */
    bool started;
    bool forked; /* this is a child of fork(): nothing is done any more */
    struct upm_host host;
    struct upm_options options;
    uint64_t placed; /* pages numbered by upm_place_area() */

    const struct upm_source *source; /* while counting; or NULL */
    bool paused;                     /* the iterative engine is not in use */
    bool recording; /* between the first record and the first replay */
    struct upm_iterative iterative;
    struct upm_replay replay;
    bool replayed; /* since the last undo */
    struct upm_tuning tuning;

    unsigned sample_ms;       /* 0: no sampling */
    _Atomic bool discovers;   /* areas are looked for, as nobody gives any */
    struct upm_window window; /* armed for sampling */

    struct upmlib_stats stats;
};

extern struct upm_state upm;

/* Say what is wrong: the text of upmlib_error().  Returns @err. */
int upm_fail(int err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- count.c: under the lock -------------------------------------------- */

/* Nothing is counted or moved: one node, a child of fork(), not started. */
bool upm_idle(void);

/* Do the iterative engine or a recording want all pages counted? */
bool upm_wants_all(void);

/*
 * Count if somebody wants it, stop if nobody does.  0, -ENOTSUP, -ENOMEM,
 * -EAGAIN.
 */
int upm_count(void);

/* Arm what is to be counted: all, or the window of sampling. */
void upm_arm(void);

/* Bring the counters up to date, with nothing armed any more. */
void upm_stop_look(void);

/* Forget an area and what is known of it. */
void upm_forget(struct upm_area *area);

/* One step of sampling. */
void upm_sample_step(void);

/* Carry @moves out and count them; the number of pages that moved, or a negative
 * errno. */
int upm_do(struct upm_moves *moves, void (*note)(struct upm_move move));

/* The tables of all areas; *count of them. */
struct upm_table *const *upm_tables(size_t *count);

/* --- helper.c ------------------------------------------------------------- */

/*
 * A thread arms units anew and samples, while there is something to do.  Under
 * the lock.  0 or -EAGAIN.
 */
int upm_helper_start(void);

/* Give the lock back; if the helper has nothing to do any more, it is over when
 * this returns. */
void upm_unlock(void);

/* In the child of a fork(). */
void upm_helper_forked(void);

/* --- discover.c ----------------------------------------------------------- */

/* Bring the areas into line with the process's large arrays.  Under the lock,
 * with nothing armed. */
void upm_discover(void);

#endif /* UPM_STATE_H */
