/* What each rank knows at the start, told to all others in one exchange. */
#include "runtime/start_agree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/os.h"
#include "memory/space.h"
#include "runtime/peer.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/start_facts.h"
#include "runtime/start_page.h"
#include "runtime/start_room.h"
#include "runtime/waiting.h"
#include "transport/boot.h"
#include "transport/connections.h"

#define LINE_BYTES 512

/* Why this rank cannot start, for the lowest of those that cannot to say; "":
 * it has been said. */
static char refusal[LINE_BYTES];

/* The line of /proc/self/maps in the way of a place for the space. */
static char in_the_way[LINE_BYTES];

_Static_assert(LINE_BYTES >= OPTIONS_LINE_BYTES, "refusal");

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t add_namespace(uint64_t hash, const char *path)
{
    struct stat namespace;

    return stat(path, &namespace)
               ? hash
               : fnv(hash, &namespace.st_ino, sizeof(namespace.st_ino));
}

/* 0, or an error that has been said. */
static int find_keys(struct start_facts *own)
{
    static const char name[] = "/proc/sys/kernel/random/boot_id";
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[64];
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
    own->machine_key = add_namespace(hash, "/proc/self/ns/pid");
    own->host_key = fnv(add_namespace(own->machine_key, "/proc/self/ns/net"),
                        runtime.host, strlen(runtime.host));
    runtime.host_key = own->machine_key;
    return 0;
}

/* All that is mapped, reserved and sent begins at a page of ours. */
static int check_pages(void)
{
    uint64_t bytes = os_page_bytes();

    if (bytes == OS_PAGE_BYTES)
        return 0;
    snprintf(refusal, sizeof(refusal),
             "pages of memory have %" PRIu64 " bytes here (getconf PAGESIZE), "
             "and DRASync works with pages of %u; use a kernel with such pages",
             bytes, OS_PAGE_BYTES);
    return DRASYNC_ESTART;
}

/* Variables that nobody reads are named once: by rank 0. */
static void name_unknown_options(void)
{
    char line[OPTIONS_LINE_BYTES];
    size_t at = 0;

    while (runtime.rank == 0 && options_unknown(&at, line, sizeof(line)))
        runtime_say("%s", line);
}

static int read_options(void)
{
    int err = options_read(&runtime.options, refusal, OPTIONS_LINE_BYTES);

    name_unknown_options();
    return err == DRASYNC_EINVAL ? DRASYNC_ESTART : err;
}

/* What depends on the options. */
static int find_space(struct start_facts *own)
{
    struct space_layout layout;

    refusal[0] = 0;
    own->options_hash = fnv(0, &runtime.options, sizeof(runtime.options));
    if (space_layout_for(runtime.options.space_bytes, &layout)) {
        snprintf(refusal, sizeof(refusal),
                 "DRASYNC_SPACE must be a power of two from 64M to 16T, not "
                 "%" PRIu64 " bytes",
                 runtime.options.space_bytes);
        return DRASYNC_ESTART;
    }
    int err = refused_by_limits(&layout, refusal, sizeof(refusal));
    if (!err)
        err = refused_by_memcheck(&layout, refusal, sizeof(refusal));
    if (err)
        return err;
    err =
        space_probe(&layout, &own->free_places, in_the_way, sizeof(in_the_way));
    in_the_way[strcspn(in_the_way, "\n")] = 0;
    return err ? refused_by_system("cannot read /proc/self/maps", errno) : 0;
}

/* Where a container, a batch system or a launcher binds ranks, the machine has
 * more processors than they may use. */
static void find_allowed(struct start_facts *own)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    own->allowed = own->processors;
    own->allowed_key = 0;
    if (sched_getaffinity(0, sizeof(set), &set))
        return; /* more than a set of this size has */
    own->allowed = (uint32_t)CPU_COUNT(&set);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            own->allowed_key =
                (own->allowed_key ^ ((uint32_t)i + 1)) * UINT32_C(0x9e3779b1);
}

/* Has this rank no tool that sees its collectives?  Those of many elements meet
 * the others. */
static bool find_direct(void)
{
#define NAMES(name) #name, #name "_c",
    static const char *const names[] = {WAITING_MPI_COLLECTIVES(NAMES)};
#undef NAMES

    return boot_direct(names, sizeof(names) / sizeof(names[0]));
}

