/*
 * The calls for Fortran: subroutines, arguments by reference.  Both without an
 * interface, as the paper's figures have them, and by the module in upmlib.f90.
 * They have no result: what is wrong is said on stderr.
 */
#include <stdint.h>
#include <stdio.h>

#include "upmlib.h"

void upmlib_init_(void);
void upmlib_memrefcnt_(const void *array, const int32_t *bytes);
void upmlib_memrefcnt8_(const void *array, const int64_t *bytes);
void upmlib_migrate_memory_(void);
void upmlib_record_(void);
void upmlib_replay_(void);
void upmlib_undo_(void);
void upmlib_sample_(const int32_t *interval_ms);
void upmlib_set_(const int32_t *option, const int32_t *value);
void upmlib_get_stats_(int64_t *counts, const int32_t *room);
void upmlib_end_(void);

static void say(int result)
{
    if (result < 0)
        fprintf(stderr, "upmlib: %s\n", upmlib_error());
}

void upmlib_init_(void)
{
    say(upmlib_init());
}

/* A negative size is no area; C's call says so. */
void upmlib_memrefcnt_(const void *array, const int32_t *bytes)
{
    say(upmlib_memrefcnt(array, *bytes < 0 ? SIZE_MAX : (size_t)*bytes));
}

void upmlib_memrefcnt8_(const void *array, const int64_t *bytes)
{
    say(upmlib_memrefcnt(array, *bytes < 0 ? SIZE_MAX : (size_t)*bytes));
}

void upmlib_migrate_memory_(void)
{
    say(upmlib_migrate_memory());
}

void upmlib_record_(void)
{
    say(upmlib_record());
}

void upmlib_replay_(void)
{
    say(upmlib_replay());
}

void upmlib_undo_(void)
{
    say(upmlib_undo());
}

void upmlib_sample_(const int32_t *interval_ms)
{
    say(upmlib_sample(*interval_ms < 0 ? UINT32_MAX : (unsigned)*interval_ms));
}

void upmlib_set_(const int32_t *option, const int32_t *value)
{
    say(upmlib_set(*option, *value));
}

/* As many numbers as @counts has room for, in the order of the module. */
void upmlib_get_stats_(int64_t *counts, const int32_t *room)
{
    struct upmlib_stats stats;

    upmlib_get_stats(&stats);
    const uint64_t numbers[] = {
        stats.nodes,         stats.areas,   stats.pages,
        stats.iterations,    stats.counted, stats.moved,
        stats.stayed,        stats.frozen,  stats.replayed,
        stats.undone,        stats.sampled, (uint64_t)stats.counting,
        (uint64_t)stats.off,
    };
    for (int32_t i = 0; i < *room; i++) {
        counts[i] = i < (int32_t)(sizeof(numbers) / sizeof(numbers[0]))
                        ? (int64_t)numbers[i]
                        : 0;
    }
}

void upmlib_end_(void)
{
    upmlib_end();
}
