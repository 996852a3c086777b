/*
 * spares.h - buffers of one size that were used and will be again.
 *
 * New ones cost a page fault for each page: malloc() maps those of 128 KiB and
 * more by themselves, and gives back to the system what is free at the heap's
 * end beyond as much.
 *
 * One thread at a time.  Private to transport/.
 */
#ifndef DRASYNC_TRANSPORT_SPARES_H
#define DRASYNC_TRANSPORT_SPARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define SPARES_MAX 40

struct spares {
    size_t bytes_min; /* shorter ones are not worth it */
    size_t bytes;     /* of each; longer ones are not kept either */
    int count, max;   /* kept; at most so many, and SPARES_MAX */
    void *buffer[SPARES_MAX];
};

static inline bool spares_fit(const struct spares *spares, size_t bytes)
{
    return bytes >= spares->bytes_min && bytes <= spares->bytes;
}

/* A buffer of at least @bytes, or NULL: no memory. */
static inline void *spares_take(struct spares *spares, size_t bytes)
{
    if (!spares_fit(spares, bytes))
        return malloc(bytes);
    return spares->count > 0 ? spares->buffer[--spares->count]
                             : malloc(spares->bytes);
}

/* Done with one that was taken with the same @bytes; may be NULL. */
static inline void spares_give(struct spares *spares, void *buffer,
                               size_t bytes)
{
    if (buffer && spares_fit(spares, bytes) && spares->count < spares->max)
        spares->buffer[spares->count++] = buffer;
    else
        free(buffer);
}

static inline void spares_free(struct spares *spares)
{
    while (spares->count > 0)
        free(spares->buffer[--spares->count]);
}

#endif /* DRASYNC_TRANSPORT_SPARES_H */
