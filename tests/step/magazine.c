/*
 * magazine.c - the quick paths of runtime/native/magazine.h step by step: a
 * thread allocates from its magazine and frees into it while another thread
 * ends the magazine, as runtime/native/magazine.c does.  Whoever ends it finds
 * it whole, and nothing comes from it or goes into it afterwards.
 *
 * The magazine is plain memory: a look at it by one thread while the other is
 * at work in it is a data race.
 */
#include "step.h"

#include "runtime/native/magazine.h"

#include "tests/step/calls.h"

#define GRANULES 64

_Thread_local struct native_magazines *native_magazines_mine;
_Thread_local struct native_magazine *native_magazine_last;

char native_magazine_marks[3];

static struct native_magazines magazines;
static struct native_magazine *const magazine = &magazines.magazine[0];
static _Alignas(16) char memory[GRANULES][16];
static uint8_t map[GRANULES];
static struct step_mutex mutex;

/* Objects that came from the magazine and did not go back; as its thread knows
 * it, and as who ended it found. */
static int taken, found;

static uint64_t granule(const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr >> HEAP_MAGAZINE_SHIFT;
}

static drasync_region_t handle(void)
{
    return (drasync_region_t)(void *)memory;
}

static void begin(void)
{
    uint64_t address = (uint64_t)(uintptr_t)handle();

    magazine->heap = (struct heap_magazine){
        .bump = granule(memory),
        .map = (uintptr_t)map - (uintptr_t)granule(memory),
        .end = granule(memory) + GRANULES,
        .shift = HEAP_MAGAZINE_SHIFT,
        .free = magazines.free[0],
        .bumps = UINT32_MAX,
    };
    magazine->address = address;
    atomic_store(&magazine->region, address);
    magazines.parts.part[0] = (struct heap_part){
        .begin = address,
        .granules = GRANULES,
        .sure = GRANULES,
        .end = address + sizeof(memory),
        .map = map,
        .magazine = magazine,
        .key = address,
    };
    magazines.owner = (struct biased_owner){.process = 1, .thread = 1};
    taken = 0;
    found = -1;
    step_name(&magazine->region, "region");
    step_name(&magazine->uses, "uses");
    step_name(&magazine->freeing, "freeing");
}

/* --- The magazine's thread ------------------------------------------------ */

static void *take(void)
{
    struct native_inside inside = {0};
    void *ptr = native_magazine_alloc(handle(), 16, false, &inside);

    if (!ptr && inside.magazine) {
        /* As native_magazine_alloc_inside() does. */
        magazine->heap.bumps = UINT32_MAX;
        ptr = heap_magazine_alloc(&magazine->heap, 16);
        biased_leave(&magazine->uses, ptr ? inside.uses + 2 : inside.uses);
    }
    if (ptr)
        taken++;
    return ptr;
}

static void give(void *ptr)
{
    if (ptr && native_magazine_free(ptr))
        taken--;
}

static void allocate(void)
{
    native_magazines_mine = &magazines;
    native_magazine_last = magazine;
    take();
    take();
}

static void allocate_and_free(void)
{
    void *ptr;

    native_magazines_mine = &magazines;
    native_magazine_last = magazine;
    ptr = take();
    give(ptr);
    ptr = take();
    take();
    give(ptr);
}

/* --- Who ends it ---------------------------------------------------------- */

static void end_window(void)
{
    struct heap_magazine *heap = &magazine->heap;

    step_lock(&mutex);
    atomic_store(&magazine->region, NATIVE_MAGAZINE_ENDS);
    STEP_CHECK(biased_barrier(BIASED_PROCESS) == 0);
    STEP_CHECK(biased_wait(&magazines.owner, &magazine->uses, 1, 1, NULL) == 0);
    STEP_CHECK(biased_wait(&magazines.owner, &magazine->freeing, 1, 1, NULL) ==
               0);
    found = (int)(heap->bump - granule(memory)) - (int)heap->free[0].count;
    for (int i = 0, alive = 0; i <= GRANULES; i++) {
        if (i == GRANULES)
            STEP_CHECK(alive == found);
        else
            alive += map[i] == (1 | MAP_TAKEN);
    }
    heap->bump = heap->end = 0;
    heap->free[0].count = 0;
    heap->bumps = 0;
    heap->have_free = UINT32_MAX;
    atomic_store_explicit(&magazine->region, 0, memory_order_release);
    step_unlock(&mutex);
}

static void whole(void)
{
    STEP_CHECK(taken == found);
    STEP_CHECK(!(atomic_load(&magazine->uses) & 1));
    STEP_CHECK(!(atomic_load(&magazine->freeing) & 1));
}

enum { ALLOCATES, FREES, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [ALLOCATES] = {.title = "a magazine that is allocated from ends whole",
                   .begin = begin,
                   .thread = {allocate, end_window},
                   .end = whole,
                   .deviations = 4,
                   .seeds = 2000},
    [FREES] = {.title = "a magazine that is also freed into ends whole",
               .begin = begin,
               .thread = {allocate_and_free, end_window},
               .end = whole,
               .deviations = 3,
               .seeds = 3000},
};

static const struct step_fault faults[] = {
    {.name = "no-membarrier",
     .title = "who ends a magazine has no barrier",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP},
    {.name = "use-unsaid",
     .title = "the thread does not say that it allocates",
     .kind = STEP_STORE,
     .at = "uses",
     .effect = STEP_SKIP,
     .applies = step_stores_odd},
    {.name = "freeing-unsaid",
     .title = "the thread does not say that it frees",
     .kind = STEP_STORE,
     .at = "freeing",
     .effect = STEP_SKIP,
     .applies = step_stores_odd,
     .scenarios = 1 << FREES},
    {.name = "use-relaxed",
     .title = "the thread leaves without a release",
     .kind = STEP_STORE,
     .at = "uses",
     .effect = STEP_RELAX,
     .applies = step_stores_even},
    {.name = "freeing-relaxed",
     .title = "the thread has freed without a release",
     .kind = STEP_STORE,
     .at = "freeing",
     .effect = STEP_RELAX,
     .applies = step_stores_even,
     .scenarios = 1 << FREES},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("magazine");

    return step_main(&test, argc, argv);
}
