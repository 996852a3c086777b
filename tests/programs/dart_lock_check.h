/* dart_lock_check.h - for the tests of DART's locks. */
#ifndef TESTS_DART_LOCK_CHECK_H
#define TESTS_DART_LOCK_CHECK_H

#undef NDEBUG
#include <assert.h>

#include "dash/dart/if/dart.h"

static inline void ok(dart_ret_t ret)
{
    assert(ret == DART_OK);
}

static inline void invalid(dart_ret_t ret)
{
    assert(ret == DART_ERR_INVAL);
}

/* Collective over @team. */
static inline dart_lock_t lock_new(dart_team_t team)
{
    dart_lock_t lock;

    ok(dart_team_lock_init(team, &lock));
    assert(dart_lock_initialized(lock));
    return lock;
}

#endif /* TESTS_DART_LOCK_CHECK_H */
