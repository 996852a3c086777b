/*
 * UPMlib on a machine with several NUMA nodes, of which node N has processor N:
 * run by tests/bats/upm_guest.bats in the guest of scripts/upm-guest.  Programs
 * that are named as arguments run after it; it prints TAP.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "upm/guest/mark.h"
#include "upmlib.h"

#define PAGE      4096
#define NODES_MAX 8
#define READS     16 /* of a page in an iteration: its lines */

static int tests, failures;
static unsigned nodes;

static void ok(int good, const char *what)
{
    tests++;
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tests, what);
    if (!good)
        printf("# upmlib_error: %s\n", upmlib_error());
    fflush(stdout);
}

static char *map(size_t pages)
{
    return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The node of each page, or a negative errno. */
static void where(char *start, size_t pages, int *status)
{
    void **list = malloc(pages * sizeof(*list));

    for (size_t i = 0; i < pages; i++)
        list[i] = start + i * PAGE;
    syscall(SYS_move_pages, 0, pages, list, NULL, status, 0);
    free(list);
}

static void pin(unsigned cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* A block of the area for each node, rotated by `turn`. */
struct share {
    char *start;
    size_t pages;
    unsigned node, turn;
};

static size_t block_start(size_t pages, unsigned block)
{
    return pages * block / nodes;
}

static void *use_share(void *argument)
{
    const struct share *share = argument;
    unsigned block = (share->node + share->turn) % nodes;

    pin(share->node);
    for (size_t i = block_start(share->pages, block);
         i < block_start(share->pages, block + 1); i++) {
        for (size_t j = 0; j < READS; j++)
            ((volatile char *)share->start)[i * PAGE + j * 64]++;
    }
    return NULL;
}

/* A parallel loop: threads begin, use their pages, and end. */
static void use(char *start, size_t pages, unsigned turn)
{
    struct share share[NODES_MAX];
    pthread_t thread[NODES_MAX];

    for (unsigned i = 0; i < nodes; i++) {
        share[i] = (struct share){start, pages, i, turn};
        pthread_create(&thread[i], NULL, use_share, &share[i]);
    }
    for (unsigned i = 0; i < nodes; i++)
        pthread_join(thread[i], NULL);
}

/* How many pages are not where use() with that turn uses them. */
static size_t misplaced(char *start, size_t pages, unsigned turn)
{
    int *status = calloc(pages, sizeof(*status));
    size_t wrong = 0;

    where(start, pages, status);
    for (unsigned i = 0; i < nodes; i++) {
        unsigned block = (i + turn) % nodes;

        for (size_t j = block_start(pages, block);
             j < block_start(pages, block + 1); j++)
            wrong += status[j] != (int)i;
    }
    free(status);
    return wrong;
}

static struct upmlib_stats stats(void)
{
    struct upmlib_stats now;

    upmlib_get_stats(&now);
    return now;
}

static void test_iterative(void)
{
    const size_t pages = 256;
    char *u = map(pages);
    int moved = 0;

    memset(u, 1, pages * PAGE); /* on node 0, where this thread is */
    upmlib_init();
    ok(mark_open() == 0 && upmlib_memrefcnt(u, pages * PAGE) == 0,
       "a hot area is counted");
    mark_window(u, pages * PAGE);
    for (int step = 0; step < 6; step++) {
        use(u, pages, 0);
        moved += upmlib_migrate_memory();
        mark_iteration();
    }
    ok(misplaced(u, pages, 0) == 0 &&
           moved == (int)(pages - block_start(pages, 1)),
       "each page is on the node that uses it");
    ok(stats().off && !stats().counting, "the engine has switched itself off");

    /* Record and replay on top: in the phase the blocks are rotated. */
    upmlib_set(UPMLIB_CRITICAL, 1000);
    upmlib_record();
    use(u, pages, 1);
    upmlib_record();
    int there = upmlib_replay();
    ok(there == (int)pages && misplaced(u, pages, 1) == 0,
       "a replay moves pages where the phase uses them");
    use(u, pages, 1);
    ok(upmlib_undo() == there && misplaced(u, pages, 0) == 0,
       "undo brings all of them back");
    ok(stats().stayed == 0, "no page was refused");
    upmlib_end();
    munmap(u, pages * PAGE);
}

/* Two nodes use the halves of what was a huge page. */
static void test_huge(void)
{
    const size_t bytes = (size_t)2 << 20, pages = bytes / PAGE;
    char *space = map(3 * pages);
    char *u = (char *)(((uintptr_t)space + bytes - 1) & ~(bytes - 1));

    madvise(u, bytes, MADV_HUGEPAGE);
    memset(u, 1, bytes);
    upmlib_init();
    upmlib_memrefcnt(u, bytes);
    for (int step = 0; step < 4; step++) {
        use(u, pages, 0);
        upmlib_migrate_memory();
    }
    ok(misplaced(u, pages, 0) == 0 && stats().off,
       "pages of a transparent huge page go their own ways");
    upmlib_end();
    munmap(space, 3 * bytes);
}

/* A child of fork() that has all pages too, so that none can be moved. */
static void test_fork(void)
{
    const size_t pages = 64;
    char *u = map(pages);
    int status, go[2];

    memset(u, 1, pages * PAGE);
    upmlib_init();
    upmlib_memrefcnt(u, pages * PAGE);
    if (pipe(go))
        return;
    pid_t child = fork();
    if (!child) {
        char byte;
        int good = read(go[0], &byte, 1) == 1;

        use(u, pages, 0);
        _exit(good && upmlib_migrate_memory() == 0 ? 0 : 1);
    }
    /* Only looked at: what is written to gets a frame of its own. */
    pin(1);
    for (size_t i = 0; i < pages; i++)
        (void)((volatile char *)u)[i * PAGE];
    pin(0);
    ok(upmlib_migrate_memory() == 0 && stats().stayed == pages,
       "pages that a child shares stay, which is no error");
    ok(write(go[1], "x", 1) == 1 && waitpid(child, &status, 0) == child &&
           status == 0,
       "and the child uses them");
    upmlib_end();
    munmap(u, pages * PAGE);
}

/* The free memory of a node, in pages. */
static size_t free_pages(unsigned node)
{
    char path[64], line[128];
    size_t kib = 0;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo",
             node);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, "MemFree:");

        if (at)
            kib = strtoul(at + strlen("MemFree:"), NULL, 10);
    }
    if (file)
        fclose(file);
    return kib / 4;
}

