/*
 * One frozen version for all who are sent the same.
 *
 * A program that sends a region to everybody calls sys_send() in a loop.  From
 * the second call in a row on what was frozen is kept; at the next it is
 * compared with what the worker has now, which is exact and needs nothing of
 * the system, and reads what is in the processor's caches, where copying would
 * write into other frames each time.  Whoever receives such a version leaves
 * its frames as they are.
 *
 * Where the data has changed each time, comparing is given up for a while.
 *
 * To a node with several workers it goes once: that node keeps it too, until it
 * is told that it is kept here no longer (wire_kept.c).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/process.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/send.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"

/* For so many sends in a row, at most, it is not tried. */
#define AGAIN_SKIP_MAX 64

/* What is kept takes at most this part of the memory that is left: receivers
 * have the same frames, so it takes less than a version for each would. */
#define KEPT_PART 8

/* Less than this goes to each worker anew: it is a packet or two. */
#define WIRE_KEEP_BYTES_MIN ((uint64_t)16 << 10)

enum {
    NODE_COMPANY = 1, /* it has several workers */
    NODE_HAS = 2,     /* it keeps `kept` as well */
};

static struct {
    pthread_mutex_t mutex;
    uint32_t rid; /* of the last send */
    unsigned skip, skips;
    struct replica_version *kept; /* not to be sent; has its frames too */
    uint64_t serial;              /* the last that was given */
    unsigned char *node;          /* what is known of each */
    int have;                     /* nodes with NODE_HAS */
} last = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rid = UINT32_MAX};

/* Has a piece the same place, and the same data? */
static int same(const struct replica_piece *a, const struct replica_piece *b)
{
    uint64_t in_page = a->begin_bytes & (PAGE_BYTES - 1);
    uint64_t bytes = a->end_bytes - a->begin_bytes;

    return a->first_page == b->first_page && a->pages == b->pages &&
           a->begin_bytes == b->begin_bytes && a->end_bytes == b->end_bytes &&
           a->part == b->part && a->worker == b->worker &&
           !memcmp(space_window(&runtime.space, a->offset + in_page, bytes),
                   space_window(&runtime.space, b->offset + in_page, bytes),
                   bytes);
}

static int is_kept(const struct replica_gathering *g)
{
    struct replica_version *kept = last.kept;
    const struct replica_piece *pieces = replica_version_pieces(kept);

    if (kept->parts != g->parts_count || kept->pieces != g->pieces_count ||
        memcmp(replica_version_parts(kept), g->parts,
               g->parts_count * sizeof(g->parts[0])))
        return 0;
    for (uint64_t i = 0; i < kept->pieces; i++)
        if (!same(&g->pieces[i], &pieces[i]))
            return 0;
    return 1;
}

static void forget(void)
{
    for (int node = 0; last.have; node++) {
        if (!(last.node[node] & NODE_HAS))
            continue;
        replica_wire_forget(node, last.kept->serial);
        last.node[node] &= (unsigned char)~NODE_HAS;
        last.have--;
    }
    replica_version_free(last.kept);
    last.kept = NULL;
}

/* Has @node several workers?  Without memory to know, it is as if it had
 * not. */
static int in_company(int node)
{
    if (!last.node) {
        last.node = calloc((size_t)runtime.nodes, 1);
        if (!last.node)
            return 0;
        for (int rank = 0; rank < runtime.ranks; rank++)
            if (runtime.local_of[rank] > 0)
                last.node[runtime.node_of[rank]] |= NODE_COMPANY;
    }
    return last.node[node] & NODE_COMPANY;
}

int replica_repeat(uint32_t rid, const struct replica_gathering *g,
                   struct replica_version **version_out, int *keep_out)
{
    int found = 0;

    pthread_mutex_lock(&last.mutex);
    *keep_out = 0;
    if (last.rid != rid) {
        forget();
        last.rid = rid;
        last.skip = last.skips = 0;
    } else if (last.kept && is_kept(g)) {
        last.skips = 0;
        found = !replica_version_share(last.kept, version_out);
    } else {
        if (last.kept) {
            forget();
            last.skips = last.skips ? last.skips * 2 : 1;
            if (last.skips > AGAIN_SKIP_MAX)
                last.skips = AGAIN_SKIP_MAX;
            last.skip = last.skips;
        }
        *keep_out = !last.skip &&
                    g->bytes <= limit_room_bytes(&runtime.space) / KEPT_PART;
        if (last.skip)
            last.skip--;
    }
    pthread_mutex_unlock(&last.mutex);
    return found;
}

void replica_repeat_keep(uint32_t rid, struct replica_version *version)
{
    pthread_mutex_lock(&last.mutex);
    if (last.rid == rid && !last.kept &&
        !replica_version_share(version, &last.kept)) {
        version->shared = 1;
        if (version->bytes >= WIRE_KEEP_BYTES_MIN)
            version->serial = last.kept->serial = ++last.serial;
    }
    pthread_mutex_unlock(&last.mutex);
}

/* The lock puts a node's messages about what is kept in order. */
int replica_repeat_wire(struct replica_version *version)
{
    int node = runtime.node_of[version->to], err;

    if (!version->serial)
        return replica_wire_version(version);
    pthread_mutex_lock(&last.mutex);
    if (last.kept && last.kept->serial == version->serial && in_company(node))
        version->wire =
            last.node[node] & NODE_HAS ? REPLICA_SAME : REPLICA_KEEP;
    int keep = version->wire == REPLICA_KEEP;
    err = replica_wire_version(version);
    if (keep && !err) {
        last.node[node] |= NODE_HAS;
        last.have++;
    }
    pthread_mutex_unlock(&last.mutex);
    return err;
}

int replica_repeat_drop(void)
{
    int dropped;

    if (pthread_mutex_trylock(&last.mutex))
        return 0;
    dropped = last.kept != NULL;
    last.rid = UINT32_MAX;
    forget();
    pthread_mutex_unlock(&last.mutex);
    return dropped;
}
