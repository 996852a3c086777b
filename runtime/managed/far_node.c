/* What a node answers to who searches for circles over all nodes: see far.h. */
#include "runtime/managed/far.h"

#include "runtime/managed/state.h"
#include "runtime/native/native.h"

/* Entries looked at for an answer, about. */
#define LOOK_ENTRIES 2048

/* --- Who searches ---------------------------------------------------------- */

/* Under the list's lock, at node 0. */
static struct far_elected elect(struct managed_shared *shared, uint64_t number)
{
    struct far_elected e = {.number = number ? number : shared->far_begun + 1};

    e.over = shared->far_done >= e.number;
    e.yes = !e.over && shared->far_begun == shared->far_done;
    shared->far_begun += e.yes;
    return e;
}

static int answer_elect(const struct far_request *r, void *reply,
                        size_t *reply_bytes_out)
{
    struct managed_shared *shared = managed_get();
    int err = lock_take(&shared->list);

    if (err)
        return err;
    if (r->what == FAR_OVER) {
        shared->far_done = shared->far_begun;
    } else {
        *(struct far_elected *)reply = elect(shared, r->number);
        *reply_bytes_out = sizeof(struct far_elected);
    }
    lock_give(&shared->list);
    return 0;
}

/* --- Records --------------------------------------------------------------- */

struct answer {
    struct far_looked *looked;
    char *records;
    size_t room;
    uint32_t entries;
};

/* Those of a bucket, all or none: false if there is no room for them. */
static bool look_bucket(struct answer *a, const struct managed_entry *first)
{
    size_t bytes = 0, at = a->looked->bytes;

    for (const struct managed_entry *e = first; e; e = e->next, a->entries++)
        if (refs_searched(&e->refs))
            bytes += refs_record_bytes(&e->refs);
    if (bytes > a->room - at)
        return bytes > a->room; /* too long for any */
    for (const struct managed_entry *e = first; e; e = e->next) {
        if (!refs_searched(&e->refs))
            continue;
        refs_record_write(&e->refs, a->records + at);
        at += refs_record_bytes(&e->refs);
    }
    a->looked->bytes = at;
    return true;
}

/* From where the answer is on, as far as it gets.  Under the shard's lock. */
static bool look_shard(struct answer *a, const struct managed_shard *shard)
{
    uint32_t buckets = shard->buckets ? UINT32_C(1) << shard->bits : 0;
    uint32_t *bucket = &a->looked->bucket;

    for (; *bucket < buckets; ++*bucket)
        if (a->entries >= LOOK_ENTRIES ||
            !look_bucket(a, shard->buckets[*bucket]))
            return false;
    *bucket = 0;
    return true;
}

static int answer_look(const struct far_request *r, void *reply,
                       size_t reply_max, size_t *reply_bytes_out)
{
    struct far_looked *looked = reply;
    struct answer a = {looked, (char *)(looked + 1),
                       reply_max - sizeof(*looked), 0};
    struct managed_shared *shared = managed_get();
    bool all = true;

    *looked = (struct far_looked){.shard = r->shard, .bucket = r->bucket};
    while (looked->shard < MANAGED_SHARDS && all) {
        struct managed_shard *shard = &shared->shards[looked->shard];
        int err = lock_take(&shard->lock);

        if (err)
            return err;
        all = look_shard(&a, shard);
        lock_give(&shard->lock);
        looked->shard += all;
    }
    *reply_bytes_out = sizeof(*looked) + looked->bytes;
    return 0;
}

/* --- One entry ------------------------------------------------------------- */

static int freeze(const struct far_item *item, char *frozen_out)
{
    struct managed_entry *e;
    int err = managed_lock(item->address);

    if (err)
        return err;
    e = managed_find(item->address, item->incarnation);
    *frozen_out = (char)refs_freeze(e ? &e->refs : NULL, item->stamp);
    managed_unlock(item->address);
    return 0;
}

/* What is said of it meanwhile may have made it unused. */
static int thaw(const struct far_item *item)
{
    struct managed_entry *e;
    int err = managed_lock(item->address);

    if (err)
        return err;
    e = managed_find(item->address, item->incarnation);
    if (e) {
        refs_thaw(&e->refs);
        managed_home_look(e);
        managed_drop(e);
    }
    managed_unlock(item->address);
    return 0;
}

