/* stats.h - counters of the node and of this rank. */
#ifndef DRASYNC_RUNTIME_STATS_H
#define DRASYNC_RUNTIME_STATS_H

#include "drasync.h"
#include "runtime/shared.h"

/* Data of regions that a node sent to others, and got from them. */
static inline uint64_t stats_bytes_sent(const struct runtime_shared *shared)
{
    return atomic_load(&shared->bytes_sent) +
           atomic_load(&shared->diff_bytes_sent);
}

static inline uint64_t stats_bytes_received(const struct runtime_shared *shared)
{
    return atomic_load(&shared->bytes_received) +
           atomic_load(&shared->diff_bytes_received);
}

/* All of drasync_get_stats() but `regions`, which native regions know. */
void stats_read(struct drasync_stats *stats);

/* DRASYNC_STATS=1: one line of this rank on stderr. */
void stats_print(void);

#endif /* DRASYNC_RUNTIME_STATS_H */
