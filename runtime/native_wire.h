/*
 * native_wire.h - what the runtime adds to the protocol's messages.  Private to
 * runtime/native_wire*.c.
 *
 * A message's header is a wire_head, the encoded message, and for each region
 * whose data comes along, in order, a wire_region with its wire_extents and its
 * delta_runs (native_delta.h).  The data is the used bytes of all these
 * extents, in the same order; or, if there is a base, of these runs of pages:
 * all else is as in the base.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_WIRE_H
#define DRASYNC_RUNTIME_NATIVE_WIRE_H

#include <stdint.h>

struct wire_head {
    uint64_t message_bytes; /* encoded, a multiple of 8 with padding */
};

struct wire_region {
    uint32_t item;
    uint32_t unused;
    uint64_t extents;
    uint64_t base; /* a version that the receiver keeps; 0: none */
    uint64_t runs; /* 0 without a base */
};

struct wire_extent {
    uint64_t first_page, pages, used_bytes;
};

#endif /* DRASYNC_RUNTIME_NATIVE_WIRE_H */
