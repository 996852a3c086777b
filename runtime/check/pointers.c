/*
 * Addresses in regions that lead out of them: of this process's own memory,
 * which on another rank is something else, or nothing.
 *
 * They are told by /proc/self/maps, read once for a walk, when the first word
 * comes that may be one.  Programs that are linked to fixed addresses, below
 * FIXED_END, have their variables and functions there on all ranks.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "memory/os.h"
#include "memory/space.h"
#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

#define FIXED_END   (UINT64_C(1) << 32)
#define ADDRESS_END (UINT64_C(1) << 47)

/* More mappings than these are not known, with neighbours taken for one. */
#define RANGES_MAX 4096

/* A line, with a path. */
#define LINE_BYTES 4352

static struct {
    uint64_t begin, end;
} ranges[RANGES_MAX]; /* in order */
static int ranges_count;
static bool fresh; /* they are read for this walk */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool in_space(uint64_t address)
{
    return space_page(&runtime.space, (const void *)(uintptr_t)address) !=
           SPACE_NO_PAGE;
}

/* The next mapping of @maps, of what may be read; its path, or "", in
 * path_out.  False: none. */
static bool next_mapping(FILE *maps, uint64_t *begin_out, uint64_t *end_out,
                         char path_out[LINE_BYTES])
{
    char line[LINE_BYTES], rights[8];
    int path;

    do {
        path = 0;
        if (!fgets(line, sizeof(line), maps) ||
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n",
                   begin_out, end_out, rights, &path) < 3)
            return false;
    } while (rights[0] != 'r');
    line[strcspn(line, "\n")] = '\0';
    strcpy(path_out, path ? line + path : "");
    return true;
}

/* Memory that the library has for itself: the window to all regions, which no
 * program has a pointer to, and where many numbers would lie. */
static bool is_ours(const char *path)
{
    return !strncmp(path, "/memfd:drasync", strlen("/memfd:drasync"));
}

/* What lies where is not known, or not all: @why.  Told once. */
static void tell_unknown(const char *why)
{
    static bool told;

    if (!told)
        runtime_say("DRASYNC_CHECK=pointers may miss some: %s", why);
    told = true;
}

/* Under the mutex. */
static void read_ranges(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char path[LINE_BYTES];
    uint64_t begin, end;

    ranges_count = 0;
    fresh = true;
    while (maps && next_mapping(maps, &begin, &end, path)) {
        if (begin < FIXED_END || begin >= ADDRESS_END || in_space(begin) ||
            is_ours(path))
            continue;
        if (ranges_count && ranges[ranges_count - 1].end == begin)
            ranges[ranges_count - 1].end = end;
        else if (ranges_count < RANGES_MAX) {
            ranges[ranges_count].begin = begin;
            ranges[ranges_count++].end = end;
        } else
            tell_unknown("this process has too many mappings");
    }
    if (maps)
        fclose(maps);
    else
        tell_unknown("/proc/self/maps cannot be read");
}

/* Under the mutex. */
static bool in_ranges(uint64_t address)
{
    int low = 0, high = ranges_count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (address >= ranges[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges_count && address >= ranges[low].begin;
}

static bool points_out(uint64_t word)
{
    bool out;

    if (word < FIXED_END || word >= ADDRESS_END || in_space(word))
        return false;
    pthread_mutex_lock(&mutex);
    if (!fresh)
        read_ranges();
    out = in_ranges(word);
    pthread_mutex_unlock(&mutex);
    return out;
}

heap_points_out_fn *check_pointers(enum check_when when)
{
    if (!(runtime.options.check & OPTIONS_CHECK_POINTERS) ||
        (when != CHECK_AT_RELEASE && when != CHECK_AT_SEND))
        return NULL;
    pthread_mutex_lock(&mutex);
    fresh = false;
    pthread_mutex_unlock(&mutex);
    return points_out;
}

bool check_points_out(const void *address)
{
    heap_points_out_fn *out = check_pointers(CHECK_AT_RELEASE);

    return out && out((uintptr_t)address);
}

void check_add_mapping(struct check_text *text, uint64_t address)
{
    char line[OS_LINE_BYTES];
    Dl_info info = {0};
    int taken;

    if (dladdr((const void *)(uintptr_t)address, &info) && info.dli_fname) {
        if (!check_symbol_add(text, address))
            check_add(text, "a function, variable or constant");
        check_add(text, " in %s",
                  strrchr(info.dli_fname, '/')
                      ? strrchr(info.dli_fname, '/') + 1
                      : info.dli_fname);
        return;
    }
    taken = os_range_taken((uintptr_t)address, (uintptr_t)address + 1, line,
                           sizeof(line));
    if (taken <= 0)
        line[0] = '\0';
    if (strstr(line, "[heap]"))
        check_add(text, "this process's heap (malloc)");
    else if (strstr(line, "[stack"))
        check_add(text, "this process's stack");
    else if (!taken)
        check_add(text, "no memory of this process");
    else
        check_add(text, "this process's own memory");
}
