/* Names of regions: published, looked up, and known to the region's home. */
#include "runtime/native/naming.h"

#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/services/names.h"

/* Of what is to have a name, which this node notes if it is its home. */
static int incarnation_named(drasync_region_t region, uint64_t *incarnation_out)
{
    int err = native_incarnation_here(region, true, incarnation_out);

    return err == DRASYNC_ENOREGION && runtime.nodes > 1 &&
                   native_address_valid(region)
               ? native_incarnation_elsewhere(region, incarnation_out)
               : err;
}

/*
 * Have the home withdraw the names of @named when that is gone.  A node that does
 * not know it answers ENOREGION: it is gone, which is looked at again once the
 * name is there; or it was loaded from a file by another node, which notes that
 * by itself (image_make.c).
 */
static int tell_home(const struct names_region *named)
{
    int home = native_home(named->address), err;
    size_t got;

    if (home < 0 || home == runtime.node)
        return 0;
    err = runtime_call(home, RUNTIME_KIND_NAMING, named, sizeof(*named), NULL,
                       0, &got);
    return err == DRASYNC_ENOREGION ? 0 : err;
}

static void told(const struct runtime_caller *caller, const void *request,
                 size_t bytes)
{
    struct names_region named;
    uint64_t incarnation;
    int err = DRASYNC_EINTERNAL;

    if (bytes == sizeof(named)) {
        memcpy(&named, request, sizeof(named));
        err = native_incarnation_here(
            (drasync_region_t)(uintptr_t)named.address, true, &incarnation);
        if (!err && incarnation != named.incarnation)
            err = DRASYNC_ENOREGION;
    }
    runtime_reply(caller, err, NULL, 0);
}

int native_publish(const char *name, drasync_region_t region)
{
    struct names_region named = {.address = (uint64_t)(uintptr_t)region};
    uint64_t now = 0;
    int err = incarnation_named(region, &named.incarnation);

    if (!err)
        err = tell_home(&named);
    if (!err)
        err = names_publish(name, named.address, named.incarnation);
    if (err)
        return err;
    /* Who deleted it meanwhile may have found no name to take back. */
    err = incarnation_named(region, &now);
    if (err == DRASYNC_ENOREGION || (!err && now != named.incarnation)) {
        names_withdraw(&named, 1);
        return DRASYNC_ENOREGION;
    }
    return 0;
}

int native_lookup(const char *name, uint64_t timeout_us,
                  drasync_region_t *region_out)
{
    uint64_t address;
    int err = names_lookup(name, timeout_us, &address);

    if (!err)
        *region_out = (drasync_region_t)(uintptr_t)address;
    return err;
}

void native_naming_start(void)
{
    runtime_serve(RUNTIME_KIND_NAMING, told);
}
