/* The table of managed regions that a node knows: see state.h. */
#include "runtime/managed/state.h"

#include "memory/control.h"
#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* Below those of memory/, and taken with no other lock of the runtime. */
#define LOCK_RANK_MANAGED 400

/* The buckets of a shard, to begin with. */
#define FIRST_BITS 4

static int init(struct managed_shared *shared)
{
    _Atomic uint32_t *poison = control_poison_flag(&runtime.space);
    int err = lock_init(&shared->list, LOCK_RANK_MANAGED + 1, poison);

    for (int i = 0; !err && i < MANAGED_SHARDS; i++)
        err = lock_init(&shared->shards[i].lock, LOCK_RANK_MANAGED, poison);
    return err;
}

int managed_open(void)
{
    _Atomic(void *) *anchor = &runtime.shared->anchors[RUNTIME_ANCHOR_MANAGED];
    size_t bytes = sizeof(struct managed_shared) +
                   (size_t)runtime.locals * sizeof(struct managed_rank);
    void *mine = NULL, *none = NULL;
    int err;

    if (managed_get())
        return 0;
    err = control_alloc_zero(&runtime.space, bytes, &mine);
    if (!err)
        err = init(mine);
    if (err) {
        control_free(&runtime.space, mine);
        return err;
    }
    /* Its release pairs with the acquire of managed_get(). */
    passed_give();
    if (!atomic_compare_exchange_strong(anchor, &none, mine))
        control_free(&runtime.space, mine);
    return 0;
}

static struct managed_shard *shard_of(uint64_t address)
{
    return &managed_get()
                ->shards[space_page_hash(address, MANAGED_SHARDS_BITS)];
}

static struct managed_entry **bucket_in(const struct managed_shard *shard,
                                        uint64_t address)
{
    uint64_t hash = space_page_hash(address, MANAGED_SHARDS_BITS + shard->bits);

    return &shard->buckets[hash & ((UINT64_C(1) << shard->bits) - 1)];
}

/* The first of those with that hash. */
static struct managed_entry *first_of(uint64_t address)
{
    const struct managed_shard *shard = shard_of(address);

    return shard->buckets ? *bucket_in(shard, address) : NULL;
}

int managed_lock(uint64_t address)
{
    return lock_take(&shard_of(address)->lock);
}

void managed_unlock(uint64_t address)
{
    lock_give(&shard_of(address)->lock);
}

bool managed_at(uint64_t address)
{
    const struct managed_entry *e = first_of(address);

    while (e && e->refs.address != address)
        e = e->next;
    return e != NULL;
}

struct managed_entry *managed_find(uint64_t address, uint64_t incarnation)
{
    struct managed_entry *e = first_of(address);

    while (e &&
           (e->refs.address != address || e->refs.incarnation != incarnation))
        e = e->next;
    return e;
}

struct managed_entry *managed_referred(uint64_t address)
{
    struct managed_entry *e, *found = NULL;

    for (e = first_of(address); e; e = e->next)
        if (e->refs.address == address && e->refs.references > 0 &&
            (!found || refs_is_meant(&e->refs, &found->refs)))
            found = e;
    return found;
}

static void enter(struct managed_shard *shard, struct managed_entry *e)
{
    struct managed_entry **bucket = bucket_in(shard, e->refs.address);

    e->next = *bucket;
    *bucket = e;
}

/* Room for one entry more.  Without memory for it chains get longer; false: there
 * are no buckets at all. */
static bool grow(struct managed_shard *shard)
{
    uint32_t old = shard->buckets ? UINT32_C(1) << shard->bits : 0;
    struct managed_entry **buckets = shard->buckets, *e, *next;
    void *v;

    if (old && shard->count < old)
        return true;
    if (control_alloc_zero(
            &runtime.space,
            (old ? 2 * old : UINT32_C(1) << FIRST_BITS) * sizeof(*buckets), &v))
        return old != 0;
    shard->buckets = v;
    shard->bits = old ? shard->bits + 1 : FIRST_BITS;
    for (uint32_t i = 0; i < old; i++)
        for (e = buckets[i]; e; e = next) {
            next = e->next;
            enter(shard, e);
        }
    control_free(&runtime.space, buckets);
    return true;
}

struct managed_entry *managed_entry(uint64_t address, uint64_t incarnation,
                                    int home)
{
    struct managed_entry *e = managed_find(address, incarnation);
    struct managed_shard *shard = shard_of(address);
    void *v;

    if (e)
        return e;
    if (!grow(shard) || control_alloc_zero(&runtime.space, sizeof(*e), &v))
        return NULL;
    e = v;
    e->refs.address = address;
    e->refs.incarnation = incarnation;
    e->home_node = home;
    /* Relaxed: only that no two are alike. */
    e->refs.stamp = (atomic_fetch_add_explicit(&managed_get()->stamps, 1,
                                               memory_order_relaxed) +
                     1)
                    << 32;
    enter(shard, e);
    shard->count++;
    return e;
}

void managed_drop(struct managed_entry *entry)
{
    struct managed_shard *shard = shard_of(entry->refs.address);
    struct managed_entry **p = bucket_in(shard, entry->refs.address);

    if (entry->refs.references || entry->refs.told || entry->calls ||
        entry->refs.home)
        return;
    while (*p != entry)
        p = &(*p)->next;
    *p = entry->next;
    shard->count--;
    control_free(&runtime.space, entry->refs.nodes);
    control_free(&runtime.space, entry);
}
