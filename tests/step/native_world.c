/* native_world.c - see native_world.h. */
#include "native_world.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "memory/control.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

#define BASE       ((char *)0x100000000)
#define SPACE_SIZE ((uint64_t)1 << 20)

struct runtime runtime;
struct native native;
static _Atomic uint32_t poison;
_Atomic uint32_t *runtime_poisoned = &poison;

static union {
    struct runtime_shared shared;
    char room[sizeof(struct runtime_shared) +
              WORLD_RANKS * sizeof(struct runtime_rank)];
} node;
static struct native_shared shared;
static struct native_local locals[WORLD_RANKS];
static int local_of[WORLD_RANKS] = {0, 1, 2};
static struct proto_region *record[WORLD_REGIONS];
static struct native_memory memory[WORLD_REGIONS];
static uint64_t stamps;
static _Atomic int left;

/* Page 0 is never a region's. */
static uint64_t address_of(int region)
{
    return (uint64_t)(uintptr_t)BASE + (uint64_t)(region + 1) * PAGE_BYTES;
}

int world_number(uint64_t address)
{
    return (int)((address - (uint64_t)(uintptr_t)BASE) / PAGE_BYTES) - 1;
}

drasync_region_t world_handle(int region)
{
    return (drasync_region_t)(uintptr_t)address_of(region);
}

/* --- The protocol's environment ------------------------------------------- */

static void *take(void *ctx, enum proto_type type)
{
    (void)ctx;
    return step_alloc(proto_object_size(type));
}

static void give(void *ctx, enum proto_type type, void *object)
{
    (void)ctx;
    (void)type;
    (void)object;
}

static int reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    (void)counts;
    return 0;
}

static struct proto_region *find(void *ctx, uint64_t address)
{
    (void)ctx;
    return native_find(address);
}

static int insert(void *ctx, struct proto_region *region)
{
    (void)ctx;
    record[world_number(region->address)] = region;
    return 0;
}

static void forget(void *ctx, struct proto_region *region)
{
    (void)ctx;
    (void)region;
    step_fail("the region is gone");
}

static uint64_t stamp(void *ctx)
{
    (void)ctx;
    return ++stamps;
}

static int64_t home(void *ctx, uint64_t address)
{
    (void)ctx;
    (void)address;
    return 0;
}

static bool extent(void *ctx, const struct proto_region *region, uint32_t i,
                   uint64_t *address, uint64_t *pages)
{
    (void)ctx;
    *address = region->address;
    *pages = 1;
    return i == 0;
}

/* --- What the code under test calls --------------------------------------- */

struct proto_region *native_find(uint64_t address)
{
    int i = world_number(address);

    return i >= 0 && i < WORLD_REGIONS ? record[i] : NULL;
}

int native_unknown(uint64_t address)
{
    (void)address;
    return DRASYNC_ENOREGION;
}

static struct step_mutex *mutex_of(struct lock *lock)
{
    return (struct step_mutex *)(void *)&lock->mutex;
}

int lock_take(struct lock *lock)
{
    step_lock(mutex_of(lock));
    return 0;
}

static struct native_leases *leases_of_tree(void)
{
    return &shared.leases[space_page_hash(address_of(0), 5)];
}

/* Has the protocol the hold of the lease in @slot? */
__attribute__((no_sanitize("thread"))) static bool
is_held(const struct native_lease_slot *slot)
{
    const struct proto_region *r = slot->region;
    const struct proto_hold *hold;

    if (!(slot->word & WORD_READ))
        return r->write_rank == slot->rank && r->write_count == 1;
    hold = proto_read_hold(r, slot->rank);
    return hold && !hold->covered;
}

/* What is said of leases under the lock is true. */
__attribute__((no_sanitize("thread"))) static void check_leases(void)
{
    const struct native_leases *leases = leases_of_tree();
    uint32_t count = 0, of[WORLD_REGIONS] = {0};

    for (int i = native_lease_next(leases, -1); i >= 0;
         i = native_lease_next(leases, i)) {
        const struct native_lease_slot *slot = leases->slot[i];

        STEP_CHECK(slot->word && leases->root[i] == record[0] && is_held(slot));
        of[world_number(slot->region->address)]++;
        count++;
    }
    STEP_CHECK(leases->count == count);
    for (int i = 0; i < WORLD_REGIONS; i++)
        STEP_CHECK(memory[i].leases == of[i]);
}

void world_wanted(void)
{
    struct native_leases *leases = leases_of_tree();

    step_lock(mutex_of(&node.shared.trees[leases - shared.leases]));
    for (int i = native_lease_next(leases, -1); i >= 0;
         i = native_lease_next(leases, i)) {
        struct native_lease_slot *slot = leases->slot[i];
        uint64_t word = atomic_load(&slot->word);

        while (word_state(word) && !(word & WORD_LOOKS) &&
               !atomic_compare_exchange_weak(&slot->word, &word,
                                             word | WORD_LOOKS))
            continue;
    }
    step_unlock(mutex_of(&node.shared.trees[leases - shared.leases]));
}

void lock_give(struct lock *lock)
{
    check_leases();
    step_unlock(mutex_of(lock));
}

int control_alloc_zero(const struct space *space, size_t bytes, void **out)
{
    (void)space;
    *out = step_alloc(bytes);
    return 0;
}

struct native_wait *native_wait_take(void)
{
    return step_alloc(sizeof(struct native_wait));
}

