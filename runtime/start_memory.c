/* The node's memory: the address all ranks agree on, and the leader's files. */
#include "runtime/start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/control.h"
#include "memory/dump.h"
#include "memory/limit.h"
#include "memory/passed.h"
#include "memory/space.h"
#include "runtime/messages/outbox.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "transport/boot.h"

#define LINE_BYTES 512

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

int start_host_key(uint64_t *key_out)
{
    static const char name[] = "/proc/sys/kernel/random/boot_id";
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[64];
    struct stat namespace;
    int fd = open(name, O_RDONLY | O_CLOEXEC);

    /* Without /proc a host is taken for whole; but all its ranks must say so. */
    if (fd < 0 && errno != ENOENT && errno != EACCES)
        return refused_by_system(name, errno);
    if (fd >= 0) {
        ssize_t got = read(fd, text, sizeof(text));
        if (got > 0)
            hash = fnv(hash, text, (size_t)got);
        close(fd);
    }
    if (!stat("/proc/self/ns/pid", &namespace))
        hash = fnv(hash, &namespace.st_ino, sizeof(namespace.st_ino));
    *key_out = hash;
    return 0;
}

/* Say what is in the way, on the lowest rank where something is. */
static int report_no_address(const struct space_layout *layout, uint64_t mine,
                             const char *line)
{
    int64_t who = line[0] ? runtime.rank : runtime.ranks;

    if (boot_min(runtime_boot, BOOT_ALL, &who))
        return DRASYNC_EPEER;
    if (who == runtime.rank)
        runtime_say("cannot start: no range of %" PRIu64
                    " GiB is free at the same address on all ranks (free here: "
                    "%d of the places tried); in the way: %s",
                    space_total_bytes(layout) >> 30, __builtin_popcountll(mine),
                    line);
    return DRASYNC_EADDRESS;
}

/* The first candidate that is free everywhere. */
static int agree_on_address(const struct space_layout *layout,
                            int *candidate_out)
{
    char line[LINE_BYTES] = "";
    uint32_t mask = 0;
    uint64_t common, mine;
    int err = space_probe(layout, &mask, line, sizeof(line));

    if (err)
        err = refused_by_system("cannot read /proc/self/maps", errno);
    err = runtime_agree(err);
    if (err)
        return err;
    line[strcspn(line, "\n")] = 0;
    mine = common = mask;
    err = boot_and(runtime_boot, BOOT_ALL, &common, 1);
    if (err)
        return err;
    if (!common)
        return report_no_address(layout, mine, line);
    *candidate_out = __builtin_ctzll(common);
    return 0;
}

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

static int check_limits(const struct space_layout *layout)
{
    char line[LINE_BYTES];
    int refused = refused_by_limits(layout, line, sizeof(line));
    int err = runtime_agree(refused);

    if (err && err != DRASYNC_EPEER)
        start_refused(refused, line);
    return err;
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

int start_memory(void)
{
    struct space_layout layout;
    int files[START_FILES] = {-1, -1, -1}, candidate = 0;
    int err = space_layout_for(runtime.options.space_bytes, &layout);

    if (runtime.locals > 1)
        passed_set_shared();
    if (err) {
        err = DRASYNC_ESTART;
        if (runtime.rank == 0)
            runtime_say("cannot start: DRASYNC_SPACE must be a power of two "
                        "from 64M to 16T");
    }
    err = runtime_agree(err);
    if (!err)
        err = check_limits(&layout);
    if (!err)
        err = agree_on_address(&layout, &candidate);
    if (err)
        return err;

    if (runtime.leader) {
        err =
            space_files_new(&layout, &files[START_DATA], &files[START_CONTROL]);
        if (!err)
            err = outbox_pipe_new(&files[START_WAKE]);
        if (err)
            err =
                refused_by_system("cannot make the node's memory files", errno);
    }
    err = runtime_agree(err);
    if (!err)
        err = start_share_files(files);
    if (!err)
        err = runtime_agree(map_files(&layout, candidate, files[START_DATA],
                                      files[START_CONTROL]));
    dump_set(core_bytes());
    if (!err)
        err = runtime_agree(runtime.leader ? create_control() : 0);
    for (int i = 0; err && i < START_FILES; i++)
        if (files[i] >= 0)
            close(files[i]);
    runtime.wake_fd = err ? -1 : files[START_WAKE];
    return err;
}
