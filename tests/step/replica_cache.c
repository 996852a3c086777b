/*
 * replica_cache.c - the quick paths of runtime/replica/cache_calls.c step by
 * step: a thread allocates from its cache and frees into it while another thread
 * revokes the heap's caches, as runtime/replica/cache.c does.  Whoever revokes
 * finds the cache whole, and nothing comes from it or goes into it afterwards.
 *
 * A cache is plain memory: a look at it by one thread while the other is at work
 * in it is a data race.
 */
#include "step.h"

#include <setjmp.h>
#include <stdlib.h>

#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/replica/cache.h"
#include "runtime/replica/objects.h"
#include "runtime/thread.h"
#include "tests/step/calls.h"

#define GRANULES 16
#define RID      7u
#define CLASS    3u /* of 64 bytes */

struct runtime runtime;

static struct runtime_shared page;
static struct replica_caches caches;
static struct replica_cache *const cache = &caches.cache[0];
static struct replica_thread thread;
static struct replica_heap heap;
static _Alignas(64) char memory[GRANULES][64];
static uint8_t map[GRANULES];
static struct step_mutex mutex;
static int locals[1];

/* Objects that came from the cache and did not go back; as its thread knows it,
 * and as who revoked it found. */
static int taken, found;

/* --- What the code under test calls ---------------------------------------- */

int lock_take(struct lock *lock)
{
    (void)lock;
    step_fail("a quick call takes a lock");
    return 0;
}

void lock_give(struct lock *lock)
{
    (void)lock;
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

int control_alloc_zero(const struct space *space, size_t bytes, void **out)
{
    return control_alloc(space, bytes, out);
}

int thread_watch(void)
{
    return DRASYNC_ENOMEM;
}

struct heap_context replica_heap_own(struct replica_heap *of)
{
    return (struct heap_context){.owner = of};
}

/* Calls that are not quick. */
static void *alloc_slowly(const char *file, int line, size_t bytes,
                          uint32_t region)
{
    (void)file;
    (void)line;
    (void)bytes;
    (void)region;
    return NULL;
}

static void free_slowly(const char *file, int line, void *ptr)
{
    (void)file;
    (void)line;
    (void)ptr;
    taken++;
}

/* --- The cache's thread ----------------------------------------------------- */

static void begin(void)
{
    static struct replica_shared *shared;

    if (!shared)
        shared = calloc(1, sizeof(*shared) + sizeof(shared->inboxes[0]));
    runtime.shared = &page;
    runtime.local_of = locals;
    atomic_store(&page.anchors[RUNTIME_ANCHOR_REPLICA], shared);
    atomic_store(&shared->inboxes[0].threads, &thread);
    thread.owner = (struct biased_owner){.process = 1, .thread = 1};
    heap.cached = &thread;
    heap.rid = RID;
    atomic_store(&heap.epoch, 5);

    caches.thread = &thread;
    caches.inside = &thread.inside;
    caches.noting = cache;
    for (int i = 0; i < REPLICA_CACHES; i++)
        caches.place[i] = cache;
    caches.shared.parts.block_shift = PAGE_SHIFT;
    caches.shared.parts.part[0] = (struct heap_part){
        .begin = (uint64_t)(uintptr_t)memory,
        .granules = GRANULES,
        .end = (uint64_t)(uintptr_t)memory + sizeof(memory),
        .map = map,
        .magazine = &cache->slots,
    };
    heap_caches_start();
    caches.shared.note[0] = UINT64_MAX;
    heap_cache_clear(&caches.shared, &cache->slots);
    caches.shared.parts.part[0].granules = GRANULES;
    atomic_store(&cache->heap, &heap);
    cache->key = replica_cache_key(RID);
    cache->epoch = 5;
    cache->slots.bump = cache->slots.counted = (uint64_t)(uintptr_t)memory;
    cache->slots.end = cache->slots.bump + sizeof(memory);
    cache->slots.map = map;
    replica_cache_allow(alloc_slowly, free_slowly);
    atomic_store(&thread.inside, 20 * REPLICA_CALL);
    taken = 0;
    found = -1;
    step_name(&heap.epoch, "epoch");
    step_name(&thread.inside, "inside");
}

static void *take(void)
{
    void *ptr = replica_cache_alloc("", 0, 64, RID);

    if (ptr)
        taken++;
    return ptr;
}

static void give(void *ptr)
{
    if (!ptr)
        return;
    taken--;
    replica_cache_free("", 0, ptr);
}

static void allocate(void)
{
    replica_caches_mine = &caches;
    take();
    take();
}

static void allocate_and_free(void)
{
    void *ptr;

    replica_caches_mine = &caches;
    ptr = take();
    take();
    give(ptr);
    ptr = take();
    give(ptr);
    replica_cache_note(cache);
    take();
}

/* --- Who revokes it ---------------------------------------------------------- */

static int alive(void)
{
    int count = 0;

    for (int i = 0; i < GRANULES; i++)
        count += map[i] == ((CLASS + 1) | MAP_TAKEN);
    return count;
}

static void revoke_all(void)
{
    struct heap_cache *slots = &cache->slots;
    uint64_t cut;

    step_lock(&mutex);
    STEP_CHECK(!replica_caches_revoke(&heap));
    STEP_CHECK(!heap.cached);
    found = alive();
    cut = (slots->bump - slots->counted) / HEAP_CACHE_ALIGN;
    STEP_CHECK(slots->map == map + cut && found <= (int)cut);
    step_unlock(&mutex);
}

static void whole(void)
{
    STEP_CHECK(taken == found && alive() == found);
    STEP_CHECK(!(atomic_load(&thread.inside) & REPLICA_INSIDE_HEAP));
}

enum { ALLOCATES, FREES, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [ALLOCATES] = {.title = "a cache that is allocated from is revoked whole",
                   .begin = begin,
                   .thread = {allocate, revoke_all},
                   .end = whole,
                   .deviations = 4,
                   .seeds = 2000},
    [FREES] = {.title = "a cache that is also freed into is revoked whole",
               .begin = begin,
               .thread = {allocate_and_free, revoke_all},
               .end = whole,
               .deviations = 3,
               .seeds = 3000},
};

static bool comes_in(int self, uint64_t value)
{
    (void)self;
    return value & REPLICA_INSIDE_HEAP;
}

static bool goes_out(int self, uint64_t value)
{
    return !comes_in(self, value);
}

static const struct step_fault faults[] = {
    {.name = "no-membarrier",
     .title = "who revokes has no barrier",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP},
    {.name = "epoch-kept",
     .title = "who revokes leaves the epoch as it is",
     .kind = STEP_RMW,
     .at = "epoch",
     .effect = STEP_SKIP},
    {.name = "inside-unsaid",
     .title = "the thread does not say that it comes in",
     .kind = STEP_STORE,
     .at = "inside",
     .effect = STEP_SKIP,
     .applies = comes_in},
    {.name = "leave-relaxed",
     .title = "the thread leaves without a release",
     .kind = STEP_STORE,
     .at = "inside",
     .effect = STEP_RELAX,
     .applies = goes_out},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("replica_cache");

    return step_main(&test, argc, argv);
}
