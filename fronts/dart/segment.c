#include "fronts/dart/segment.h"

#include <mpi.h>
#include <stdlib.h>

#include "fronts/dart/heap.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/window.h"

#define ALIGN_BYTES 64

/* What the units tell each other of a new segment. */
struct part {
    uint64_t place;
    uint64_t bytes;
    uint64_t table; /* place of the node's table, if this unit made it */
    uint64_t error;
};

/* --- The lists ---------------------------------------------------------------- */

static struct segment_list *_Atomic *list_for(struct segment_table *table,
                                              bool registered)
{
    return registered ? &table->registered : &table->allocated;
}

static int32_t *free_for(struct segment_table *table, bool registered)
{
    return registered ? &table->registered_free : &table->allocated_free;
}

/* Twice as long; the old one stays, for those who read it. */
static dart_ret_t list_grow(struct segment_list *_Atomic *list)
{
    struct segment_list *old = *list, *new;
    int32_t max = old ? 2 * old->max : 16;

    if (max > INT16_MAX + 1)
        return DART_ERR_NOMEM;
    new = malloc(sizeof(*new) + (size_t)max * sizeof(new->at[0]));
    if (!new)
        return DART_ERR_NOMEM;
    new->max = max;
    new->shorter = old;
    for (int32_t i = 0; i < max; i++)
        atomic_init(&new->at[i], old && i < old->max ? old->at[i] : NULL);
    atomic_store_explicit(list, new, memory_order_release);
    return DART_OK;
}

/* The lowest free number, which the list has room for. */
static dart_ret_t number_take(struct segment_table *table, bool registered,
                              int32_t *number_out)
{
    struct segment_list *_Atomic *list = list_for(table, registered);
    int32_t *lowest = free_for(table, registered), number = *lowest;
    dart_ret_t ret = DART_OK;

    if (number == 0)
        number = 1;
    while (*list && number < (*list)->max && (*list)->at[number])
        number++;
    if (!*list || number == (*list)->max)
        ret = list_grow(list);
    *lowest = *number_out = number;
    return ret;
}

static void lists_free(struct segment_list *list)
{
    while (list) {
        struct segment_list *shorter = list->shorter;
        free(list);
        list = shorter;
    }
}

/* --- Making one --------------------------------------------------------------- */

/* The lowest member on this node keeps the node's table. */
static int keeper_of(const struct team *team)
{
    int unit = 0;

    while (front_job->node_of[team->units[unit]] != front_job->node)
        unit++;
    return unit;
}

/* In one object: places, and for a registration sizes. */
static size_t table_bytes(const struct team *team, bool registered)
{
    return (size_t)team->size * sizeof(uint64_t) * (registered ? 2 : 1);
}

/* Where this unit's part lies, and the node's table if it is this unit's. */
static dart_ret_t part_fill(struct team *team, struct segment *segment,
                            struct part *part)
{
    bool registered = !segment->region;
    dart_ret_t ret = DART_OK;
    int err = 0;

    part->bytes = segment->mine_bytes;
    if (segment->mine_bytes || !registered)
        err = rma_place_of(segment->mine, segment->mine_bytes, &part->place);
    if (!err && part->place & RMA_PRIVATE) {
        err = rma_private_begin(segment->mine, segment->mine_bytes);
        segment->announced = !err;
    }
    if (err)
        return front_fail(front_error(err),
                          "%zu bytes at %p cannot be shared: %s",
                          segment->mine_bytes, (void *)segment->mine,
                          drasync_strerror(err));
    if (keeper_of(team) == team->me)
        ret = heap_take(table_bytes(team, registered), &segment->table,
                        &part->table);
    return ret;
}

/*
 * All members of the node write the table, all the same: so each may read it
 * as soon as it has written it.
 */
static void places_set(const struct team *team, struct segment *segment,
                       const struct part *parts)
{
    uint64_t *places =
        rma_address(front_job, parts[keeper_of(team)].table);
    uint64_t *sizes = segment->region ? NULL : places + team->size;

    segment->places = places;
    segment->sizes = sizes;
    for (int i = 0; i < team->size; i++) {
        __atomic_store_n(&places[i], parts[i].place, __ATOMIC_RELAXED);
        if (sizes)
            __atomic_store_n(&sizes[i], parts[i].bytes, __ATOMIC_RELAXED);
        if (segment->bytes < parts[i].bytes)
            segment->bytes = parts[i].bytes;
    }
}

