/*
 * punched.h - frames that are gone, told to what keeps more than page tables.
 *
 * A network adapter's registration of memory holds the frames that were there
 * when it was made.  UCX and libfabric keep registrations by address, and drop
 * them when the process calls munmap(), mmap() or madvise() there; frames that
 * any process takes out of the data file they do not notice, and the adapter
 * would go on with the old ones after new ones are there.  So each process
 * catches up before its memory gets to MPI: it calls madvise(MADV_DONTNEED),
 * which drops nothing else, as the pages are mapped from a file.
 *
 * Private to memory/; frames_catch_up() is for others.
 *
 * What was punched is in a log that the node shares, of PUNCHED_LOGGED entries;
 * who is further behind calls madvise() for the whole space, and its pages are
 * entered anew as they are touched.
 *
 * Known by the function that is replaced: UCX, src/ucm/event/event.c,
 * ucm_madvise(); libfabric, prov/util/src/util_mem_hooks.c,
 * ofi_intercept_madvise().
 */
#ifndef MEMORY_PUNCHED_H
#define MEMORY_PUNCHED_H

#include <stdatomic.h>
#include <stdint.h>

struct space;

/* A power of two. */
#define PUNCHED_LOGGED 1024

/*
 * Both words of an entry end in the low PUNCHED_TAG_BITS of its number, so that
 * one that is being written, or was left by a process that died, is known.
 */
#define PUNCHED_TAG_BITS 28

struct punched {
    _Atomic uint32_t count; /* of entries begun */
    struct {
        _Atomic uint64_t first; /* page of the data file */
        _Atomic uint64_t pages;
    } log[PUNCHED_LOGGED];
};

/* Note @pages pages of the data file from @first on, whose frames are gone; before
 * anybody may get frames there again. */
void punched_add(struct punched *punched, uint64_t first, uint64_t pages);

/* How often frames were taken out.  A hint. */
static inline uint32_t punched_count(struct punched *punched)
{
    return atomic_load_explicit(&punched->count, memory_order_relaxed);
}

/* Drops these pages from what the process keeps for them; no @pages: all. */
typedef void punched_drop(const struct space *space, uint64_t first,
                          uint64_t pages);

/* This process catches up with what was noted in @space's log before this call.
 * Any thread; two loads if that is nothing. */
void punched_catch_up(struct punched *punched, punched_drop *drop,
                      const struct space *space);

#endif
