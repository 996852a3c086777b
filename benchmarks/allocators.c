/* malloc(), a heap of mimalloc and an arena of jemalloc, by one set of calls. */
#include "benchmarks/allocators.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define OBJECT_BYTES sizeof(struct object)

/* jemalloc.h: MALLOCX_ARENA() and MALLOCX_TCACHE(). */
#define JEMALLOC_FLAGS(arena, cache) \
    ((int)(((arena) + 1) << 20) | (int)(((cache) + 2) << 8))

const char *const allocator_names[ALLOCATORS] = {"malloc", "mimalloc",
                                                 "jemalloc"};

static const struct {
    const char *library, *has, *why_not;
} how[ALLOCATORS] = {
    [ALLOCATOR_MIMALLOC] = {"libmimalloc.so.2", "mi_heap_new",
                            "libmimalloc.so.2 not found (Debian: "
                            "libmimalloc-dev)"},
    [ALLOCATOR_JEMALLOC] = {"libjemalloc.so.2", "mallocx",
                            "libjemalloc.so.2 not found (Debian: "
                            "libjemalloc-dev)"},
};

static struct {
    void *(*heap_new)(void);
    void *(*heap_malloc)(void *heap, size_t bytes);
    void (*heap_destroy)(void *heap);
    void *heap;
} mi;

static struct {
    void *(*mallocx)(size_t bytes, int flags);
    int (*mallctl)(const char *name, void *old, size_t *old_bytes, void *value,
                   size_t bytes);
    unsigned arena, cache;
    bool ready;
} je;

/* POSIX gives functions as data pointers. */
static void find(void *function_out, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    bench_require(found != NULL, name);
    *(void **)function_out = found;
}

static void preload(const struct bench *b, enum allocator which, char **argv)
{
    const char *set = getenv("LD_PRELOAD");

    if (dlsym(RTLD_DEFAULT, "__asan_init") ||
        dlsym(RTLD_DEFAULT, "__tsan_init"))
        bench_skip(b, "the sanitizer of this build has a malloc of its own");
    if (dlsym(RTLD_DEFAULT, how[which].has))
        return;
    if (set && strstr(set, how[which].library))
        bench_skip(b, how[which].why_not);
    bench_require(!setenv("LD_PRELOAD", how[which].library, 1), "setenv");
    execv("/proc/self/exe", argv);
    bench_require(false, "execv");
}

void allocator_start(const struct bench *b, char **argv)
{
    enum allocator which = (enum allocator)b->rival;

    if (!bench_only_theirs(b) || which == ALLOCATOR_MALLOC)
        return;
    preload(b, which, argv);
    if (which == ALLOCATOR_MIMALLOC) {
        find(&mi.heap_new, "mi_heap_new");
        find(&mi.heap_malloc, "mi_heap_malloc");
        find(&mi.heap_destroy, "mi_heap_destroy");
    } else {
        find(&je.mallocx, "mallocx");
        find(&je.mallctl, "mallctl");
    }
}

static struct object *mimalloc_fill(size_t count)
{
    struct object *last = NULL;

    mi.heap = mi.heap_new();
    for (size_t i = 0; i < count; i++) {
        struct object *o = mi.heap_malloc(mi.heap, OBJECT_BYTES);

        if (!o)
            return NULL;
        object_write(o, last, i);
        last = o;
    }
    return last;
}

static void jemalloc_number(const char *name, unsigned *number_out)
{
    size_t bytes = sizeof(*number_out);

    bench_require(!je.mallctl(name, number_out, &bytes, NULL, 0), name);
}

static struct object *jemalloc_fill(size_t count)
{
    struct object *last = NULL;
    int flags;

    if (!je.ready)
        jemalloc_number("arenas.create", &je.arena);
    je.ready = true;
    jemalloc_number("tcache.create", &je.cache);
    flags = JEMALLOC_FLAGS(je.arena, je.cache);
    for (size_t i = 0; i < count; i++) {
        struct object *o = je.mallocx(OBJECT_BYTES, flags);

        if (!o)
            return NULL;
        object_write(o, last, i);
        last = o;
    }
    return last;
}

static void jemalloc_clear(void)
{
    char reset[64];

    snprintf(reset, sizeof(reset), "arena.%u.reset", je.arena);
    bench_require(
        !je.mallctl("tcache.destroy", NULL, NULL, &je.cache, sizeof(je.cache)),
        "tcache.destroy");
    bench_require(!je.mallctl(reset, NULL, NULL, NULL, 0), reset);
}

struct object *allocator_fill(enum allocator which, size_t count)
{
    return which == ALLOCATOR_MALLOC     ? objects_malloc(count)
           : which == ALLOCATOR_MIMALLOC ? mimalloc_fill(count)
                                         : jemalloc_fill(count);
}

void allocator_clear(enum allocator which, struct object *last)
{
    if (which == ALLOCATOR_MALLOC)
        objects_free(last);
    else if (which == ALLOCATOR_MIMALLOC)
        mi.heap_destroy(mi.heap);
    else
        jemalloc_clear();
}
