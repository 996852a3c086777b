/* The record of phases: see engine.h. */
#include "ahead/engine.h"

#include <stddef.h>

_Static_assert(AHEAD_NOTES_MAX < UINT16_MAX, "indexes of notes");
_Static_assert(DRASYNC_PHASES_MAX < INT8_MAX, "numbers of phases");

static struct ahead_note *at(struct ahead_phases *p, uint16_t index)
{
    return index ? &p->note[index - 1] : NULL;
}

static uint16_t *head_of(struct ahead_phases *p, int phase, uint64_t address)
{
    uint64_t hash = (address + (uint64_t)phase) * UINT64_C(0x9E3779B97F4A7C15);

    return &p->heads[hash >> 54];
}

_Static_assert(AHEAD_NOTES_HEADS == 1 << 10, "head_of() keeps 10 bits");

static struct ahead_note *find(struct ahead_phases *p, int phase,
                               uint64_t address)
{
    struct ahead_note *n = at(p, *head_of(p, phase, address));

    while (n && (n->address != address || n->phase != phase))
        n = at(p, n->next);
    return n;
}

/* Take the note @index out of both lists that it is in. */
static void unlink_note(struct ahead_phases *p, uint16_t index)
{
    const struct ahead_note *n = at(p, index);
    uint16_t *l;

    for (l = head_of(p, n->phase, n->address); *l != index;)
        l = &at(p, *l)->next;
    *l = n->next;
    for (l = &p->first[n->phase]; *l != index;)
        l = &at(p, *l)->next_of_phase;
    *l = n->next_of_phase;
}

/* The index of a note to use: one that was dropped goes where there is no other.
 * 0: none. */
static uint16_t take(struct ahead_phases *p)
{
    uint16_t index = p->free;

    if (index) {
        p->free = at(p, index)->next;
        return index;
    }
    if (p->used < AHEAD_NOTES_MAX)
        return ++p->used;
    for (int i = 0; i < AHEAD_NOTES_MAX; i++) {
        index = p->hand = (uint16_t)(p->hand % AHEAD_NOTES_MAX + 1);
        if (at(p, index)->dropped) {
            unlink_note(p, index);
            return index;
        }
    }
    return 0;
}

static void add(struct ahead_phases *p, const struct ahead_acquire *a)
{
    const int phase = p->now - 1;
    uint16_t index = take(p), *head;

    if (!index) {
        p->full = true;
        return;
    }
    head = head_of(p, phase, a->address);
    *at(p, index) = (struct ahead_note){
        .address = a->address,
        .next = *head,
        .next_of_phase = p->first[phase],
        .phase = (uint8_t)phase,
        .mode_now = (uint8_t)a->mode,
        .seen = 1,
    };
    *head = p->first[phase] = index;
}

/* What was asked for the phase that ends, and not acquired in it, is dropped. */
static void end_phase(struct ahead_phases *p)
{
    for (struct ahead_note *n = at(p, p->first[p->now - 1]); n;
         n = at(p, n->next_of_phase)) {
        if (n->asked && !n->seen)
            n->dropped = true;
        if (n->seen) {
            n->times = n->seen;
            n->mode = n->mode_now;
        }
        n->seen = n->mode_now = 0;
        n->asked = false;
    }
    p->before = p->now;
    p->now = 0;
}

void ahead_phases_iteration(struct ahead_phases *p)
{
    if (p->now)
        end_phase(p);
    if (p->iterations < 2)
        p->iterations++;
}

bool ahead_phases_begin(struct ahead_phases *p, int phase)
{
    int next;

    if (!p->iterations)
        return false;
    if (p->now)
        end_phase(p);
    if (p->before)
        p->follows[p->before - 1] = (int8_t)(phase + 1);
    p->now = (int8_t)(phase + 1);
    next = p->iterations > 1 ? p->follows[phase] : 0;
    p->hint = next ? p->first[next - 1] : 0;
    return true;
}

struct ahead_note *ahead_phases_hint(struct ahead_phases *p)
{
    struct ahead_note *n;

    /* What was asked before, and its phase did not come, is on its way. */
    while ((n = at(p, p->hint))) {
        p->hint = n->next_of_phase;
        if (!n->asked && !n->dropped && n->times)
            return n;
    }
    return NULL;
}

void ahead_phases_answer(struct ahead_phases *p, struct ahead_note *note,
                         enum ahead_answer answer)
{
    uint16_t index = (uint16_t)(note - p->note + 1);

    note->asked = answer == AHEAD_ASKED;
    if (answer != AHEAD_GONE)
        return;
    unlink_note(p, index);
    note->next = p->free;
    p->free = index;
}

void ahead_phases_acquired(struct ahead_phases *p,
                           const struct ahead_acquire *a)
{
    struct ahead_note *n = p->now ? find(p, p->now - 1, a->address) : NULL;

    if (!n) {
        if (p->now && a->away && a->waits)
            add(p, a);
        return;
    }
    /* Where it is at home no acquire needs a hint. */
    if (!n->asked && !a->away)
        return;
    if (n->seen < AHEAD_TIMES_MAX)
        n->seen++;
    if (n->mode_now != DRASYNC_WRITE)
        n->mode_now = (uint8_t)a->mode;
    if (n->dropped && a->waits && n->returns < AHEAD_RETURNS_MAX) {
        n->returns++;
        n->dropped = false;
    }
}
