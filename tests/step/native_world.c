/* native_world.c - see native_world.h. */
#include "native_world.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "memory/control.h"
#include "runtime/check/check.h"
#include "runtime/native/ahead.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/magazine.h"
#include "runtime/native/delta.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/messages/messages.h"
#include "runtime/native/wire.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/services/names.h"
#include "runtime/shared.h"
#include "runtime/thread.h"

#define BASE        ((char *)0x100000000)
#define REGION_PAGE 1
#define SPACE_SIZE  ((uint64_t)1 << 20)

struct runtime runtime;
struct native native;
static _Atomic uint32_t poison;
_Atomic uint32_t *runtime_poisoned = &poison;
drasync_region_t world_region;

static union {
    struct runtime_shared shared;
    char room[sizeof(struct runtime_shared) +
              WORLD_RANKS * sizeof(struct runtime_rank)];
} node;
static struct native_shared shared;
static struct native_turn turns[WORLD_RANKS];
static int local_of[WORLD_RANKS] = {0, 1, 2};
static struct proto_region *known; /* the region's record */
static uint64_t stamps;
static _Atomic int left;
static struct native_memory memory;

/* The region's copies; and what each process shows of it, which is not its
 * memory but its page table: seen by all its threads at once. */
#define COPIES 8

static int copies[COPIES], copies_used;
static int *shown[WORLD_RANKS];

__attribute__((no_sanitize("thread"))) static int *shows(void)
{
    return shown[runtime.local];
}

__attribute__((no_sanitize("thread"))) static void show(int *copy)
{
    shown[runtime.local] = copy;
}

int *world_data(void)
{
    return shows();
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
    known = region;
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
    return address == (uint64_t)(uintptr_t)world_region ? known : NULL;
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

void lock_give(struct lock *lock)
{
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

int native_split(uint64_t address)
{
    struct proto_effects *effects;
    struct native_tree tree;
    int err = native_lock(address, &tree);
    int *copy = &copies[copies_used];

    if (err)
        return err;
    STEP_CHECK(++copies_used < COPIES);
    *copy = *(const int *)proto_newest(tree.region)->frames;
    effects = native_effects();
    err = proto_split(&native.node, native.rank, tree.region, copy, effects);
    native_do(effects, NULL);
    native_unlock(&tree);
    return err;
}

bool native_mapping_current(const struct proto_region *region)
{
    return proto_newest(region)->frames == shows();
}

/* What a process shows is newest if it is so now: it has a hold. */
__attribute__((no_sanitize("thread"))) bool
native_mapping_granted(uint64_t address, const struct native_wait *wait)
{
    (void)address;
    (void)wait;
    return proto_newest(known)->frames == shows();
}

int native_mapping_show(struct native_mapping *view)
{
    (void)view;
    return 0;
}

void native_mapping_add(struct native_mapping *view, uint64_t address,
                        struct native_frames *frames)
{
    (void)view;
    (void)address;
    show((int *)(void *)frames);
}

/* --- The world ------------------------------------------------------------ */

static void name_atomics(struct native_leases *leases)
{
    static const char *const waits[WORLD_RANKS] = {"turn 0", "turn 1",
                                                   "turn 2"};

    for (int i = 0; i < NATIVE_LEASE_SLOTS_FIRST; i++)
        step_name(&leases->slot[i]->word, "lease");
    for (int i = 0; i < WORLD_RANKS; i++) {
        step_name(&turns[i].state, waits[i]);
        step_quiet(node.shared.ranks[i].counters,
                   sizeof(node.shared.ranks[i].counters));
    }
}

static void make_region(uint64_t address)
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
    struct proto_region *region;

    effects = (struct proto_effects){.grow = realloc};
    proto_node_open(&native.node, &env);
    STEP_CHECK(!proto_create_root(&native.node, 0, address, &memory,
                                  &copies[copies_used++], &region, &effects));
    STEP_CHECK(
        !proto_release(&native.node, 0, region, DRASYNC_WRITE, &effects));
}

void world_private(void)
{
    step_private(&runtime, sizeof(runtime));
    step_private(&native, sizeof(native));
}

void world_begin(void)
{
    world_region = (drasync_region_t)(void *)(BASE + REGION_PAGE * PAGE_BYTES);
    uint64_t address = (uint64_t)(uintptr_t)world_region;
    struct native_leases *leases = &shared.leases[space_page_hash(address, 5)];

    atomic_store(&runtime.state, RUNTIME_RUNNING);
    runtime.nodes = 1;
    runtime.locals = runtime.ranks = WORLD_RANKS;
    runtime.crowded = true;
    runtime.local_of = local_of;
    runtime.shared = &node.shared;
    runtime.space.base = BASE;
    runtime.space.layout.data_bytes = SPACE_SIZE;
    native.shared = &shared;
    shared.turns = turns;
    for (int i = 0; i < WORLD_RANKS; i++)
        node.shared.ranks[i].rank = i;
    native_lease_start();
    STEP_CHECK(!native_lease_new(leases, 0));
    name_atomics(leases);
    make_region(address);
}

void world_enter(int process)
{
    show(NULL);
    runtime.rank = runtime.local = native.rank = process;
    native.self = &node.shared.ranks[process];
}

void world_thread(void)
{
    static struct native_lease_slot none;
    struct native_lease *l;

    /* So that what it counts is known to matter to nobody else. */
    native_lease_note((uint64_t)(uintptr_t)world_region + PAGE_BYTES, &none, 0);
    step_quiet(native_leases_mine->count, sizeof(native_leases_mine->count));
    l = native_lease_set(native_leases_mine, (uint64_t)(uintptr_t)world_region);
    step_name(&l->use, "use");
    /* It changes with the use, or before. */
    step_quiet(&l->slot, sizeof(l->slot));
}

int world_acquire(enum drasync_mode mode, uint64_t timeout_us)
{
    if (native_lease_take_own((uint64_t)(uintptr_t)world_region, mode))
        return 0;
    return native_acquire(world_region, mode, timeout_us);
}

int world_release(void)
{
    uint64_t address = (uint64_t)(uintptr_t)world_region;
    int how = native_lease_give_own(address);

    if (!how)
        return 0;
    return how == NATIVE_LEASE_LEFT ? native_lease_left(address)
                                    : native_release(world_region);
}

static bool all_left(void *threads)
{
    return left == *(const int *)threads;
}

void world_leave(int threads)
{
    struct native_tree tree;

    atomic_fetch_add(&left, 1);
    if (step_self())
        return;
    step_wait(all_left, &threads, STEP_FOREVER, "waits for the others");
    /* Acquire: what they did before is seen below. */
    STEP_CHECK(atomic_load(&left) == threads);
    STEP_CHECK(!native_lock((uint64_t)(uintptr_t)world_region, &tree));
    STEP_CHECK(tree.region->write_rank < 0 && !tree.region->busy &&
               !tree.region->reads && !tree.region->waiting);
    native_unlock(&tree);
    for (int i = 0; i < WORLD_RANKS; i++)
        STEP_CHECK(!atomic_load(&turns[i].state));
}
