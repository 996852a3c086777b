/* stats.h - counters of the node and of this rank. */
#ifndef DRASYNC_RUNTIME_STATS_H
#define DRASYNC_RUNTIME_STATS_H

#include "drasync.h"

/* All of drasync_get_stats() but `regions`, which native regions know. */
void stats_read(struct drasync_stats *stats);

/* DRASYNC_STATS=1: one line of this rank on stderr. */
void stats_print(void);

#endif /* DRASYNC_RUNTIME_STATS_H */
