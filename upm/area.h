/*
 * area.h - the hot areas: which addresses they are, and their tables.
 *
 * Changed under the lock of the library.  The list may be read without it, by
 * a handler of signals: an area that it finds stays there until no handler is
 * under way (areas_enter(), areas_leave()).
 */
#ifndef UPM_AREA_H
#define UPM_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "upm/engine.h"
#include "upmlib.h"

#define UPM_PAGE_BYTES 4096

/*
 * Units that are counted at one time at most, of all areas: each may be a
 * mapping of its own while it is protected, of which the kernel allows 65,530.
 */
#define UPM_UNITS_MAX 16384

enum upm_unit {
    UPM_UNIT_OPEN,  /* nobody waits for an access to it */
    UPM_UNIT_ARMED, /* the next access to it is counted */
};

struct upm_area {
    uintptr_t given; /* what the program gave */
    size_t given_bytes;
    uintptr_t start; /* the whole pages in it */
    size_t bytes;
    size_t unit_bytes;
    size_t units;
    struct upm_table table;
    _Atomic uint8_t *state; /* of each unit: enum upm_unit */
    _Atomic uint32_t *hits; /* [unit][node], what a source has seen since
                               upm_area_collect() */
};

/*
 * A new area, not yet in the list.  0, or -EEXIST, -EFAULT, -EINVAL, -ENOSPC,
 * -ENOMEM as upmlib_memrefcnt() has them.
 */
int upm_area_new(const void *start, size_t bytes, unsigned nodes,
                 const uint8_t *distance, struct upm_area **area_out);

/* Put it into the list; take it out, wait for handlers, and free it. */
void upm_area_add(struct upm_area *area);
void upm_area_drop(struct upm_area *area);

/* The area that begins at @start, as given; or NULL. */
struct upm_area *upm_area_at(const void *start);

/* The area number @index, or NULL behind the last.  Without the lock, between
 * upm_areas_enter() and upm_areas_leave(): what was found counts only if
 * upm_area_changes() is the same before and after, and even. */
struct upm_area *upm_area_next(size_t index);
unsigned upm_area_changes(void);
size_t upm_area_count(void);

/* In the child of a fork(): other threads' handlers are gone. */
void upm_areas_forked(void);

/* The area that has @address, in a handler between the two calls, or under the
 * lock.  Async-signal-safe. */
struct upm_area *upm_area_find(uintptr_t address);
void upm_areas_enter(void);
void upm_areas_leave(void);

/* An access from @node to @unit.  Async-signal-safe. */
void upm_area_count_access(struct upm_area *area, size_t unit, unsigned node);

/* Add what the source has seen to the counters.  Returns how much. */
uint64_t upm_area_collect(struct upm_area *area);

/* Begin an iteration: no counts.  A recording goes on undisturbed. */
void upm_area_clear(struct upm_area *area);

/* Ask the kernel where the pages from @first on are.  0 or a negative errno. */
int upm_area_homes(struct upm_area *area, size_t first, size_t count);

/* The page's address. */
void *upm_area_page(const struct upm_area *area, size_t page);

/* The area of a table. */
struct upm_area *upm_area_of(const struct upm_table *table);

#endif /* UPM_AREA_H */
