/*
 * The calls of drasync.h that ask ahead: arguments are checked here, the work is
 * done in runtime/native/ahead*.c.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/native/native.h"
#include "runtime/record/record.h"

int drasync_ahead(drasync_region_t region, enum drasync_mode mode)
{
    int err = api_enter("drasync_ahead");

    if (err)
        return err;
    if (mode != DRASYNC_READ && mode != DRASYNC_WRITE)
        return DRASYNC_EINVAL;
    RECORD_BEGIN();
    api_tell_apart(region, NULL);
    err = native_ahead(region, mode);
    RECORD_DONE(err, RECORD_HINT, (uintptr_t)region, mode, 0);
    return api_told("drasync_ahead", region, err);
}

int drasync_iteration(void)
{
    int err = api_enter("drasync_iteration");

    return err ? err : native_iteration();
}

int drasync_phase(int phase)
{
    int err = api_enter("drasync_phase");

    if (err)
        return err;
    if (phase < 0)
        return DRASYNC_EINVAL;
    if (phase >= DRASYNC_PHASES_MAX)
        return DRASYNC_ELIMIT;
    return native_phase(phase);
}
