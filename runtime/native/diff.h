/*
 * diff.h - which words of a region changed since the version that was sent
 * before.
 *
 * As in TreadMarks (Keleher et al., 1994) a node that sends a region keeps a
 * copy of what it sent, the *twin*, and compares: what travels is the *diff*,
 * runs of words of 8 bytes, in the header of the message.  So where a program
 * changes a number in each of many objects, the numbers travel and not the
 * pages.  Costs: as much memory as the region's data at each node that sends
 * it, all of them at most 1/DIFF_MEMORY_PART of a node's memory; and a pass over
 * both at an answer, some 20 us for 256 KiB, which the network would need for
 * 30 KiB.
 *
 * A twin is made when a node asks for a region again and says which version it
 * keeps (the base).  Where most words change each time, or readers keep other
 * versions than the one sent last, it is tried more and more rarely; pages
 * (delta.h), or all, travel then.
 *
 * Words are counted over the region's extents, in their order, which is the same
 * on all nodes.  Callers hold the lock of the region's tree.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_DIFF_H
#define DRASYNC_RUNTIME_NATIVE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/native/state.h"
#include "runtime/native/wire.h"

/* Regions with less data, or more, or more extents, are not compared. */
#define DIFF_BYTES_MIN   ((uint64_t)8 << 10)
#define DIFF_BYTES_MAX   ((uint64_t)2 << 20)
#define DIFF_EXTENTS_MAX 64
#define DIFF_MEMORY_PART 16

#define DIFF_WORD_BYTES UINT64_C(8)
#define DIFF_PAGE_WORDS (PAGE_BYTES / DIFF_WORD_BYTES)

/* Words of a run: a longer one is several. */
#define DIFF_RUN_WORDS_MAX 4096

/* A run: the number of its first word, and of its words less 1. */
static inline uint32_t diff_run(uint64_t at, uint64_t words)
{
    return (uint32_t)(at << 12 | (words - 1));
}

static inline uint64_t diff_at(uint32_t run)
{
    return run >> 12;
}

static inline uint64_t diff_words(uint32_t run)
{
    return (run & (DIFF_RUN_WORDS_MAX - 1)) + 1;
}

struct native_diff {
    const uint32_t *run; /* ascending, of the twin, until the next call */
    uint32_t runs;
    uint64_t words; /* of all of them */
};

/*
 * @frames, which are @version of @region and do not change now, go to a node
 * that keeps @base: what changed since, in *@diff_out.  False: that is not known,
 * or too much.
 */
bool native_diff_since(const struct proto_region *region,
                       const struct native_frames *frames, uint64_t version,
                       uint64_t base, struct native_diff *diff_out);

/* Put its words, as they are in @frames, one after the other. */
void native_diff_gather(const struct native_diff *diff,
                        const struct native_frames *frames, uint64_t *words);

/* Of a message: is each of @runs within the extents, behind the one before it;
 * *words_out: how many words these are. */
bool native_diff_fits(const uint32_t *run, uint64_t runs,
                      const struct wire_extent *extent, uint64_t extents,
                      uint64_t *words_out);

/* Change @set, which is like the base, by runs that fit. */
void native_diff_apply(const struct frameset *set, const uint32_t *run,
                       uint64_t runs, const uint64_t *words);

/*
 * @frames have come from another node as @version, to be written here: if there
 * is a twin, it becomes like them, so that the node they came from gets a diff
 * when it asks again.  Or a diff came, for READ or WRITE: so far as the twin is
 * like @base, it follows.
 */
void native_diff_arrived(struct native_memory *memory,
                         const struct native_frames *frames, uint64_t version);
void native_diff_follow(struct native_memory *memory,
                        const struct native_frames *frames, uint64_t version,
                        uint64_t base, const uint32_t *run, uint64_t runs,
                        const uint64_t *words);

/* Will what is sent next of a region be compared, as far as is known? */
bool native_diff_works(const struct native_memory *memory);

/* The region goes. */
void native_diff_free(struct native_memory *memory);

#endif /* DRASYNC_RUNTIME_NATIVE_DIFF_H */
