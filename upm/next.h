/* next.h - the function behind ours, where ours has the name of the C library's. */
#ifndef UPM_NEXT_H
#define UPM_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>

/* As a pointer of the type of ours; NULL if there is none. */
#define UPM_NEXT(name)                        \
    ({                                        \
        static _Atomic(void *) next_;         \
        void *found_ = atomic_load(&next_);   \
        if (!found_) {                        \
            found_ = dlsym(RTLD_NEXT, #name); \
            atomic_store(&next_, found_);     \
        }                                     \
        (__typeof__(&name))found_;            \
    })

#endif /* UPM_NEXT_H */
