/*
 * dump.h - which addresses of the data and the control part core dumps show.
 *
 * A dump of a page that has no frame would give it one, so both parts, which are
 * mostly empty, are left out, and let in where pages are in use: in ranges of
 * whole granules, which the ranks of a node share in control memory.  Ranges
 * grow and stay.  Each process applies them to its own mappings: the one that
 * takes pages at once, others in dump_refresh().
 *
 * Nothing here fails: what there is no room for is left out of dumps.
 * Thread-safe and process-safe.
 */
#ifndef MEMORY_DUMP_H
#define MEMORY_DUMP_H

#include "memory/space.h"

#include <stdbool.h>
#include <stdint.h>

#define DUMP_GRANULE_BYTES ((uint64_t)1 << 20)

/* Ranges of a node; pages lie close together, in few places. */
#define DUMP_RANGES_MAX 64

/* In control memory, zero at first. */
struct dump {
    _Atomic uint64_t ranges[DUMP_RANGES_MAX]; /* first granule << 32 | end */
    _Atomic uint64_t changes;
    _Atomic uint64_t granules; /* in all ranges */
};

/* Let in so many bytes of a node at most; 0, as it is at first: none.  Once, in
 * each process, after the space was mapped. */
void dump_set(uint64_t bytes_max);

/* Pages are in use from now on.  True: dumps show all of them. */
bool dump_cover(const struct space *space, uint64_t first_page, uint64_t pages);

/* The same for bytes of the control part, which debuggers read regions from
 * (drasync-gdb.py). */
void dump_cover_control(const struct space *space, uint64_t offset,
                        uint64_t bytes);

/* What other processes have let in.  Cheap when nothing has changed. */
void dump_refresh(const struct space *space);

#endif
