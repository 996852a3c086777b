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
int names_lookup(const char *name, uint64_t timeout_us,
                 uint64_t *address_out);

struct names_region {
    uint64_t address;
    uint64_t incarnation;
};

/* The regions are gone: forget their names, if they have any.  Does not wait,
 * and may be called under locks of trees. */
int names_withdraw(const struct names_region *regions, size_t count);

/* The name of the region at @address, if this is the manager's node and it has
 * one: what somebody sees who takes no lock and only looks on.  False: not
 * known. */
bool names_look(uint64_t address, char name_out[DRASYNC_NAME_MAX + 1]);

#endif /* DRASYNC_RUNTIME_SERVICES_NAMES_H */
