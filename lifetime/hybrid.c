/* The paper's cycle, its Fig. 2: all of it under the allocation's lock. */
#include "state.h"

uint64_t hybrid_cycle(struct life_thread *me)
{
    struct life_shared *shared = me->shared;
    uint64_t freed;

    /* Relaxed, as is the store below: under the lock. */
    atomic_fetch_add_explicit(&shared->cycles, 1, memory_order_relaxed);
    cycle_take(shared);
    if (!shared->young)
        return 0;
    /* "Not live" is a number of an older look. */
    cycle_look(shared);
    freed = cycle_settle(me, &shared->young, shared->looks);
    /* Its threshold is static; more than what is in use, or each object that is
     * made would cost a cycle. */
    atomic_store_explicit(
        &shared->due_bytes,
        atomic_load_explicit(&shared->lingering_bytes, memory_order_relaxed) +
            (shared->linger_bytes + 1) / 2,
        memory_order_relaxed);
    return freed;
}
