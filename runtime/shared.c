/* The size of what the ranks of a node share. */
#include "runtime/shared.h"

#include <string.h>

#include "memory/control.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/start.h"

size_t runtime_shared_bytes(int locals)
{
    return sizeof(struct runtime_shared) +
           (size_t)locals * sizeof(struct runtime_rank);
}

int start_shared(const struct start_facts *facts)
{
    const struct space *space = &runtime.space;
    struct runtime_shared *shared = control_user(space);
    int err = 0;

    if (runtime_shared_bytes(runtime.locals) > CONTROL_USER_BYTES)
        return DRASYNC_ELIMIT;
    shared->locals = (uint32_t)runtime.locals;
    shared->ranks_of_job = runtime.ranks;
    for (int i = 0; i < RUNTIME_TREE_LOCKS && !err; i++)
        err = lock_init(&shared->trees[i], LOCK_RANK_RUNTIME,
                        control_poison_flag(space));
    if (!err)
        err = lock_init(&shared->death_lock, LOCK_RANK_RUNTIME,
                        control_poison_flag(space));
    for (int i = 0; i < runtime.locals && !err; i++)
        err = alive_init(&shared->ranks[i].alive);
    if (err)
        return err;
    for (int rank = 0; rank < runtime.ranks; rank++) {
        if (runtime.node_of[rank] != runtime.node)
            continue;
        shared->ranks[runtime.local_of[rank]].rank = rank;
        shared->ranks[runtime.local_of[rank]].pid = facts[rank].pid;
    }
    shared->magic = RUNTIME_MAGIC;
    runtime.shared = shared;
    return 0;
}
