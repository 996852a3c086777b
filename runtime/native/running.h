/*
 * running.h - is this thread in a function that drasync_run() runs?
 */
#ifndef DRASYNC_RUNTIME_NATIVE_RUNNING_H
#define DRASYNC_RUNTIME_NATIVE_RUNNING_H

#include <stdint.h>

struct drasync_function;

/* Of a thread. */
struct native_running {
    const struct drasync_function *function; /* NULL: none */
    /* For whom it holds regions, as the protocol numbers ranks (run_hold.c); 0:
     * for this rank. */
    int32_t server;
};

extern _Thread_local struct native_running native_running
    __attribute__((tls_model("initial-exec")));

#endif /* DRASYNC_RUNTIME_NATIVE_RUNNING_H */
