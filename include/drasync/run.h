/*
 * drasync/run.h - part of drasync.h: functions that run where a region is.
 */
#ifndef DRASYNC_PART_RUN_H
#define DRASYNC_PART_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function that all ranks registered by name is run where a region is, which
 * then need not move: as GASNet's active messages, Grappa's delegate operations
 * and UPC++'s rpc() and rpc_ff() do.
 *
 * It runs on the node that owns the region, as if the caller had acquired the
 * region, called it and released the region.  On the caller's own node the
 * calling thread does just that.  On another node it runs in the process of the
 * node's lowest rank, on a thread that waits there in a call of DRASync's or
 * MPI's or on DRASync's own, and has the region for itself, for READ too.
 *
 * The function
 *   - gets the region, a copy of the argument, aligned to 8 bytes, and
 *     @answer_bytes cleared bytes for its answer (NULL if there are none);
 *   - may read, write, allocate and free in the region and its subregions, by
 *     addresses that are the same everywhere;
 *   - returns 0, or a number that the caller gets; negative ones are DRASync's;
 *   - may not acquire, release, wait, make or delete regions, give, save, hint, use
 *     names or references, or run: these calls return DRASYNC_ERUNNING, with a line
 *     on stderr that names it.
 *     Nor may it call MPI, or wait for a lock that a thread may have while it is
 *     in a call of DRASync's or MPI's: it may run on that very thread.  Several
 *     may run at a time, of regions that have nothing in common, threads of one
 *     rank or not;
 *   - should be short.  Until it returns, the owner's node serves no other node.
 *     DRASync adds some microseconds.
 *
 * What a thread runs on one region is done in the order of its calls.  Between
 * threads and between regions there is no order but what waiting for them makes.
 * Flush before you acquire what you run on: what you ran may else be done before
 * the hold or after it.  (So that neither waits for the other, a call that waits for
 * a hold without limit waits first for what its thread ran on that tree of regions,
 * where there are several nodes and the rank holds none of it; not where the hold
 * is had at once.)  Holds are the rank's (see Threads): what one thread holds keeps out no
 * function that another thread of its rank runs.
 *
 * If the region moves while a run is under way, that is forwarded, up to
 * DRASYNC_RUN_HOPS_MAX times; the node where it then is acquires the region.
 * Where ranks hold the region a run waits with them, in order of arrival; and
 * for the lowest rank of the owner's node also while that has it for READ, so
 * that a rank should not wait, with a READ hold, for something that waits for a
 * run.
 */
typedef int drasync_function_fn(drasync_region_t region, const void *arg,
                                size_t arg_bytes, void *answer,
                                size_t answer_bytes);

/*
 * The same for many at once: it gets the @count arguments of runs of the region
 * that were collected one behind the other, 1 or more, in their order, each
 * aligned to 8 bytes; so they are @arg_bytes apart, rounded up to 8.  It has no
 * answer.  What it returns is the result of all of them.
 */
typedef int drasync_batch_fn(drasync_region_t region, const void *args,
                             size_t arg_bytes, size_t count);

/* A function that is registered; of this process, good until it ends. */
typedef struct drasync_function *drasync_function_t;

/* The longest argument and the longest answer, in bytes. */
#define DRASYNC_RUN_BYTES_MAX 4096

#define DRASYNC_RUN_HOPS_MAX 4

/*
 * Register @function as @name.  Addresses may differ between ranks, so it is the
 * name that tells them which.  Every rank registers, with a barrier between
 * that and the first run; the same again is no error.  May come before MPI_Init,
 * so DRASYNC_ENOTREADY is none of its errors.
 *   DRASYNC_EINVAL  the name is empty or longer than DRASYNC_NAME_MAX, or
 *                   @function is NULL
 *   DRASYNC_EEXIST  another function has the name, or, which is unlikely, a
 *                   name with the same hash: choose another
 *   DRASYNC_ELIMIT  4,096 functions are registered
 */
int drasync_register(const char *name, drasync_function_fn *function,
                     drasync_function_t *function_out);

/*
 * The same for a function that takes many arguments at once, which is faster
 * where each of them means little work: drasync_run_ff() may collect hundreds.
 */
int drasync_register_batch(const char *name, drasync_batch_fn *function,
                           drasync_function_t *function_out);