static int doom(const struct far_item *item)
{
    struct managed_entry *e;
    int err = managed_lock(item->address);

    if (err)
        return err;
    e = managed_find(item->address, item->incarnation);
    if (e)
        refs_doom(&e->refs);
    managed_unlock(item->address);
    return 0;
}

/* Take the links of a doomed region, or give it @links. */
static int exchange_links(const struct far_item *item, struct refs_link **links)
{
    struct refs_link *were = NULL;
    struct managed_entry *e;
    int err = managed_lock(item->address);

    if (err)
        return err;
    e = managed_find(item->address, item->incarnation);
    if (e && e->refs.home) {
        were = e->refs.links;
        e->refs.links = *links;
    }
    managed_unlock(item->address);
    *links = were;
    return 0;
}

/* Cut a link if it leads to what is doomed too. */
static bool cut_link(const struct refs_link *link)
{
    struct managed_entry *to;
    bool cuts;

    if (managed_lock(link->address))
        return false;
    to = managed_find(link->address, link->incarnation);
    cuts = to && to->refs.use == REFS_DOOMED;
    if (cuts) {
        refs_cut(&to->refs);
        managed_drop(to);
    }
    managed_unlock(link->address);
    return cuts;
}

/* Nobody else looks at the links of a doomed region. */
static int cut(const struct far_item *item)
{
    struct refs_link *links = NULL, *kept = NULL, *gone = NULL, *next;
    int err = exchange_links(item, &links);

    for (; links; links = next) {
        struct refs_link **list = cut_link(links) ? &gone : &kept;

        next = links->next;
        links->next = *list;
        *list = links;
    }
    managed_links_free(gone);
    return err || !kept ? err : exchange_links(item, &kept);
}

/* At home, by who doomed it. */
static int end(const struct far_item *item, enum far_what what)
{
    struct managed_entry *e;
    int err = managed_lock(item->address);

    if (err)
        return err;
    e = managed_find(item->address, item->incarnation);
    managed_unlock(item->address);
    if (!e || !e->refs.home)
        return 0;
    return what == FAR_GONE ? managed_home_gone(e) : managed_home_linger(e);
}

/* --- All of a question ----------------------------------------------------- */

/* After an error the job ends. */
static int answer_freeze(const struct far_request *r, char *reply,
                         size_t *reply_bytes_out)
{
    int err = 0;

    for (uint32_t i = 0; i < r->count && !err; i++)
        err = freeze(&r->item[i], &reply[i]);
    *reply_bytes_out = r->count;
    return err;
}

static int answer_read(const struct far_request *r, char *reply,
                       size_t *reply_bytes_out)
{
    for (uint32_t i = 0; i < r->count; i++)
        reply[i] = (char)native_read_here(
            (drasync_region_t)(uintptr_t)r->item[i].address,
            r->item[i].incarnation);
    *reply_bytes_out = r->count;
    return 0;
}

static int change_all(const struct far_request *r)
{
    int err = 0;

    for (uint32_t i = 0; i < r->count && !err; i++) {
        const struct far_item *item = &r->item[i];

        switch (r->what) {
        case FAR_THAW:
            err = thaw(item);
            break;
        case FAR_DOOM:
            err = doom(item);
            break;
        case FAR_CUT:
            err = cut(item);
            break;
        case FAR_GONE:
        case FAR_LINGER:
            err = end(item, (enum far_what)r->what);
            break;
        default:
            err = DRASYNC_EINTERNAL;
        }
    }
    return err;
}

int managed_far_answer(const struct far_request *r, size_t bytes, void *reply,
                       size_t reply_max, size_t *reply_bytes_out)
{
    int err = managed_open();

    *reply_bytes_out = 0;
    if (err)
        return err;
    if (bytes < FAR_REQUEST_BYTES(0) || r->count > FAR_ITEMS_MAX ||
        bytes != FAR_REQUEST_BYTES(r->count) || reply_max < FAR_REPLY_BYTES_MAX)
        return DRASYNC_EINTERNAL;
    switch (r->what) {
    case FAR_ELECT:
    case FAR_OVER:
        return answer_elect(r, reply, reply_bytes_out);
    case FAR_LOOK:
        return answer_look(r, reply, reply_max, reply_bytes_out);
    case FAR_FREEZE:
        return answer_freeze(r, reply, reply_bytes_out);
    case FAR_READ:
        return answer_read(r, reply, reply_bytes_out);
    default:
        return change_all(r);
    }
}
