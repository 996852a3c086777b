/* Shared leases: who uses them, and what becomes of the uses when one ends.  See
 * lease.h. */
#include "memory/limit.h"
#include "memory/passed.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* For so many times as long as it took to end a shared lease there is none. */
#define ALONE_TIMES 9

/* The kernel has the barriers that it takes to end one. */
static bool possible;

void native_lease_start(void)
{
    possible = !biased_open(BIASED_PROCESS) && !biased_open(BIASED_NODE);
}

/* --- When a lease is to be shared ----------------------------------------- */

static uint64_t my_bit(void)
{
    return UINT64_C(1) << (runtime.local & 63);
}

void native_lease_wanted(const struct proto_region *region)
{
    struct native_memory *memory = region->memory;

    if (memory)
        memory->readers |= my_bit();
}

bool native_lease_shares(const struct proto_region *region, uint32_t count)
{
    const struct native_memory *memory = region->memory;

    return possible && memory && native_taken_by_several() &&
           (count > 1 || memory->readers & my_bit()) &&
           (!memory->alone_until_us ||
            runtime_now_us() >= memory->alone_until_us);
}

/* --- Uses ----------------------------------------------------------------- */

int native_lease_shared(const struct native_leases *leases,
                        const struct proto_region *region)
{
    const struct native_memory *memory = region->memory;

    if (!memory || !memory->leases)
        return -1;
    for (int i = native_lease_next(leases, -1); i >= 0;
         i = native_lease_next(leases, i)) {
        const struct native_lease_slot *slot = leases->slot[i];

        /* Relaxed: it changes under the lock only. */
        if (slot->region == region && slot->rank == native.rank &&
            atomic_load_explicit(&slot->word, memory_order_relaxed) &
                WORD_SHARED)
            return i;
    }
    return -1;
}

bool native_lease_join(struct native_leases *leases,
                       const struct proto_region *region)
{
    int i = native_lease_shared(leases, region);
    struct native_lease_slot *slot;

    if (i < 0)
        return false;
    slot = leases->slot[i];
    return native_lease_note(
               region->address, slot,
               atomic_load_explicit(&slot->word, memory_order_relaxed)) &&
           native_lease_use(native_lease_of(region->address));
}

/* What @t has of the lease in @slot that is or was named @name; 0: nothing. */
static uint64_t use_by(struct native_lease_thread *t,
                       const struct native_lease_slot *slot, uint64_t name,
                       size_t *index_out)
{
    struct native_lease *set = native_lease_set(t, slot->region->address);

    for (struct native_lease *l = set; l < set + NATIVE_LEASE_WAYS; l++) {
        /* R3 of biased_lock.h: acquire, so that what was read under a use that
         * is gone was read before what its reader writes; sequentially
         * consistent, as it is also the load of Dekker's pair. */
        uint64_t use = atomic_load_explicit(&l->use, memory_order_seq_cst);

        *index_out = (size_t)(l - t->known);
        if (use_same(use, name) && use_count(use) &&
            atomic_load_explicit(&l->slot, memory_order_relaxed) == slot)
            return use;
    }
    return 0;
}

static struct native_lease_thread *threads_of(const struct native_lease_slot *s)
{
    int local = runtime.local_of[s->rank];

    /* Acquire, as that is read next. */
    return atomic_load_explicit(&native.shared->locals[local].threads,
                                memory_order_acquire);
}

bool native_lease_used(const struct native_lease_slot *slot)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    uint64_t name = use_of(word, slot->number);
    size_t index;

    for (struct native_lease_thread *t = threads_of(slot); t; t = t->next)
        if (use_by(t, slot, name, &index))
            return true;
    return false;
}

/* --- The end of a lease --------------------------------------------------- */

/* How many holds the threads have through the lease that was named @name; each
 * is told what was found of it. */
