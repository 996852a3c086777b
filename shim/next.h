/*
 * next.h - the next function of a name, as seen from the library in which the
 * caller stands: a tool's or MPI's own.
 */
#ifndef DRASYNC_SHIM_NEXT_H
#define DRASYNC_SHIM_NEXT_H

#include <dlfcn.h>
#include <errno.h>

static inline void *next_symbol(const char *name)
{
    int saved = errno;
    void *symbol = dlsym(RTLD_NEXT, name);

    errno = saved;
    return symbol;
}

#define NEXT(name) ((__typeof__(&name))next_symbol(#name))

/* The same, looked up once, as `real`. */
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    real = NEXT(name)

#endif /* DRASYNC_SHIM_NEXT_H */
