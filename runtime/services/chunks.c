/* Chunks of addresses: asked for here, granted by managers. */
#include "runtime/services/chunks.h"

#include <string.h>

#include "memory/pages.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/shared.h"

#define CHUNKS_GRANT (RUNTIME_KIND_NAMES + 8)

struct chunk {
    uint64_t first, pages;
};

struct request {
    uint64_t pages, wanted;
};

static int grant(int node, const struct request *request, struct chunk *chunk)
{
    return chunks_grant(&runtime.space, chunk_book_of(&runtime.space), node,
                        request->pages, request->wanted, &chunk->first,
                        &chunk->pages);
}

static void grant_called(const struct runtime_caller *caller,
                         const void *request, size_t bytes)
{
    struct chunk chunk = {0};
    struct request copy;
    int err = DRASYNC_EINTERNAL;

    if (bytes == sizeof(copy)) {
        memcpy(&copy, request, sizeof(copy));
        err = grant(caller->node, &copy, &chunk);
    }
    runtime_reply(caller, err, &chunk, sizeof(chunk));
}

static int ask(int manager, const struct request *request, struct chunk *chunk)
{
    size_t got = 0;
    int err;

    runtime_count(runtime_self(), RUNTIME_COUNT_CHUNK_REQUESTS, 1);
    if (runtime.node == manager)
        return grant(manager, request, chunk);
    err = runtime_call(manager, CHUNKS_GRANT, request, sizeof(*request), chunk,
                       sizeof(*chunk), &got);
    return !err && got != sizeof(*chunk) ? DRASYNC_EINTERNAL : err;
}

int chunks_ask(uint64_t pages)
{
    struct request request = {
        .pages = pages,
        .wanted = chunks_wanted(&runtime.space, chunks_had(&runtime.space)),
    };
    int manager = chunks_manager_of(&runtime.space, runtime.node);
    struct chunk chunk;
    int err = ask(manager, &request, &chunk);

    if ((err == DRASYNC_ENOSPACE || err == DRASYNC_ELIMIT) && manager != 0)
        err = ask(0, &request, &chunk);
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
