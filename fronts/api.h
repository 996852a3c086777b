/*
 * api.h - what the fronts of libdrasync share: entering a call, what a record
 * says of its regions, and taking a hold, the quick way or with the place of the
 * program's call.
 */
#ifndef DRASYNC_FRONTS_API_H
#define DRASYNC_FRONTS_API_H

#include "drasync.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/record/record.h"

/* It runs, nothing is wrong, and nobody records. */
static inline bool api_calm(void)
{
    return runtime_running() &&
           !atomic_load_explicit(runtime_poisoned, memory_order_relaxed) &&
           !record_wanted();
}

/* runtime_enter(), for calls that a function that drasync_run() runs may not
 * make. */
static inline int api_enter(const char *call)
{
    int err = runtime_enter();

    return err ? err : native_run_refused(call);
}

static inline bool api_mode_valid(enum drasync_mode mode)
{
    return mode == DRASYNC_READ || mode == DRASYNC_WRITE;
}

/* DRASYNC_RECORD: which regions these are, for an address is used again.  They
 * may be anything; @second may be NULL. */
void api_tell_apart(drasync_region_t region, drasync_region_t second);

/* The same before a release: also which version is left behind. */
void api_tell_left(drasync_region_t region);

/* drasync_acquire() of a lease that is this thread's; false: api_acquire() has
 * to. */
static inline bool api_acquire_own(drasync_region_t region,
                                   enum drasync_mode mode)
{
    return api_calm() && native_lease_take_own((uintptr_t)region, mode);
}

/* DRASYNC_CHECK=links, before a release or, if it @gives, a gift. */
void api_look_at_links(drasync_region_t region, bool gives);

/* @err; in checked mode, if it is one, say what was wrong with @region. */
int api_told(const char *call, drasync_region_t region, int err);
/* The same of a call for what is newer. */
int api_told_newer(const char *call, drasync_region_t region, int err);

/* drasync_new_region(), drasync_new_subregion(), called by the program at
 * @caller. */
int api_new_region(drasync_region_t *region_out, const void *caller);
int api_new_subregion(const char *call, drasync_region_t parent,
                      drasync_region_t *region_out, const void *caller);

/* drasync_acquire_timed(), called by the program at @caller, as @call. */
int api_acquire(const char *call, drasync_region_t region,
                enum drasync_mode mode, uint64_t timeout_us,
                const void *caller);

/* drasync_release(), drasync_delete() and drasync_alloc(), which the program
 * knows as @call; the last two without their short ways. */
int api_release(const char *call, drasync_region_t region);
int api_delete(const char *call, drasync_region_t region, const void *caller);
int api_alloc(const char *call, drasync_region_t region, size_t size_bytes,
              void **ptr_out);

#endif /* DRASYNC_FRONTS_API_H */
