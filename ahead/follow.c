/*
 * What follows what: see engine.h.
 *
 * A row is for the last acquire, or for the last two or four: A B A C has no
 * successor of A, but one of B A and one of C A.  Longer ones are learned
 * where the shorter ones are wrong.
 */
#include "ahead/engine.h"

#include <stddef.h>
#include <string.h>

#define MODE_BITS UINT64_C(3)

_Static_assert((DRASYNC_READ | DRASYNC_WRITE) == MODE_BITS,
               "a mode fits below an address");

/* How many acquires a row is for, by its level. */
static const int lengths[] = {1, 2, AHEAD_HISTORY};

#define LEVELS ((int)(sizeof(lengths) / sizeof(lengths[0])))

/* A hash of the last acquires; 0: there are not so many. */
static uint64_t context_of(const uint64_t *last, int level)
{
    uint64_t h = (uint64_t)lengths[level];

    for (int i = 0; i < lengths[level]; i++) {
        if (!last[i])
            return 0;
        h = (h ^ last[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    return h | 1;
}

static void shift(uint64_t *last, uint64_t acquire)
{
    memmove(last + 1, last, (AHEAD_HISTORY - 1) * sizeof(*last));
    last[0] = acquire;
}

static struct ahead_row *set_of(struct ahead_follow *f, uint64_t context)
{
    return &f->row[(context >> 1) % AHEAD_SETS * AHEAD_WAYS];
}

static struct ahead_row *find_row(struct ahead_follow *f, uint64_t context)
{
    struct ahead_row *row = set_of(f, context);

    for (int i = 0; i < AHEAD_WAYS && context; i++)
        if (row[i].context == context)
            return &row[i];
    return NULL;
}

static bool is_sure(const struct ahead_row *row)
{
    return row && row->confidence >= AHEAD_CONFIDENT && !row->rest;
}

/* In place of an empty row, or of the one that proved right least often; which
 * loses something, or goes. */
static void add_row(struct ahead_follow *f, uint64_t context, uint64_t next)
{
    struct ahead_row *set = set_of(f, context), *row = set;

    for (int i = 1; i < AHEAD_WAYS && row->context; i++)
        if (!set[i].context || set[i].confidence < row->confidence)
            row = &set[i];
    if (row->confidence)
        row->confidence--;
    else
        *row = (struct ahead_row){.context = context, .next = next};
}

/* @next came after f->last.  True if that is against what the row says. */
static bool learn(struct ahead_follow *f, int level, uint64_t next)
{
    uint64_t context = context_of(f->last, level);
    struct ahead_row *row = find_row(f, context);

    if (!row) {
        if (context)
            add_row(f, context, next);
        return false;
    }
    if (row->rest)
        row->rest--;
    if (row->next == next) {
        if (row->confidence < AHEAD_CONFIDENCE_MAX)
            row->confidence++;
        return false;
    }
    row->confidence /= 2;
    if (!row->confidence)
        row->next = next;
    return true;
}

/* --- Hints that are open ---------------------------------------------------- */

static struct ahead_open *find_open(struct ahead_follow *f, uint64_t address)
{
    for (int i = 0; i < AHEAD_OPEN_MAX; i++)
        if (f->open[i].acquire && (f->open[i].acquire & ~MODE_BITS) == address)
            return &f->open[i];
    return NULL;
}

static void in_vain(struct ahead_follow *f, struct ahead_open *open)
{
    struct ahead_row *row = &f->row[open->row];

    if (row->next == open->acquire) {
        row->confidence = 0;
        row->rest = (uint16_t)(AHEAD_REST << row->faults);
        if (row->faults < AHEAD_FAULTS_MAX)
            row->faults++;
    }
    open->acquire = 0;
    f->vain++;
    f->depth /= 2;
}

static void expire(struct ahead_follow *f)
{
    for (int i = 0; i < AHEAD_OPEN_MAX; i++)
        if (f->open[i].acquire && f->open[i].until < f->count)
            in_vain(f, &f->open[i]);
}

static void count(struct ahead_follow *f)
{
    f->count++;
    if (++f->seen < AHEAD_SEEN_COUNT)
        return;
    f->seen /= 2;
    f->vain /= 2;
}

/* --- Calls ------------------------------------------------------------------ */

void ahead_follow_acquired(struct ahead_follow *f,
                           const struct ahead_acquire *a)
{
    struct ahead_open *open = find_open(f, a->address);
    const uint64_t now = a->address | (uint64_t)a->mode;

    f->left = 0;
    /* Where it is at home anyhow nothing is to be learned. */
    if (!open && !a->away)
        return;
    if (open) {
        open->acquire = 0;
        if (a->waits && f->depth < AHEAD_DEPTH_MAX - 1)
            f->depth++;
    }
    count(f);
    expire(f);
    for (int level = 0; level < LEVELS && learn(f, level, now);)
        level++;
    shift(f->last, now);
    if (f->vain * AHEAD_VAIN_PART > f->seen)
        return;
    memcpy(f->walk, f->last, sizeof(f->walk));
    f->left = (uint8_t)(f->depth + 1);
}

/* Where @acquire is to be noted as asked; NULL: it is, or there is no room. */
static struct ahead_open *room(struct ahead_follow *f, uint64_t acquire)
{
    struct ahead_open *free = NULL;

    if (find_open(f, acquire & ~MODE_BITS))
        return NULL;
    for (int i = 0; i < AHEAD_OPEN_MAX && !free; i++)
        if (!f->open[i].acquire)
            free = &f->open[i];
    return free;
}

/* What says most surely what comes after f->walk: the longest first. */
static const struct ahead_row *sure_row(struct ahead_follow *f)
{
    for (int level = LEVELS; level-- > 0;) {
        const struct ahead_row *row = find_row(f, context_of(f->walk, level));

        if (is_sure(row))
            return row;
    }
    return NULL;
}

bool ahead_follow_hint(struct ahead_follow *f, uint64_t *address_out,
                       enum drasync_mode *mode_out)
{
    while (f->left) {
        const struct ahead_row *row = sure_row(f);
        struct ahead_open *open;

        if (!row)
            break;
        f->left--;
        shift(f->walk, row->next);
        open = room(f, row->next);
        if (!open)
            continue;
        open->acquire = row->next;
        open->until = f->count + f->depth + 1 + AHEAD_PATIENCE;
        open->row = (uint16_t)(row - f->row);
        f->hinted = (int)(open - f->open);
        *address_out = row->next & ~MODE_BITS;
        *mode_out = (enum drasync_mode)(row->next & MODE_BITS);
        return true;
    }
    f->left = 0;
    return false;
}

void ahead_follow_answer(struct ahead_follow *f, enum ahead_answer answer)
{
    struct ahead_open *open = &f->open[f->hinted];

    if (answer == AHEAD_ASKED)
        return;
    if (answer == AHEAD_GONE)
        f->row[open->row].confidence = 0;
    open->acquire = 0;
}
