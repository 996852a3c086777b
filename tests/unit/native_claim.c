/*
 * Claiming addresses for a loader, message by message: native/claim.h, with three
 * nodes in one process.  A node serves one message in one turn of its engine; how
 * many runs that may have is written here anew, as it is what the text promises
 * (docs/architecture.md, "What runs under a lock").
 */
#include "runtime/native/claim.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "tap.h"

#define NODES         3
#define RUNS          5000
#define RUNS_EACH_MAX 512

struct runtime runtime;
struct native native;

static struct native_shared shared;
static runtime_server *server;
static char answer[256];
static size_t answer_bytes;
static int result;

/* What the nodes were asked, all of them together. */
static uint64_t claimed, unclaimed, moved, most;
static uint64_t refused = UINT64_MAX; /* a page that is in use */

void runtime_serve(uint32_t kind, runtime_server *fn)
{
    (void)kind;
    server = fn;
}

int runtime_reply(const struct runtime_caller *caller, int err,
                  const void *reply, size_t bytes)
{
    (void)caller;
    result = err;
    answer_bytes = bytes;
    memcpy(answer, reply, bytes);
    return 0;
}

int runtime_call(int node, uint32_t kind, const void *request, size_t bytes,
                 void *reply, size_t reply_max, size_t *reply_bytes_out)
{
    const struct runtime_caller caller = {.node = runtime.node};
    int here = runtime.node;

    (void)kind;
    runtime.node = node;
    server(&caller, request, bytes);
    runtime.node = here;
    *reply_bytes_out = answer_bytes;
    memcpy(reply, answer, answer_bytes < reply_max ? answer_bytes : reply_max);
    return result;
}

/* What nodes keep of each other's claims. */
int control_alloc_zero(const struct space *space, size_t bytes, void **ptr_out)
{
    (void)space;
    *ptr_out = calloc(1, bytes);
    return *ptr_out ? 0 : DRASYNC_ENOMEM;
}

void control_free(const struct space *space, void *ptr)
{
    (void)space;
    free(ptr);
}

static bool broken;

void runtime_broken(const char *format, ...)
{
    (void)format;
    broken = true;
}

static void serve(uint64_t count)
{
    if (count > most)
        most = count;
}

/* Each node hands out what its number is left over of. */
int pages_claim(const struct space *space, const struct pages_run *runs,
                uint64_t count, uint64_t *pages_out, uint64_t *refused_out)
{
    (void)space;
    serve(count);
    *pages_out = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (runs[i].first == refused) {
            *refused_out = refused;
            return DRASYNC_EBUSY;
        }
        *pages_out += runs[i].first % NODES == (uint64_t)runtime.node;
    }
    claimed += *pages_out;
    return 0;
}

void pages_unclaim(const struct space *space, const struct pages_run *runs,
                   uint64_t count, uint64_t pages)
{
    (void)space;
    (void)runs;
    serve(count);
    unclaimed += pages;
}

int pages_move(const struct space *space, const struct pages_run *runs,
               uint64_t count, int node)
{
    (void)space;
    (void)runs;
    serve(count);
    moved += node == 0 ? count : 0;
    return 0;
}

uint64_t pages_run_whole(const struct pages_run *run)
{
    return run->pages;
}

bool pages_run_here(const struct space *space, const struct pages_run *run)
{
    (void)space;
    (void)run;
    return false;
}

int pages_take_at(const struct space *space, const struct pages_run *run)
{
    (void)space;
    (void)run;
    return DRASYNC_EINVAL;
}

int pages_give(const struct space *space, uint64_t first, uint64_t pages,
               unsigned what)
{
    (void)space;
    (void)first;
    (void)pages;
    (void)what;
    return 0;
}

void native_quarantine_clear(struct native_quarantine *quarantine)
{
    (void)quarantine;
}

int main(void)
{
    static struct pages_run runs[RUNS];
    uint64_t page;

    native.shared = &shared;
    runtime.nodes = NODES;
    native_claim_start();
    for (uint64_t i = 0; i < RUNS; i++)
        runs[i] = (struct pages_run){1 + i, 1};
    tap_ok(!native_claim(runs, RUNS, &page) && claimed == RUNS &&
               moved == RUNS * NODES,
           "all runs are claimed, and then all nodes know whose they are");
    tap_ok(most <= RUNS_EACH_MAX, "no message has more than 512 runs");

    claimed = moved = most = 0;
    refused = RUNS - 1;
    tap_ok(native_claim(runs, RUNS, &page) == DRASYNC_ETAKEN &&
               page == RUNS - 1 && !moved,
           "a page that is in use is named, and nothing has moved");
    tap_ok(claimed && unclaimed == claimed && most <= RUNS_EACH_MAX,
           "what was claimed before that is given back, in as many messages");
    tap_ok(!broken && !shared.claimed,
           "by who claimed it, and nothing is kept of a claim that is over");
    return tap_end();
}
