/* Segments: memory of all units of a team, and what a pointer into it means. */
#include "fronts/dart/segment.h"

#include <pthread.h>
#include <stdlib.h>

#include "fronts/dart/heap.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/window.h"

#define ALIGN_BYTES 64

/* What the units tell each other of a new segment. */
struct segment_part {
    uint64_t place;
    uint64_t bytes;
    uint64_t table; /* place of the node's table, if this unit made it */
    uint32_t error;
    uint16_t free;  /* the lowest number that this unit has free, */
    uint16_t above; /* and the lowest above which it has none */
};

/* The table of a node, in the heap of the member who keeps it. */
struct segment_places {
    _Atomic uint32_t users; /* members on the node that have not dropped it */
    struct segment_places *next; /* of those left by this unit */
    uint64_t values[];           /* places, and for a registration sizes */
};

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment_places *left; /* the unit's own, that others still use */

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

/* Make the list so long that it has @number. */
static dart_ret_t list_reach(struct segment_list *_Atomic *list, int32_t number)
{
    dart_ret_t ret = DART_OK;

    while (!ret && (!*list || number >= (*list)->max))
        ret = list_grow(list);
    return ret;
}

/* What numbers this unit has to offer; the list has room for the lower one. */
static dart_ret_t numbers_free(struct segment_table *table, bool registered,
                               struct segment_part *mine)
{
    struct segment_list *_Atomic *list = list_for(table, registered);
    int32_t *lowest = free_for(table, registered), number = *lowest, above;
    dart_ret_t ret;

    if (number == 0)
        number = 1;
    while (*list && number < (*list)->max && (*list)->at[number])
        number++;
    ret = list_reach(list, number);
    if (ret)
        return ret;
    for (above = (*list)->max; above > number && !(*list)->at[above - 1];)
        above--;
    *lowest = number;
    mine->free = (uint16_t)number;
    mine->above = (uint16_t)above;
    return DART_OK;
}

/*
 * Registrations end one unit at a time, so units may have different ones: then
 * the lowest number is taken above which no unit has any.  All units agree.
 */
