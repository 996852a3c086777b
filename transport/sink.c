/* Where the data of a message goes: a list of pieces. */
#include "transport/transport.h"

#include <stdlib.h>

#include "drasync.h"
#include "transport/stretches.h"

int transport_sink_add(struct transport_sink *sink, void *ptr, size_t bytes)
{
    if (bytes == 0)
        return 0;
    if (sink->count > 0) {
        struct transport_piece *last = &sink->pieces[sink->count - 1];
        if ((char *)last->ptr + last->bytes == (char *)ptr &&
            (last->bytes < STRETCH_BYTES_MIN || bytes < STRETCH_BYTES_MIN)) {
            last->bytes += bytes;
            sink->bytes += bytes;
            return 0;
        }
    }
    if (sink->count == sink->capacity) {
        size_t capacity = sink->capacity ? 2 * sink->capacity : 8;
        struct transport_piece *pieces =
            realloc(sink->pieces, capacity * sizeof(*pieces));
        if (!pieces)
            return DRASYNC_ENOMEM;
        sink->pieces = pieces;
        sink->capacity = capacity;
    }
    sink->pieces[sink->count].ptr = ptr;
    sink->pieces[sink->count].bytes = bytes;
    sink->count++;
    sink->bytes += bytes;
    return 0;
}

void transport_sink_free(struct transport_sink *sink)
{
    free(sink->pieces);
    sink->pieces = NULL;
    sink->count = sink->capacity = 0;
    sink->bytes = 0;
}
