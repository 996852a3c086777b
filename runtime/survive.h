/*
 * survive.h - DRASYNC_ON_DEATH=continue: a rank dies, and the others go on.
 *
 * The thread that a death wakes (death_watch.h) *buries* the dead rank: each
 * module gives back what it had and drops what it asked for (modules.h), by the
 * same steps and under the same locks as any rank's own.  What the rank had not
 * finished is finished or undone by that: a step is under a lock, and whoever
 * finds the lock of a dead holder ends the job as ever; what is done without a
 * lock is a compare-and-swap, which was done or was not.
 *
 * Only where all ranks are of one node, as between nodes data may be in flight
 * that is the dead node's; and not where calls were made that need all ranks.
 */
#ifndef DRASYNC_RUNTIME_SURVIVE_H
#define DRASYNC_RUNTIME_SURVIVE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/process.h"
#include "runtime/shared.h"

/* Why the others cannot go on; the first one said counts. */
enum survive_bound {
    SURVIVE_FREE,
    SURVIVE_MYRMICS,  /* a rank makes Myrmics' calls */
    SURVIVE_DART,     /* or DART's */
    SURVIVE_NO_WATCH, /* a rank has no thread that a death wakes */
};
static inline void survive_bind(enum survive_bound why)
{
    uint32_t none = SURVIVE_FREE;

    /* Relaxed: it is true from now on, whoever looks. */
    if (runtime.options.on_death)
        atomic_compare_exchange_strong_explicit(&runtime.shared->bound, &none,
                                                why, memory_order_relaxed,
                                                memory_order_relaxed);
}

/* Do the others go on when a rank dies?  False: *why_out ends the line that says
 * who did. */
bool survive_wanted(const char **why_out);

/* Rank @rank of this node, which @who names, is gone.  Once for each, by whichever
 * rank comes first; the others come back when it is done. */
void survive_bury(int rank, const char *who);

/* Called after each burial, under a lock, in the process that did it: the end may
 * have waited for that rank alone.  Set at the start, once. */
void survive_tells(void (*tell)(void));

/* Is there a rank that was buried?  MPI waits for it in MPI_Finalize. */
bool survive_any(void);

#endif /* DRASYNC_RUNTIME_SURVIVE_H */
