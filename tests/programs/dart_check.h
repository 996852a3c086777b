/*
 * dart_check.h - for the tests of the DART front: they assert everything through
 * the interface, and unit 0 says "ok" at the end.
 */
#ifndef TESTS_DART_CHECK_H
#define TESTS_DART_CHECK_H

#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dash/dart/if/dart.h"
#include "nap.h"

static int me, units;

static inline void check_begin(void)
{
    dart_global_unit_t unit;
    dart_config_t *config;
    size_t size;

    assert(dart_init(NULL, NULL) == DART_OK);
    dart_config(&config);
    config->log_enabled = 0; /* errors are provoked */
    assert(dart_myid(&unit) == DART_OK);
    assert(dart_size(&size) == DART_OK);
    me = unit.id;
    units = (int)size;
}

/* Not through DART, so that its memory is tested without its messages.  Who
 * waits leaves the processor to the others: there may be few of them. */
static inline void barrier(void)
{
    nap_barrier();
}

static inline void check_end(void)
{
    barrier();
    if (me == 0)
        puts("ok");
    assert(dart_exit() == DART_OK);
}

static inline dart_gptr_t on_unit(dart_gptr_t gptr, int unit)
{
    assert(dart_gptr_setunit(&gptr, DART_TEAM_UNIT_ID(unit)) == DART_OK);
    return gptr;
}

static inline dart_gptr_t at_offset(dart_gptr_t gptr, size_t offset)
{
    assert(dart_gptr_incaddr(&gptr, (int64_t)offset) == DART_OK);
    return gptr;
}

/* This unit's own part. */
static inline void *address_of(dart_gptr_t gptr)
{
    void *address = NULL;

    assert(dart_gptr_getaddr(on_unit(gptr, me), &address) == DART_OK);
    return address;
}

/* Numbers that are the same in every run. */
static inline uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif /* TESTS_DART_CHECK_H */
