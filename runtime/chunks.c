#include "runtime/chunks.h"

#include "memory/pages.h"
#include "runtime/shared.h"

#define MANAGER      0
#define CHUNKS_GRANT (RUNTIME_KIND_NAMES + 8)

struct chunk {
    uint64_t first, pages;
};

static void grant_called(const struct runtime_caller *caller,
                         const void *request, size_t bytes)
{
    struct chunk chunk = { 0 };
    int err = DRASYNC_EINTERNAL;

    if (bytes == sizeof(uint64_t) && runtime.node == MANAGER)
        err = chunks_grant(&runtime.space, caller->node,
                           *(const uint64_t *)request, &chunk.first,
                           &chunk.pages);
    runtime_reply(caller, err, &chunk, sizeof(chunk));
}

int chunks_ask(uint64_t pages)
{
    struct chunk chunk;
    size_t got = 0;
    int err;

    runtime_count(runtime_self(), RUNTIME_COUNT_CHUNK_REQUESTS, 1);
    if (runtime.node == MANAGER) {
        err = chunks_grant(&runtime.space, MANAGER, pages, &chunk.first,
                           &chunk.pages);
    } else {
        err = runtime_call(MANAGER, CHUNKS_GRANT, &pages, sizeof(pages),
                           &chunk, sizeof(chunk), &got);
        if (!err && got != sizeof(chunk))
            err = DRASYNC_EINTERNAL;
    }
    return err ? err
               : pages_add_chunk(&runtime.space, chunk.first, chunk.pages);
}

static int chunks_start(void)
{
    runtime_serve(CHUNKS_GRANT, grant_called);
    return 0;
}

const struct runtime_module chunks_module = {
    .name = "chunks",
    .start = chunks_start,
};
