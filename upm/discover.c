/*
 * Hot areas of a program that calls nothing: its large arrays, for sampling with
 * UPM_SAMPLE under LD_PRELOAD.  See state.h.
 *
 * They are the program's own data and private anonymous mappings from
 * AREA_BYTES_MIN on.  Left out is what the kernel writes to by itself, or what
 * threads sleep on, as a system call on a protected page fails: stacks and the
 * main thread's data, the heap of brk(), malloc()'s arenas.
 *
 * Stacks that a program switches to by itself (ucontext, coroutines) are known
 * by the guard below them alone.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "upm/state.h"

#define AREA_BYTES_MIN ((size_t)1 << 20)

/* Around the thread pointer of the main thread. */
#define THREAD_BYTES_BELOW ((uintptr_t)1 << 20)
#define THREAD_BYTES_ABOVE ((uintptr_t)1 << 16)

/* glibc: an arena that is not the main one begins at a multiple of this. */
#define ARENA_BYTES ((uintptr_t)64 << 20)

struct mapping {
    uintptr_t start, end;
    char rights[8];
    unsigned long inode;
    char name[PATH_MAX];
};

struct range {
    uintptr_t start, end;
};

static uintptr_t main_thread;

/*
 * The C library keeps a thread's record at the upper end of its stack, with the
 * list of robust mutexes, whose place the kernel tells.  With more threads than
 * this no area is found any more.
 */
#define THREADS_MAX 8192

static struct {
    uintptr_t at[THREADS_MAX];
    size_t count;
} records;

/* Threads that had no list in the last round.  One that begins or ends has none,
 * and yet a stack: areas are found a round later then.  Threads of the kernel
 * (io_uring) never have one. */
#define BARE_MAX 64
static pid_t bare[BARE_MAX];
static size_t bare_count;

static bool read_mapping(FILE *maps, struct mapping *mapping)
{
    char line[PATH_MAX + 128];

    if (!fgets(line, sizeof(line), maps))
        return false;
    mapping->name[0] = 0;
    return sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu %4095[^\n]",
                  &mapping->start, &mapping->end, mapping->rights,
                  &mapping->inode, mapping->name) >= 4;
}

/* @thread has no list; true: nor had it the last time. */
static bool stays_bare(pid_t thread, pid_t now[BARE_MAX], size_t *count)
{
    if (*count < BARE_MAX)
        now[(*count)++] = thread;
    for (size_t i = 0; i < bare_count; i++)
        if (bare[i] == thread)
            return true;
    return false;
}

/* False: better try again later. */
static bool find_stacks(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t now[BARE_MAX];
    struct dirent *task;
    bool sure = tasks;
    size_t count = 0;

    records.count = 0;
    while (tasks && (task = readdir(tasks))) {
        pid_t thread = (pid_t)atoi(task->d_name);
        void *list = NULL;
        size_t bytes;

        if (thread <= 0 || thread == getpid())
            continue;
        if (syscall(SYS_get_robust_list, thread, &list, &bytes) &&
            errno == ESRCH)
            continue;
        if (!list)
            sure &= stays_bare(thread, now, &count);
        else if (records.count < THREADS_MAX)
            records.at[records.count++] = (uintptr_t)list;
        else
            sure = false;
    }
    if (tasks)
        closedir(tasks);
    memcpy(bare, now, count * sizeof(now[0]));
    bare_count = count;
    return sure;
}

static bool has_stack(const struct mapping *mapping)
{
    for (size_t i = 0; i < records.count; i++) {
        if (mapping->start <= records.at[i] && records.at[i] < mapping->end)
            return true;
    }
    return false;
}

/* Does @mapping hold arrays?  @before is the one below it. */
static bool is_candidate(const struct mapping *mapping,
                         const struct mapping *before, const char *program)
{
    if (strcmp(mapping->rights, "rw-p") != 0)
        return false;
    if (mapping->inode)
        return !strcmp(mapping->name, program);
    /* Most stacks have a guard below them. */
    return !has_stack(mapping) && !mapping->name[0] &&
           mapping->start % ARENA_BYTES != 0 &&
           !(before->end == mapping->start &&
             !strncmp(before->rights, "---", 3));
}

