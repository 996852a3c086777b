/*
 * record_next.h - the functions that libdrasync_record.so stands before.
 */
#ifndef SHIM_RECORD_NEXT_H
#define SHIM_RECORD_NEXT_H

#include <dlfcn.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The real call, looked up once. */
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    real = NEXT(name)

#endif
