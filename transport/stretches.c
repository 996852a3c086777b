/* Where the data of a message is cut: see stretches.h. */
#include "transport/stretches.h"

size_t stretches_of(const struct transport_piece *pieces, size_t count,
                    uint64_t *stretches)
{
    size_t room = stretches_room(count), n = 0;
    uint64_t stretch = 0; /* that grows */
    bool ends = false;    /* it was long: nothing is added */

    for (size_t i = 0; i < count && n < room; i++) {
        bool own = pieces[i].bytes >= STRETCH_BYTES_MIN;

        if (stretch > 0 && (own || ends)) {
            stretches[n++] = stretch;
            stretch = 0;
        }
        stretch += pieces[i].bytes;
        ends = own;
    }
    return n;
}

bool stretches_fit(const uint64_t *stretches, size_t count, uint64_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (!stretches[i] || stretches[i] >= bytes)
            return false;
        bytes -= stretches[i];
    }
    return true;
}
