/*
 * names.h - the name service: names of regions, kept at the manager (node 0),
 * in its control memory.
 *
 * A region is known here by address and incarnation, nothing more; whether it
 * exists is the caller's to know.  Callers guarantee that the runtime runs, and
 * that names have 1 to DRASYNC_NAME_MAX bytes.  Thread-safe; waits for the
 * manager's answer, so not for the progress thread and not under a lock, but
 * for names_withdraw().
 * Every call may return DRASYNC_ENOMEM, DRASYNC_EPEER.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_NAMES_H
#define DRASYNC_RUNTIME_SERVICES_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/process.h"

/* Names in a job. */
#define NAMES_MAX ((uint64_t)1 << 20)

/* Lookups of one node that wait at a time. */
#define NAMES_WAITS_MAX 1024

/* DRASYNC_EEXIST, DRASYNC_ELIMIT (NAMES_MAX). */
int names_publish(const char *name, uint64_t address, uint64_t incarnation);

/* DRASYNC_EAGAIN: nobody published it in time.  DRASYNC_ELIMIT
 * (NAMES_WAITS_MAX). */
int names_lookup(const char *name, uint64_t timeout_us, uint64_t *address_out);

struct names_region {
    uint64_t address;
    uint64_t incarnation;
};

/* The regions are gone: forget their names, if they have any.  Does not wait,
 * and may be called under locks of trees. */
int names_withdraw(const struct names_region *regions, size_t count);

/* What a region is called: regions[region]. */
struct names_found {
    uint32_t region;
    char name[DRASYNC_NAME_MAX + 1];
};

/* Regions that one call of names_of() asks for. */
#define NAMES_OF_MAX 4096

/*
 * The names of up to NAMES_OF_MAX regions; a region may have several.  The caller
 * frees *found_out, which is NULL if there are none.
 *   DRASYNC_ELIMIT  more than 60 MiB of them
 */
int names_of(const struct names_region *regions, size_t count,
             struct names_found **found_out, size_t *found_count_out);

struct names_listed {
    struct names_region region;
    char name[DRASYNC_NAME_MAX + 1];
};

/* All names there are, on the manager's node (0) only; the caller frees
 * *listed_out. */
int names_all(struct names_listed **listed_out, size_t *count_out);

/* The name of the region at @address, if this is the manager's node and it has
 * one: what somebody sees who takes no lock and only looks on.  False: not
 * known. */
bool names_look(uint64_t address, char name_out[DRASYNC_NAME_MAX + 1]);

#endif /* DRASYNC_RUNTIME_SERVICES_NAMES_H */
