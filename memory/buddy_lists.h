/*
 * buddy_lists.h - the records and lists of runs that buddy.c and buddy_at.c
 * share.  Private to them.
 *
 * All under the allocator's lock, but for order_for().
 */
#ifndef MEMORY_BUDDY_LISTS_H
#define MEMORY_BUDDY_LISTS_H

#include "memory/buddy.h"
#include "memory/shared.h"

static inline const struct table *records_of(const struct space *space)
{
    return &shared_of(space)->layout.records;
}

static inline struct buddy_record *
record(const struct space *space, const struct buddy *buddy, uint64_t at)
{
    return table_at(space, records_of(space), buddy->base_page + at);
}

/* The state of the run that begins at @at, BUDDY_NOTHING if none does. */
static inline unsigned state_at(const struct space *space,
                                const struct buddy *buddy, uint64_t at)
{
    if (!table_reserved(space, records_of(space), buddy->base_page + at))
        return BUDDY_NOTHING;
    return record(space, buddy, at)->state;
}

static inline int reserve_record(const struct space *space,
                                 const struct buddy *buddy, uint64_t at)
{
    return table_reserve(space, records_of(space), buddy->base_page + at, 1);
}

static inline void push(const struct space *space, const struct buddy *buddy,
                        uint32_t *list, uint64_t at, unsigned order,
                        unsigned state, uint64_t pages)
{
    struct buddy_record *r = record(space, buddy, at);

    r->next = *list;
    r->prev = 0;
    r->pages = (uint32_t)pages;
    r->order = (uint8_t)order;
    r->state = (uint8_t)state;
    if (*list)
        record(space, buddy, *list)->prev = (uint32_t)at;
    *list = (uint32_t)at;
}

static inline void unlink_run(const struct space *space,
                              const struct buddy *buddy, uint32_t *list,
                              uint64_t at)
{
    struct buddy_record *r = record(space, buddy, at);

    if (r->next)
        record(space, buddy, r->next)->prev = r->prev;
    if (r->prev)
        record(space, buddy, r->prev)->next = r->next;
    else
        *list = r->next;
    r->next = 0;
    r->prev = 0;
    r->state = BUDDY_MOVING;
}

/* The order of the smallest run that holds @pages. */
static inline unsigned order_for(uint64_t pages)
{
    return pages <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(pages - 1);
}

/* The order of the aligned block that [first, first + pages) begins with. */
static inline unsigned leading_order(uint64_t first, uint64_t pages)
{
    unsigned by_length = 63 - (unsigned)__builtin_clzll(pages);
    unsigned by_address = (unsigned)__builtin_ctzll(first);

    return by_address < by_length ? by_address : by_length;
}

/* Enter the first block of what is fresh, whose record is reserved here.
 * DRASYNC_ENOSPACE: nothing is; DRASYNC_ENOMEM. */
int buddy_enter_fresh(const struct space *space, struct buddy *buddy);

#endif
