/* What all nodes know of managed regions, brought together: see far.h. */
#include "runtime/managed/far.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/managed/state.h"
#include "runtime/process.h"

static int add(struct far_search *s, const struct refs_record *record, int node)
{
    if (s->refs.count == s->seen_room) {
        size_t room = s->seen_room ? 2 * s->seen_room : 256;
        struct refs_seen *seen =
            realloc(s->refs.seen, room * sizeof(*s->refs.seen));

        if (!seen)
            return DRASYNC_ENOMEM;
        s->refs.seen = seen;
        s->seen_room = room;
    }
    s->refs.seen[s->refs.count++] =
        (struct refs_seen){.record = record, .node = node};
    return 0;
}

/* The records of an answer. */
static int add_all(struct far_search *s, const char *at, size_t bytes, int node)
{
    int err = 0;

    while (bytes && !err) {
        const struct refs_record *record;
        size_t length = refs_record_read(at, bytes, &record);

        err = length ? add(s, record, node) : DRASYNC_EINTERNAL;
        at += length;
        bytes -= length;
    }
    return err;
}

/* Keep the answer in @reply, of @bytes, which is not empty. */
static int keep(struct far_search *s, const struct far_looked *looked,
                size_t bytes, int node)
{
    struct far_block *block;

    if (looked->bytes != bytes - sizeof(*looked))
        return DRASYNC_EINTERNAL;
    if (!looked->bytes)
        return 0;
    block = malloc(sizeof(*block) + looked->bytes);
    if (!block)
        return DRASYNC_ENOMEM;
    memcpy(block->bytes, looked + 1, looked->bytes);
    block->next = s->blocks;
    s->blocks = block;
    return add_all(s, block->bytes, looked->bytes, node);
}

static int look_at(struct far_search *s, int node, void *reply)
{
    struct far_request request = {.what = FAR_LOOK};
    const struct far_looked *looked = reply;
    int err = 0;

    while (!err && request.shard < MANAGED_SHARDS) {
        size_t bytes = 0;

        err = managed_far_ask(node, &request, FAR_REQUEST_BYTES(0), reply,
                              FAR_REPLY_BYTES_MAX, &bytes);
        if (!err && bytes < sizeof(*looked))
            err = DRASYNC_EINTERNAL;
        if (!err)
            err = keep(s, looked, bytes, node);
        if (!err) {
            request.shard = looked->shard;
            request.bucket = looked->bucket;
        }
    }
    return err;
}

int managed_far_look(struct far_search *s)
{
    void *reply = malloc(FAR_REPLY_BYTES_MAX);
    int err = reply ? 0 : DRASYNC_ENOMEM;

    for (int node = 0; node < runtime.nodes && !err; node++)
        err = look_at(s, node, reply);
    free(reply);
    if (err)
        return err;
    s->refs.room = malloc(refs_search_room(&s->refs));
    if (!s->refs.room)
        return DRASYNC_ENOMEM;
    refs_search_find(&s->refs);
    return 0;
}

void managed_far_forget(struct far_search *s)
{
    struct far_block *next;

    free(s->refs.room);
    free(s->refs.seen);
    for (struct far_block *b = s->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
}
