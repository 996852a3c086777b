/*
 * A thread that slept while all tickets of a lease's slot were given must not
 * take what stands there now: native/lease.h.
 *
 * Linked to the runtime's objects, as it makes the slot as old as it would be.
 */
#include <pthread.h>

#include "native_check.h"

#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"

/* More holds than were left before the thread slept. */
#define LEAVES 64

static pthread_barrier_t step;
static drasync_region_t slept_on;
static struct native_lease known; /* of the thread that sleeps */

static int held(drasync_region_t r)
{
    struct drasync_info info;

    OK(drasync_get_info(r, &info));
    return info.held_write;
}

static void *sleeper(void *unused)
{
    OK(drasync_acquire(slept_on, DRASYNC_WRITE));
    OK(drasync_release(slept_on));
    CHECK(native_lease_of((uintptr_t)slept_on));
    known = *native_lease_of((uintptr_t)slept_on);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    OK(drasync_acquire(slept_on, DRASYNC_WRITE));
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    OK(drasync_release(slept_on));
    return unused;
}

/* Another region under the lock of @r. */
static drasync_region_t neighbour(drasync_region_t r)
{
    for (;;) {
        drasync_region_t other;

        OK(drasync_new_region(&other));
        CHECK(held(other) == 1); /* and left nowhere */
        if (space_page_hash((uintptr_t)other, 5) ==
            space_page_hash((uintptr_t)r, 5))
            return other;
    }
}

int main(int argc, char **argv)
{
    drasync_region_t other;
    pthread_t thread;

    check_start_threads(&argc, &argv);
    pthread_barrier_init(&step, NULL, 2);
    OK(drasync_new_region(&slept_on));
    other = neighbour(slept_on);
    OK(drasync_release(slept_on));
    CHECK(held(slept_on) == 0);
    pthread_create(&thread, NULL, sleeper, NULL);
    pthread_barrier_wait(&step);

    /* The thread knows of a lease, which ends; and its slot grows old. */
    CHECK(word_state(atomic_load(&known.slot->word)) == WORD_FREE);
    CHECK(held(slept_on) == 0);
    CHECK(atomic_load(&known.slot->word) == 0);
    known.slot->ticket = WORD_TICKET_MAX;
    for (int i = 0; i < LEAVES; i++) {
        OK(drasync_release(other));
        if (atomic_load(&known.slot->word) == known.word)
            break;
        CHECK(held(other) == 0);
        OK(drasync_acquire(other, DRASYNC_WRITE));
    }
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    CHECK(held(slept_on) == 1);
    CHECK(atomic_load(&known.slot->word) == 0);
    pthread_barrier_wait(&step);
    pthread_join(thread, NULL);
    return check_end("ticket");
}
