/* Receive versions: wait for one, and install them in the order in which they were
 * taken. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"
#include "runtime/waiting.h"

/* --- In the order in which they were taken -------------------------------- */

/* What was planned last has to be mapped last: threads of this worker install one
 * at a time.  `taken` is under the inbox's lock; no cancellation point. */
static uint32_t taken;
static _Atomic uint32_t installed, ticket_waits;

static void ticket_wait(uint32_t ticket)
{
    uint32_t seen;

    while ((seen = atomic_load(&installed)) != ticket) {
        atomic_fetch_add(&ticket_waits, 1);
        wait_futex(&installed, seen, WAIT_FOREVER);
        atomic_fetch_sub(&ticket_waits, 1);
    }
}

/* Sequentially consistent: who is about to wait sees the number, or is woken. */
static void ticket_done(void)
{
    atomic_fetch_add(&installed, 1);
    if (atomic_load(&ticket_waits))
        wait_futex_wake(&installed, INT_MAX);
}

/* Take the first version of @queue, if it is of region @rid, or that is 0.
 * Locked.  *region_out: of which it is; DRASYNC_EAGAIN: it stays. */
static int queue_take(struct replica_queue *queue, uint32_t rid,
                      uint32_t *region_out, uint32_t *ticket_out)
{
    const struct replica_version *version = queue->first;
    uint64_t address = replica_version_parts(queue->first)->address;

    *region_out = address ? (uint32_t)(address >> PAGE_SHIFT) + 1 : 0;
    if (rid && rid != *region_out)
        return DRASYNC_EAGAIN;
    queue->first = version->next;
    if (!queue->first)
        queue->last = NULL;
    *ticket_out = taken++;
    return 0;
}

/* Several threads of this worker may wait, and look: one of them takes it. */
static int version_wait(uint32_t rid, int worker, uint32_t *region_out,
                        struct replica_version **version_out,
                        uint32_t *ticket_out)
{
    struct replica_inbox *inbox = replica_inbox();
    int remote = runtime.node_of[worker] != runtime.node;

    for (;;) {
        uint32_t seen = doorbell_read(&inbox->doorbell);
        struct replica_version *version;
        int err = lock_take(&inbox->lock);

        if (err)
            return err;
        version = inbox->queues[worker].first;
        if (version && !atomic_load(&version->ready))
            version = NULL;
        if (version)
            err =
                queue_take(&inbox->queues[worker], rid, region_out, ticket_out);
        lock_give(&inbox->lock);
        if (version) {
            *version_out = version;
            return err;
        }
        err = replica_wait(&inbox->doorbell, seen, remote);
        if (err)
            return err;
    }
}

/* Before all others, again. */
static int version_put_back(struct replica_version *version)
{
    struct replica_inbox *inbox = replica_inbox();
    struct replica_queue *queue = &inbox->queues[version->from];
    int err = lock_take(&inbox->lock);

    if (err)
        return err;
    version->next = queue->first;
    queue->first = version;
    if (!queue->last)
        queue->last = version;
    lock_give(&inbox->lock);
    doorbell_ring(&inbox->doorbell);
    return 0;
}

/* Wait for the next version of @worker, and take it if it is what the caller
 * wants: then this thread is to install, until ticket_done(). */
static int expect(uint32_t rid, int worker, uint32_t *region_out,
                  struct replica_version **version_out)
{
    uint32_t ticket = 0;
    struct waiting w = {.what = WAITING_VERSION, .peer = worker};
    int err;

    if (worker < 0 || worker >= runtime.ranks)
        return DRASYNC_EINVAL;
    err = replica_flush_frees();
    if (err)
        return err;
    waiting_begin(&w);
    err = version_wait(rid, worker, region_out, version_out, &ticket);
    waiting_end(&w);
    if (!err)
        ticket_wait(ticket);
    return err;
}

int replica_recv(uint32_t rid, int worker, uint32_t *region_out,
                 uint64_t *bytes_out)
{
    struct replica_version *version;
    int err;

    err = expect(rid, worker, region_out, &version);
    if (err)
        return err;
    *bytes_out = version->bytes;
    err = replica_install(version);
    ticket_done();
    replica_version_free(version);
    return err;
}

int replica_notified(uint32_t rid, int worker, uint32_t *region_out,
                     struct replica_part **notes_out, size_t *count_out)
{
    struct replica_version *version;
    size_t bytes;
    int err;

    err = expect(rid, worker, region_out, &version);
    if (err)
        return err;
    ticket_done();
    bytes = version->parts * sizeof(**notes_out);
    *notes_out = malloc(bytes);
    if (!*notes_out) {
        err = version_put_back(version);
        return err ? err : DRASYNC_ENOMEM;
    }
    memcpy(*notes_out, replica_version_parts(version), bytes);
    *count_out = version->parts;
    replica_version_free(version);
    return 0;
}
