/*
 * stretches.h - where the data of a message is cut into segments.
 *
 * A segment that lies in one piece moves straight from there, another one
 * through a buffer, which costs a copy.  So segments end where the sender's
 * long pieces do, each of which is a *stretch*; short ones between them are one
 * together.  The receiver, told the stretches, cuts alike, and as it most often
 * has pieces of the same lengths, its segments move straight too.
 */
#ifndef DRASYNC_TRANSPORT_STRETCHES_H
#define DRASYNC_TRANSPORT_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

/* A piece shorter than this is no stretch of its own: to send it costs more than
 * to copy it. */
#define STRETCH_BYTES_MIN ((uint64_t)64 << 10)

/* More pieces than that: all after them are one stretch. */
#define STRETCHES_MAX 256

/* How many of the @count stretches are listed, at most. */
static inline size_t stretches_room(size_t pieces_count)
{
    return pieces_count < STRETCHES_MAX ? pieces_count : STRETCHES_MAX;
}

/* Write the stretches of @pieces, all but the last one, to @stretches, which has
 * stretches_room().  Returns how many these are. */
size_t stretches_of(const struct transport_piece *pieces, size_t count,
                    uint64_t *stretches);

/* Can @stretches be those of @bytes? */
bool stretches_fit(const uint64_t *stretches, size_t count, uint64_t bytes);

#endif /* DRASYNC_TRANSPORT_STRETCHES_H */
