/* Placements for the evaluation: see place.h. */
#include "upm/place.h"

#include <sys/mman.h>

#include "upm/carry.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* SplitMix64: the same number for the same page in each run. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int16_t upm_place_of(enum upm_place place, uint64_t page, unsigned nodes)
{
    switch (place) {
    case UPM_PLACE_ROUND_ROBIN:
        return (int16_t)(page % nodes);
    case UPM_PLACE_RANDOM:
        return (int16_t)(mix(page) % nodes);
    default:
        return 0;
    }
}

int upm_place_area(struct upm_area *area, enum upm_place place, size_t batch,
                   uint64_t *numbered)
{
    struct upm_table *table = &area->table;
    struct upm_moves moves = {0};
    struct upm_carried carried;
    int err = 0;

    if (place == UPM_PLACE_FIRST || !table->pages)
        return 0;
    /* Kernels before 5.14 cannot: then pages without a frame stay so. */
    madvise((void *)area->start, area->bytes, MADV_POPULATE_WRITE);
    for (size_t i = 0; i < table->pages && !err; i++) {
        err = upm_moves_add(
            &moves, (struct upm_move){.table = table,
                                      .page = i,
                                      .node = upm_place_of(place, *numbered + i,
                                                           table->nodes)});
    }
    if (!err)
        err = upm_carry_look(&moves);
    if (!err)
        err = upm_carry(&moves, batch, NULL, &carried);
    upm_moves_free(&moves);
    *numbered += table->pages;
    return err;
}