/* The kernel makes one mapping of neighbours: what was a part of it is known no
 * more. */
static void forget_parts(uintptr_t start, uintptr_t end)
{
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i));) {
        if (area->given < end && start < area->given + area->given_bytes)
            upm_forget(area);
        else
            i++;
    }
}

static void add(uintptr_t start, uintptr_t end)
{
    struct upm_area *area = upm_area_at((void *)start);

    if (end < start || end - start < AREA_BYTES_MIN)
        return;
    if (area && area->given_bytes == end - start)
        return;
    forget_parts(start, end);
    if (upm_area_new((void *)start, end - start, upm.host.nodes,
                     upm.host.distance, &area))
        return;
    upm_area_add(area);
    upm.stats.areas++;
    upm.stats.pages += area->table.pages;
    if (upm.source && upm.source->watch(area))
        upm_forget(area);
}

/* The part of the mapping below the main thread's data, and that above. */
static void add_parts(const struct range *mapping)
{
    uintptr_t low = main_thread - THREAD_BYTES_BELOW;
    uintptr_t high = main_thread + THREAD_BYTES_ABOVE;

    if (mapping->end <= low || mapping->start >= high) {
        add(mapping->start, mapping->end);
        return;
    }
    add(mapping->start, low);
    add(high, mapping->end);
}

/* An area of which a part is not mapped any more, or otherwise. */
static void drop_stale(const struct range *list, size_t count)
{
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i));) {
        bool there = false;

        for (size_t j = 0; j < count && !there; j++)
            there = list[j].start <= area->given &&
                    area->given + area->given_bytes <= list[j].end;
        if (there)
            i++;
        else
            upm_forget(area);
    }
}

void upm_discover(void)
{
    static struct range found[UPMLIB_AREAS_MAX];
    static struct mapping mapping, before;
    static char program[PATH_MAX];
    size_t count = 0;
    ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);
    FILE *maps = fopen("/proc/self/maps", "re");

    if (!maps)
        return;
    if (!find_stacks()) {
        fclose(maps);
        return;
    }
    program[bytes > 0 ? bytes : 0] = 0;
    before.end = 0;
    while (count < UPMLIB_AREAS_MAX && read_mapping(maps, &mapping)) {
        if (is_candidate(&mapping, &before, program))
            found[count++] = (struct range){mapping.start, mapping.end};
        before = mapping;
    }
    fclose(maps);
    drop_stale(found, count);
    for (size_t i = 0; i < count; i++)
        add_parts(&found[i]);
}

/* A sanitizer's own memory looks like the program's arrays, and what handles a
 * fault on a protected page uses it. */
void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

static bool has_sanitizer(void)
{
    return __asan_init || __tsan_init;
}

/* With UPM_SAMPLE a program needs no call. */
__attribute__((constructor)) static void begin(void)
{
    const char *sample = getenv("UPM_SAMPLE");

    if (!sample || !*sample || !strcmp(sample, "0"))
        return;
    main_thread = (uintptr_t)__builtin_thread_pointer();
    if (upmlib_init()) {
        fprintf(stderr, "upmlib: %s\n", upmlib_error());
        return;
    }
    if (has_sanitizer()) {
        fprintf(stderr, "upmlib: UPM_SAMPLE does nothing in a program with "
                        "AddressSanitizer or ThreadSanitizer, whose own memory "
                        "it would sample: build it without, or call "
                        "upmlib_memrefcnt()\n");
        return;
    }
    pthread_mutex_lock(&upm.lock);
    upm.discovers = upm.sample_ms > 0;
    if (upm.discovers && upm_helper_start())
        upm.sample_ms = 0;
    upm_unlock();
}
