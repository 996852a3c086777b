/*
 * What the cgroups allow, with made-up ones: each case is a child in a mount
 * namespace of its own.
 */
#include "memory_common.h"

#include "memory/frames.h"
#include "memory/os.h"
#include "memory/pages.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define NOT_ALLOWED 77
#define ROOT        "/sys/fs/cgroup"

static int put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file)
        return -1;
    fputs(text, file);
    return fclose(file);
}

/* A private, empty cgroup tree, and @membership as this process's own. */
static int set_up(const char *membership)
{
    char own[64];

    if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", ROOT, "tmpfs", 0, NULL) ||
        put(ROOT "/membership", membership))
        return -1;
    snprintf(own, sizeof(own), "/proc/%d/cgroup", (int)getpid());
    return mount(ROOT "/membership", own, NULL, MS_BIND, NULL);
}

static int version_1(void)
{
    if (set_up("5:cpu,cpuacct:/job\n4:memory:/job/step\n0::/\n"))
        return NOT_ALLOWED;
    REQUIRE(!mkdir(ROOT "/memory", 0755) && !mkdir(ROOT "/memory/job", 0755) &&
            !mkdir(ROOT "/memory/job/step", 0755));
    REQUIRE(
        !put(ROOT "/memory/memory.limit_in_bytes", "9223372036854771712\n") &&
        !put(ROOT "/memory/job/memory.limit_in_bytes", "1073741824\n") &&
        !put(ROOT "/memory/job/memory.usage_in_bytes", "943718400\n") &&
        !put(ROOT "/memory/job/memory.stat",
             "inactive_file 1\ntotal_inactive_file 104857600\n") &&
        !put(ROOT "/memory/job/step/memory.limit_in_bytes", "2147483648\n"));
    return os_cgroup_limit_bytes() != GIB || os_available_bytes() != 224 * MIB;
}

static int version_2(void)
{
    if (set_up("0::/a/b\n"))
        return NOT_ALLOWED;
    REQUIRE(!mkdir(ROOT "/a", 0755) && !mkdir(ROOT "/a/b", 0755));
    REQUIRE(!put(ROOT "/a/b/memory.max", "max\n") &&
            !put(ROOT "/a/memory.max", "536870912\n") &&
            !put(ROOT "/a/memory.current", "524288000\n") &&
            !put(ROOT "/a/memory.stat", "anon 5\ninactive_file 12582912\n"));
    return os_cgroup_limit_bytes() != 512 * MIB ||
           os_available_bytes() != 24 * MIB;
}

static int in_container(void)
{
    if (set_up("0::/../../system/of/the/host\n"))
        return NOT_ALLOWED;
    REQUIRE(!put(ROOT "/memory.max", "268435456\n") &&
            !put(ROOT "/memory.current", "0\n"));
    return os_cgroup_limit_bytes() != 256 * MIB;
}

static int none(void)
{
    if (set_up("0::/\n4:memory:/\n"))
        return NOT_ALLOWED;
    return os_cgroup_limit_bytes() != OS_UNLIMITED ||
           limit_default_bytes() > os_memory_bytes();
}

/* The cgroup allows 1 GiB, but others have used nearly all of it. */
static int little_left(void)
{
    struct space space;
    uint64_t first, i;

    if (set_up("0::/\n"))
        return NOT_ALLOWED;
    REQUIRE(!put(ROOT "/memory.max", "1073741824\n") &&
            !put(ROOT "/memory.current", "1042284544\n"));
    node_open(&space, GIB, 0, 1, 0);
    if (limit_bytes(&space) != GIB ||
        pages_take(&space, 100 * MIB / PAGE_BYTES, PAGES_FRAMES, &first) !=
            DRASYNC_ENOMEM)
        return 1;
    for (i = 0; !pages_take(&space, 64, PAGES_FRAMES, &first); i++)
        ;
    return i * 64 * PAGE_BYTES > 20 * MIB;
}

static void try_case(const char *name, int (*work)(void))
{
    pid_t pid;
    int status;

    fflush(stdout);
    pid = fork();
    REQUIRE(pid >= 0);
    if (!pid)
        _exit(work());
    REQUIRE(waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED)
        tap_skip(name, "mount namespaces are not allowed here");
    else
        tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), name);
}

int main(void)
{
    try_case("a version 1 limit above us counts", version_1);
    try_case("a version 2 limit above us counts", version_2);
    try_case("in a container the mounted root's limit counts", in_container);
    try_case("no limit is no limit", none);
    try_case("frames are refused before the cgroup is full", little_left);
    return tap_end();
}
