/*
 * A machine of four nodes that a test makes up (host.h), and a program on it:
 * faults, threads and system calls are real, nodes and moves are not.
 */
#ifndef DRASYNC_TESTS_UPM_MACHINE_H
#define DRASYNC_TESTS_UPM_MACHINE_H

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "upm/area.h"
#include "upm/host.h"
#include "upmlib.h"
#include "tap.h"

/* --- The host ------------------------------------------------------------- */

#define NODES 4
#define PAGES 16

static unsigned host_nodes = NODES;
static _Atomic unsigned here; /* the node of whoever touches a page */
static _Atomic int full_node = -1;
static char *arena;              /* pages whose homes are known */
static int16_t homes[4 * PAGES]; /* of the arena's pages */

void upm_host_open(struct upm_host *host)
{
    memset(host, 0, sizeof(*host));
    host->nodes = host_nodes;
    host->why = host_nodes == 1 ? "there is one NUMA node" : NULL;
    for (unsigned i = 0; i < UPM_NODES_MAX * UPM_NODES_MAX; i++)
        host->distance[i] = i % (UPM_NODES_MAX + 1) ? 20 : 10;
}

unsigned upm_host_here(void)
{
    return atomic_load(&here);
}

unsigned upm_host_of_cpu(unsigned cpu)
{
    (void)cpu;
    return atomic_load(&here);
}

/* The library's threads move pages while the test looks. */
static inline int16_t *home_of(const void *page)
{
    return &homes[((const char *)page - arena) / UPM_PAGE_BYTES];
}

int upm_host_homes(void *const *pages, size_t count, int16_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = __atomic_load_n(home_of(pages[i]), __ATOMIC_RELAXED);
    return 0;
}

int upm_host_move(void *const *pages, size_t count, int16_t node)
{
    for (size_t i = 0; i < count; i++) {
        if (node == atomic_load(&full_node))
            return -ENOMEM;
        __atomic_store_n(home_of(pages[i]), node, __ATOMIC_RELAXED);
    }
    return 0;
}

/* --- The program ---------------------------------------------------------- */

/* Node @node touches pages [from, to) of the arena. */
static inline void touch(unsigned node, size_t from, size_t to)
{
    atomic_store(&here, node);
    for (size_t i = from; i < to; i++)
        ((volatile char *)arena)[i * UPM_PAGE_BYTES] += 1;
}

/* Are the pages [from, to) on @node? */
static inline int are_on(int16_t node, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (__atomic_load_n(&homes[i], __ATOMIC_RELAXED) != node)
            return 0;
    }
    return 1;
}

static inline struct upmlib_stats stats(void)
{
    struct upmlib_stats now;

    upmlib_get_stats(&now);
    return now;
}

static inline int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count - 2;
}

/*
 * Wait until there are `count`, ten seconds at most. A thread that was joined
 * may be listed for a moment more: the kernel wakes who joins it before it
 * takes the thread out of the list.
 */
static inline int threads_are(int count)
{
    for (int tries = 0; threads() != count && tries < 10000; tries++)
        usleep(1000);
    return threads() == count;
}

/* Start anew, with all pages on node 0. */
static inline void begin(void)
{
    upmlib_end();
    memset(homes, 0, sizeof(homes));
    atomic_store(&full_node, -1);
    upmlib_init();
}

static inline void make_arena(void)
{
    arena = mmap(NULL, 4 * PAGES * UPM_PAGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(arena, 0, 4 * PAGES * UPM_PAGE_BYTES);
}

#endif
