/* The table of mappings that dead copies left: see mappings.h. */
#include "runtime/replica/mappings.h"
#include "runtime/replica/version.h"

#include "memory/limit.h"
#include "runtime/process.h"

#define SPARE_BUCKETS 1024

/* A run of pages, and the frames that it shows. */
struct spare {
    uint64_t first, pages, offset;
    struct replica_block *block; /* NULL: nothing is kept here */
    uint16_t next;               /* in its bucket: index + 1 */
};

static struct spare spares[REPLICA_MAPPINGS_MAX];
static uint16_t buckets[SPARE_BUCKETS];
static unsigned spare_count, hand;

/* The count again, for a look without the lock. */
static _Atomic uint32_t any;

uint64_t replica_mapping_bytes_max(void)
{
    return limit_kept_bytes(&runtime.space) / 4 / (uint64_t)runtime.locals;
}

static uint16_t *bucket_of(uint64_t first)
{
    return &buckets[(first * UINT64_C(0x9e3779b97f4a7c15)) >> 32 &
                    (SPARE_BUCKETS - 1)];
}

/* Out of the table; its frames stay mapped, and are the caller's. */
static void leave(struct spare *spare)
{
    uint16_t *link = bucket_of(spare->first);

    while (&spares[*link - 1] != spare)
        link = &spares[*link - 1].next;
    *link = spare->next;
    replica_inbox()->kept_bytes -= space_page_offset(spare->pages);
    spare_count--;
    atomic_store(&any, spare_count);
}

/* Keep it no more; @mapped: the caller maps over it. */
static int let_go(struct spare *spare, int mapped)
{
    int err =
        mapped ? 0
               : frames_map_primary(&runtime.space, spare->first, spare->pages);

    if (err)
        return err;
    leave(spare);
    replica_block_put(spare->block);
    spare->block = NULL;
    return 0;
}

/* A place in the table; what was there longest goes. */
static int place(struct spare **spare_out)
{
    struct spare *spare;
    int err = 0;

    do {
        spare = &spares[hand];
        hand = (hand + 1) % REPLICA_MAPPINGS_MAX;
    } while (spare->block && spare_count < REPLICA_MAPPINGS_MAX);
    if (spare->block)
        err = let_go(spare, 0);
    *spare_out = spare;
    return err;
}

static int keep(const struct replica_copy *copy)
{
    uint16_t *bucket = bucket_of(copy->first_page);
    struct spare *spare;
    int err;

    if (!copy->block)
        return frames_map_primary(&runtime.space, copy->first_page,
                                  copy->pages);
    err = place(&spare);
    if (err)
        return err;
    *spare = (struct spare){
        .first = copy->first_page,
        .pages = copy->pages,
        .offset = copy->offset,
        .block = copy->block,
        .next = *bucket,
    };
    *bucket = (uint16_t)(spare - spares + 1);
    spare_count++;
    atomic_store(&any, spare_count);
    return 0;
}

int replica_settle(void)
{
    struct replica_inbox *inbox = replica_inbox();
    struct replica_copy *copy;
    int err;

    if (!atomic_load(&inbox->has_stale))
        return 0;
    err = lock_take(&inbox->lock);
    if (err)
        return err;
    /* Under the lock: another thread of this process that finds nothing to do
     * must find it done. */
    while (!err && (copy = inbox->stale)) {
        err = keep(copy);
        if (!err) {
            inbox->stale = copy->next;
            control_free(&runtime.space, copy);
        }
    }
    if (!err)
        atomic_store(&inbox->has_stale, 0);
    lock_give(&inbox->lock);
    return err;
}

int replica_mapping_take(uint64_t first, uint64_t pages, uint64_t end,
                         struct replica_copy *copy)
{
    struct replica_inbox *inbox = replica_inbox();
    struct spare *spare = NULL;
    uint16_t at;

    if (!atomic_load(&any) || lock_take(&inbox->lock))
        return 0;
    for (at = *bucket_of(first); at; at = spares[at - 1].next)
        if (spares[at - 1].first == first) {
            spare = &spares[at - 1];
            break;
        }
    if (spare && spare->pages >= pages && spare->pages <= end - first) {
        leave(spare);
        copy->block = spare->block;
        copy->offset = spare->offset;
        copy->first_page = spare->first;
        copy->pages = spare->pages;
        spare->block = NULL;
    } else {
        spare = NULL;
    }
    lock_give(&inbox->lock);
    return spare != NULL;
}

static int overlaps(const struct spare *spare, uint64_t first, uint64_t pages)
{
    return spare->block && spare->first < first + pages &&
           first < spare->first + spare->pages;
}

/* @mapped: the caller maps all of it. */
static int clear(uint64_t first, uint64_t pages, int mapped)
{
    struct replica_inbox *inbox = replica_inbox();
    int err;

    if (!atomic_load(&any))
        return 0;
    err = lock_take(&inbox->lock);
    if (err)
        return err;
    for (unsigned i = 0; i < REPLICA_MAPPINGS_MAX && spare_count && !err; i++)
        if (overlaps(&spares[i], first, pages))
            err = let_go(&spares[i], mapped && spares[i].first >= first &&
                                         spares[i].pages <=
                                             first + pages - spares[i].first);
    lock_give(&inbox->lock);
    return err;
}

int replica_mapping_clear(uint64_t first, uint64_t pages)
{
    int err = replica_shared() ? replica_settle() : 0;

    return err ? err : clear(first, pages, 0);
}

int replica_mapping_cover(uint64_t first, uint64_t pages)
{
    return clear(first, pages, 1);
}

int replica_mapping_drop(void)
{
    unsigned before;

    if (replica_settle())
        return 0;
    before = atomic_load(&any);
    return !clear(0, runtime.space.pages, 0) && before;
}
