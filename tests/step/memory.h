/* memory.h - the atomics of a run; for memory.c and locations.c. */
#ifndef TESTS_STEP_MEMORY_H
#define TESTS_STEP_MEMORY_H

#include "engine.h"

struct store {
    uint64_t value;
    struct view view; /* for whoever acquires it */
};

struct location {
    uintptr_t key, address;
    unsigned size;
    uint32_t count; /* stores so far, with the first value */
    struct store store[STORES_MAX];
};

/* The atomic at @address, with what is there now as its newest store. */
struct location *location(uintptr_t address, unsigned size);
void locations_reset(void);
size_t location_number(const struct location *l);

/* The last STORES_MAX can be had. */
static inline struct store *store_of(struct location *l, uint32_t n)
{
    return &l->store[n % STORES_MAX];
}

/* @view has seen store @n. */
void see(struct view *view, const struct location *l, uint32_t n);

/* The newest store that it has seen. */
uint32_t seen(const struct view *view, const struct location *l);

void real_store(uintptr_t address, unsigned size, uint64_t value);

#endif /* TESTS_STEP_MEMORY_H */