/*
 * Run @function on @region under a hold for @mode, with a copy of @arg_bytes at
 * @arg, and wait until it is done: @answer_bytes of answer are at @answer then.
 * Returns what the function returned, or, if it was not called:
 *   DRASYNC_EINVAL    @mode is neither READ nor WRITE; @arg or @answer with
 *                     bytes is NULL; @function is not from drasync_register() in
 *                     this process (each rank has its own), or is a batch
 *                     function, which has no answer, and @answer_bytes is not 0
 *   DRASYNC_ELIMIT    more than DRASYNC_RUN_BYTES_MAX of argument or answer
 *   DRASYNC_ENOFUNCTION  where it was to run, no function has this name; or a
 *                     batch function has, and an answer was asked for
 *   DRASYNC_ERUNNING, DRASYNC_ENOREGION, DRASYNC_EDELETED
 *   DRASYNC_EUPGRADE  as drasync_acquire(), where the region is on this node
 *   DRASYNC_EORDER    this rank holds a part of it, but not the region itself
 *   DRASYNC_ENOMEM
 * In the function, drasync_alloc() also returns DRASYNC_ENOSPACE where the
 * executing node has used up its own addresses, and a manager of more would
 * have to be asked.
 */
int drasync_run(drasync_region_t region, drasync_function_t function,
                enum drasync_mode mode, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes);

/*
 * The same without waiting: for drasync_test() and drasync_wait(), which give
 * what drasync_run() would.  @answer stays the library's until then.
 * drasync_cancel() does not stop it, but its answer is not wanted any more.
 *
 * If the region is on this node and free, the function runs inside this call.  If
 * it is there and not free, and there is one node, only the thread that made this
 * call runs it, in its test, wait or flush: another thread's drasync_wait() waits
 * for that, and its drasync_test() says that it is not done, unless the thread has
 * ended.
 *   DRASYNC_ELIMIT    as drasync_run(), or as drasync_iacquire()
 *   DRASYNC_ENOREGION no region can have this address
 *   DRASYNC_EINVAL, DRASYNC_ERUNNING  as drasync_run()
 *   DRASYNC_ENOMEM    there is no memory for a request
 * with no request made.  Other errors are the request's; so is DRASYNC_ENOMEM, if
 * memory is short for the rest.
 */
int drasync_irun(drasync_region_t region, drasync_function_t function,
                 enum drasync_mode mode, const void *arg, size_t arg_bytes,
                 void *answer, size_t answer_bytes,
                 drasync_request_t *request_out);

/*
 * The same without an answer (fire and forget, as UPC++'s rpc_ff()), for many:
 * they are collected, those of one region run under one hold, and those for one
 * node travel in one packet.  It is done when drasync_run_flush() has returned.
 * It may be sooner: if there are many, some KiB for a region of this node, or 64
 * KiB for others; and where there are several nodes, when it has waited for some
 * milliseconds.  So who waits for its effect flushes first: on one node nobody
 * else sends it.  Flush also before anybody deletes the region: what is left is
 * refused then, or runs on a new region that has the address by then.
 *
 * The call waits while more than 1 MiB of the thread's runs are under way.  What
 * they return other than 0 is for drasync_run_flush(), as are their errors.  A run
 * that is refused is not done, nor are those that were collected with it: for
 * example with DRASYNC_EUPGRADE, if the region is on this node and another thread
 * of this rank has it for READ (also by a run); with DRASYNC_EORDER, if the rank
 * has a part of it.  Nobody is told which runs were lost; where that must be
 * known, use drasync_irun().  From the call itself come DRASYNC_EINVAL,
 * DRASYNC_ELIMIT, DRASYNC_ENOREGION (no region can have this address),
 * DRASYNC_ERUNNING and DRASYNC_ENOMEM.
 */
int drasync_run_ff(drasync_region_t region, drasync_function_t function,
                   enum drasync_mode mode, const void *arg, size_t arg_bytes);

/*
 * Wait until all that this thread ran is done, by drasync_irun() too.  0, or the
 * first result of drasync_run_ff() that was something else since the last flush.
 * MPI_Finalize and drasync_finalize() do this for all threads, and print a line
 * if such a result is left.
 */
int drasync_run_flush(void);

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_RUN_H */
