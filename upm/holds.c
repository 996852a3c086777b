/* Ranges that system calls use: see holds.h. */
#include "upm/holds.h"

#include <pthread.h>
#include <stdatomic.h>

/* In use where `owner` is not 0; the range is whole where `end` is not 0. */
static struct {
    _Atomic uintptr_t owner; /* its thread */
    _Atomic uintptr_t frame; /* where on its stack it began */
    _Atomic uintptr_t start, end;
} held[UPM_HOLDS_MAX];

static _Atomic unsigned all;

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

/* The hold of the same range that this thread jumped out of, or 0: one that began
 * deeper on the stack.  (A handler on a stack of its own that holds what the call
 * holds that it came into may be taken for the next one.) */
static unsigned left_behind(uintptr_t start, uintptr_t end, uintptr_t frame)
{
    for (unsigned i = 0; i < UPM_HOLDS_MAX; i++) {
        if (atomic_load(&held[i].owner) == self() &&
            atomic_load(&held[i].frame) <= frame &&
            atomic_load(&held[i].start) == start &&
            atomic_load(&held[i].end) == end)
            return i + 1;
    }
    return 0;
}

unsigned upm_hold_begin(uintptr_t start, uintptr_t end)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    unsigned again = left_behind(start, end, frame);

    if (again)
        return again;
    for (unsigned i = 0; i < UPM_HOLDS_MAX; i++) {
        uintptr_t nobody = 0;

        if (atomic_load(&held[i].owner) ||
            !atomic_compare_exchange_strong(&held[i].owner, &nobody, self()))
            continue;
        atomic_store(&held[i].frame, frame);
        atomic_store(&held[i].start, start);
        atomic_store(&held[i].end, end);
        return i + 1;
    }
    return upm_hold_all();
}

void upm_hold_end(unsigned hold)
{
    if (hold == UPM_HOLD_ALL) {
        atomic_fetch_sub(&all, 1);
        return;
    }
    atomic_store(&held[hold - 1].end, 0);
    atomic_store(&held[hold - 1].owner, 0);
}

unsigned upm_hold_all(void)
{
    atomic_fetch_add(&all, 1);
    return UPM_HOLD_ALL;
}

bool upm_all_is_held(void)
{
    return atomic_load(&all) > 0;
}

bool upm_held_range(unsigned index, uintptr_t *start_out, uintptr_t *end_out)
{
    *end_out = atomic_load(&held[index].end);
    *start_out = atomic_load(&held[index].start);
    return *end_out > 0;
}

void upm_holds_forked(void)
{
    atomic_store(&all, 0);
    for (unsigned i = 0; i < UPM_HOLDS_MAX; i++) {
        atomic_store(&held[i].end, 0);
        atomic_store(&held[i].owner, 0);
    }
}
