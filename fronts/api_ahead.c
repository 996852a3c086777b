/*
 * The call of drasync.h that asks ahead: arguments are checked here, the work is
 * runtime/native/ahead.c's.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/native/native.h"

int drasync_ahead(drasync_region_t region, enum drasync_mode mode)
{
    int err = api_enter("drasync_ahead");

    if (err)
        return err;
    if (mode != DRASYNC_READ && mode != DRASYNC_WRITE)
        return DRASYNC_EINVAL;
    return native_ahead(region, mode);
}
