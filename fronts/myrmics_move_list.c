/* Lists of what is sent in DRASYNC_MYRMICS=move: what is noted of each region of
 * a subtree and of those above it, and what the receiver makes of it. */
#include <stdlib.h>

#include "fronts/myrmics_move.h"

/*
 * A note about a region: its incarnation, and a word with its number, the place
 * of its parent's note in the list, and whether it comes along.  The first is
 * that of the region that is sent, and comes; instead of that word it has the
 * address, as replica_notify() says.
 *
 * The last ones, with NOTE_ABOVE for a parent, do not come: the sent region is
 * below the first of them, that below the next.  Who gets that one later, or has
 * it, knows so that the sent region belongs to it.  What is below does not change
 * while a region lives, and who has it keeps what is above alive.
 */
#define NOTE_PARENT_BIT 32
#define NOTE_PARENT_MAX (((uint64_t)1 << 31) - 1)
#define NOTE_ABOVE      NOTE_PARENT_MAX
#define NOTE_COMES      ((uint64_t)1 << 63)

static uint64_t note_parent(const struct replica_part *note)
{
    return note->address >> NOTE_PARENT_BIT & NOTE_PARENT_MAX;
}

static uint64_t note_word(const struct move_region *region, int is_first)
{
    if (is_first)
        return (uint64_t)(region->rid - 1) << 12;
    return region->rid | (uint64_t)region->parent->number << NOTE_PARENT_BIT |
           (region->here ? NOTE_COMES : 0);
}

int move_list_make(struct move_region *top, struct replica_part **notes_out,
                   size_t *count_out, uint64_t *bytes_out)
{
    struct replica_part *notes;
    struct move_region *at;
    size_t count = 0;

    for (at = top; at; at = move_next(top, at))
        count++;
    for (at = top->parent; at; at = at->parent)
        count++;
    if (count > NOTE_PARENT_MAX)
        return DRASYNC_ELIMIT;
    notes = malloc(count * sizeof(*notes));
    if (!notes)
        return DRASYNC_ENOMEM;
    count = 0;
    for (at = top; at; at = move_next(top, at)) {
        struct drasync_info info;

        at->number = (uint32_t)count;
        notes[count].address = note_word(at, at == top);
        notes[count].incarnation = at->incarnation;
        if (at->here && !drasync_get_info(at->handle, &info))
            *bytes_out += info.used_bytes;
        count++;
    }
    for (at = top->parent; at; at = at->parent)
        notes[count++] = (struct replica_part){
            .address = at->rid | NOTE_ABOVE << NOTE_PARENT_BIT,
            .incarnation = at->incarnation,
        };
    *notes_out = notes;
    *count_out = count;
    return 0;
}

/* A region that comes. */
static int take(uint32_t rid, uint64_t incarnation,
                struct move_region **region_out)
{
    struct move_region *region = move_enter(rid, incarnation, move_handle(rid));
    int err;

    if (!region)
        return DRASYNC_ENOMEM;
    err = drasync_acquire(region->handle, DRASYNC_WRITE);
    if (err)
        return err;
    region->here = 1;
    move_numbered(region->handle, rid);
    *region_out = region;
    return 0;
}

/*
 * A region that the list has below one of those that come, and that does not
 * come itself.  It may have been freed, and even its number may be that of a
 * region that is known here.  NULL if so; @below_out: whether the list knows
 * better than this worker what is below it.
 */
static int take_away(uint32_t rid, uint64_t incarnation, int *below_out,
                     struct move_region **region_out)
{
    struct move_region *region = move_find(rid);
    int there = 1, err = 0;

    *region_out = NULL;
    *below_out = 0;
    if (region && region->incarnation != incarnation) {
        if (region->here)
            return 0;
        err = move_is_there(rid, incarnation, &there);
    }
    if (err || !there)
        return err;
    region = move_enter(rid, incarnation, move_handle(rid));
    if (!region)
        return DRASYNC_ENOMEM;
    *below_out = !region->here;
    *region_out = region;
    return 0;
}

/* Note @i of a list; @noted: the regions of those before, NULL where the list is
 * not believed about what is below. */
static int take_note(const struct replica_part *notes, size_t i,
                     struct move_region **noted, uint64_t *bytes_out)
{
    uint64_t word = notes[i].address, parent = note_parent(&notes[i]);
    uint32_t rid = i ? (uint32_t)word : (uint32_t)(word >> 12) + 1;
    struct move_region *region = NULL, *above = NULL;
    struct drasync_info info;
    int err, below = 1;

    if (!rid || (i && parent >= i))
        return DRASYNC_EINTERNAL;
    if (i)
        above = noted[parent];
    if (!i || (word & NOTE_COMES)) {
        err = take(rid, notes[i].incarnation, &region);
        if (!err && !drasync_get_info(region->handle, &info))
            *bytes_out += info.used_bytes;
    } else {
        err = above ? take_away(rid, notes[i].incarnation, &below, &region) : 0;
    }
    if (err)
        return err;
    /* What is below one that was above before has been looked at with that. */
    if (region && below && (!i || region->parent != above))
        move_prune(region);
    if (region && above)
        move_put_under(region, above);
    noted[i] = below ? region : NULL;
    return 0;
}

/* @notes are of what is above @region, which is here. */
static int take_above(struct move_region *region,
                      const struct replica_part *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t rid = (uint32_t)notes[i].address;
        struct move_region *above =
            move_enter(rid, notes[i].incarnation, move_handle(rid));

        if (!above)
            return DRASYNC_ENOMEM;
        move_put_under(region, above);
        region = above;
    }
    return 0;
}

int move_list_take(const struct replica_part *notes, size_t count,
                   uint64_t *bytes_out)
{
    struct move_region **noted = calloc(count, sizeof(struct move_region *));
    int err = noted ? 0 : DRASYNC_ENOMEM;
    size_t above = count;

    while (above > 1 && note_parent(&notes[above - 1]) == NOTE_ABOVE)
        above--;
    for (size_t i = 0; i < above && !err; i++)
        err = take_note(notes, i, noted, bytes_out);
    if (!err)
        err = take_above(noted[0], &notes[above], count - above);
    free(noted);
    return err;
}
