/*
 * The calls of the paper's Fig. 1, as printed there.  They return no errors:
 * one line says what was wrong, and the job ends.
 */
#include <stdio.h>
#include <unistd.h>

#include "drasync.h"

#include "fronts/api.h"
#include "runtime/native/magazine.h"
#include "runtime/native/native.h"
#include "runtime/native/recycle.h"
#include "runtime/place.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* What the program called, of which region, where; and the hold that the call
 * needs of it, or DRASYNC_NONE: it gives one back. */
struct called {
    const char *name;
    region r;
    enum drasync_mode needed;
    const void *at; /* the return address */
};

/* " in main (app.c:12)", as far as that is known. */
static const char *where(const void *at, char text[PLACE_TEXT_BYTES + 4])
{
    const uint64_t pc = (uint64_t)(uintptr_t)at - 1; /* the call itself */
    struct code_place place = {.offset = 0};
    char found[PLACE_TEXT_BYTES];

    places_of((int)getpid(), &pc, 1, &place);
    snprintf(text, PLACE_TEXT_BYTES + 4, " in %s",
             place_text(&place, found, sizeof(found)));
    return found[0] ? text : "";
}

/* End the job if @err is one. */
static void check(int err, struct called c)
{
    char text[NATIVE_EXPLAIN_BYTES], at[PLACE_TEXT_BYTES + 4], arg[24] = "";

    if (!err)
        return;
    native_explain(err, c.r, c.needed, text, sizeof(text));
    if (c.r || c.needed == DRASYNC_NONE)
        snprintf(arg, sizeof(arg), "%p", (void *)c.r);
    runtime_die("%s(%s)%s: %s (%s)", c.name, arg, where(c.at, at), text,
                drasync_errname(err));
}

/* Apart, as ralloc_slow(): so that what is short needs no stack. */
__attribute__((noinline)) static region new_region_slow(const void *caller)
{
    region made = NULL;

    check(api_new_region(&made, caller),
          (struct called){"new_region", NULL, DRASYNC_WRITE, caller});
    return made;
}

region new_region(void)
{
    region made = native_recycle_take_ready();

    return made ? made : new_region_slow(__builtin_return_address(0));
}

region new_subregion(region r)
{
    struct called c = {"new_subregion", r, DRASYNC_WRITE,
                       __builtin_return_address(0)};
    region made = NULL;

    check(api_new_subregion(c.name, r, &made, c.at), c);
    return made;
}

__attribute__((noinline)) static void delete_region_slow(region r,
                                                         const void *caller)
{
    struct called c = {"delete_region", r, DRASYNC_WRITE, caller};

    check(api_delete(c.name, r, caller), c);
}

void delete_region(region r)
{
    if (!native_recycle_put_new(r))
        delete_region_slow(r, __builtin_return_address(0));
}

__attribute__((noinline)) static void *ralloc_slow(region r, size_t s,
                                                   const void *caller)
{
    struct called c = {"ralloc", r, DRASYNC_WRITE, caller};
    void *object = NULL;

    check(api_alloc(c.name, r, s, &object), c);
    return object;
}

__attribute__((noinline)) static void *
ralloc_inside(region r, size_t s, struct native_inside inside,
              const void *caller)
{
    void *object = native_magazine_alloc_inside(inside, s);

    return object ? object : ralloc_slow(r, s, caller);
}

void *ralloc(region r, size_t s)
{
    struct native_inside inside;
    void *object = native_magazine_alloc(r, s, true, &inside);

    if (object)
        return object;
    return inside.magazine
               ? ralloc_inside(r, s, inside, __builtin_return_address(0))
               : ralloc_slow(r, s, __builtin_return_address(0));
}

__attribute__((noinline)) static void acquire_region_slow(region r, int choice,
                                                          const void *caller)
{
    struct called c = {"acquire_region", r, (enum drasync_mode)choice, caller};
    char at[PLACE_TEXT_BYTES + 4];
    int err = api_acquire(c.name, r, c.needed, DRASYNC_FOREVER, caller);

    if (err == DRASYNC_EINVAL)
        runtime_die("acquire_region(%p, %d)%s: the choice is READ (%d) or "
                    "WRITE (%d) (DRASYNC_EINVAL)",
                    (void *)r, choice, where(caller, at), READ, WRITE);
    check(err, c);
}

void acquire_region(region r, int choice)
{
    if (!api_acquire_own(r, (enum drasync_mode)choice))
        acquire_region_slow(r, choice, __builtin_return_address(0));
}

void release_region(region r)
{
    int err = api_release("release_region", r);

    if (err)
        check(err, (struct called){"release_region", r, DRASYNC_NONE,
                                   __builtin_return_address(0)});
}
