/* Chunks of addresses: asked for here, granted by managers. */
#include "runtime/services/chunks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "memory/pages.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/shared.h"

enum {
    CHUNKS_HOME = RUNTIME_KIND_NAMES + 7,
    CHUNKS_GRANT = RUNTIME_KIND_NAMES + 8,
};

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

/* Chunks that were granted to this process, and for whose records there was no
 * memory: added before more are asked for.  The manager does not take them back. */
#define KEPT_MAX 16

static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct chunk kept[KEPT_MAX];
static _Atomic int kept_count; /* changes under the mutex */

static int add(const struct chunk *chunk)
{
    int err = pages_add_chunk(&runtime.space, chunk->first, chunk->pages);

    if (err) {
        pthread_mutex_lock(&kept_mutex);
        if (kept_count < KEPT_MAX)
            kept[kept_count++] = *chunk;
        pthread_mutex_unlock(&kept_mutex);
    }
    return err;
}

/* Add one of them, whose size is *pages_out then.  False: there is none. */
static bool add_kept(uint64_t *pages_out, int *err_out)
{
    struct chunk chunk;
    bool had;

    if (!atomic_load(&kept_count))
        return false;
    pthread_mutex_lock(&kept_mutex);
    had = kept_count > 0;
    if (had)
        chunk = kept[--kept_count];
    pthread_mutex_unlock(&kept_mutex);
    if (!had)
        return false;
    *pages_out = chunk.pages;
    *err_out = add(&chunk);
    return true;
}

int chunks_ask(uint64_t pages)
{
    struct request request = {
        .pages = pages,
        .wanted = chunks_wanted(&runtime.space, chunks_had(&runtime.space)),
    };
    int manager = chunks_manager_of(&runtime.space, runtime.node), err;
    struct chunk chunk;
    uint64_t added;

    while (add_kept(&added, &err))
        if (err || added >= pages)
            return err;
    err = ask(manager, &request, &chunk);
    if ((err == DRASYNC_ENOSPACE || err == DRASYNC_ELIMIT) && manager != 0)
        err = ask(0, &request, &chunk);
    return err ? err : add(&chunk);
}

/* At the manager. */
static int home_at(uint64_t page, int *home_out)
{
    *home_out =
        chunks_home(&runtime.space, chunk_book_of(&runtime.space), page);
    return *home_out < 0 ? DRASYNC_ENOREGION : 0;
}

static void home_called(const struct runtime_caller *caller,
                        const void *request, size_t bytes)
{
    int err = DRASYNC_EINTERNAL, home = -1;
    uint64_t page;

    if (bytes == sizeof(page)) {
        memcpy(&page, request, sizeof(page));
        err = home_at(page, &home);
    }
    runtime_reply(caller, err, &home, sizeof(home));
}

int chunks_ask_home(uint64_t page, int *home_out)
{
    int manager = chunks_manager(&runtime.space, page), err;
    size_t got = 0;

    *home_out = page_home(&runtime.space, page);
    if (*home_out >= 0)
        return 0;
    if (manager < 0)
        return DRASYNC_ENOREGION;
    if (manager == runtime.node)
        return home_at(page, home_out);
    err = runtime_call(manager, CHUNKS_HOME, &page, sizeof(page), home_out,
                       sizeof(*home_out), &got);
    if (!err && (got != sizeof(*home_out) || *home_out < 0 ||
                 *home_out >= runtime.nodes))
        err = DRASYNC_EINTERNAL;
    return err;
}

static int chunks_start(void)
{
    runtime_serve(CHUNKS_HOME, home_called);
    runtime_serve(CHUNKS_GRANT, grant_called);
    return 0;
}

const struct runtime_module chunks_module = {
    .name = "chunks",
    .start = chunks_start,
};
