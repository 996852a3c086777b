/*
 * Checked mode: the addresses of deleted regions are not used again at once, so
 * that a touch or a handle of what was deleted is known for one.
 *
 * The oldest run goes back when there are QUARANTINE_RUNS_MAX, or pages of more
 * than QUARANTINE_BYTES_MAX or an eighth of the memory; all go when memory or
 * addresses run out.
 */
#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

#define QUARANTINE_RUNS_MAX  4096
#define QUARANTINE_BYTES_MAX ((uint64_t)64 << 20)

struct run {
    uint64_t address, pages;
};

struct native_quarantine {
    struct lock lock;
    uint64_t oldest, count, pages;
    struct run run[QUARANTINE_RUNS_MAX];
};

int native_quarantine_new(struct native_quarantine **out)
{
    void *made;
    int err = control_alloc_zero(&runtime.space,
                                 sizeof(struct native_quarantine), &made);

    if (err)
        return err;
    *out = made;
    return lock_init(&(*out)->lock, LOCK_RANK_NATIVE_QUARANTINE,
                     control_poison_flag(&runtime.space));
}

static uint64_t pages_max(void)
{
    uint64_t eighth = limit_bytes(&runtime.space) / 8;

    return (eighth < QUARANTINE_BYTES_MAX ? eighth : QUARANTINE_BYTES_MAX) >>
           PAGE_SHIFT;
}

bool native_quarantined(uint64_t address)
{
    struct extent_copy copy;

    return !extent_find(&runtime.space, (void *)(uintptr_t)address, &copy) &&
           copy.owner == (void *)native.shared;
}

/* Under the lock; there is one. */
static void oldest_goes(struct native_quarantine *q)
{
    const struct run *run = &q->run[q->oldest++ % QUARANTINE_RUNS_MAX];

    q->count--;
    q->pages -= run->pages;
    native_extent_back_now(run->address, run->pages);
}

void native_quarantine_put(struct native_quarantine *q, uint64_t address,
                           uint64_t pages)
{
    if (lock_take(&q->lock))
        return;
    if (q->count == QUARANTINE_RUNS_MAX)
        oldest_goes(q);
    q->run[(q->oldest + q->count++) % QUARANTINE_RUNS_MAX] =
        (struct run){address, pages};
    q->pages += pages;
    while (q->count && q->pages > pages_max())
        oldest_goes(q);
    lock_give(&q->lock);
}

void native_quarantine_clear(struct native_quarantine *q)
{
    if (lock_take(&q->lock))
        return;
    while (q->count)
        oldest_goes(q);
    lock_give(&q->lock);
}