static dart_ret_t number_agree(struct team *team, bool registered,
                               const struct segment_part *parts,
                               int32_t *number_out)
{
    bool same = true;
    int32_t above = 0;
    dart_ret_t ret;

    for (int i = 0; i < team->size; i++) {
        same = same && parts[i].free == parts[0].free;
        if (above < parts[i].above)
            above = parts[i].above;
    }
    *number_out = same ? parts[0].free : above;
    if (same)
        return DART_OK;
    ret = above > INT16_MAX
              ? DART_ERR_NOMEM
              : list_reach(list_for(&team->segments, registered), above);
    return team_agree(team, ret);
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

/* --- Tables of places ----------------------------------------------------------- */

static int members_here(const struct team *team)
{
    int here = 0;

    for (int i = 0; i < team->size; i++)
        here += front_job->node_of[team->units[i]] == front_job->node;
    return here;
}

static dart_ret_t places_new(const struct team *team, bool registered,
                             uint64_t *place_out)
{
    size_t values = (size_t)team->size * (registered ? 2 : 1);
    struct segment_places *table;
    void *object;
    dart_ret_t ret = heap_take(
        sizeof(*table) + values * sizeof(table->values[0]), &object, place_out);

    if (ret)
        return ret;
    table = object;
    atomic_init(&table->users, (uint32_t)members_here(team));
    return DART_OK;
}

/* Where the heap has it, which the unit gives it back to. */
static struct segment_places *own_table(uint64_t place)
{
    return (void *)(front_job->data + place);
}

/* The unit's own that nobody uses any more. */
static void places_sweep(void)
{
    struct segment_places **at = &left, *table;

    pthread_mutex_lock(&left_lock);
    while ((table = *at)) {
        if (atomic_load_explicit(&table->users, memory_order_acquire)) {
            at = &table->next;
            continue;
        }
        *at = table->next;
        heap_give(table);
    }
    pthread_mutex_unlock(&left_lock);
}

/* This unit uses it no more; @own: it is in its heap. */
static void places_drop(struct segment_places *table, bool own)
{
    if (own) {
        pthread_mutex_lock(&left_lock);
        table->next = left;
        left = table;
        pthread_mutex_unlock(&left_lock);
    }
    atomic_fetch_sub_explicit(&table->users, 1, memory_order_release);
    if (own)
        places_sweep();
}

/*
 * All members of the node write the table, all the same: so each may read it
 * as soon as it has written it.
 */
static void places_set(const struct team *team, struct segment *segment,
                       const struct segment_part *parts)
{
    int keeper = keeper_of(team);
    bool own = keeper == team->me;
    struct segment_places *table =
        own ? own_table(parts[keeper].table)
            : rma_address(front_job, parts[keeper].table);
    uint64_t *places = table->values;
    uint64_t *sizes = segment->region ? NULL : places + team->size;

    segment->table = table;
    segment->own_table = own;
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

/* --- Making and dropping ---------------------------------------------------------- */

/* This unit's part: where it lies. */
static dart_ret_t part_fill(struct segment *segment, struct segment_part *part)
{
    bool registered = !segment->region;
    int err = 0;

    part->bytes = segment->mine_bytes;
    if (segment->mine_bytes || !registered)
        err = rma_place_of(segment->mine, segment->mine_bytes, &part->place);
    if (!err && part->place & RMA_PRIVATE) {
        err = rma_private_begin(segment->mine, segment->mine_bytes);
        segment->announced = !err;
    }
    return err ? front_fail(front_error(err),
                            "%zu bytes at %p cannot be shared: %s",
                            segment->mine_bytes, (void *)segment->mine,
                            drasync_strerror(err))
               : DART_OK;
}

/* A segment that no table knows, and what the others must know of it. */
static dart_ret_t segment_begin(struct team *team, void *address, size_t bytes,
                                drasync_region_t region,
                                struct segment **segment_out,
                                struct segment_part *mine)
{
    static _Atomic uint64_t serials;
    struct segment *segment = calloc(1, sizeof(*segment));
    dart_ret_t ret;

    *segment_out = segment;
    if (!segment)
        return DART_ERR_NOMEM;
    segment->serial = atomic_fetch_add(&serials, 1);
    segment->mine = address;
    segment->mine_bytes = bytes;
    segment->region = region;
    ret = numbers_free(&team->segments, !region, mine);
    if (!ret)
        ret = part_fill(segment, mine);
    if (!ret && keeper_of(team) == team->me)
        ret = places_new(team, !region, &mine->table);
    return ret;
}

/* What is the unit's alone, but for the region. */
static void segment_undo(struct segment *segment)
{
    if (segment->announced)
        rma_private_end(segment->mine, segment->mine_bytes);
    free(segment);
}

/* Everybody's parts.  The error is that of the first that has one. */
static dart_ret_t parts_exchange(const struct team *team,
                                 const struct segment_part *mine,
                                 struct segment_part *parts)
{
    if (team_allgather(team, mine, parts, sizeof(*mine)))
        return DART_ERR_OTHER;
    for (int i = 0; i < team->size; i++) {
        if (parts[i].error)
            return (dart_ret_t)parts[i].error;
    }
    return DART_OK;
}

static dart_ret_t segment_agree(struct team *team, struct segment *segment,
                                const struct segment_part *mine,
                                struct segment_part *parts)
{
    bool registered = segment && !segment->region;
    dart_ret_t ret = parts_exchange(team, mine, parts);
    int32_t number;

    if (!ret)
        ret = number_agree(team, registered, parts, &number);
    if (ret)
        return ret;
    segment->id = (int16_t)(registered ? -number : number);
    places_set(team, segment, parts);
    atomic_store_explicit(&(*list_for(&team->segments, registered))->at[number],
                          segment, memory_order_release);
    return DART_OK;
}

/* Before anybody sends: who has no memory for the others' parts when they come
 * cannot take them, and cannot say so. */
static dart_ret_t parts_ready(struct team *team)
{
    struct segment_table *table = &team->segments;
    dart_ret_t ret;

    if (table->parts)
        return DART_OK;
    table->parts = malloc((size_t)team->size * sizeof(*table->parts));
    ret = team_agree(team, table->parts ? DART_OK : DART_ERR_NOMEM);
    if (ret) {
        free(table->parts);
        table->parts = NULL;
    }
    return ret;
}

dart_ret_t segment_new(struct team *team, dart_ret_t ret, void *address,
                       size_t bytes, drasync_region_t region,
                       struct segment **segment_out)
{
    struct segment_part mine = {0};
    struct segment *segment = NULL;
    dart_ret_t ready = parts_ready(team);

    *segment_out = NULL;
    if (ready)
        return ready;
    places_sweep();
    if (!ret)
        ret = segment_begin(team, address, bytes, region, &segment, &mine);
    mine.error = (uint32_t)ret;
    ret = segment_agree(team, segment, &mine, team->segments.parts);
    if (!ret) {
        *segment_out = segment;
        return DART_OK;
    }
    if (mine.table)
        heap_give(own_table(mine.table));
    if (segment)
        segment_undo(segment);
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
    places_drop(segment->table, segment->own_table);
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
    free(table->parts);
    table->parts = NULL;
}

/* Before the heap goes, where their tables are. */
void segments_stop(void)
{
    const struct team *all = team_find(DART_TEAM_ALL);

    team_barrier(all);
    for (int id = 0; id < TEAMS_MAX; id++) {
        if (team_table[id])
            segment_drop_all(team_table[id]);
    }
    team_barrier(all);
    left = NULL;
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
    /* What units have put is there before anybody's memory is another's. */
    dart_ret_t ret = team_agree(team, window_flush_all());

    if (!ret)
        segment_drop(team, segment);
    return ret;
}

dart_ret_t segment_unregister(struct team *team, struct segment *segment)
{
    dart_ret_t ret = window_flush_all();

    if (!ret)
        segment_drop(team, segment);
    return ret;
}
