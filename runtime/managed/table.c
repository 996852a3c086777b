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

_Atomic(struct managed_shared *) managed_shared;

static int init(struct managed_shared *shared)
{
    _Atomic uint32_t *poison = control_poison_flag(&runtime.space);
    int err = lock_init(&shared->list, LOCK_RANK_MANAGED + 1, poison);

    for (int i = 0; !err && i < MANAGED_LOCKS; i++)
        err = lock_init(&shared->locks[i], LOCK_RANK_MANAGED, poison);
    return err;
}

int managed_open(void)
{
    _Atomic(void *) *anchor = &runtime.shared->anchors[RUNTIME_ANCHOR_MANAGED];
    void *mine = NULL, *there = atomic_load(anchor);
    size_t bytes = sizeof(struct managed_shared) +
                   (size_t)runtime.locals * sizeof(struct managed_call *);
    int err;

    if (managed_get())
        return 0;
    if (!there) {
        err = control_alloc_zero(&runtime.space, bytes, &mine);
        if (!err)
            err = init(mine);
        if (err) {
            control_free(&runtime.space, mine);
            return err;
        }
        /* Its release pairs with the acquire of who finds it there. */
        passed_give();
        if (atomic_compare_exchange_strong(anchor, &there, mine))
            there = mine;
        else
            control_free(&runtime.space, mine);
    }
    passed_take();
    atomic_store_explicit(&managed_shared, there, memory_order_release);
    return 0;
}

static struct lock *lock_of(uint64_t address)
{
    return &managed_get()->locks[space_page_hash(address, 16) % MANAGED_LOCKS];
}

static struct managed_entry **bucket_of(uint64_t address)
{
    return &managed_get()->buckets[space_page_hash(address, 16)];
}

_Static_assert(MANAGED_BUCKETS == 1 << 16, "bucket_of() keeps 16 bits");

int managed_lock(uint64_t address)
{
    return lock_take(lock_of(address));
}

void managed_unlock(uint64_t address)
{
    lock_give(lock_of(address));
}

bool managed_at(uint64_t address)
{
    const struct managed_entry *e = *bucket_of(address);

    while (e && e->address != address)
        e = e->next;
    return e != NULL;
}

struct managed_entry *managed_find(uint64_t address, uint64_t incarnation)
{
    struct managed_entry *e = *bucket_of(address);

    while (e && (e->address != address || e->incarnation != incarnation))
        e = e->next;
    return e;
}

struct managed_entry *managed_referred(uint64_t address)
{
    struct managed_entry *e, *found = NULL;

    for (e = *bucket_of(address); e; e = e->next)
        if (e->address == address && e->references > 0 &&
            (!found || e->incarnation < found->incarnation))
            found = e;
    return found;
}

struct managed_entry *managed_entry(uint64_t address, uint64_t incarnation)
{
    struct managed_entry *e = managed_find(address, incarnation);
    struct managed_entry **bucket = bucket_of(address);
    void *v;

    if (e)
        return e;
    if (control_alloc_zero(&runtime.space, sizeof(*e), &v))
        return NULL;
    e = v;
    e->address = address;
    e->incarnation = incarnation;
    e->next = *bucket;
    *bucket = e;
    return e;
}

void managed_drop(struct managed_entry *entry)
{
    struct managed_entry **p = bucket_of(entry->address);

    if (entry->references || entry->told || entry->calls || entry->home)
        return;
    while (*p != entry)
        p = &(*p)->next;
    *p = entry->next;
    control_free(&runtime.space, entry->nodes);
    control_free(&runtime.space, entry);
}
