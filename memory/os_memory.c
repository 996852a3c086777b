/* How much memory there is: the machine's and our cgroups' word for it. */
#include "memory/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX 8192

/* Above this a version 1 limit means "none": it is LONG_MAX in whole pages. */
#define NO_LIMIT_BYTES ((uint64_t)1 << 60)

struct usage {
    uint64_t limit_bytes;
    uint64_t available_bytes;
};

/* The file's contents as a string; -1 if it cannot be read. */
static int read_text(const char *path, char text[FILE_BYTES_MAX])
{
    size_t length = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    while (length < FILE_BYTES_MAX - 1) {
        got = read(fd, text + length, FILE_BYTES_MAX - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    text[length] = 0;
    return got < 0 ? -1 : 0;
}

/* The number after @key at the start of a line; @missing if it is not there. */
static uint64_t field(const char *text, const char *key, uint64_t missing)
{
    size_t length = strlen(key);
    const char *line = text;

    while (line && *line) {
        if (!strncmp(line, key, length))
            return strtoull(line + length, NULL, 10);
        line = strchr(line, '\n');
        if (line)
            line++;
    }
    return missing;
}

static uint64_t meminfo_bytes(const char *key)
{
    char text[FILE_BYTES_MAX];
    uint64_t kib;

    if (read_text("/proc/meminfo", text))
        return OS_UNLIMITED;
    kib = field(text, key, OS_UNLIMITED);
    return kib == OS_UNLIMITED ? kib : kib << 10;
}

uint64_t os_page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_memory_bytes(void)
{
    int saved = errno;
    uint64_t bytes = meminfo_bytes("MemTotal:");

    if (bytes == OS_UNLIMITED)
        bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * os_page_bytes();
    errno = saved;
    return bytes;
}

/* A file with one number; "max", huge or absent means @missing. */
static uint64_t number_file(const char *folder, const char *name,
                            uint64_t missing)
{
    char path[PATH_MAX], text[FILE_BYTES_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
            (int)sizeof(path) ||
        read_text(path, text) || text[0] < '0' || text[0] > '9')
        return missing;
    return strtoull(text, NULL, 10);
}

/* Look at one cgroup's folder. */
static void look_at(const char *folder, int version, struct usage *usage)
{
    const char *limit_name =
        version == 2 ? "memory.max" : "memory.limit_in_bytes";
    const char *used_name =
        version == 2 ? "memory.current" : "memory.usage_in_bytes";
    uint64_t limit = number_file(folder, limit_name, OS_UNLIMITED);
    uint64_t used, cache = 0;
    char path[PATH_MAX], text[FILE_BYTES_MAX];

    if (limit >= NO_LIMIT_BYTES)
        return;
    used = number_file(folder, used_name, 0);
    if (snprintf(path, sizeof(path), "%s/memory.stat", folder) <
            (int)sizeof(path) &&
        !read_text(path, text))
        /* The kernel takes both back; what was read twice is active. */
        cache =
            field(text,
                  version == 2 ? "inactive_file " : "total_inactive_file ", 0) +
            field(text, version == 2 ? "active_file " : "total_active_file ",
                  0);
    used = used > cache ? used - cache : 0;
    if (limit < usage->limit_bytes)
        usage->limit_bytes = limit;
    limit = limit > used ? limit - used : 0;
    if (limit < usage->available_bytes)
        usage->available_bytes = limit;
}

/*
 * Look at the cgroup @path below @mount and at those above it.  In a container
 * the path may be the host's while the mount shows only our part: then folders
 * that are not there count for nothing, and the mount itself is looked at.
 */
static void walk_up(const char *mount, const char *path, int version,
                    struct usage *usage)
{
    char folder[PATH_MAX];
    size_t root = strlen(mount);

    if (snprintf(folder, sizeof(folder), "%s%s", mount, path) >=
        (int)sizeof(folder))
        return;
    for (;;) {
        char *slash;

        look_at(folder, version, usage);
        slash = strrchr(folder, '/');
        if (strlen(folder) <= root || !slash || (size_t)(slash - folder) < root)
            return;
        *slash = 0;
    }
}

/* Is "memory" in a list of controllers, separated by commas? */
static int names_memory(const char *list)
{
    const char *at = list;

    while ((at = strstr(at, "memory"))) {
        if ((at == list || at[-1] == ',') && (!at[6] || at[6] == ','))
            return 1;
        at += 6;
    }
    return 0;
}

static void cgroup_usage(struct usage *usage)
{
    char text[FILE_BYTES_MAX], *line, *next;

    usage->limit_bytes = OS_UNLIMITED;
    usage->available_bytes = OS_UNLIMITED;
    if (read_text("/proc/self/cgroup", text))
        return;
    for (line = text; line && *line; line = next) {
        char *list, *path;

        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        list = strchr(line, ':');
        path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *list++ = 0;
        *path++ = 0;
        if (!strcmp(path, "/"))
            path = "";
        if (names_memory(list)) {
            walk_up("/sys/fs/cgroup/memory", path, 1, usage);
        } else if (!*list) {
            walk_up("/sys/fs/cgroup", path, 2, usage);
            walk_up("/sys/fs/cgroup/unified", path, 2, usage);
        }
    }
}

uint64_t os_cgroup_limit_bytes(void)
{
    struct usage usage;
    int saved = errno;

    cgroup_usage(&usage);
    errno = saved;
    return usage.limit_bytes;
}

uint64_t os_available_bytes(void)
{
    struct usage usage;
    int saved = errno;
    uint64_t machine;

    cgroup_usage(&usage);
    machine = meminfo_bytes("MemAvailable:");
    errno = saved;
    return usage.available_bytes < machine ? usage.available_bytes : machine;
}
