/* The node's memory: made by its leader, and mapped by all of its ranks. */
#include "runtime/start.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/control.h"
#include "memory/dump.h"
#include "memory/limit.h"
#include "memory/lock.h"
#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/messages/outbox.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/start_facts.h"
#include "runtime/start_page.h"

#define LINE_BYTES 512

static int map_files(const struct space_layout *layout, int candidate,
                     int data_fd, int control_fd)
{
    char line[LINE_BYTES] = "";
    int err = space_map(&runtime.space, layout, candidate, data_fd, control_fd,
                        line, sizeof(line));

    if (err == DRASYNC_EADDRESS) {
        line[strcspn(line, "\n")] = 0;
        runtime_say("cannot start: the address range was taken meanwhile: %s",
                    line);
    } else if (err) {
        char what[LINE_BYTES];

        snprintf(what, sizeof(what),
                 "cannot map %" PRIu64 " GiB of address space (DRASYNC_SPACE "
                 "sets how much)",
                 space_total_bytes(layout) >> 30);
        err = refused_by_system(what, errno);
    }
    return err;
}

static int create_control(void)
{
    uint64_t limit = runtime.options.memory_bytes;
    int err = control_create(&runtime.space, runtime.node, runtime.nodes,
                             limit ? limit : limit_default_bytes());

    return err ? refused_shared(err) : 0;
}

/* How much of the node's regions core dumps show. */
static uint64_t core_bytes(void)
{
    switch (runtime.options.core) {
    case RUNTIME_CORE_REGIONS:
        return UINT64_MAX;
    case RUNTIME_CORE_NONE:
        return 0;
    default:
        return OPTIONS_CORE_BYTES;
    }
}

/* 0, or an error that has been said; then the files are closed. */
static int map_all(const struct start_agreed *agreed, const int *files)
{
    int err = map_files(&agreed->layout, agreed->candidate, files[START_DATA],
                        files[START_CONTROL]);

    if (runtime.locals > 1)
        passed_set_shared();
    dump_set(core_bytes());
    if (!err && runtime.leader)
        err = create_control();
    for (int i = 0; err && i < START_FILES; i++)
        close(files[i]);
    runtime.wake_fd = err ? -1 : files[START_WAKE];
    return err;
}

int start_memory_make(const struct start_agreed *agreed, int *files)
{
    int err = space_files_new(&agreed->layout, &files[START_DATA],
                              &files[START_CONTROL]);

    if (!err && outbox_pipe_new(&files[START_WAKE])) {
        int error = errno;
        close(files[START_DATA]);
        close(files[START_CONTROL]);
        errno = error;
        err = DRASYNC_ESTART;
    }
    if (err)
        return refused_by_system("cannot make the node's memory files", errno);
    return map_all(agreed, files);
}

int start_memory_open(const struct start_agreed *agreed, const int *files)
{
    int err = map_all(agreed, files);

    return err ? err : control_check(&runtime.space);
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
