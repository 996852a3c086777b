/*
 * native.h - native regions: what the calls of drasync.h do, on one node and
 * between nodes.
 *
 * Feeds the pure state machine of protocol/ with local events and messages
 * under the lock of the tree, and does what it answers.  fronts/ call the
 * functions here; runtime/modules.c starts and ends the module.
 *
 * Callers guarantee that runtime_enter() returned 0 and that out-pointers are
 * not NULL.  Any other argument may be anything.  Results are those that
 * drasync.h gives for the call of the same name.  Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_NATIVE_H
#define DRASYNC_RUNTIME_NATIVE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/process.h"

/* For fronts in other libraries; libdrasync.so exports drasync_ only. */
#define native_incarnation     drasync_native_incarnation
#define native_ask_incarnation drasync_native_ask_incarnation
#define native_explain         drasync_native_explain

int native_new_region(drasync_region_t *region_out);
int native_new_subregion(drasync_region_t parent, drasync_region_t *region_out);
int native_delete(drasync_region_t region);
int native_set_recovery(drasync_region_t region,
                        enum drasync_recovery recovery); /* is valid */

int native_acquire_newer(drasync_region_t region, enum drasync_mode mode,
                         uint64_t *version, uint64_t timeout_us);
int native_get_version(drasync_region_t region, uint64_t *version_out);
int native_acquire(drasync_region_t region, enum drasync_mode mode,
                   uint64_t timeout_us);
int native_release(drasync_region_t region);
int native_ahead(drasync_region_t region, enum drasync_mode mode);
int native_iteration(void);
int native_phase(int phase); /* 0 to DRASYNC_PHASES_MAX - 1 */

/* Of a request of native_iacquire_newer() that ended, what it was and brought. */
struct native_newer {
    drasync_region_t region; /* left alone where that is none */
    enum drasync_mode mode;
    uint64_t known, got;
};

/*
 * Non-blocking acquire.  A request ends, and *request becomes NULL, with
 * native_test() that says so, native_wait() that does not return
 * DRASYNC_EAGAIN, native_cancel(), and native_request_drop(), which does not look
 * what became of it.  That which native_wait_any() names ends too, and is the
 * caller's to set to NULL; *index_out is -1 before, and stays so if none ends.
 * For one that has ended, or that another thread is at work on, they return
 * DRASYNC_EINVAL and change nothing: request.h.
 */
int native_iacquire(drasync_region_t region, enum drasync_mode mode,
                    drasync_request_t *request_out);
int native_iacquire_newer(drasync_region_t region, enum drasync_mode mode,
                          uint64_t *version, drasync_request_t *request_out);

/* The same without waiting for others that hold it or wait for it, only for the
 * owner's answer and the data: with DRASYNC_EAGAIN it begins not, or ends. */
int native_itry(drasync_region_t region, enum drasync_mode mode,
                drasync_request_t *request_out);
int native_test(drasync_request_t *request, int *done_out,
                struct native_newer *newer_out);
int native_wait(drasync_request_t *request, uint64_t timeout_us,
                struct native_newer *newer_out);
int native_wait_any(int count, drasync_request_t *requests, uint64_t timeout_us,
                    int *index_out, struct native_newer *newer_out);
int native_cancel(drasync_request_t *request);
void native_request_drop(drasync_request_t *request);

/* Arguments are checked: ranks, tags, pointers.  *gift_out and *region_out are
 * set with DRASYNC_EDELETED too, and where native_gift_stays(). */
int native_give(drasync_region_t region, int rank, int tag);
int native_take(int rank, int tag, uint64_t timeout_us,
                drasync_region_t *region_out, struct drasync_gift *gift_out);
/* With these errors a gift was found, and can be taken later; with DRASYNC_ENOMEM
 * also without one, and the region is NULL. */
static inline bool native_gift_stays(int err)
{
    return err == DRASYNC_ENOMEM || err == DRASYNC_EUPGRADE ||
           err == DRASYNC_EORDER;
}

/* Is it from native_register(), in this process? */
bool native_function_valid(drasync_function_t function);
/* Is it one that takes a batch?  It is valid. */
bool native_function_batch(drasync_function_t function);

/* Arguments are checked: names, modes, sizes, pointers.  The function is @call,
 * or, if that is NULL, @batch. */
int native_register(const char *name, drasync_function_fn *call,
                    drasync_batch_fn *batch, drasync_function_t *function_out);
int native_run(drasync_region_t region, drasync_function_t function,
               enum drasync_mode mode, const void *arg, size_t arg_bytes,
               void *answer, size_t answer_bytes);
int native_irun(drasync_region_t region, drasync_function_t function,
                enum drasync_mode mode, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes,
                drasync_request_t *request_out);
int native_run_ff(drasync_region_t region, drasync_function_t function,
                  enum drasync_mode mode, const void *arg, size_t arg_bytes);
/* The usual case of it, for any arguments.  False: nothing was done. */
bool native_run_soon(drasync_region_t region, drasync_function_t function,
                     enum drasync_mode mode, const void *arg, size_t arg_bytes);
int native_run_flush(void);

/* This thread is about to wait for a hold of @region: what it ran on that, or its
 * tree, comes first, if it may be on its way between nodes.  DRASYNC_EPEER. */
int native_run_before_hold(drasync_region_t region);

