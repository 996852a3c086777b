/*
 * drasync/request.h - part of drasync.h: holds that are asked for without waiting.
 */
#ifndef DRASYNC_PART_REQUEST_H
#define DRASYNC_PART_REQUEST_H

#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The non-blocking form of drasync_acquire().  *request_out is owned by the caller until
 * drasync_wait() returns, drasync_test() says it is done, drasync_wait_any() names
 * it, or drasync_cancel().  The hold is there only when test or wait gave 0.  End a
 * request before its region is deleted: a granted request is not told of the
 * deletion, and ending it later may release a hold of the region that has the address
 * by then.
 *
 * A request is a number.  Copies of it are the same request: the first call that
 * ends it has its result, and later ones with a copy return DRASYNC_EINVAL.  So
 * does a call while another thread is in a call with the same request.
 *   DRASYNC_ELIMIT    4,194,304 requests are waiting or were not tested; and as
 *                     drasync_acquire()
 */
int drasync_iacquire(drasync_region_t region, enum drasync_mode mode,
                     drasync_request_t *request_out);

/*
 * drasync_acquire_newer() without waiting.  When the request ends with 0, *@version
 * is the version held; until then it stays the caller's, is not read again, and must
 * remain valid.  So what several others write is used in the order in which it comes:
 *
 *     for (i = 0; i < n; i++)
 *         drasync_iacquire_newer(box[i], DRASYNC_READ, &seen[i], &request[i]);
 *     for (left = n; left > 0; left--) {
 *         drasync_wait_any(n, request, DRASYNC_FOREVER, &i);
 *         use(box[i]);
 *         drasync_release(box[i]);
 *     }
 *
 * While it waits, this rank's requests for subregions of @region wait behind it; and
 * if this rank takes @region otherwise, it may end with DRASYNC_ENESTED.
 *   DRASYNC_EINVAL    @version or @request_out is NULL, or, at the end, as
 *                     drasync_acquire_newer()
 *   DRASYNC_ENESTED   as there, now or at the end
 * and as drasync_iacquire().
 */
int drasync_iacquire_newer(drasync_region_t region, enum drasync_mode mode,
                           uint64_t *version, drasync_request_t *request_out);

/*
 * Is it done?  *done_out becomes 1 and *request NULL if so, and the result is
 * that of drasync_acquire(), or the error that ends all requests; otherwise
 * *done_out is 0 and the result 0.
 *   DRASYNC_EINVAL    no such request is under way; nothing changes
 */
int drasync_test(drasync_request_t *request, int *done_out);

/* Wait until it is done, at most @timeout_us; the request lives on after
 * DRASYNC_EAGAIN and is NULL after any other result, but for DRASYNC_EINVAL as
 * above. */
int drasync_wait(drasync_request_t *request, uint64_t timeout_us);

/*
 * Wait until one of the @count requests at @requests is done, at most @timeout_us:
 * *index_out is which, that one becomes NULL, and the result is what drasync_wait()
 * gives for it.  Those that are NULL are passed over.  If several are done it is the
 * first of them.  Where none has ended *index_out is -1, and the result
 *   DRASYNC_EAGAIN    the time passed first
 *   DRASYNC_EINVAL    all are NULL, @count is not positive, a pointer is NULL, or one
 *                     is not under way, or in a call of another thread
 *   DRASYNC_ENOMEM    for the bookkeeping, of more than 32 requests
 * With one request it is drasync_wait().  A wait for several is part of no ring, but
 * that all ranks wait for ever is found, with up to 8 requests for holds, as for
 * drasync_acquire_newer(): DRASYNC_EDEADLK is the result of one of them then.
 */
int drasync_wait_any(int count, drasync_request_t *requests,
                     uint64_t timeout_us, int *index_out);

/* Give a request up; if it was granted meanwhile, the hold is released.
 *   DRASYNC_EINVAL    as above */
int drasync_cancel(drasync_request_t *request);

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_REQUEST_H */
