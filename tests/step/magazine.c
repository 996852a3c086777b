/*
 * magazine.c - the quick paths of runtime/native/magazine.h step by step: a
 * thread allocates from its window and frees into it while another thread ends
 * the window, as runtime/native/magazine.c does.  Whoever ends it finds it
 * whole, and nothing comes from it or goes into it afterwards.
 *
 * The window is plain memory: a look at it by one thread while the other is at
 * work in it is a data race.
 */
#include "step.h"

#include "runtime/native/magazine.h"

#include "tests/step/calls.h"

#define GRANULES 64

_Thread_local struct native_windows *native_windows_mine;
_Thread_local struct native_window *native_window_last;

char native_window_marks[2];

static struct native_windows windows;
static struct native_window *const window = &windows.window[0];
static _Alignas(16) char memory[GRANULES][16];
static uint8_t map[GRANULES];
static struct step_mutex mutex;

/* Objects that came from the window and did not go back; as its thread knows
 * it, and as who ended it found. */
static int taken, found;

static uint64_t granule(const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr >> HEAP_WINDOW_SHIFT;
}

static drasync_region_t handle(void)
{
    return (drasync_region_t)(void *)memory;
}

static void begin(void)
{
    uint64_t address = (uint64_t)(uintptr_t)handle();

    window->heap = (struct heap_window){
        .bump = granule(memory),
        .map = (uintptr_t)map - (uintptr_t)granule(memory),
        .end = granule(memory) + GRANULES,
        .shift = HEAP_WINDOW_SHIFT,
        .free = windows.free[0],
    };
    for (int i = 0; i < HEAP_WINDOW_QUICK; i++) {
        window->heap.limit[i] = window->heap.end;
        windows.free[0][i].limit = window->heap.end;
    }
    window->address = address;
    window->opened = 1;
    atomic_store(&window->region, address);
    windows.parts.part[0] = (struct heap_part){
        .begin = address,
        .granules = GRANULES,
        .end = address + sizeof(memory),
        .map = map,
        .magazine = window,
        .key = 1,
    };
    windows.owner = (struct biased_owner){.process = 1, .thread = 1};
    taken = 0;
    found = -1;
    step_name(&window->region, "region");
    step_name(&window->turns, "turns");
    step_name(&window->freeing, "freeing");
    step_quiet(&windows.frees, sizeof(windows.frees));
}

/* --- The window's thread -------------------------------------------------- */

static void *take(void)
{
    struct native_inside inside = {0};
    void *ptr = native_window_alloc(handle(), 16, &inside);

    if (!ptr && inside.window) {
        ptr = native_window_alloc_stacked(inside, 16);
        if (!ptr)
            biased_leave(&window->turns, inside.turn);
    }
    if (ptr)
        taken++;
    return ptr;
}

static void give(void *ptr)
{
    if (ptr && native_window_free(ptr))
        taken--;
}

static void allocate(void)
{
    native_windows_mine = &windows;
    native_window_last = window;
    take();
    take();
}

static void allocate_and_free(void)
{
    void *ptr;

    native_windows_mine = &windows;
    native_window_last = window;
    ptr = take();
    give(ptr);
    ptr = take();
    take();
    give(ptr);
}

/* --- Who ends it ---------------------------------------------------------- */

static void end_window(void)
{
    struct heap_window *heap = &window->heap;

    step_lock(&mutex);
    atomic_store(&window->region, NATIVE_WINDOW_ENDS);
    STEP_CHECK(biased_barrier(BIASED_PROCESS) == 0);
    STEP_CHECK(biased_wait(&windows.owner, &window->turns, 1, 1, NULL) == 0);
    STEP_CHECK(biased_wait(&windows.owner, &window->freeing, 1, 1, NULL) == 0);
    found = (int)(heap->bump - granule(memory)) - (int)heap->free[0].count;
    for (int i = 0, alive = 0; i <= GRANULES; i++) {
        if (i == GRANULES)
            STEP_CHECK(alive == found);
        else
            alive += map[i] == (1 | MAP_TAKEN);
    }
    heap->bump = heap->end = 0;
    heap->free[0].count = 0;
    heap->free[0].limit = heap->limit[0] = 0;
    atomic_store_explicit(&window->region, 0, memory_order_release);
    step_unlock(&mutex);
}

static void whole(void)
{
    STEP_CHECK(taken == found);
    STEP_CHECK(!(atomic_load(&window->turns) & 1));
    STEP_CHECK(!atomic_load(&window->freeing));
}

enum { ALLOCATES, FREES, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [ALLOCATES] = {.title = "a window that is allocated from ends whole",
                   .begin = begin,
                   .thread = {allocate, end_window},
                   .end = whole,
                   .deviations = 4,
                   .seeds = 2000},
    [FREES] = {.title = "a window that is also freed into ends whole",
               .begin = begin,
               .thread = {allocate_and_free, end_window},
               .end = whole,
               .deviations = 3,
               .seeds = 3000},
};

static bool is_odd(int thread, uint64_t value)
{
    (void)thread;
    return value & 1;
}

static bool is_even(int thread, uint64_t value)
{
    (void)thread;
    return !(value & 1);
}

static const struct step_fault faults[] = {
    {.name = "no-membarrier",
     .title = "who ends a window has no barrier",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP},
    {.name = "turn-unsaid",
     .title = "the thread does not say that it allocates",
     .kind = STEP_STORE,
     .at = "turns",
     .effect = STEP_SKIP,
     .applies = is_odd},
    {.name = "freeing-unsaid",
     .title = "the thread does not say that it frees",
     .kind = STEP_STORE,
     .at = "freeing",
     .effect = STEP_SKIP,
     .applies = is_odd,
     .scenarios = 1 << FREES},
    {.name = "turn-relaxed",
     .title = "the thread leaves without a release",
     .kind = STEP_STORE,
     .at = "turns",
     .effect = STEP_RELAX,
     .applies = is_even},
    {.name = "freeing-relaxed",
     .title = "the thread has freed without a release",
     .kind = STEP_STORE,
     .at = "freeing",
     .effect = STEP_RELAX,
     .applies = is_even,
     .scenarios = 1 << FREES},
};

int main(int argc, char **argv)
{
    static const struct step_test test = {
        .name = "magazine",
        .scenarios = scenarios,
        .scenarios_count = SCENARIOS,
        .faults = faults,
        .faults_count = sizeof(faults) / sizeof(faults[0]),
    };

    return step_main(&test, argc, argv);
}
