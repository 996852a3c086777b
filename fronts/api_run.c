/*
 * The calls of drasync.h that run functions where a region is: arguments are
 * checked here, the work is runtime/native/run*'s.
 */
#include "drasync.h"

#include <stdatomic.h>
#include <string.h>

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/waiting.h"

static bool name_valid(const char *name)
{
    return name && *name &&
           strnlen(name, DRASYNC_NAME_MAX + 1) <= DRASYNC_NAME_MAX;
}

int drasync_register(const char *name, drasync_function_fn *function,
                     drasync_function_t *function_out)
{
    if (!name_valid(name) || !function || !function_out)
        return DRASYNC_EINVAL;
    return native_register(name, function, NULL, function_out);
}

int drasync_register_batch(const char *name, drasync_batch_fn *function,
                           drasync_function_t *function_out)
{
    if (!name_valid(name) || !function || !function_out)
        return DRASYNC_EINVAL;
    return native_register(name, NULL, function, function_out);
}

/* Once. */
static void say_unregistered(const char *call)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        runtime_say("%s: the function is none that drasync_register() or "
                    "drasync_register_batch() gave to this rank, and each rank "
                    "has to register it",
                    call);
}

/* What all forms begin with. */
static int check(const char *call, drasync_function_t function,
                 enum drasync_mode mode, const void *arg, size_t arg_bytes,
                 const void *answer, size_t answer_bytes)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!native_function_valid(function)) {
        say_unregistered(call);
        return DRASYNC_EINVAL;
    }
    if ((mode != DRASYNC_READ && mode != DRASYNC_WRITE) ||
        (arg_bytes && !arg) ||
        (answer_bytes && (!answer || native_function_batch(function))))
        return DRASYNC_EINVAL;
    if (arg_bytes > DRASYNC_RUN_BYTES_MAX ||
        answer_bytes > DRASYNC_RUN_BYTES_MAX)
        return DRASYNC_ELIMIT;
    return native_run_refused(call);
}

/* Other errors may be what the function returned. */
static int told(const char *call, drasync_region_t region, int err)
{
    if (err == DRASYNC_EUPGRADE && runtime.options.check)
        check_upgrade(call, region);
    return err == DRASYNC_ENOREGION ? api_told(call, region, err) : err;
}

int drasync_run(drasync_region_t region, drasync_function_t function,
                enum drasync_mode mode, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes)
{
    int err = check("drasync_run", function, mode, arg, arg_bytes, answer,
                    answer_bytes);

    waiting_caller = __builtin_return_address(0);
    if (!err)
        err = native_run(region, function, mode, arg, arg_bytes, answer,
                         answer_bytes);
    return told("drasync_run", region, err);
}

int drasync_irun(drasync_region_t region, drasync_function_t function,
                 enum drasync_mode mode, const void *arg, size_t arg_bytes,
                 void *answer, size_t answer_bytes,
                 drasync_request_t *request_out)
{
    int err = check("drasync_irun", function, mode, arg, arg_bytes, answer,
                    answer_bytes);

    if (err)
        return err;
    if (!request_out)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    err = native_irun(region, function, mode, arg, arg_bytes, answer,
                      answer_bytes, request_out);
    if (!err && runtime.options.check)
        check_request_begins(*request_out, region, mode);
    return told("drasync_irun", region, err);
}

int drasync_run_ff(drasync_region_t region, drasync_function_t function,
                   enum drasync_mode mode, const void *arg, size_t arg_bytes)
{
    int err = runtime_enter();

    if (!err && native_run_soon(region, function, mode, arg, arg_bytes))
        return 0;
    err = check("drasync_run_ff", function, mode, arg, arg_bytes, NULL, 0);

    waiting_caller = __builtin_return_address(0);
    if (!err)
        err = native_run_ff(region, function, mode, arg, arg_bytes);
    return told("drasync_run_ff", region, err);
}

int drasync_run_flush(void)
{
    int err = runtime_enter();

    if (!err)
        err = native_run_refused("drasync_run_flush");
    waiting_caller = __builtin_return_address(0);
    return err ? err : native_run_flush();
}
