/* The calls of drasync.h on references to regions: arguments are checked here,
 * the work is runtime/managed/'s. */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/managed/managed.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

/* @statement may ask other nodes: reports name the public call that it stands in, and
 * from where that was called. */
#define ASKING(call, region, statement)                    \
    do {                                                   \
        struct waiting w;                                  \
                                                           \
        waiting_caller = __builtin_return_address(0);      \
        waiting_call_begin(&w, call, region);              \
        statement;                                         \
        waiting_call_end(&w);                              \
    } while (0)

#define UNMANAGED "which is not managed"
#define UNREFERENCED \
    "which is not managed, or to which this rank's node has no reference"

/* @err; in checked mode, if it is one, say what was wrong with @region: @invalid
 * after DRASYNC_EINVAL. */
static int told(const char *call, drasync_region_t region, int err,
                const char *invalid)
{
    if (!err || !runtime.options.check)
        return err;
    if (err == DRASYNC_EINVAL)
        check_refused_as(call, region, err, invalid);
    else if (err == DRASYNC_ENOTHELD)
        check_refused_as(call, region, err,
                         "which this rank does not hold, and to which its node "
                         "has no reference");
    else
        check_refused(call, region, err);
    return err;
}

int drasync_manage(drasync_region_t region)
{
    int err = api_enter("drasync_manage");

    if (err)
        return err;
    ASKING("drasync_manage", region, err = managed_manage(region));
    return err == DRASYNC_EINVAL
               ? told("drasync_manage", region, err,
                      "which is a subregion, and ends with what is above it")
               : api_told("drasync_manage", region, err);
}

int drasync_ref(drasync_region_t region)
{
    int err = api_enter("drasync_ref");

    if (err)
        return err;
    ASKING("drasync_ref", region, err = managed_ref(region));
    return told("drasync_ref", region, err, UNMANAGED);
}

int drasync_unref(drasync_region_t region)
{
    int err = api_enter("drasync_unref");

    if (err)
        return err;
    ASKING("drasync_unref", region, err = managed_unref(region));
    return told("drasync_unref", region, err, UNREFERENCED);
}

int drasync_ref_give(drasync_region_t region, int rank)
{
    int err = api_enter("drasync_ref_give");

    if (!err && (rank < 0 || rank >= runtime.ranks))
        err = DRASYNC_EINVAL;
    if (err)
        return err;
    ASKING("drasync_ref_give", region, err = managed_ref_give(region, rank));
    return told("drasync_ref_give", region, err, UNREFERENCED);
}

static bool is_held(drasync_region_t region)
{
    struct native_identity id;

    return !native_identify(region, &id) && id.held;
}

/* What was wrong with a link from @from to @to. */
static int told_link(const char *call, drasync_region_t from,
                     drasync_region_t to, int err, const char *invalid)
{
    if (!err || !runtime.options.check)
        return err;
    if (is_held(from) && err != DRASYNC_EINVAL)
        return told(call, to, err, NULL);
    return err == DRASYNC_EINVAL ? told(call, from, err, invalid)
                                 : api_told(call, from, err);
}

int drasync_link(drasync_region_t from, drasync_region_t to)
{
    int err = api_enter("drasync_link");

    if (err)
        return err;
    ASKING("drasync_link", from, err = managed_link(from, to));
    return told_link("drasync_link", from, to, err,
                     "which is not managed, or is to be linked to one that is "
                     "not");
}

int drasync_unlink(drasync_region_t from, drasync_region_t to)
{
    int err = api_enter("drasync_unlink");

    if (err)
        return err;
    ASKING("drasync_unlink", from, err = managed_unlink(from, to));
    return told_link("drasync_unlink", from, to, err,
                     "which is not managed, or not linked to that region");
}

int drasync_weak(drasync_region_t region, drasync_weak_t *weak_out)
{
    int err = api_enter("drasync_weak");

    if (!err && !weak_out)
        err = DRASYNC_EINVAL;
    if (err)
        return err;
    ASKING("drasync_weak", region, err = managed_weak(region, weak_out));
    return told("drasync_weak", region, err, UNMANAGED);
}

int drasync_weak_lock(const drasync_weak_t *weak, drasync_region_t *region_out)
{
    int err = api_enter("drasync_weak_lock");

    if (!err && (!weak || !region_out))
        err = DRASYNC_EINVAL;
    if (err)
        return err;
    ASKING("drasync_weak_lock", managed_weak_region(weak),
           err = managed_weak_lock(weak, region_out));
    return err;
}

int drasync_on_end(drasync_region_t region, drasync_end_fn *call, void *arg)
{
    int err = api_enter("drasync_on_end");

    if (!err && !call)
        err = DRASYNC_EINVAL;
    return err ? err
               : told("drasync_on_end", region,
                      managed_on_end(region, call, arg), UNREFERENCED);
}

int drasync_collect(void)
{
    int err = api_enter("drasync_collect");

    if (err)
        return err;
    ASKING("drasync_collect", NULL, err = managed_collect());
    return err;
}

int drasync_get_managed_stats(struct drasync_managed_stats *stats_out)
{
    int err = api_enter("drasync_get_managed_stats");

    if (!err && !stats_out)
        err = DRASYNC_EINVAL;
    return err ? err : managed_stats(stats_out);
}
