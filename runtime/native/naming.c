/* Names of regions: published, looked up, and known to the region's home. */
#include "runtime/native/naming.h"

#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/services/names.h"

/* At home: @named may have a name from here on.  DRASYNC_ENOREGION. */
static int note(const struct names_region *named)
{
    uint64_t incarnation;
    int err = native_incarnation_here(
        (drasync_region_t)(uintptr_t)named->address, true, &incarnation);

    return !err && incarnation != named->incarnation ? DRASYNC_ENOREGION : err;
}

/* Have the home withdraw the names of @named when that is gone.
 * DRASYNC_ENOREGION: it is, though this node may not have been told yet. */
static int tell_home(const struct names_region *named)
{
    size_t got;
    int home, err = native_ask_home(named->address, &home);

    if (err)
        return err;
    return home == runtime.node ? note(named)
                                : runtime_call(home, RUNTIME_KIND_NAMING, named,
                                               sizeof(*named), NULL, 0, &got);
}

static void told(const struct runtime_caller *caller, const void *request,
                 size_t bytes)
{
    struct names_region named;
    int err = DRASYNC_EINTERNAL;

    if (bytes == sizeof(named)) {
        memcpy(&named, request, sizeof(named));
        err = note(&named);
    }
    runtime_reply(caller, err, NULL, 0);
}

int native_publish(const char *name, drasync_region_t region)
{
    struct names_region named = {.address = (uint64_t)(uintptr_t)region};
    int err = native_incarnation(region, &named.incarnation);

    if (err == DRASYNC_ENOREGION)
        err = native_ask_incarnation(region, &named.incarnation);
    if (!err)
        err = tell_home(&named);
    if (!err)
        err = names_publish(name, named.address, named.incarnation);
    if (err)
        return err;
    /* If it went before the name was there, nobody took that back. */
    if (tell_home(&named) != DRASYNC_ENOREGION)
        return 0;
    names_withdraw(&named, 1);
    return DRASYNC_ENOREGION;
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
