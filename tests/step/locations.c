/*
 * locations.c - the atomics of a run: where they are, what they are called, and
 * the last values that were stored in them.
 */
#include <string.h>

#include "memory.h"

#define HASH_SIZE 1024
#define NAMES_MAX 128
#define QUIET_MAX 16

static struct location locations[LOCATIONS_MAX];
static uint16_t hash[HASH_SIZE]; /* location + 1 */
static int locations_count;

static struct {
    uintptr_t address;
    const char *name;
} names[NAMES_MAX];
static int names_count;

static struct {
    uintptr_t address;
    size_t bytes;
} quiet[QUIET_MAX];
static int quiet_count;

size_t location_number(const struct location *l)
{
    return (size_t)(l - locations);
}

void locations_reset(void)
{
    memset(hash, 0, sizeof(hash));
    locations_count = names_count = quiet_count = 0;
}

static uint64_t real_load(uintptr_t address, unsigned size)
{
    switch (size) {
    case 1:
        return *(volatile uint8_t *)address;
    case 2:
        return *(volatile uint16_t *)address;
    case 4:
        return *(volatile uint32_t *)address;
    default:
        return *(volatile uint64_t *)address;
    }
}

void real_store(uintptr_t address, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        *(volatile uint8_t *)address = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)address = (uint16_t)value;
        break;
    case 4:
        *(volatile uint32_t *)address = (uint32_t)value;
        break;
    default:
        *(volatile uint64_t *)address = value;
    }
}

void see(struct view *view, const struct location *l, uint32_t position)
{
    ptrdiff_t i = l - locations;

    for (; view->count <= i; view->count++)
        view->seen[view->count] = 0;
    if (view->seen[i] < position)
        view->seen[i] = (uint16_t)position;
}

uint32_t seen(const struct view *view, const struct location *l)
{
    ptrdiff_t i = l - locations;

    return i < view->count ? view->seen[i] : 0;
}

struct store *store_new(struct location *l, int after, bool at_once)
{
    uint32_t before = after < 0 ? 0 : store_at(l, after)->position;
    uint32_t position = before + (at_once ? 1 : POSITION_GAP);
    uint8_t slot;

    if (after + 1 < l->count && !at_once)
        position = (before + store_at(l, after + 1)->position) / 2;
    if (position > UINT16_MAX)
        step_fail("too many stores to one atomic");
    if (l->count == STORES_MAX) {
        slot = l->order[0];
        memmove(l->order, l->order + 1, (size_t)after);
        after--;
    } else {
        slot = (uint8_t)l->count++;
        for (int i = l->count - 1; i > after + 1; i--)
            l->order[i] = l->order[i - 1];
    }
    l->order[after + 1] = slot;
    l->store[slot].position = (uint16_t)position;
    return &l->store[slot];
}

bool store_has_room(const struct location *l, int after, bool at_once)
{
    if (after + 1 == l->count)
        return true;
    /* The first goes to make room. */
    if (after == 0 && l->count == STORES_MAX)
        return false;
    return store_at(l, after + 1)->position - store_at(l, after)->position >
           (at_once ? 1 : 2);
}

/* What is there came by plain writes, before the run or by whoever made the
 * object: all see it. */
static void start_location(struct location *l)
{
    struct store *s = store_new(l, l->count - 1, false);

    memset(s->view.clock, 0, sizeof(s->view.clock));
    s->view.count = 0;
    s->value = real_load(l->address, l->size);
    for (int i = 0; i < STEP_THREADS; i++)
        see(memory_now(i), l, s->position);
}

static uint32_t hash_of(uintptr_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

static struct location *find(uintptr_t address)
{
    uintptr_t key = private_key(address);

    for (uint32_t h = hash_of(key); hash[h]; h = (h + 1) % HASH_SIZE)
        if (locations[hash[h] - 1].key == key)
            return &locations[hash[h] - 1];
    return NULL;
}

struct location *location(uintptr_t address, unsigned size)
{
    struct location *l = find(address);
    uint32_t h;

    if (l) {
        if (real_load(address, l->size) != newest(l)->value)
            start_location(l);
        return l;
    }
    if (locations_count == LOCATIONS_MAX) {
        step_fail("the scenario has more atomics than the engine keeps");
        locations_count = 0;
    }
    l = &locations[locations_count++];
    l->address = address;
    l->key = private_key(address);
    l->size = size;
    l->count = 0;
    for (h = hash_of(l->key); hash[h]; h = (h + 1) % HASH_SIZE)
        continue;
    hash[h] = (uint16_t)locations_count;
    start_location(l);
    return l;
}

void memory_forget(uintptr_t address, size_t bytes)
{
    for (int i = 0; i < locations_count; i++)
        if (locations[i].address - address < bytes)
            start_location(&locations[i]);
}

void step_name(const volatile void *ptr, const char *name)
{
    if (names_count == NAMES_MAX)
        step_fail("the scenario has too many names");
    names[names_count].address = (uintptr_t)ptr;
    names[names_count++].name = name;
}

const char *memory_name_of(uintptr_t address)
{
    uintptr_t offset = 1;
    const char *name;

    for (int i = 0; i < names_count; i++)
        if (names[i].address == address)
            return names[i].name;
    name = address ? symbols_name(address, &offset) : NULL;
    return offset ? NULL : name;
}

void step_quiet(const volatile void *ptr, size_t bytes)
{
    if (quiet_count == QUIET_MAX)
        step_fail("the scenario has too many quiet ranges");
    quiet[quiet_count].address = (uintptr_t)ptr;
    quiet[quiet_count++].bytes = bytes;
}

bool memory_is_quiet(uintptr_t address)
{
    for (int i = 0; i < quiet_count; i++)
        if (address - quiet[i].address < quiet[i].bytes)
            return true;
    return false;
}
