/*
 * The calls of drasync.h on requests: arguments are checked here, the work is
 * runtime/native/request*.c's.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/native/request.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/waiting.h"

/* Apart, so that the short way below saves no register.  (So are the others.) */
__attribute__((noinline)) static int iacquire(drasync_region_t region,
                                              enum drasync_mode mode,
                                              drasync_request_t *request_out)
{
    int err = api_enter("drasync_iacquire");

    if (err)
        return err;
    if (!api_mode_valid(mode) || !request_out)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    RECORD_BEGIN();
    err = native_iacquire(region, mode, request_out);
    if (!err)
        api_tell_apart(region, NULL);
    if (!err && runtime.options.check)
        check_request_begins(*request_out, region, mode);
    RECORD_DONE(err, RECORD_ACQUIRE, (uintptr_t)region, mode, 0);
    return api_told("drasync_iacquire", region, err);
}

/* Checked mode: remember the request that @call has ended, if it has. */
static void request_end(const char *call, drasync_request_t was,
                        const drasync_request_t *request)
{
    if (!*request && runtime_running() && runtime.options.check)
        check_request_ends(call, was);
}

/* Checked mode: is it one that has not had its result? */
static bool request_valid(const char *call, drasync_request_t request)
{
    return !runtime_running() || !runtime.options.check ||
           check_request_valid(call, request);
}

int drasync_iacquire(drasync_region_t region, enum drasync_mode mode,
                     drasync_request_t *request_out)
{
    if (api_calm() && request_out &&
        native_iacquire_own(region, mode, request_out))
        return 0;
    return iacquire(region, mode, request_out);
}

int drasync_iacquire_newer(drasync_region_t region, enum drasync_mode mode,
                           uint64_t *version, drasync_request_t *request_out)
{
    int err = api_enter("drasync_iacquire_newer");

    if (err)
        return err;
    if (!api_mode_valid(mode) || !version || !request_out)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    err = native_iacquire_newer(region, mode, version, request_out);
    if (!err && runtime.options.check)
        check_request_begins(*request_out, region, mode);
    return api_told_newer("drasync_iacquire_newer", region, err);
}

/* A request for what is newer is recorded when that has come, with which @call;
 * @err, which it ended with, is told. */
static int tell_newer(const char *call, const struct native_newer *newer,
                      int err)
{
    if (newer->region && err)
        return api_told_newer(call, newer->region, err);
    if (!newer->region || !record_wanted())
        return err;
    drasync_record_begin();
    drasync_record_versions(newer->known, newer->got,
                            drasync_record_thread_ns());
    api_tell_apart(newer->region, NULL);
    drasync_record_end(RECORD_ACQUIRE, (uintptr_t)newer->region,
                       (uint64_t)newer->mode, 0);
    return err;
}

/* The request was granted at once, nothing is in the way of its end, and that
 * has come. */
static inline bool request_ended(drasync_request_t *request)
{
    if (!api_calm() || !request || !native_request_granted(*request))
        return false;
    *request = NULL;
    return true;
}

/* DRASync does not run any more: it has ended, whatever became of it. */
static void drop(drasync_request_t *request)
{
    native_request_drop(request);
    *request = NULL;
}

__attribute__((noinline)) static int test(drasync_request_t *request,
                                          int *done_out)
{
    struct native_newer newer = {NULL};
    drasync_request_t was;
    int err = runtime_enter();

    if (native_run_refused("drasync_test"))
        return DRASYNC_ERUNNING;
    if (!request || !*request || !done_out)
        return err ? err : DRASYNC_EINVAL;
    was = *request;
    if (!request_valid("drasync_test", was))
        return DRASYNC_EINVAL;
    if (!err) {
        err = native_test(request, done_out, &newer);
        request_end("drasync_test", was, request);
        return tell_newer("drasync_test", &newer, err);
    }
    drop(request);
    *done_out = 1;
    return err;
}

int drasync_test(drasync_request_t *request, int *done_out)
{
    if (!done_out || !request_ended(request))
        return test(request, done_out);
    *done_out = 1;
    return 0;
}

__attribute__((noinline)) static int wait_for(drasync_request_t *request,
                                              uint64_t timeout_us)
{
    struct native_newer newer = {NULL};
    drasync_request_t was;
    int err = runtime_enter();

    if (native_run_refused("drasync_wait"))
        return DRASYNC_ERUNNING;
    if (!request || !*request)
        return err ? err : DRASYNC_EINVAL;
    was = *request;
    if (!request_valid("drasync_wait", was))
        return DRASYNC_EINVAL;
    if (!err) {
        err = native_wait(request, timeout_us, &newer);
        request_end("drasync_wait", was, request);
        return tell_newer("drasync_wait", &newer, err);
    }
    drop(request);
    return err;
}

int drasync_wait(drasync_request_t *request, uint64_t timeout_us)
{
    if (request_ended(request))
        return 0;
    waiting_caller = __builtin_return_address(0);
    return wait_for(request, timeout_us);
}

/* The first that is one; -1: none. */
static int first_of(const drasync_request_t *requests, int count)
{
    int i = 0;

    while (i < count && !requests[i])
        i++;
    return i < count ? i : -1;
}

/* request_valid() for all of them. */
static bool all_valid(const drasync_request_t *requests, int count)
{
    for (int i = 0; i < count; i++)
        if (requests[i] && !request_valid("drasync_wait_any", requests[i]))
            return false;
    return true;
}

int drasync_wait_any(int count, drasync_request_t *requests,
                     uint64_t timeout_us, int *index_out)
{
    struct native_newer newer = {NULL};
    drasync_request_t was;
    int err = runtime_enter();

    if (index_out)
        *index_out = -1;
    if (native_run_refused("drasync_wait_any"))
        return DRASYNC_ERUNNING;
    if (count <= 0 || !requests || !index_out || first_of(requests, count) < 0)
        return err ? err : DRASYNC_EINVAL;
    if (err) {
        *index_out = first_of(requests, count);
        drop(&requests[*index_out]);
        return err;
    }
    if (!all_valid(requests, count))
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    err = native_wait_any(count, requests, timeout_us, index_out, &newer);
    if (*index_out < 0)
        return err;
    was = requests[*index_out];
    requests[*index_out] = NULL;
    request_end("drasync_wait_any", was, &requests[*index_out]);
    return tell_newer("drasync_wait_any", &newer, err);
}

int drasync_cancel(drasync_request_t *request)
{
    drasync_request_t was;
    int err = runtime_enter();

    if (native_run_refused("drasync_cancel"))
        return DRASYNC_ERUNNING;
    if (!request || !*request)
        return err ? err : DRASYNC_EINVAL;
    was = *request;
    if (!request_valid("drasync_cancel", was))
        return DRASYNC_EINVAL;
    if (!err) {
        err = native_cancel(request);
        request_end("drasync_cancel", was, request);
        return err;
    }
    drop(request);
    return err;
}
