/*
 * A program that is linked to nothing of ours, nor to MPI, and loads the
 * libraries that it is given at run time, as Python does.  The first is
 * libdrasync.so: one region goes through its calls.
 *
 *   loaded LIBRARY...
 */
#include <dlfcn.h>
#include <stdio.h>

#include "drasync.h"

static int missing;

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        printf("%s\n", dlerror());
        missing++;
    }
    return symbol;
}

#define FIND(library, name) \
    __typeof__(&drasync_##name) name = find(library, "drasync_" #name)

/* How many of the calls went wrong. */
static int use(void *library)
{
    FIND(library, init);
    FIND(library, finalize);
    FIND(library, new_region);
    FIND(library, alloc);
    FIND(library, release);
    FIND(library, acquire);
    drasync_region_t region;
    int bad = 0;
    void *object;

    if (missing)
        return missing;
    bad += init() != 0;
    bad += new_region(&region) != 0;
    bad += alloc(region, 100, &object) != 0;
    bad += release(region) != 0;
    bad += acquire(region, DRASYNC_READ) != 0;
    bad += release(region) != 0;
    bad += finalize() != 0;
    return bad;
}

int main(int argc, char **argv)
{
    void *first = NULL;
    int bad;

    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

        if (!library) {
            printf("%s\n", dlerror());
            return 1;
        }
        if (!first)
            first = library;
    }
    if (!first)
        return 1;
    bad = use(first);
    printf("loaded %d, bad %d\n", argc - 1, bad);
    return bad != 0;
}
