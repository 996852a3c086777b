/*
 * delta.h - which pages of a region changed between two versions that
 * this node sent.
 *
 * A node that READs a region again says which version it keeps.  After it has
 * sent a version, this node notes a hash of each page (XXH3, 128 bits); an
 * answer that builds on a version whose hashes were noted carries only the
 * pages whose hashes differ.  That costs the sender a pass over the region at
 * memory speed, under the lock of the tree, before or after the answer, and 24
 * bytes for each page.  Where it does not pay it is done more and more rarely:
 * for a region of which nearly all pages change, and on a node whose regions
 * nobody reads twice.
 *
 * Two pages that differ are taken for equal with a
 * probability of 2^-128: for what a program writes, never; the hash is not made
 * against somebody who looks for such a pair.
 *
 * Pages are counted over the region's extents, in their order, which is the
 * same on all nodes.  Callers hold the lock of the region's tree.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_DELTA_H
#define DRASYNC_RUNTIME_NATIVE_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/native/state.h"

/* Regions with less data, or more, are always sent whole. */
#define DELTA_BYTES_MIN ((uint64_t)64 << 10)
#define DELTA_BYTES_MAX ((uint64_t)1 << 30)

/* Pages of one extent, from `page` of it on. */
struct delta_run {
    uint64_t extent, page, pages;
};

struct delta_runs {
    struct delta_run *run; /* malloc()ed */
    size_t count, room;
};

/* The bytes of a run of an extent of which @used_bytes matter. */
static inline uint64_t delta_run_bytes(const struct delta_run *run,
                                       uint64_t used_bytes)
{
    uint64_t from = run->page << PAGE_SHIFT, bytes = run->pages << PAGE_SHIFT;

    if (from >= used_bytes)
        return 0;
    return bytes < used_bytes - from ? bytes : used_bytes - from;
}

/*
 * @frames, which are @version of @memory's region, go to a node that keeps
 * @base. True: *@runs, which was empty, has all pages that changed since, for
 * the caller to free.  False: send all.
 */
bool native_delta_since(struct native_memory *memory,
                        const struct native_frames *frames, uint64_t version,
                        uint64_t base, struct delta_runs *runs);

/* @frames, which are @version and current, have been sent. */
void native_delta_sent(struct native_memory *memory,
                       const struct native_frames *frames, uint64_t version);

/* The region goes. */
void native_delta_free(struct native_memory *memory);

#endif /* DRASYNC_RUNTIME_NATIVE_DELTA_H */
