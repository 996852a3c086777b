/*
 * The prefixed calls of drasync.h on regions and holds: arguments are checked
 * here, the work is runtime/native*'s.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/managed/managed.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/native.h"
#include "runtime/native/recycle.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/waiting.h"

int drasync_init(void)
{
    int err = runtime_start();

    return err ? err : runtime_enter();
}

int drasync_finalize(void)
{
    int err = native_run_refused("drasync_finalize");

    return err ? err : runtime_stop();
}

int drasync_running(void)
{
    return runtime_running();
}

void api_tell_apart(drasync_region_t region, drasync_region_t second)
{
    uint64_t since_ns, lives[2] = {0, 0};

    if (!record_wanted())
        return;
    since_ns = drasync_record_thread_ns();
    native_incarnation(region, &lives[0]);
    if (second)
        native_incarnation(second, &lives[1]);
    drasync_record_lives(lives[0], lives[1], since_ns);
}

void api_tell_left(drasync_region_t region)
{
    uint64_t since_ns, version;

    if (!record_wanted())
        return;
    since_ns = drasync_record_thread_ns();
    if (!native_get_version(region, &version))
        drasync_record_versions(0, version, since_ns);
    api_tell_apart(region, NULL);
}

void api_look_at_links(drasync_region_t region, bool gives)
{
    if (runtime.options.check & OPTIONS_CHECK_LINKS)
        native_links_look(region, gives);
}

int api_told(const char *call, drasync_region_t region, int err)
{
    if (err && runtime.options.check)
        check_refused(call, region, err);
    return err;
}

int api_told_newer(const char *call, drasync_region_t region, int err)
{
    if (err == DRASYNC_ENESTED && runtime.options.check)
        check_nested(call, region);
    return api_told(call, region, err);
}

int api_new_region(drasync_region_t *region_out, const void *caller)
{
    int err = api_enter("drasync_new_region");

    if (err)
        return err;
    waiting_caller = caller;
    if (!region_out)
        return DRASYNC_EINVAL;
    RECORD_BEGIN();
    err = native_new_region(region_out);
    if (!err)
        api_tell_apart(*region_out, NULL);
    RECORD_DONE(err, RECORD_NEW, (uintptr_t)*region_out, 0, 0);
    return err;
}

int drasync_new_region(drasync_region_t *region_out)
{
    drasync_region_t region = region_out ? native_recycle_take_ready() : NULL;

    if (!region)
        return api_new_region(region_out, __builtin_return_address(0));
    *region_out = region;
    return 0;
}

int api_new_subregion(const char *call, drasync_region_t parent,
                      drasync_region_t *region_out, const void *caller)
{
    int err = api_enter(call);

    if (err)
        return err;
    waiting_caller = caller;
    if (!region_out)
        return DRASYNC_EINVAL;
    RECORD_BEGIN();
    err = native_new_subregion(parent, region_out);
    if (!err)
        api_tell_apart(*region_out, parent);
    RECORD_DONE(err, RECORD_NEW, (uintptr_t)*region_out, (uintptr_t)parent, 0);
    return api_told(call, parent, err);
}

int drasync_new_subregion(drasync_region_t parent, drasync_region_t *region_out)
{
    return api_new_subregion("drasync_new_subregion", parent, region_out,
                             __builtin_return_address(0));
}

int api_delete(const char *call, drasync_region_t region, const void *caller)
{
    int err = api_enter(call);
    struct waiting w;

    if (err)
        return err;
    if (managed_knows(region))
        return api_told(call, region, DRASYNC_EMANAGED);
    RECORD_BEGIN();
    api_tell_apart(region, NULL);
    waiting_caller = caller;
    waiting_call_begin(&w, call, region);
    err = native_delete(region);
    waiting_call_end(&w);
    RECORD_DONE(err, RECORD_DELETE, (uintptr_t)region, 0, 0);
    return api_told(call, region, err);
}

int drasync_delete(drasync_region_t region)
{
    if (native_recycle_put_new(region))
        return 0;
    return api_delete("drasync_delete", region, __builtin_return_address(0));
}

int drasync_set_recovery(drasync_region_t region,
                         enum drasync_recovery recovery)
{
    int err = api_enter("drasync_set_recovery");

    if (err)
        return err;
    if (recovery != DRASYNC_RECOVERY_NONE &&
        recovery != DRASYNC_RECOVERY_PREVIOUS)
        return DRASYNC_EINVAL;
    return api_told("drasync_set_recovery", region,
                    native_set_recovery(region, recovery));
}

int api_acquire(const char *call, drasync_region_t region,
                enum drasync_mode mode, uint64_t timeout_us, const void *caller)
{
    int err = api_enter(call);

    if (err)
        return err;
    if (!api_mode_valid(mode))
        return DRASYNC_EINVAL;
    waiting_caller = caller;
    RECORD_BEGIN();
    if (timeout_us == DRASYNC_FOREVER)
        err = native_run_before_hold(region);
    if (!err)
        err = native_acquire(region, mode, timeout_us);
    if (!err)
        api_tell_apart(region, NULL);
    RECORD_DONE(err, RECORD_ACQUIRE, (uintptr_t)region, mode, 0);
    return api_told(call, region, err);
}

int drasync_acquire(drasync_region_t region, enum drasync_mode mode)
{
    if (api_acquire_own(region, mode))
        return 0;
    return api_acquire("drasync_acquire", region, mode, DRASYNC_FOREVER,
                       __builtin_return_address(0));
}

int drasync_acquire_timed(drasync_region_t region, enum drasync_mode mode,
                          uint64_t timeout_us)
{
    return api_acquire("drasync_acquire_timed", region, mode, timeout_us,
                       __builtin_return_address(0));
}

int drasync_try_acquire(drasync_region_t region, enum drasync_mode mode)
{
    return api_acquire("drasync_try_acquire", region, mode, 0,
                       __builtin_return_address(0));
}

int drasync_acquire_newer(drasync_region_t region, enum drasync_mode mode,
                          uint64_t *version, uint64_t timeout_us)
{
    int err = api_enter("drasync_acquire_newer");
    uint64_t known;

    if (err)
        return err;
    if (!api_mode_valid(mode) || !version)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    RECORD_BEGIN();
    known = *version;
    if (timeout_us == DRASYNC_FOREVER)
        err = native_run_before_hold(region);
    if (!err)
        err = native_acquire_newer(region, mode, version, timeout_us);
    if (!err && record_wanted()) {
        drasync_record_versions(known, *version, drasync_record_thread_ns());
        api_tell_apart(region, NULL);
    }
    RECORD_DONE(err, RECORD_ACQUIRE, (uintptr_t)region, mode, 0);
    return api_told_newer("drasync_acquire_newer", region, err);
}

int drasync_get_version(drasync_region_t region, uint64_t *version_out)
{
    int err = api_enter("drasync_get_version");

    if (!err && !version_out)
        err = DRASYNC_EINVAL;
    if (!err)
        err = native_get_version(region, version_out);
    return api_told("drasync_get_version", region, err);
}

/* Apart, so that the short way below saves no register. */
__attribute__((noinline)) static int release(const char *call,
                                             drasync_region_t region)
{
    int err = api_enter(call);

    if (err)
        return err;
    api_look_at_links(region, false);
    RECORD_BEGIN();
    api_tell_left(region);
    err = native_release(region);
    RECORD_DONE(err, RECORD_RELEASE, (uintptr_t)region, 0, 0);
    return api_told(call, region, err);
}

int api_release(const char *call, drasync_region_t region)
{
    int how = api_calm() ? native_lease_give_own((uintptr_t)region)
                         : NATIVE_LEASE_NOT;

    if (!how)
        return 0;
    return how == NATIVE_LEASE_LEFT ? native_lease_left((uintptr_t)region)
                                    : release(call, region);
}

int drasync_release(drasync_region_t region)
{
    return api_release("drasync_release", region);
}
