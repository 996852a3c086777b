/*
 * The prefixed calls of drasync.h on objects, questions and names: arguments
 * are checked here, the work is runtime/native*'s.
 */
#include <string.h>

#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/native/magazine.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/waiting.h"

/* DRASYNC_RECORD: an object of @size_bytes, if there was no error. */
static inline int recorded(int err, drasync_region_t region, size_t size_bytes)
{
    if (record_wanted() && !err)
        drasync_record_alloc((uintptr_t)region, 1, size_bytes, 0);
    return err;
}

/* Checked mode: name what was wrong with @region, or with @ptr or its region; the
 * latter may be NULL, and the former if that is not. */
static int told(const char *call, drasync_region_t region, const void *ptr,
                int err)
{
    drasync_region_t other = NULL;

    if (!err || !runtime.options.check)
        return err;
    if (ptr && !native_region_of(ptr, &other))
        check_unwritable(call, other, err);
    if (region ? region != other : !ptr)
        check_unwritable(call, region, err);
    if (ptr && (err == DRASYNC_ENOOBJECT || err == DRASYNC_EALIGN ||
                err == DRASYNC_EFREED))
        check_no_object(call, ptr, err);
    return err;
}

/* Apart, so that the short way below saves no register. */
__attribute__((noinline)) int api_alloc(const char *call,
                                        drasync_region_t region,
                                        size_t size_bytes, void **ptr_out)
{
    int err = runtime_enter();
    void *ptr;

    if (err)
        return err;
    if (!ptr_out)
        return DRASYNC_EINVAL;
    ptr = native_magazine_alloc_any(region, size_bytes);
    if (ptr) {
        *ptr_out = ptr;
        return 0;
    }
    err = native_alloc(region, size_bytes, ptr_out);
    return told(call, region, NULL, recorded(err, region, size_bytes));
}

__attribute__((noinline)) static int alloc_inside(drasync_region_t region,
                                                  size_t size_bytes,
                                                  void **ptr_out,
                                                  struct native_inside inside)
{
    void *ptr = native_magazine_alloc_inside(inside, size_bytes);

    if (!ptr)
        return api_alloc("drasync_alloc", region, size_bytes, ptr_out);
    *ptr_out = ptr;
    return 0;
}

int drasync_alloc(drasync_region_t region, size_t size_bytes, void **ptr_out)
{
    struct native_inside inside = {0};
    void *ptr = ptr_out
                    ? native_magazine_alloc(region, size_bytes, false, &inside)
                    : NULL;

    if (!ptr)
        return inside.magazine
                   ? alloc_inside(region, size_bytes, ptr_out, inside)
                   : api_alloc("drasync_alloc", region, size_bytes, ptr_out);
    *ptr_out = ptr;
    return 0;
}

/* Apart, as api_alloc(). */
__attribute__((noinline)) static int give(void *ptr)
{
    int err;

    if (native_magazine_free_any(ptr))
        return 0;
    err = runtime_enter();
    if (err || !ptr)
        return err;
    if (record_wanted())
        drasync_record_alloc(0, 0, 0, 1);
    return told("drasync_free", NULL, ptr, native_free(ptr));
}

int drasync_free(void *ptr)
{
    return native_magazine_free(ptr) ? 0 : give(ptr);
}

int drasync_realloc(void *ptr, size_t size_bytes, drasync_region_t region,
                    void **ptr_out)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!ptr_out)
        return DRASYNC_EINVAL;
    err = ptr ? native_realloc(ptr, size_bytes, region, ptr_out)
              : native_alloc(region, size_bytes, ptr_out);
    return told("drasync_realloc", region, ptr,
                recorded(err, region, size_bytes));
}

int drasync_set_root(drasync_region_t region, void *ptr)
{
    int err = runtime_enter();

    if (err)
        return err;
    err = told("drasync_set_root", region, NULL, native_set_root(region, ptr));
    if (!err && runtime.options.check)
        check_root(region, ptr);
    return err;
}

int drasync_get_root(drasync_region_t region, void **ptr_out)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!ptr_out)
        return DRASYNC_EINVAL;
    err = native_get_root(region, ptr_out);
    if (err && runtime.options.check)
        check_refused("drasync_get_root", region, err);
    return err;
}

int drasync_region_of(const void *ptr, drasync_region_t *region_out)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!region_out)
        return DRASYNC_EINVAL;
    return native_region_of(ptr, region_out);
}

int drasync_get_info(drasync_region_t region, struct drasync_info *info_out)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!info_out)
        return DRASYNC_EINVAL;
    return native_get_info(region, info_out);
}

int drasync_get_stats(struct drasync_stats *stats_out)
{
    int err = runtime_enter();

    if (err)
        return err;
    if (!stats_out)
        return DRASYNC_EINVAL;
    return native_get_stats(stats_out);
}

_Static_assert(DRASYNC_EXPLAIN_BYTES == NATIVE_EXPLAIN_BYTES, "base.h");

const char *drasync_explain(int error, drasync_region_t region, int needed,
                            char *text, size_t text_bytes)
{
    if (text_bytes)
        native_explain(error, region, (enum drasync_mode)needed, text,
                       text_bytes);
    return text;
}

static int name_valid(const char *name)
{
    return name && name[0] &&
           strnlen(name, DRASYNC_NAME_MAX + 1) <= DRASYNC_NAME_MAX;
}

int drasync_publish(const char *name, drasync_region_t region)
{
    int err = runtime_enter();
    struct waiting w;

    if (!err)
        err = native_run_refused("drasync_publish");
    if (err)
        return err;
    if (!name_valid(name))
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    RECORD_BEGIN();
    waiting_call_begin(&w, "drasync_publish", region);
    err = native_publish(name, region);
    waiting_call_end(&w);
    if (!err && runtime.options.check)
        check_named(region, name);
    RECORD_DONE(err, RECORD_PUBLISH, drasync_record_name(name), 0, 0);
    return api_told("drasync_publish", region, err);
}

int drasync_lookup(const char *name, uint64_t timeout_us,
                   drasync_region_t *region_out)
{
    int err = runtime_enter();

    if (!err)
        err = native_run_refused("drasync_lookup");
    if (err)
        return err;
    if (!name_valid(name) || !region_out)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    RECORD_BEGIN();
    err = native_lookup(name, timeout_us, region_out);
    if (!err && runtime.options.check)
        check_named(*region_out, name);
    RECORD_DONE(err, RECORD_LOOKUP, drasync_record_name(name), 0, 0);
    return err;
}