static uint32_t count_uses(const struct native_lease_slot *slot, uint64_t name)
{
    uint32_t count = 0;
    size_t index;

    for (struct native_lease_thread *t = threads_of(slot); t; t = t->next) {
        uint64_t use = use_by(t, slot, name, &index);

        if (!use)
            continue;
        count += use_count(use);
        t->ended[index] = (struct native_lease_ended){
            .use = use,
            .incarnation = slot->region->incarnation,
        };
    }
    return count;
}

/* One hold less, or @more, than the protocol has. */
static void recount(const struct native_lease_slot *slot, uint32_t uses)
{
    struct proto_effects *effects = native_effects();
    struct proto_grant grant;
    struct proto_op *op;

    if (!uses)
        proto_release(&native.node, slot->rank, slot->region, DRASYNC_READ,
                      effects);
    while (uses-- > 1)
        proto_acquire(&native.node, slot->rank, slot->region,
                      slot->region->address, DRASYNC_READ, true, NULL, &grant,
                      &op, effects);
    native_do(effects, NULL);
}

void native_lease_end_shared(struct native_lease_slot *slot, uint64_t word)
{
    struct native_memory *memory = slot->region->memory;
    uint64_t since = runtime_now_us(), now;

    /* R2. */
    if (biased_barrier(slot->rank == native.rank ? BIASED_PROCESS
                                                 : BIASED_NODE)) {
        runtime_poison("rank %d cannot tell what the threads of rank %d read: "
                       "the system refuses membarrier(); let a filter of "
                       "system calls allow it, or install it before MPI_Init",
                       runtime.rank, slot->rank);
        return;
    }
    recount(slot, count_uses(slot, use_of(word, slot->number)));
    if (!memory)
        return;
    now = runtime_now_us();
    memory->readers = 0;
    memory->alone_until_us = now + ALONE_TIMES * (now - since + 1);
}

/* Under the lock of @tree: did whoever ended the lease count one use more than
 * @l has now?  A call of this thread was under way then, and failed. */
static bool counted_more(const struct native_tree *tree,
                         const struct native_lease *l)
{
    const struct native_lease_ended *ended =
        &native_leases_mine->ended[l - native_leases_mine->known];
    uint64_t use = atomic_load_explicit(&l->use, memory_order_relaxed);

    return use_same(ended->use, use) &&
           use_count(ended->use) > use_count(use) && tree->region &&
           tree->region->incarnation == ended->incarnation;
}

int native_lease_resolve(struct native_lease *l, bool leaving)
{
    struct native_tree tree;
    bool more;
    int err;

    limit_reserve_enter();
    err = native_lock_for(NATIVE_FOR_READ, l->address, &tree);
    if (err) {
        l->address = 0;
        goto leave;
    }
    more = counted_more(&tree, l);
    /* The others are counted, and no thread's. */
    l->address = 0;
    atomic_store_explicit(&l->use, 0, memory_order_relaxed);
    if (more != leaving)
        native_lease_add(leaving ? NATIVE_LEASE_GIVES : NATIVE_LEASE_TAKES);
    if (more)
        err = native_hold_give(&tree);
    else
        native_unlock(&tree);
leave:
    limit_reserve_leave();
    return err;
}

int native_lease_left(uint64_t address)
{
    return native_lease_resolve(native_lease_of(address), true);
}

/* --- The end of a thread -------------------------------------------------- */

void native_lease_leave(void)
{
    struct native_lease_thread *t = native_leases_mine;
    struct native_tree tree;

    if (!t || !runtime_running())
        return;
    for (int i = 0; i < NATIVE_LEASES_KNOWN; i++) {
        struct native_lease *l = &t->known[i];

        if (!l->address ||
            !use_count(atomic_load_explicit(&l->use, memory_order_relaxed)))
            continue;
        /* That ends the lease, and counts the use. */
        if (!native_lock(l->address, &tree))
            native_unlock(&tree);
        l->address = 0;
        atomic_store_explicit(&l->use, 0, memory_order_relaxed);
    }
}
