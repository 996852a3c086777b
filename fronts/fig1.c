/*
 * The calls of the paper's Fig. 1, as printed there.  They return no errors:
 * one line says what was wrong, and the job ends.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/native/magazine.h"
#include "runtime/native/native.h"
#include "runtime/native/recycle.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* End the job if @err is one.  @needed: the hold that @call needs of @r; or
 * DRASYNC_NONE: it gives one back. */
static void check(int err, const char *call, region r, enum drasync_mode needed)
{
    char text[NATIVE_EXPLAIN_BYTES];

    if (!err)
        return;
    native_explain(err, r, needed, text, sizeof(text));
    if (r || needed == DRASYNC_NONE)
        runtime_die("%s(%p): %s (%s)", call, (void *)r, text,
                    drasync_errname(err));
    runtime_die("%s(): %s (%s)", call, text, drasync_errname(err));
}

/* Apart, as ralloc_slow(): so that what is short needs no stack. */
__attribute__((noinline)) static region new_region_slow(const void *caller)
{
    region made = NULL;

    check(api_new_region(&made, caller), "new_region", NULL, DRASYNC_WRITE);
    return made;
}

region new_region(void)
{
    region made = native_recycle_take_ready();

    return made ? made : new_region_slow(__builtin_return_address(0));
}

region new_subregion(region r)
{
    region made = NULL;

    check(api_new_subregion(r, &made, __builtin_return_address(0)),
          "new_subregion", r, DRASYNC_WRITE);
    return made;
}

__attribute__((noinline)) static void delete_region_slow(region r)
{
    check(drasync_delete(r), "delete_region", r, DRASYNC_WRITE);
}

void delete_region(region r)
{
    if (!native_recycle_put_new(r))
        delete_region_slow(r);
}

__attribute__((noinline)) static void *ralloc_slow(region r, size_t s)
{
    void *object = native_magazine_alloc_any(r, s);

    if (!object)
        check(drasync_alloc(r, s, &object), "ralloc", r, DRASYNC_WRITE);
    return object;
}

__attribute__((noinline)) static void *
ralloc_inside(region r, size_t s, struct native_inside inside)
{
    void *object = native_magazine_alloc_inside(inside, s);

    return object ? object : ralloc_slow(r, s);
}

void *ralloc(region r, size_t s)
{
    struct native_inside inside;
    void *object = native_magazine_alloc(r, s, &inside);

    if (object)
        return object;
    return inside.magazine ? ralloc_inside(r, s, inside) : ralloc_slow(r, s);
}

__attribute__((noinline)) static void acquire_region_slow(region r, int choice,
                                                          const void *caller)
{
    int err =
        api_acquire(r, (enum drasync_mode)choice, DRASYNC_FOREVER, caller);

    if (err == DRASYNC_EINVAL)
        runtime_die("acquire_region(%p, %d): the choice is READ (%d) or WRITE "
                    "(%d) (DRASYNC_EINVAL)",
                    (void *)r, choice, READ, WRITE);
    check(err, "acquire_region", r, (enum drasync_mode)choice);
}

void acquire_region(region r, int choice)
{
    if (!api_acquire_own(r, (enum drasync_mode)choice))
        acquire_region_slow(r, choice, __builtin_return_address(0));
}

void release_region(region r)
{
    check(drasync_release(r), "release_region", r, DRASYNC_NONE);
}
