/* Memory that a start cannot do without: see start_room.h. */
#include "runtime/start_room.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/process.h"
#include "runtime/say.h"

struct room {
    size_t bytes; /* with this */
    alignas(max_align_t) char data[];
};

void *start_room_new(size_t bytes)
{
    struct room *room =
        mmap(NULL, sizeof(*room) + bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        runtime_die("cannot start: no %zu bytes for what %d ranks tell each "
                    "other: %s",
                    bytes, runtime.ranks, strerror(errno));
    room->bytes = sizeof(*room) + bytes;
    return room->data;
}

void start_room_free(void *room)
{
    struct room *r;

    if (!room)
        return;
    r = (struct room *)(void *)((char *)room - offsetof(struct room, data));
    munmap(r, r->bytes);
}
