/*
 * Preloaded: another machine, as libdrasync.so sees it.
 *
 *   OTHER_PAGE_BYTES=N  pages have N bytes
 *   OTHER_MPI_NAME=NAME MPI's library is there under that name only
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Or a sanitizer's runtime, which stands between. */
static int is_drasync(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname &&
           (strstr(info.dli_fname, "libdrasync") ||
            strstr(info.dli_fname, "libasan"));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

long sysconf(int what)
{
    const char *bytes = getenv("OTHER_PAGE_BYTES");

    if (what == _SC_PAGESIZE && bytes &&
        is_drasync(__builtin_return_address(0)))
        return atol(bytes);
    return NEXT(sysconf)(what);
}

void *dlopen(const char *file, int mode)
{
    const char *name = getenv("OTHER_MPI_NAME");

    if (name && file && is_drasync(__builtin_return_address(0))) {
        if (!strcmp(file, name))
            file = "libmpich.so.12";
        else if (!strncmp(file, "libmpi", 6))
            file = "libmpi-is-not-there.so";
    }
    return NEXT(dlopen)(file, mode);
}
