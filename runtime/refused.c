/* What the system refuses at the start: see refused.h. */
#include "runtime/refused.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "memory/limit.h"
#include "memory/marks.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"

#define ADVICE_BYTES 128

/* Of this much memcheck takes seconds. */
#define MEMCHECK_SPACE_MAX ((uint64_t)64 << 30)

static uint64_t limit_of(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* What to do about @error, after the error's text; "" where nobody knows. */
static void advise(int error, char advice[ADVICE_BYTES])
{
    advice[0] = 0;
    switch (error) {
    case EMFILE:
        snprintf(advice, ADVICE_BYTES,
                 "; raise the limit of open files (ulimit -n, now %" PRIu64 ")",
                 limit_of(RLIMIT_NOFILE));
        break;
    case ENFILE:
        snprintf(advice, ADVICE_BYTES,
                 "; the system has no more open files (sysctl fs.file-max)");
        break;
    case EFBIG:
        snprintf(advice, ADVICE_BYTES,
                 "; raise the limit of file size (ulimit -f)");
        break;
    case EAGAIN:
        snprintf(advice, ADVICE_BYTES,
                 "; raise the limit of processes and threads (ulimit -u, or "
                 "pids.max of the cgroup)");
        break;
    case ENOMEM:
        snprintf(advice, ADVICE_BYTES,
                 "; free memory, or raise its limit (ulimit -v, cgroup)");
        break;
    case EPERM:
    case EACCES:
    case ENOSYS:
        snprintf(advice, ADVICE_BYTES,
                 "; allow the call in the container or sandbox (seccomp)");
        break;
    default:
        break;
    }
}

int refused_by_system(const char *what, int error)
{
    char advice[ADVICE_BYTES];

    advise(error, advice);
    runtime_say("cannot start: %s: %s%s", what, strerror(error), advice);
    return error == ENOMEM ? DRASYNC_ENOMEM : DRASYNC_ESTART;
}

/* A limit of this process, and what of it a space takes. */
struct limit {
    int resource;
    const char *what, *command;
    uint64_t (*needs)(const struct space_layout *layout);
};

static uint64_t largest_file(const struct space_layout *layout)
{
    uint64_t data = layout->data_bytes + layout->alternate_bytes;

    return data > layout->control_bytes ? data : layout->control_bytes;
}

static const struct limit limits[] = {
    {RLIMIT_FSIZE, "file size", "ulimit -f", largest_file},
    {RLIMIT_AS, "address space", "ulimit -v", space_total_bytes},
};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

/* The largest DRASYNC_SPACE that takes less than half of @bytes, which leaves
 * room for the program; 0: none. */
static uint64_t space_within(const struct limit *limit, uint64_t bytes)
{
    struct space_layout layout;

    for (uint64_t space = SPACE_BYTES_MAX; space >= SPACE_BYTES_MIN;
         space /= 2) {
        if (!space_layout_for(space, &layout) &&
            limit->needs(&layout) < bytes / 2)
            return space;
    }
    return 0;
}

int refused_by_limits(const struct space_layout *layout, char *line,
                      size_t line_bytes)
{
    char now[RUNTIME_SIZE_TEXT], needed[RUNTIME_SIZE_TEXT], or_space[64] = "";
    const struct limit *limit = limits, *end = limits + LIMITS;

    while (limit < end && limit_of(limit->resource) >= limit->needs(layout))
        limit++;
    if (limit == end)
        return 0;
    uint64_t bytes = limit_of(limit->resource);
    uint64_t space = space_within(limit, bytes);
    if (space)
        snprintf(or_space, sizeof(or_space),
                 ", or set DRASYNC_SPACE=%" PRIu64 "M or less", space >> 20);
    snprintf(line, line_bytes,
             "the limit of %s (%s, now %s) is below the %s that are set aside "
             "for regions, though they fill only what they use: lift it (%s "
             "unlimited)%s",
             limit->what, limit->command, runtime_size_text(bytes, now),
             runtime_size_text(limit->needs(layout), needed), limit->command,
             or_space);
    return DRASYNC_ESTART;
}

int refused_by_memcheck(const struct space_layout *layout, char *line,
                        size_t line_bytes)
{
    char needed[RUNTIME_SIZE_TEXT];

    if (layout->data_bytes <= MEMCHECK_SPACE_MAX || !marks_memcheck())
        return 0;
    snprintf(
        line, line_bytes,
        "valgrind would take minutes, and much memory, to note the %s that "
        "are set aside for regions: set DRASYNC_SPACE=16G, or 64M to look "
        "for leaks too (docs/checking.md)",
        runtime_size_text(space_total_bytes(layout), needed));
    return DRASYNC_ESTART;
}

int refused_shared(int err)
{
    uint64_t asked = runtime.options.memory_bytes;

    if (err == DRASYNC_EINVAL) {
        runtime_say("cannot start: DRASYNC_SPACE of %" PRIu64
                    " MiB is too small for %d nodes; set it to more",
                    runtime.space.layout.data_bytes >> 20, runtime.nodes);
        return DRASYNC_ESTART;
    }
    if (err == DRASYNC_ELIMIT)
        runtime_say("cannot start: %d ranks are too many for one node; set "
                    "DRASYNC_NODE to fewer",
                    runtime.locals);
    else if (err == DRASYNC_ENOMEM)
        runtime_say(
            "cannot start: out of memory: %" PRIu64
            " MiB for a node (%s) are too few for %d ranks and %d nodes",
            (asked ? asked : limit_default_bytes()) >> 20,
            asked ? "DRASYNC_MEMORY; set it to more"
                  : "the cgroup's limit, or 90 % of the machine's",
            runtime.locals, runtime.nodes);
    else
        runtime_say("cannot start: what the node's ranks share: %s",
                    drasync_strerror(err));
    return err;
}