static dart_ret_t first_error(const struct team *team, const struct part *parts)
{
    for (int i = 0; i < team->size; i++) {
        if (parts[i].error)
            return (dart_ret_t)parts[i].error;
    }
    return DART_OK;
}

/* Everything of the segment but the region. */
static void segment_undo(struct segment *segment)
{
    if (segment->announced)
        rma_private_end(segment->mine, segment->mine_bytes);
    if (segment->table)
        heap_give(segment->table);
    free(segment);
}

dart_ret_t segment_new(struct team *team, dart_ret_t ret, void *address,
                       size_t bytes, drasync_region_t region,
                       struct segment **segment_out)
{
    struct part mine = {0};
    struct part *parts = malloc((size_t)team->size * sizeof(*parts));
    struct segment *segment = calloc(1, sizeof(*segment));
    int32_t number = 0;

    *segment_out = NULL;
    if (!ret && (!parts || !segment))
        ret = DART_ERR_NOMEM;
    if (!ret)
        ret = number_take(&team->segments, !region, &number);
    if (!ret) {
        segment->id = (int16_t)(region ? number : -number);
        segment->mine = address;
        segment->mine_bytes = bytes;
        segment->region = region;
        ret = part_fill(team, segment, &mine);
    }
    mine.error = ret;
    if (!parts)
        goto fail;
    if (team_allgather(team, &mine, parts, sizeof(mine)))
        ret = DART_ERR_OTHER;
    else
        ret = first_error(team, parts);
    if (ret)
        goto fail;
    places_set(team, segment, parts);
    free(parts);
    atomic_store_explicit(&(*list_for(&team->segments, !region))->at[number],
                          segment, memory_order_release);
    *segment_out = segment;
    return DART_OK;

fail:
    if (segment)
        segment_undo(segment);
    free(parts);
    return ret;
}

void segment_drop(struct team *team, struct segment *segment)
{
    bool registered = segment->id < 0;
    int32_t number = registered ? -segment->id : segment->id;
    int32_t *lowest = free_for(&team->segments, registered);

    (*list_for(&team->segments, registered))->at[number] = NULL;
    if (number < *lowest)
        *lowest = number;
    if (segment->region)
        drasync_delete(segment->region);
    segment_undo(segment);
}

void segment_drop_all(struct team *team)
{
    struct segment_table *table = &team->segments;

    for (int registered = 0; registered < 2; registered++) {
        struct segment_list *_Atomic *list = list_for(table, registered);

        for (int32_t i = 1; *list && i < (*list)->max; i++) {
            if ((*list)->at[i])
                segment_drop(team, (*list)->at[i]);
        }
        lists_free(*list);
        *list = NULL;
        *free_for(table, registered) = 0;
    }
}

/* Before the heap goes, where their tables are. */
void segments_stop(void)
{
    team_barrier(team_find(DART_TEAM_ALL));
    for (int id = 0; id < TEAMS_MAX; id++) {
        if (team_table[id])
            segment_drop_all(team_table[id]);
    }
}

/* --- Team allocations ---------------------------------------------------------- */

/* A region with one object, its base aligned. */
static dart_ret_t region_make(size_t bytes, drasync_region_t *region_out,
                              char **base_out)
{
    size_t with_gap;
    void *object;
    int err;

    if (__builtin_add_overflow(bytes, ALIGN_BYTES - 16, &with_gap))
        return DART_ERR_NOMEM;
    err = drasync_new_region(region_out);
    if (err)
        return front_error(err);
    err = drasync_alloc(*region_out, with_gap, &object);
    if (err) {
        drasync_delete(*region_out);
        *region_out = NULL;
        return front_error(err);
    }
    *base_out = (char *)(((uintptr_t)object + ALIGN_BYTES - 1) &
                         ~(uintptr_t)(ALIGN_BYTES - 1));
    return DART_OK;
}

dart_ret_t segment_allocate(struct team *team, dart_ret_t ret, size_t bytes,
                            struct segment **segment_out)
{
    drasync_region_t region = NULL;
    char *base = NULL;

    if (!ret)
        ret = region_make(bytes, &region, &base);
    ret = segment_new(team, ret, base, bytes, region, segment_out);
    if (ret && region)
        drasync_delete(region);
    return ret;
}

dart_ret_t segment_free(struct team *team, struct segment *segment)
{
    /* What this unit has put is there before anybody's memory is another's. */
    dart_ret_t ret = window_flush_all();

    if (team_barrier(team))
        ret = DART_ERR_OTHER;
    segment_drop(team, segment);
    return ret;
}
