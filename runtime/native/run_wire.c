/* How packets of runs are read, and answers made: see run_wire.h. */
#include "runtime/native/run_wire.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

const struct run_unit *run_unit_next(const char **at, const char *end)
{
    const struct run_unit *unit = (const void *)*at;
    size_t left = (size_t)(end - *at);

    if (left < sizeof(*unit) || left - sizeof(*unit) < unit->bytes ||
        unit->bytes % 8)
        return NULL;
    *at += sizeof(*unit) + unit->bytes;
    return unit;
}

const struct run_group *run_group_next(const char **at, const char *end,
                                       const char **args_out)
{
    const struct run_group *group = (const void *)*at;
    size_t left = (size_t)(end - *at), each;

    if (left < sizeof(*group))
        return NULL;
    left -= sizeof(*group);
    each = RUN_PADDED(group->arg_bytes);
    if (group->arg_bytes > DRASYNC_RUN_BYTES_MAX ||
        group->answer_bytes > DRASYNC_RUN_BYTES_MAX || !group->count ||
        (each && group->count > left / each) || group->count > UINT16_MAX ||
        (group->mode != DRASYNC_READ && group->mode != DRASYNC_WRITE))
        return NULL;
    *args_out = *at + sizeof(*group);
    *at += sizeof(*group) + group->count * each;
    return group;
}

void *run_answers_add(struct run_answers *a, size_t bytes)
{
    size_t at = a->used, room = a->room ? a->room : 1024;
    char *grown;

    if (at + bytes > RUN_ANSWERS_BYTES_MAX) {
        a->failed = true;
        return NULL;
    }
    while (room < at + bytes)
        room *= 2;
    if (room != a->room) {
        grown = realloc(a->bytes, room);
        if (!grown) {
            a->failed = true;
            return NULL;
        }
        a->bytes = grown;
        a->room = room;
    }
    a->used += bytes;
    memset(a->bytes + at, 0, bytes);
    return a->bytes + at;
}

void run_answers_free(struct run_answers *a)
{
    free(a->bytes);
    *a = (struct run_answers){0};
}
