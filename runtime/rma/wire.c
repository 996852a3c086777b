/*
 * Operations on the memory of other processes: a call to their node, where the
 * progress thread does them, or passes them to the agent of the rank that has
 * the memory.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/rma/state.h"
#include "runtime/say.h"

enum rma_kind {
    RMA_CALL = RUNTIME_KIND_RMA,
    RMA_AWAKE, /* a message without contents */
};

/* [nodes] when, by the coarse clock, this process last told each to stay
 * awake. */
static _Atomic uint64_t *told;

/* --- Requests ------------------------------------------------------------- */

bool rma_request_valid(const struct rma_request *r, struct rma_sizes *sizes_out)
{
    size_t bytes = r->what == RMA_UPDATE || r->what == RMA_COMPARE
                       ? rma_type_bytes(r->type)
                       : 1;

    if (!bytes || r->count > RMA_PIECE_BYTES / bytes || r->rank < 0 ||
        r->rank >= runtime.ranks)
        return false;
    bytes *= r->count;
    *sizes_out = (struct rma_sizes){.span = bytes};
    switch (r->what) {
    case RMA_UPDATE:
        sizes_out->in = r->op == RMA_NO_OP ? 0 : bytes;
        sizes_out->out = r->silent ? 0 : bytes;
        return rma_defined(r->type, r->op);
    case RMA_COMPARE:
        sizes_out->in = 2 * bytes;
        sizes_out->out = bytes;
        return r->count == 1 && rma_defined(r->type, RMA_BAND);
    case RMA_READ:
        sizes_out->out = bytes;
        return true;
    case RMA_WRITE:
        sizes_out->in = bytes;
        return true;
    default:
        return false;
    }
}

int rma_request_do(const struct rma_request *r, void *address, void *data)
{
    switch (r->what) {
    case RMA_UPDATE:
        return rma_apply(address, r->type, r->op, data, r->silent ? NULL : data,
                         r->count);
    case RMA_COMPARE:
        return rma_swap_if(address, r->type, data,
                           (char *)data + rma_type_bytes(r->type), data);
    case RMA_READ:
        memcpy(data, address, r->count);
        return 0;
    default:
        memcpy(address, data, r->count);
        return 0;
    }
}

int rma_reach(int rank, uint64_t place, uint64_t bytes, void **address_out)
{
    uint64_t address = place & ~RMA_PRIVATE;
    int err;

    if (!(place & RMA_PRIVATE)) {
        *address_out = space_window(&runtime.space, place, bytes);
        return *address_out ? 0 : DRASYNC_EINVAL;
    }
    err = rma_ranges_check(&rma_shared->peers[runtime.local_of[rank]].ranges,
                           address, bytes);
    if (err)
        return err;
    *address_out = (void *)(uintptr_t)address;
    return rank == runtime.rank ? 0 : DRASYNC_EAGAIN;
}

/* --- At the node that has the memory -------------------------------------- */

static int serve_here(const struct rma_request *r,
                      const struct rma_sizes *sizes, void *address,
                      const void *in, const struct runtime_caller *caller)
{
    /* Of the progress thread, or who stands in for it. */
    static _Alignas(16) char data[RMA_PIECE_BYTES];
    int err;

    if (sizes->in)
        memcpy(data, in, sizes->in);
    passed_unseen_begin();
    err = rma_request_do(r, address, data);
    passed_unseen_end();
    return runtime_reply(caller, err, data, err ? 0 : sizes->out);
}

static void serve(const struct runtime_caller *caller, const void *message,
                  size_t bytes)
{
    struct rma_request request;
    struct rma_sizes sizes;
    const void *in = (const char *)message + sizeof(request);
    void *address;
    int err = DRASYNC_EINVAL;

    if (bytes >= sizeof(request)) {
        memcpy(&request, message, sizeof(request));
        if (rma_request_valid(&request, &sizes) &&
            bytes - sizeof(request) == sizes.in &&
            runtime.node_of[request.rank] == runtime.node)
            err = rma_reach(request.rank, request.place, sizes.span, &address);
    }
    if (!err)
        err = serve_here(&request, &sizes, address, in, caller);
    else if (err != DRASYNC_EAGAIN ||
             (err = rma_agent_pass(&request, &sizes, in, caller)))
        err = runtime_reply(caller, err, NULL, 0);
    if (err)
        runtime_no_memory("answer node %d", caller->node);
}

static void awake_arrived(int from, const void *header, size_t bytes,
                          uint64_t context)
{
    (void)from;
    (void)header;
    (void)bytes;
    (void)context;
    progress_serve();
}

int rma_wire_start(void)
{
    static const struct runtime_handler awake = {.arrived = awake_arrived};

    runtime_serve(RMA_CALL, serve);
    runtime_handle(RMA_AWAKE, &awake);
    told = calloc((size_t)runtime.nodes, sizeof(*told));
    return told ? 0 : DRASYNC_ENOMEM;
}

