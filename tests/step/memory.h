/* memory.h - the atomics of a run; for memory.c and locations.c. */
#ifndef TESTS_STEP_MEMORY_H
#define TESTS_STEP_MEMORY_H

#include "engine.h"

/* Stores stand in modification order; between two of them is room for one that
 * comes later in the run, but not between a read-modify-write and what it read. */
#define POSITION_GAP 64

struct store {
    uint64_t value;
    uint16_t position; /* grows; views know it */
    struct view view;  /* for whoever acquires it */
};

struct location {
    uintptr_t key, address;
    unsigned size;
    int count;
    uint8_t order[STORES_MAX];
    struct store store[STORES_MAX];
};

/* The atomic at @address, with what is there now as its newest store. */
struct location *location(uintptr_t address, unsigned size);
void locations_reset(void);
size_t location_number(const struct location *l);

/* The stores in modification order, from 0. */
static inline struct store *store_at(const struct location *l, int i)
{
    return (struct store *)(uintptr_t)&l->store[l->order[i]];
}

static inline struct store *newest(const struct location *l)
{
    return store_at(l, l->count - 1);
}

/* A new one after store @after; @at_once: nothing is to come between. */
struct store *store_new(struct location *l, int after, bool at_once);
bool store_has_room(const struct location *l, int after, bool at_once);

/* @view has seen the store there; which is the newest that it has seen? */
void see(struct view *view, const struct location *l, uint32_t position);
uint32_t seen(const struct view *view, const struct location *l);

void real_store(uintptr_t address, unsigned size, uint64_t value);

#endif /* TESTS_STEP_MEMORY_H */
