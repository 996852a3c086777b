/*
 * run.c - packets of functions to be run: read, run, kept while they must wait,
 * or forwarded.  Each byte of an argument is read, so that a sanitizer sees one
 * that is not in the packet.
 */
#include "runtime/native/run.h"
#include "runtime/native/running.h"
#include "runtime/thread.h"
#include "tests/fuzz/node.h"

enum { SELF = 1, TURNS_MAX = 100 };

_Thread_local struct native_running native_running;

static const struct drasync_function known = {.hash = 1};
static uint64_t now_us;
static volatile unsigned char sum;

bool native_address_valid(drasync_region_t region);

bool native_address_valid(drasync_region_t region)
{
    return (uintptr_t)region % 4096 == 0;
}

void thread_is_ours(void)
{
}

struct drasync_function *run_function_find(uint64_t hash)
{
    return hash % 2 ? (struct drasync_function *)(uintptr_t)&known : NULL;
}

int run_function_unknown(void)
{
    return DRASYNC_ENOFUNCTION;
}

int run_function_call(const struct drasync_function *function,
                      drasync_region_t region, const void *arg,
                      size_t arg_bytes, void *answer, size_t answer_bytes)
{
    FUZZ_HOLDS(function == &known && native_address_valid(region));
    FUZZ_HOLDS(arg || !arg_bytes);
    for (size_t i = 0; i < arg_bytes; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)arg)[i]);
    if (answer_bytes)
        memset(answer, 1, answer_bytes);
    return 0;
}

int run_function_calls(const struct drasync_function *function,
                       drasync_region_t region, const char *args,
                       size_t arg_bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        run_function_call(function, region, args + i * RUN_PADDED(arg_bytes),
                          arg_bytes, NULL, 0);
    return 0;
}

/* By the region: it is here, elsewhere, held, or there is none; or its caller
 * holds it. */
int run_hold_take(struct run_hold *hold, bool here, int32_t caller)
{
    static const int result[] = {0, RUN_HOLD_AWAY, RUN_HOLD_LATER,
                                 DRASYNC_ENOREGION};
    int what = result[hold->address >> 12 & 3];

    hold->node = 2;
    if (caller >= 0 && hold->address >> 14 & 1)
        return RUN_HOLD_CALLER;
    return what == RUN_HOLD_AWAY && here ? 0 : now_us ? 0 : what;
}

int32_t run_caller_rank(const struct run_packet_head *head)
{
    return head->node == runtime.node ? 0 : -1;
}

/* The caller's lock is free the second time. */
bool run_returned(const struct run_packet_head *head,
                  const struct run_unit *unit)
{
    FUZZ_HOLDS(head->node == runtime.node && unit->bytes % 8 == 0);
    return now_us != 0;
}

int run_hold_look(struct run_hold *hold)
{
    (void)hold;
    return 0;
}

int run_hold_split(struct run_hold *hold)
{
    (void)hold;
    return 0;
}

void run_hold_give(struct run_hold *hold)
{
    (void)hold;
}

void run_hold_act(const struct run_hold *hold)
{
    (void)hold;
}

void run_answered(int node, const void *answer, size_t bytes)
{
    FUZZ_HOLDS(node == SELF && answer &&
               bytes >= sizeof(struct run_answer_head));
}

void runtime_nudge(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started) {
        node_begin(SELF);
        run_serve_start();
        node_keep();
    }
    started = true;
    now_us = 0;
    node_input(data, bytes, RUNTIME_KIND_RUN, 1);
    /* What must wait is tried until nothing is left. */
    for (int i = 0; i < TURNS_MAX && !run_serve_idle(); i++) {
        now_us = 1;
        run_serve_released();
    }
    FUZZ_HOLDS(run_serve_idle());
    node_restore();
    return 0;
}
