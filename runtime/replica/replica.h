/*
 * replica.h - replicated regions: every worker has data of its own at the same
 * addresses, and sends copies of it.  What the Myrmics calls are made of.
 *
 * A worker is a rank.  A region is named by its number: its first page's
 * number + 1; 0 is the root region.  Any worker may allocate in any region; an
 * extent belongs to the worker that cut it, which alone hands out objects in
 * it.
 *
 * Callers begin each call with replica_enter(), and guarantee that the regions
 * and objects they name are not freed by others meanwhile; if they are, nothing
 * but the data of the regions concerned is spoilt.  Thread-safe.
 *
 * Every call may return DRASYNC_EPEER, DRASYNC_ENOMEM, DRASYNC_ENOSPACE or
 * DRASYNC_EINTERNAL; on error nothing has changed.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_REPLICA_H
#define DRASYNC_RUNTIME_REPLICA_REPLICA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"

/* The front is in another library, and this one exports drasync_ only. */
#define replica_enter        drasync_replica_enter
#define replica_rank         drasync_replica_rank
#define replica_trouble      drasync_replica_trouble
#define replica_end_job      drasync_replica_end_job
#define replica_region_new   drasync_replica_region_new
#define replica_region_free  drasync_replica_region_free
#define replica_region_check drasync_replica_region_check
#define replica_region_freed drasync_replica_region_freed
#define replica_alloc        drasync_replica_alloc
#define replica_alloc_many   drasync_replica_alloc_many
#define replica_free_object  drasync_replica_free_object
#define replica_cache_alloc  drasync_replica_cache_alloc
#define replica_cache_free   drasync_replica_cache_free
#define replica_cache_calls  drasync_replica_cache_calls
#define replica_cache_allow  drasync_replica_cache_allow
#define replica_realloc      drasync_replica_realloc
#define replica_send         drasync_replica_send
#define replica_recv         drasync_replica_recv
#define replica_barrier      drasync_replica_barrier
#define replica_notify       drasync_replica_notify
#define replica_notified     drasync_replica_notified

/* Objects are aligned to this. */
#define REPLICA_ALIGN_BYTES 64

/* Where in the program a call stands, for an error found later. */
struct replica_place {
    const char *file;
    int line;
};

/* What a front must know of the job. */
struct replica_job {
    int rank, ranks;
    int move;       /* DRASYNC_MYRMICS=move */
    int check;      /* DRASYNC_CHECK: what is sent is told (check_sent()) */
    uint64_t pages; /* in the data part: the largest region number */
    char *base;     /* of the data part */
};

/* runtime_enter(), and what is to be known; stays as it is. */
int replica_enter(const struct replica_job **job_out);

/* This rank, or -1 before the start. */
int replica_rank(void);

/* Why the job is ending. */
const char *replica_trouble(void);

/* End the job; in a child of fork, this process. */
void replica_end_job(void) __attribute__((noreturn));

/* A region under @parent.  DRASYNC_ENOREGION: there is no such parent. */
int replica_region_new(uint32_t parent, uint32_t *region_out);

/* Free a region, its objects and its subregions, everywhere; returns when that
 * is done.  DRASYNC_ENOREGION; DRASYNC_EINVAL: the root region. */
int replica_region_free(uint32_t region);

/* DRASYNC_ENOREGION unless @region lives. */
int replica_region_check(uint32_t region);

/* Was there a region with this number until not long ago, as far as this node
 * knows?  @worker_out: who freed it, or one above it: -1 if that is not known.
 * Of numbers that are no region's now; needs no lock. */
bool replica_region_freed(uint32_t region, int *worker_out);

/* An object of @size_bytes, not 0.  DRASYNC_ENOREGION. */
int replica_alloc(uint32_t region, size_t size_bytes, void **ptr_out);

/* @count objects of one size, or none. */
int replica_alloc_many(uint32_t region, size_t size_bytes, size_t count,
                       void **ptrs_out);

/*
 * Free an object, whoever allocated it.  An object of a worker on another node
 * is freed there later; an error found there ends the job with @place.
 *   DRASYNC_ENOOBJECT (no region is there), DRASYNC_EALIGN, DRASYNC_EFREED
 */
int replica_free_object(void *ptr, const struct replica_place *place);

/*
 * The same, for most calls, and without replica_enter().  For the others they
 * change nothing, and end in a call of what replica_cache_allow() was given,
 * with what they were given themselves, so that a front's function can be a
 * mere jump to these.  Not to be called before replica_cache_allow() was.
 */
typedef void *replica_alloc_fn(const char *file, int line, size_t size_bytes,
                               uint32_t region);
typedef void replica_free_fn(const char *file, int line, void *ptr);

replica_alloc_fn replica_cache_alloc;
replica_free_fn replica_cache_free;

/* How many such calls there were. */
uint64_t replica_cache_calls(void);

/* Allow REPLICA_CACHE_CALLS more quick calls if none is left.  Returns 1 then,
 * but 0 the first time.  None are allowed at first. */
#define REPLICA_CACHE_CALLS 1016

int replica_cache_allow(replica_alloc_fn *alloc, replica_free_fn *free);

/*
 * Another size and region for an object; its bytes as this worker sees them.
 * Errors as of allocating and freeing.
 */
int replica_realloc(void *ptr, size_t size_bytes, uint32_t region,
                    const struct replica_place *place, void **ptr_out);

/* Send this worker's data of @region and its subregions, as they are now.
 * DRASYNC_ENOREGION; DRASYNC_EINVAL: no such worker. */
int replica_send(uint32_t region, int worker, uint64_t *bytes_out);

/*
 * Wait for what @worker sends next and take it.  *region_out is its region.
 *   DRASYNC_EINVAL  no such worker
 *   DRASYNC_EAGAIN  @region is not 0, and *region_out, another one, comes next:
 *                   it was not taken
 */
int replica_recv(uint32_t region, int worker, uint32_t *region_out,
                 uint64_t *bytes_out);

/*
 * The same queues without data, for fronts that hand regions over otherwise.
 * The words of a note, but for the first's address, mean what the caller likes.
 */
struct replica_part {
    uint64_t address; /* of a region, from the base of the data part */
    uint64_t incarnation;
};

int replica_notify(int worker, const struct replica_part *notes, size_t count);

/* As replica_recv(); *notes_out is malloc()ed, and there is at least one. */
int replica_notified(uint32_t region, int worker, uint32_t *region_out,
                     struct replica_part **notes_out, size_t *count_out);

/* All workers wait for each other. */
int replica_barrier(void);

#endif /* DRASYNC_RUNTIME_REPLICA_REPLICA_H */
