/*
 * delta.h - which pages of a region changed between two versions that this node
 * sent.
 *
 * A node that READs a region again says which version it keeps.  After it has
 * sent a version, this node notes a hash of each page (XXH3, 128 bits); an
 * answer that builds on a version whose hashes were noted carries only the
 * pages whose hashes differ.  That costs the sender a pass over what is in use of
 * the region, at memory speed, before or after the answer, and 24 bytes for each
 * page that ever was.  Where it does not pay it is done more and more rarely: for
 * a region of which nearly all pages change, and on a node whose regions nobody
 * reads twice.
 *
 * No step hashes more than CHORE_PIECE_BYTES.  A longer version is noted in
 * pieces, each under the lock of the tree: by a chore of the progress thread
 * (messages.h) after it was sent, which ends if the version is not the
 * newest any more or somebody holds it for WRITE; by whoever acquires it for
 * WRITE meanwhile and waits anyway (native_delta_finish()); or, where an answer
 * needs it, by the chore that makes that answer (later.h).
 *
 * Two pages that differ are taken for equal with a probability of 2^-128: for
 * what a program writes, never; the hash is not made against somebody who looks
 * for such a pair.
 *
 * A page that is in no use in a version has a hash that no contents have.  So it
 * has changed when it is in use again, and goes to all who have that version.
 *
 * Pages are counted over the region's extents, in their order, which is the
 * same on all nodes.  Callers hold the lock of the region's tree, unless it
 * says otherwise.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_DELTA_H
#define DRASYNC_RUNTIME_NATIVE_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/messages/messages.h"
#include "runtime/native/state.h"

/* Regions with less data, or more, are always sent whole. */
#define DELTA_BYTES_MIN ((uint64_t)64 << 10)
#define DELTA_BYTES_MAX ((uint64_t)1 << 30)

/* Nor are those with more extents; and where more runs of pages than that
 * changed, all is sent. */
#define DELTA_EXTENTS_MAX 4096
#define DELTA_RUNS_MAX    16384

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

/* What changed between two versions: looked for in pieces. */
struct delta_list {
    uint64_t base;              /* pages of this version are not listed */
    uint64_t extents;           /* in the answer, */
    const uint64_t *used_bytes; /* and so much of each */
    uint64_t next, changed;     /* pages looked at, and found to have changed */
    struct delta_runs runs;     /* for the caller to free */
};

enum delta_answer {
    DELTA_ALL,   /* send all */
    DELTA_NOW,   /* note and list; that takes one piece each */
    DELTA_LATER, /* the same, but in pieces: later.h */
};

/* @frames, which are @version of @region, go to a node that keeps @base. */
enum delta_answer native_delta_since(const struct proto_region *region,
                                     const struct native_frames *frames,
                                     uint64_t version, uint64_t base);

/*
 * Note some pages of @frames, which have @version and do not change.  0: that
 * were the last ones; DRASYNC_EAGAIN: call again, under the lock as it may be
 * taken anew; else it is not to be had: DRASYNC_EDELETED, a later one is being
 * noted, DRASYNC_ENOMEM.
 */
int native_delta_note(struct native_memory *memory,
                      const struct native_frames *frames, uint64_t version);

/*
 * List some pages of @frames, whose version was noted, that changed since
 * list->base.  0: that were the last ones; DRASYNC_EAGAIN: call again;
 * DRASYNC_ELIMIT: it is better to send all; DRASYNC_ENOMEM.
 */
int native_delta_list(struct native_memory *memory,
                      const struct native_frames *frames,
                      struct delta_list *list);

/* @frames, which are @version of @region and current, have been sent.  *spent, 0
 * at first, bounds what is hashed in one step, of however many regions. */
void native_delta_sent(const struct proto_region *region,
                       const struct native_frames *frames, uint64_t version,
                       uint64_t *spent);

/* This thread, without a lock, is about to wait for WRITE of the region at
 * @address: what is being noted of it is noted first. */
void native_delta_finish(uint64_t address);

/* The region goes. */
void native_delta_free(struct native_memory *memory);

void native_delta_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_DELTA_H */
