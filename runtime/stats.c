/* Counters, added up over the ranks of a node, and their line at the end. */
#include "runtime/stats.h"

#include <inttypes.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

/* Relaxed would do for all of these: no other data depends on a counter.  They
 * pair with the relaxed additions of runtime_count() and send.c, and the
 * relaxed stores of dispatch_publish(); a thread sees at least what it counted
 * itself. */
void stats_read(struct drasync_stats *stats)
{
    struct runtime_shared *shared = runtime.shared;
    struct runtime_rank *self = runtime_self();

    memset(stats, 0, sizeof(*stats));
    stats->acquires = atomic_load(&self->counters[RUNTIME_COUNT_ACQUIRES]);
    stats->acquires_waited =
        atomic_load(&self->counters[RUNTIME_COUNT_ACQUIRES_WAITED]);
    stats->releases = atomic_load(&self->counters[RUNTIME_COUNT_RELEASES]);
    stats->allocations =
        atomic_load(&self->counters[RUNTIME_COUNT_ALLOCATIONS]);
    stats->frees = atomic_load(&self->counters[RUNTIME_COUNT_FREES]);
    stats->ahead_asked =
        atomic_load(&self->counters[RUNTIME_COUNT_AHEAD_ASKED]);
    stats->ahead_waited_us =
        atomic_load(&self->counters[RUNTIME_COUNT_AHEAD_WAITED_US]);
    for (uint32_t i = 0; i < shared->locals; i++) {
        struct runtime_rank *rank = &shared->ranks[i];
        stats->bytes_copied +=
            atomic_load(&rank->counters[RUNTIME_COUNT_BYTES_COPIED]);
        stats->chunk_requests +=
            atomic_load(&rank->counters[RUNTIME_COUNT_CHUNK_REQUESTS]);
        stats->ahead_used +=
            atomic_load(&rank->counters[RUNTIME_COUNT_AHEAD_USED]);
        stats->ahead_vain_bytes +=
            atomic_load(&rank->counters[RUNTIME_COUNT_AHEAD_VAIN_BYTES]);
    }
    stats->messages_sent = atomic_load(&shared->messages_sent);
    stats->messages_received = atomic_load(&shared->messages_received);
    stats->bytes_sent = stats_bytes_sent(shared);
    stats->bytes_received = stats_bytes_received(shared);
    stats->reserved_bytes = limit_used_bytes(&runtime.space);
    stats->rank = runtime.rank;
    stats->ranks = runtime.ranks;
    stats->node = runtime.node;
    stats->nodes = runtime.nodes;
}

void stats_print(void)
{
    struct drasync_stats s;

    stats_read(&s);
    runtime_say("acquires %" PRIu64 " (waited %" PRIu64 ") releases %" PRIu64
                " allocations %" PRIu64 " frees %" PRIu64
                "; node %d: messages sent %" PRIu64 " received %" PRIu64
                " bytes sent %" PRIu64 " received %" PRIu64 " copied %" PRIu64
                " reserved %" PRIu64 "; ahead: asked %" PRIu64 " used %" PRIu64
                " in vain %" PRIu64 " bytes, waited %" PRIu64 " us",
                s.acquires, s.acquires_waited, s.releases, s.allocations,
                s.frees, s.node, s.messages_sent, s.messages_received,
                s.bytes_sent, s.bytes_received, s.bytes_copied,
                s.reserved_bytes, s.ahead_asked, s.ahead_used,
                s.ahead_vain_bytes, s.ahead_waited_us);
}