void native_wait_give(struct native_wait *wait)
{
    step_free(wait, sizeof(*wait));
}

int runtime_wait_remote(struct waiter *waiter, uint64_t deadline_us,
                        int *result_out)
{
    return waiter_wait(waiter, deadline_us, result_out);
}

void runtime_broken(const char *format, ...)
{
    step_fail("the job is broken: %s", format);
}

/* --- The world ------------------------------------------------------------ */

static void name_atomics(struct native_leases *leases)
{
    static const char *const waits[WORLD_RANKS] = {"wait 0", "wait 1",
                                                   "wait 2"};

    for (int i = 0; i < NATIVE_LEASE_SLOTS_FIRST; i++)
        step_name(&leases->slot[i]->word, "lease");
    for (int i = 0; i < WORLD_RANKS; i++) {
        step_name(&locals[i].state, waits[i]);
        step_quiet(node.shared.ranks[i].counters,
                   sizeof(node.shared.ranks[i].counters));
    }
}

static void make_regions(const int *parent, int count)
{
    static struct proto_effects effects;
    const struct proto_env env = {
        .nodes = 1,
        .take = take,
        .give = give,
        .reserve = reserve,
        .find = find,
        .insert = insert,
        .remove = forget,
        .stamp = stamp,
        .ticket = stamp,
        .home = home,
        .extent = extent,
    };
    struct proto_region *made;

    effects = (struct proto_effects){.grow = realloc};
    proto_node_open(&native.node, &env);
    STEP_CHECK(!proto_create_root(&native.node, 0, address_of(0), &memory[0],
                                  world_frames(0), &made, &effects));
    for (int i = 1; i < count; i++)
        STEP_CHECK(!proto_create_subregion(&native.node, 0, record[parent[i]],
                                           address_of(i), &memory[i],
                                           world_frames(i), &made, &effects));
    STEP_CHECK(
        !proto_release(&native.node, 0, record[0], DRASYNC_WRITE, &effects));
}

void world_private(void)
{
    step_private(&runtime, sizeof(runtime));
    step_private(&native, sizeof(native));
    world_private_shown();
    world_private_taken();
}

void world_begin_tree(const int *parent, int count)
{
    atomic_store(&runtime.state, RUNTIME_RUNNING);
    runtime.nodes = 1;
    runtime.locals = runtime.ranks = WORLD_RANKS;
    runtime.crowded = true;
    runtime.local_of = local_of;
    runtime.shared = &node.shared;
    runtime.space.base = BASE;
    runtime.space.layout.data_bytes = SPACE_SIZE;
    native.shared = &shared;
    shared.locals = locals;
    for (int i = 0; i < WORLD_RANKS; i++)
        node.shared.ranks[i].rank = i;
    native_lease_start();
    STEP_CHECK(!native_lease_new(leases_of_tree(), 0));
    name_atomics(leases_of_tree());
    world_begin_shown();
    make_regions(parent, count);
}

void world_begin(void)
{
    world_begin_tree(NULL, 1);
}

void world_enter(int process)
{
    runtime.rank = runtime.local = native.rank = process;
    native.self = &node.shared.ranks[process];
}

void world_thread(void)
{
    static struct native_lease_slot none;
    struct native_lease *l;

    /* So that what it counts is known to matter to nobody else. */
    native_lease_note(address_of(WORLD_REGIONS), &none, 0);
    step_quiet(native_leases_mine->count, sizeof(native_leases_mine->count));
    l = native_lease_set(native_leases_mine, address_of(0));
    step_name(&l->use, "use");
    /* It changes with the use, or before. */
    step_quiet(&l->slot, sizeof(l->slot));
}

int world_take(int region, enum drasync_mode mode, uint64_t timeout_us)
{
    if (native_lease_take_own(address_of(region), mode))
        return 0;
    return native_acquire(world_handle(region), mode, timeout_us);
}

int world_give(int region)
{
    int how = native_lease_give_own(address_of(region));

    if (!how)
        return 0;
    return how == NATIVE_LEASE_LEFT ? native_lease_left(address_of(region))
                                    : native_release(world_handle(region));
}

int *world_data(void)
{
    return world_data_of(0);
}

int world_acquire(enum drasync_mode mode, uint64_t timeout_us)
{
    return world_take(0, mode, timeout_us);
}

int world_release(void)
{
    return world_give(0);
}

static bool all_left(void *threads)
{
    return left == *(const int *)threads;
}

void world_leave(int threads)
{
    struct native_leases *leases = leases_of_tree();
    struct native_tree tree;

    atomic_fetch_add(&left, 1);
    if (step_self())
        return;
    step_wait(all_left, &threads, STEP_FOREVER, "waits for the others");
    /* Acquire: what they did before is seen below. */
    STEP_CHECK(atomic_load(&left) == threads);
    STEP_CHECK(!native_lock(address_of(0), &tree));
    for (int i = 0; i < WORLD_REGIONS && record[i]; i++)
        STEP_CHECK(record[i]->write_rank < 0 && !record[i]->busy &&
                   !record[i]->reads && !record[i]->waiting &&
                   !memory[i].leases);
    STEP_CHECK(!leases->count && native_lease_next(leases, -1) < 0);
    native_unlock(&tree);
    for (int i = 0; i < WORLD_RANKS; i++)
        STEP_CHECK(!atomic_load(&locals[i].state));
}