/* Is this thread in a function that drasync_run() runs, which calls @call?
 * DRASYNC_ERUNNING then, with a line on stderr; else 0. */
int native_run_refused(const char *call);

int native_alloc(drasync_region_t region, size_t size_bytes, void **ptr_out);
int native_free(void *ptr);
int native_realloc(void *ptr, size_t size_bytes, drasync_region_t region,
                   void **ptr_out);
int native_set_root(drasync_region_t region, void *ptr);
int native_get_root(drasync_region_t region, void **ptr_out);

int native_region_of(const void *ptr, drasync_region_t *region_out);
/*
 * Where in the data file this rank has [@ptr, @ptr + @bytes), of a region that
 * it holds for WRITE; that stays so until it releases it.
 *   DRASYNC_ENOREGION, DRASYNC_ENOTHELD
 *   DRASYNC_EINVAL  not all in one extent, or its frames are not in one piece
 */
int native_place(const void *ptr, uint64_t bytes, uint64_t *offset_out);
/*
 * An address is used again: the incarnation tells @region from those that had
 * its address before and will have it later, and is the same on all nodes.
 *   DRASYNC_ENOREGION  this node knows no such region
 */
int native_incarnation(drasync_region_t region, uint64_t *incarnation_out);
/* The same, as the region's owner has it, who is asked if that is another node.
 * This rank holds nothing below @region.
 *   DRASYNC_ENOREGION  there is no such region */
int native_ask_incarnation(drasync_region_t region, uint64_t *incarnation_out);
/* Acquire @region for WRITE if it is free and this rank was the last to have it
 * so; without a lock or a message.  False: it was not acquired. */
bool native_take_again(drasync_region_t region);
/* Delete @region, which this thread holds for WRITE.  As drasync_delete(); and
 * DRASYNC_EBUSY: another thread of this rank holds it as well, or a part. */
int native_delete_held_once(drasync_region_t region);
/*
 * Delete @region, if it is of @incarnation and this rank does not hold it.
 *   DRASYNC_EBUSY      as drasync_delete(); or this rank holds it
 *   DRASYNC_ENOREGION  as drasync_delete(); or the address has another region
 *   DRASYNC_EDELETED   as drasync_delete()
 */
int native_delete_unused(drasync_region_t region, uint64_t incarnation);
/* Hold @region for WRITE, as native_identity.alone says, without waiting or a
 * message, if it is of @incarnation and nobody has it, this rank neither.  False:
 * it is not held.  It is for native_delete_held_once() or
 * native_release_alone(); what is in it is not to be looked at. */
bool native_take_alone(drasync_region_t region, uint64_t incarnation);
int native_release_alone(drasync_region_t region);
/* Does a rank of this node have @region, if it is of @incarnation, or something
 * below for READ, or wait for it?  On any thread. */
bool native_read_here(drasync_region_t region, uint64_t incarnation);
struct native_identity {
    uint64_t incarnation; /* native_incarnation() */
    bool root;
    bool held; /* by this rank: it, something above it, or below */
    bool
        alone; /* held for WRITE by this rank, once; nobody else has it for READ
                   or waits for it, and no other node knows it */
};

/* Which region is it?
 *   DRASYNC_ENOREGION  this node knows no such region */
int native_identify(drasync_region_t region, struct native_identity *out);
/* The root region above the one that @ptr is in, or it itself.
 *   DRASYNC_ENOREGION  this node knows none */
struct native_root {
    uint64_t address, incarnation;
};
int native_root_of(const void *ptr, struct native_root *out);
/* With OPTIONS_CHECK_LINKS, before the program gives a hold of @region back, or
 * away if it @gives: tell of links that are forgotten (links.c).  No lock is
 * held. */
void native_links_look(drasync_region_t region, bool gives);
/* The node that is asked about an address: its maker's, or the manager of the
 * chunk it is in.  Negative: no region can be there. */
int native_home(uint64_t address);
/* Its maker's, which is asked for if need be; no lock is held.
 *   DRASYNC_ENOREGION, DRASYNC_ENOMEM, DRASYNC_EPEER */
int native_ask_home(uint64_t address, int *home_out);
int native_get_info(drasync_region_t region, struct drasync_info *info_out);
int native_get_stats(struct drasync_stats *stats_out);

/* Let this process see the primary frames of a run of pages that no region
 * has.  DRASYNC_ENOMEM. */
int native_map_primary(uint64_t first_page, uint64_t pages);

/* For native_explain(): the call gives a hold back. */
#define DRASYNC_NONE ((enum drasync_mode)0)

/* Enough for what native_explain() says. */
#define NATIVE_EXPLAIN_BYTES 320

/*
 * In words, what @err of a call on @region means, and what to do: which hold
 * there is and which is @needed, what the address is instead, how much memory
 * there was.  What it says is true when it is called, not when the call failed.
 * The runtime need not run.
 */
void native_explain(int err, drasync_region_t region, enum drasync_mode needed,
                    char *text, size_t bytes);

/* @name is checked: 1 to DRASYNC_NAME_MAX bytes. */
int native_publish(const char *name, drasync_region_t region);
int native_lookup(const char *name, uint64_t timeout_us,
                  drasync_region_t *region_out);

#endif /* DRASYNC_RUNTIME_NATIVE_NATIVE_H */
