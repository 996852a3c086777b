/* Which objects this worker has a copy of: see copies.h. */
#include "copies.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heap.h"

int bl_copies_open(struct bl_copies *copies, uint32_t pages)
{
    size_t bytes = (size_t)pages * sizeof *copies->table;
    void *table;

    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        return -1;
    madvise(table, bytes, MADV_DONTDUMP);
    copies->table = table;
    copies->pages = pages;
    copies->last = NULL;
    return 0;
}

struct bl_copy *bl_copies_find(const struct bl_copies *copies, uint64_t page)
{
    unsigned order;

    if (page >= copies->pages)
        return NULL;
    /* Slabs are aligned to their size: only these pages can begin it. */
    for (order = 0; order < 32; order++) {
        struct bl_copy *copy = copies->table[page >> order << order];

        if (!copy)
            continue;
        return page - copy->slab.page < copy->slab.pages ? copy : NULL;
    }
    return NULL;
}

static void forget(struct bl_copies *copies, struct bl_copy *copy)
{
    copies->table[copy->slab.page] = NULL;
    if (copy->later)
        copy->later->earlier = copy->earlier;
    else
        copies->last = copy->earlier;
    if (copy->earlier)
        copy->earlier->later = copy->later;
    free(copy->map);
    free(copy->incs);
    free(copy);
}

void bl_copies_close(struct bl_copies *copies)
{
    while (copies->last)
        forget(copies, copies->last);
    munmap(copies->table, (size_t)copies->pages * sizeof *copies->table);
    memset(copies, 0, sizeof *copies);
}

struct bl_copy *bl_copies_adopt(struct bl_copies *copies,
                                const struct bl_slab_name *slab)
{
    uint32_t page, end = slab->page + slab->pages;
    struct bl_copy *copy;

    if (slab->page >= copies->pages || end > copies->pages ||
        end < slab->page || slab->slots == 0)
        return NULL;
    copy = copies->table[slab->page];
    if (copy && copy->slab.serial == slab->serial)
        return copy;
    copy = bl_copies_find(copies, slab->page);
    if (copy && copy->slab.serial > slab->serial)
        return NULL;
    for (page = slab->page; page < end; page++) {
        if (copies->table[page] &&
            copies->table[page]->slab.serial > slab->serial)
            return NULL;
    }
    if (copy)
        forget(copies, copy);
    for (page = slab->page; page < end; page++) {
        if (copies->table[page])
            forget(copies, copies->table[page]);
    }
    copy = bl_malloc(sizeof *copy);
    copy->slab = *slab;
    copy->map = bl_malloc(bl_map_words(slab->slots) * 8);
    memset(copy->map, 0, bl_map_words(slab->slots) * 8);
    copy->incs = NULL;
    copy->later = NULL;
    copy->earlier = copies->last;
    if (copies->last)
        copies->last->later = copy;
    copies->last = copy;
    copies->table[slab->page] = copy;
    return copy;
}

void bl_copy_gain(struct bl_copy *copy, uint32_t slot, uint32_t inc)
{
    copy->map[slot / 64] |= (uint64_t)1 << (slot % 64);
    if (!copy->incs) {
        if (inc == 0)
            return;
        copy->incs = bl_malloc(copy->slab.slots * sizeof *copy->incs);
        memset(copy->incs, 0, copy->slab.slots * sizeof *copy->incs);
    }
    copy->incs[slot] = inc;
}

void bl_copy_lose(struct bl_copy *copy, uint32_t slot)
{
    copy->map[slot / 64] &= ~((uint64_t)1 << (slot % 64));
}

uint32_t bl_copy_mask(const struct bl_copy *copy, uint64_t *map,
                      const uint32_t *incs)
{
    uint64_t words = bl_map_words(copy->slab.slots), word, rest;
    uint32_t slot, count = 0;

    for (word = 0; word < words; word++) {
        map[word] &= copy->map[word];
        if (incs || copy->incs) {
            for (rest = map[word]; rest; rest &= rest - 1) {
                slot = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(rest);
                if (bl_copy_inc(copy, slot) != (incs ? incs[slot] : 0))
                    map[word] &= ~((uint64_t)1 << (slot % 64));
            }
        }
        count += (uint32_t)__builtin_popcountll(map[word]);
    }
    return count;
}
