/* Acquiring what is newer than a version that the caller knows: the runtime's
 * half of protocol/newer.c. */
#include "runtime/death.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

int native_newer_came(drasync_region_t region, uint64_t known, uint64_t seen,
                      int err)
{
    if (err || seen > known)
        return err;
    /* Another thread of this rank took it meanwhile. */
    native_release(region);
    return DRASYNC_ENESTED;
}

int native_acquire_newer(drasync_region_t region, enum drasync_mode mode,
                         uint64_t *version, uint64_t timeout_us)
{
    uint64_t deadline = timeout_us ? wait_deadline_us(timeout_us) : 0;
    uint64_t known = *version, seen = known;
    struct native_pending q = {
        .address = (uint64_t)(uintptr_t)region, .mode = mode, .version = &seen};
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_newer_came(region, known, seen,
                            native_acquire_pending(&q, deadline));
    if (!err)
        *version = seen;
    return err != DRASYNC_EAGAIN ? err : death_refused(err);
}

int native_get_version(drasync_region_t region, uint64_t *version_out)
{
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    /* What was written under a lease has its version once that has ended. */
    err = native_lock((uint64_t)(uintptr_t)region, &tree);
    if (err)
        return err;
    if (!tree.region)
        err = native_unknown((uint64_t)(uintptr_t)region);
    else
        err = proto_held_version(tree.region, native.rank, version_out);
    native_unlock(&tree);
    return err;
}
