/*
 * next.h - the next function of a name, as seen from the library in which the
 * caller stands: a tool's or MPI's own.
 */
#ifndef DRASYNC_SHIM_NEXT_H
#define DRASYNC_SHIM_NEXT_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static inline void *next_symbol(const char *name)
{
    int saved = errno;
    void *symbol = dlsym(RTLD_NEXT, name);

    errno = saved;
    return symbol;
}

#define NEXT(name) ((__typeof__(&name))next_symbol(#name))

/* The same where a plug-in loaded an MPI for itself: then none is next. */
static inline void *loaded_symbol(const char *name)
{
    static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12",
                                            "libucp.so.0"};
    void *library, *symbol = next_symbol(name);

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !symbol;
         i++) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
        symbol = library ? dlsym(library, name) : NULL;
    }
    return symbol;
}

/* That, looked up once, as `real`. */
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    real = (__typeof__(&name))loaded_symbol(#name)

#endif /* DRASYNC_SHIM_NEXT_H */
