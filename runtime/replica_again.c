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
 */
#include <pthread.h>
#include <string.h>

#include "memory/limit.h"
#include "runtime/replica_gather.h"
#include "runtime/replica_spare.h"

/* For so many sends in a row, at most, it is not tried. */
#define AGAIN_SKIP_MAX 64

/* What is kept takes at most this part of the memory that is left: receivers
 * have the same frames, so it takes less than a version for each would. */
#define KEPT_PART 8

static struct {
    pthread_mutex_t mutex;
    uint32_t rid; /* of the last send */
    unsigned skip, skips;
    struct replica_version *kept; /* not to be sent; has its frames too */
} last = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rid = UINT32_MAX};

/* A version with the frames of another. */
static int share(struct replica_version *of,
                 struct replica_version **version_out)
{
    const struct replica_piece *pieces = replica_version_pieces(of);
    int err =
        replica_version_new(replica_version_parts(of), of->parts, pieces,
                            of->pieces, version_out);

    if (err)
        return err;
    for (uint64_t i = 0; i < of->pieces; i++)
        atomic_fetch_add(&pieces[i].block->references, 1);
    (*version_out)->bytes = of->bytes;
    (*version_out)->shared = 1;
    return 0;
}

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
    replica_version_free(last.kept);
    last.kept = NULL;
}

int replica_again(uint32_t rid, const struct replica_gathering *g,
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
        found = !share(last.kept, version_out);
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

void replica_again_keep(uint32_t rid, struct replica_version *version)
{
    pthread_mutex_lock(&last.mutex);
    if (last.rid == rid && !last.kept && !share(version, &last.kept))
        version->shared = 1;
    pthread_mutex_unlock(&last.mutex);
}

int replica_again_drop(void)
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