static int find_out(struct start_facts *own)
{
    int err = check_pages();

    if (!err)
        err = read_options();
    if (!err)
        err = find_keys(own);
    if (err)
        return err;
    own->page_fd = start_page_reserve();
    if (own->page_fd < 0)
        return refused_by_system("no descriptor for the node's page", errno);
    if (getrandom(own->secret, sizeof(own->secret), 0) !=
        (ssize_t)sizeof(own->secret))
        return refused_by_system("no random numbers for the start", errno);
    own->pid = getpid();
    own->start_ticks = process_start_ticks(own->pid);
    own->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    find_allowed(own);
    own->threads_many = boot_thread_level() >= BOOT_MULTIPLE;
    own->direct = find_direct();
    own->leave = (uint8_t)boot_leave_vote();
    own->adapters = boot_registers();
    if (runtime.options.link_s)
        connections_own_keys(own->addresses, START_ADDRESSES);
    snprintf(own->host, sizeof(own->host), "%.43s", runtime.host);
    return 0;
}

void start_refused(int who, const char *line)
{
    char none = 0, *all = start_room_new((size_t)runtime.ranks);

    if (runtime.rank == who && line[0])
        runtime_say("cannot start: %s", line);
    boot_gather(runtime_boot, &none, all, 1);
    start_room_free(all);
}

/* Rank 0's options count.  Where another rank's differ all take them and look
 * again what they mean here. */
static int take_options(struct start_facts *own, struct start_facts *all)
{
    struct runtime_options mine = runtime.options, *each;
    char line[OPTIONS_LINE_BYTES];
    int rank = 0, err;

    while (rank < runtime.ranks &&
           all[rank].options_hash == all[0].options_hash)
        rank++;
    if (rank == runtime.ranks)
        return 0;
    each = start_room_new((size_t)runtime.ranks * sizeof(*each));
    err = boot_gather(runtime_boot, &mine, each, sizeof(mine));
    if (!err)
        runtime.options = each[0];
    start_room_free(each);
    if (err)
        return err;
    if (options_differ(&mine, &runtime.options, line, sizeof(line)))
        runtime_say("%s", line);
    own->space_err = find_space(own);
    return boot_gather(runtime_boot, own, all, sizeof(*own));
}

/* The least of what @all have of err, or of space_err; its first rank says. */
static int least(const struct start_facts *all, bool of_space)
{
    int err = 0, who = -1;

    for (int i = 0; i < runtime.ranks; i++) {
        int its = of_space ? all[i].space_err : all[i].err;
        if (its && who < 0)
            who = i;
        if (its < err)
            err = its;
    }
    if (err)
        start_refused(who, refusal);
    return err;
}

/* The first candidate that is free everywhere. */
static int agree_on_address(const struct start_facts *all,
                            struct start_agreed *out)
{
    char line[2 * LINE_BYTES];
    uint32_t common = UINT32_MAX, candidates;
    uintptr_t addresses[SPACE_CANDIDATES_MAX];
    int who = 0;

    for (int i = 0; i < runtime.ranks; i++)
        common &= all[i].free_places;
    if (common) {
        out->candidate = __builtin_ctz(common);
        return 0;
    }
    candidates = UINT32_MAX >> (SPACE_CANDIDATES_MAX -
                                space_candidates(&out->layout, addresses));
    while (who < runtime.ranks - 1 && all[who].free_places == candidates)
        who++;
    snprintf(line, sizeof(line),
             "no range of %" PRIu64 " GiB is free at the same address on all "
             "ranks (free here: %d of the places tried); in the way: %s",
             space_total_bytes(&out->layout) >> 30,
             __builtin_popcount(all[who].free_places), in_the_way);
    start_refused(who, line);
    return DRASYNC_EADDRESS;
}

int start_agree(struct start_agreed *out)
{
    struct start_facts *all =
        start_room_new((size_t)runtime.ranks * sizeof(*all));
    struct start_facts own = {.page_fd = -1};
    int err;

    own.err = find_out(&own);
    if (!own.err)
        own.space_err = find_space(&own);
    err = boot_gather(runtime_boot, &own, all, sizeof(own));
    if (!err)
        err = least(all, false);
    if (!err)
        err = take_options(&own, all);
    if (!err)
        err = least(all, true);
    if (!err)
        err = space_layout_for(runtime.options.space_bytes, &out->layout);
    if (!err)
        err = agree_on_address(all, out);
    out->facts = err ? NULL : all;
    if (!err)
        return 0;
    start_room_free(all);
    if (own.page_fd >= 0)
        close(own.page_fd);
    return err;
}
