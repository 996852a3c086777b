/* The calls of drasync.h on references to regions: arguments are checked here,
 * the work is runtime/managed/'s. */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/managed/managed.h"
#include "runtime/native/native.h"
#include "runtime/process.h"

int drasync_manage(drasync_region_t region)
{
    int err = api_enter("drasync_manage");

    return err ? err : managed_manage(region);
}

int drasync_ref(drasync_region_t region)
{
    int err = api_enter("drasync_ref");

    return err ? err : managed_ref(region);
}

int drasync_unref(drasync_region_t region)
{
    int err = api_enter("drasync_unref");

    return err ? err : managed_unref(region);
}

int drasync_ref_give(drasync_region_t region, int rank)
{
    int err = api_enter("drasync_ref_give");

    return err ? err : managed_ref_give(region, rank);
}

int drasync_link(drasync_region_t from, drasync_region_t to)
{
    int err = api_enter("drasync_link");

    return err ? err : managed_link(from, to);
}

int drasync_unlink(drasync_region_t from, drasync_region_t to)
{
    int err = api_enter("drasync_unlink");

    return err ? err : managed_unlink(from, to);
}

int drasync_weak(drasync_region_t region, drasync_weak_t *weak_out)
{
    int err = api_enter("drasync_weak");

    if (!err && !weak_out)
        err = DRASYNC_EINVAL;
    return err ? err : managed_weak(region, weak_out);
}

int drasync_weak_lock(const drasync_weak_t *weak, drasync_region_t *region_out)
{
    int err = api_enter("drasync_weak_lock");

    if (!err && (!weak || !region_out))
        err = DRASYNC_EINVAL;
    return err ? err : managed_weak_lock(weak, region_out);
}

int drasync_on_end(drasync_region_t region, drasync_end_fn *call, void *arg)
{
    int err = api_enter("drasync_on_end");

    if (!err && !call)
        err = DRASYNC_EINVAL;
    return err ? err : managed_on_end(region, call, arg);
}

int drasync_collect(void)
{
    int err = api_enter("drasync_collect");

    return err ? err : managed_collect();
}

int drasync_get_managed_stats(struct drasync_managed_stats *stats_out)
{
    int err = api_enter("drasync_get_managed_stats");

    if (!err && !stats_out)
        err = DRASYNC_EINVAL;
    return err ? err : managed_stats(stats_out);
}
