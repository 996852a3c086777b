/*
 * wire.h - what the runtime adds to the protocol's messages.  For
 * runtime/native/send*.c and receive*.c only.
 *
 * A message's header is a wire_head, the encoded message, and for each region
 * whose data comes along, in order, a wire_region with its wire_extents and its
 * delta_runs (delta.h).  The data is the used bytes of all these
 * extents (wire_bytes()), in the same order; or, if there is a base, of these
 * runs of pages: all else is as in the base.  Or runs of words (diff.h) come
 * instead, padded to 8 bytes, and behind them in the header the words.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_WIRE_H
#define DRASYNC_RUNTIME_NATIVE_WIRE_H

#include <stdint.h>

#include "memory/space.h"

struct wire_head {
    uint64_t message_bytes; /* encoded, a multiple of 8 with padding */
};

struct wire_region {
    uint32_t item;
    uint32_t diff_runs; /* with a base, and neither runs nor later; else 0 */
    uint64_t extents;
    uint64_t base; /* a version that the receiver keeps; 0: none */
    uint64_t runs; /* 0 without a base */
    /* With a base, and no runs: they follow with this number (later.h); else 0.
     */
    uint64_t later;
};

struct wire_extent {
    uint64_t first_page, pages, used_bytes;
};

/* What runs of words take before the words. */
static inline uint64_t wire_diff_bytes(uint64_t runs)
{
    return (runs * sizeof(uint32_t) + 7) & ~UINT64_C(7);
}

/* How much of a page may travel though it is not in use. */
#define WIRE_REST_BYTES_MAX (PAGE_BYTES / 8)

/*
 * So much of an extent travels: the used bytes, and the rest of their last page
 * if that is short.  So regions of a page that lie side by side are one piece
 * of memory, on both sides, and need not be copied together: the eighth more
 * costs less than that.
 */
static inline uint64_t wire_bytes(uint64_t used_bytes)
{
    uint64_t rest = -used_bytes & (PAGE_BYTES - 1);

    return rest <= WIRE_REST_BYTES_MAX ? used_bytes + rest : used_bytes;
}

#endif /* DRASYNC_RUNTIME_NATIVE_WIRE_H */
