/*
 * The calls of drasync.h on files of regions: arguments are checked here, the
 * work is runtime/save/'s.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/save/files.h"

/* In a record a save is a READ hold. */
int drasync_save(drasync_region_t region, const char *path)
{
    int err = api_enter("drasync_save");

    if (err)
        return err;
    if (!path || !*path)
        return DRASYNC_EINVAL;
    RECORD_BEGIN();
    err = files_save(region, path);
    api_tell_apart(region, NULL);
    RECORD_DONE(err, RECORD_ACQUIRE, (uintptr_t)region, DRASYNC_READ, 0);
    if (!err) {
        RECORD_BEGIN();
        api_tell_apart(region, NULL);
        RECORD_DONE(0, RECORD_RELEASE, (uintptr_t)region, 0, 0);
    }
    return api_told("drasync_save", region, err);
}

static void record_region(drasync_region_t region, drasync_region_t parent)
{
    RECORD_BEGIN();
    api_tell_apart(region, parent);
    RECORD_DONE(0, RECORD_NEW, (uintptr_t)region, (uintptr_t)parent, 0);
}

static void record_name(const char *name)
{
    RECORD_BEGIN();
    RECORD_DONE(0, RECORD_PUBLISH, drasync_record_name(name), 0, 0);
}

static void loaded_region(drasync_region_t region, drasync_region_t parent)
{
    if (record_wanted())
        record_region(region, parent);
}

static void loaded_name(const char *name, drasync_region_t region)
{
    if (record_wanted())
        record_name(name);
    if (runtime.options.check)
        check_named(region, name);
}

int drasync_load(const char *path, drasync_region_t *region_out)
{
    static const struct files_loaded loaded = {loaded_region, loaded_name};
    int err = api_enter("drasync_load");

    if (err)
        return err;
    return path && region_out ? files_load(path, &loaded, region_out)
                              : DRASYNC_EINVAL;
}