void rma_wire_stop(void)
{
    free(told);
    told = NULL;
}

/* --- Asking --------------------------------------------------------------- */

static int call(const struct rma_request *r, const struct rma_sizes *sizes,
                const void *in, void *out)
{
    char small[sizeof(*r) + 256], *message = small;
    size_t bytes = sizeof(*r) + sizes->in, got = 0;
    int err;

    if (bytes > sizeof(small) && !(message = malloc(bytes)))
        return DRASYNC_ENOMEM;
    memcpy(message, r, sizeof(*r));
    if (sizes->in)
        memcpy(message + sizeof(*r), in, sizes->in);
    err = runtime_call_helping(runtime.node_of[r->rank], RMA_CALL, message,
                               bytes, out, sizes->out, &got);
    if (!err && got != sizes->out)
        err = DRASYNC_EPEER;
    if (message != small)
        free(message);
    return err;
}

/* @r is valid for up to RMA_PIECE_BYTES. */
static int ask(const struct rma_request *r, const void *in, void *out)
{
    struct rma_sizes sizes;

    if (!rma_request_valid(r, &sizes))
        return DRASYNC_EINVAL;
    return runtime.node_of[r->rank] == runtime.node
               ? rma_agent_ask(r, &sizes, in, out)
               : call(r, &sizes, in, out);
}

int rma_request_ask(struct rma_request *r, size_t element_bytes, const void *in,
                    void *out)
{
    uint64_t left = r->count;
    int err = 0;

    while (left && !err) {
        r->count = RMA_PIECE_BYTES / element_bytes;
        if (r->count > left)
            r->count = left;
        err = ask(r, in, out);
        left -= r->count;
        r->place += r->count * element_bytes;
        if (in)
            in = (const char *)in + r->count * element_bytes;
        if (out)
            out = (char *)out + r->count * element_bytes;
    }
    return err;
}

int rma_find(int rank, uint64_t place, uint64_t bytes, void **address_out)
{
    uint64_t end = place & RMA_PRIVATE ? RMA_PRIVATE : rma_job()->window_bytes;
    uint64_t from = place & ~RMA_PRIVATE;
    int err = rma_running();

    if (err)
        return err;
    if (rank < 0 || rank >= runtime.ranks || from > end || bytes > end - from)
        return DRASYNC_EINVAL;
    if (runtime.node_of[rank] != runtime.node)
        return DRASYNC_EAGAIN;
    return rma_reach(rank, place, bytes, address_out);
}

int rma_update(int rank, uint64_t place, enum rma_type type, enum rma_op op,
               const void *values, void *results, size_t count)
{
    struct rma_request request = {
        .place = place,
        .count = count,
        .rank = rank,
        .what = RMA_UPDATE,
        .type = (uint8_t)type,
        .op = (uint8_t)op,
        .silent = !results,
    };
    size_t bytes = rma_type_bytes(type);
    void *address;
    int err;

    if (!rma_defined(type, op) || count > SIZE_MAX / bytes ||
        (count && !values && op != RMA_NO_OP))
        return DRASYNC_EINVAL;
    err = rma_find(rank, place, count * bytes, &address);
    if (!err)
        return rma_apply(address, type, op, values, results, count);
    return err == DRASYNC_EAGAIN
               ? rma_request_ask(&request, bytes, values, results)
               : err;
}

int rma_compare(int rank, uint64_t place, enum rma_type type,
                const void *compare, const void *value, void *result)
{
    struct rma_request request = {
        .place = place,
        .count = 1,
        .rank = rank,
        .what = RMA_COMPARE,
        .type = (uint8_t)type,
    };
    size_t bytes = rma_type_bytes(type);
    char in[2 * sizeof(uint64_t)], out[sizeof(uint64_t)];
    void *address;
    int err;

    if (!rma_defined(type, RMA_BAND) || !compare || !value)
        return DRASYNC_EINVAL;
    err = rma_find(rank, place, bytes, &address);
    if (!err)
        return rma_swap_if(address, type, compare, value, result);
    if (err != DRASYNC_EAGAIN)
        return err;
    memcpy(in, compare, bytes);
    memcpy(in + bytes, value, bytes);
    err = rma_request_ask(&request, bytes, in, out);
    if (!err && result)
        memcpy(result, out, bytes);
    return err;
}

void rma_awake(int node)
{
    struct runtime_message message = {.node = node, .kind = RMA_AWAKE};
    struct timespec time;
    uint64_t now;

    if (node < 0 || node >= runtime.nodes || node == runtime.node ||
        rma_running())
        return;
    /* It goes on in steps of 1 to 10 ms, which are the limit meant. */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    if (atomic_load_explicit(&told[node], memory_order_relaxed) == now ||
        atomic_exchange(&told[node], now) == now)
        return;
    /* If there is no memory it is only slow. */
    (void)runtime_send(&message);
}