static void test_full(void)
{
    const size_t pages = 4096;
    unsigned long last = 1ul << (nodes - 1);
    char *u = map(pages), *hog = map(256 << 8);
    size_t taken = 0;

    memset(u, 1, pages * PAGE);
    /* Most of the last node's memory, but not so that the kernel would have to
     * kill somebody. */
    syscall(SYS_set_mempolicy, MPOL_PREFERRED, &last, 64);
    while (taken < 256 << 8 && free_pages(nodes - 1) > pages / 4) {
        memset(hog + taken * PAGE, 1, 64 * PAGE);
        taken += 64;
    }
    syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
    upmlib_init();
    upmlib_memrefcnt(u, pages * PAGE);
    pin(nodes - 1);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)u)[i * PAGE]++;
    pin(0);
    int moved = upmlib_migrate_memory();
    ok(moved >= 0 && stats().stayed > 0 &&
           stats().moved + stats().stayed == pages,
       "pages stay where they are if the node is full, which is no error");
    for (size_t i = 0; i < pages; i++)
        moved += u[i * PAGE] != 2;
    ok(moved == (int)stats().moved, "and keep what is in them");
    upmlib_end();
    munmap(hog, (size_t)(256 << 8) * PAGE);
    munmap(u, pages * PAGE);
}

static int own_faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    own_faults++;
    mprotect((char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1)), PAGE,
             PROT_READ | PROT_WRITE);
}

/* A program that protects pages of its own. */
static void test_handler(void)
{
    const size_t pages = 32;
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO};
    char *u = map(pages), *own = map(pages);

    memset(u, 1, pages * PAGE);
    upmlib_init();
    upmlib_memrefcnt(u, pages * PAGE);
    sigaction(SIGSEGV, &action, NULL);
    mprotect(own, pages * PAGE, PROT_NONE);
    for (size_t i = 0; i < pages; i++)
        own[i * PAGE] = 1;
    use(u, pages, 1);
    upmlib_migrate_memory();
    upmlib_end(); /* of a page that is protected the kernel says nothing */
    ok(own_faults == (int)pages && misplaced(u, pages, 1) == 0,
       "a program's handler of SIGSEGV gets its faults, and only these");
    signal(SIGSEGV, SIG_DFL);
    munmap(u, pages * PAGE);
    munmap(own, pages * PAGE);
}

/* argv[i] is "PROGRAM" or "+PROGRAM": with libupm.so preloaded, sampling. */
static void run(const char *name)
{
    char title[128];
    int status = 1;

    snprintf(title, sizeof(title), "%s", name);
    pid_t child = fork();
    if (!child) {
        cpu_set_t all;

        memset(&all, 0xff, sizeof(all));
        sched_setaffinity(0, sizeof(all), &all);
        if (*name == '+') {
            setenv("LD_PRELOAD", "/lib/libupm.so", 1);
            setenv("UPM_SAMPLE", "20", 1);
            name++;
        }
        execl(name, name, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    ok(status == 0, title);
}

int main(int argc, char **argv)
{
    pin(0);
    upmlib_init();
    nodes = stats().nodes;
    upmlib_end();
    printf("# %u nodes\n", nodes);
    test_iterative();
    test_huge();
    test_fork();
    test_handler();
    test_full();
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    printf("1..%d\n", tests);
    return failures > 0;
}
