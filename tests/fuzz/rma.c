/*
 * rma.c - one-sided access that others ask for: atomic operations and private
 * memory (wire.c), transfers to and from the node's memory and answers to this
 * rank's own (far*.c).
 */
#include "runtime/messages/progress.h"
#include "runtime/rma/far_runs.h"
#include "runtime/rma/state.h"
#include "tests/fuzz/node.h"

enum { SELF = 1, AREA = 256 };

static struct rma_job job;
static unsigned char own[AREA], wanted[AREA];

/* --- What the code under test calls --------------------------------------- */

int rma_agent_pass(const struct rma_request *request,
                   const struct rma_sizes *sizes, const void *in,
                   const struct runtime_caller *caller)
{
    FUZZ_HOLDS(runtime.node_of[request->rank] == SELF && sizes && in && caller);
    return 0;
}

int rma_agent_ask(const struct rma_request *request,
                  const struct rma_sizes *sizes, const void *in, void *out)
{
    (void)request;
    (void)sizes;
    (void)in;
    (void)out;
    return DRASYNC_EPEER;
}

const struct rma_job *rma_job(void)
{
    return &job;
}

int rma_running(void)
{
    return 0;
}

void progress_serve(void)
{
}

int progress_answer(int rank, const struct transport_message *m)
{
    uint64_t most =
        runtime.space.layout.data_bytes + runtime.space.layout.alternate_bytes;

    FUZZ_HOLDS(rank >= 0 && rank < RANKS && m->header_bytes <= FAR_RUNS_BYTES);
    FUZZ_HOLDS(m->pieces_count <= 1);
    FUZZ_HOLDS(!m->pieces_count || m->pieces[0].bytes <= most);
    return 0;
}

int progress_own_send(const struct runtime_message *m)
{
    FUZZ_HOLDS(m->node != SELF);
    return 0;
}

int progress_own_wait(struct waiter *waiter)
{
    (void)waiter;
    return DRASYNC_EPEER;
}

void progress_glance(void)
{
}

int progress_own_open(void)
{
    return 0;
}

void progress_own_go_on(void)
{
}

bool progress_own_still(void)
{
    return true;
}

bool progress_help_until(bool (*over)(void *arg), void *arg)
{
    return over(arg);
}

/* --- The node -------------------------------------------------------------- */

static void announce(struct rma_peer *peer)
{
    bool first;

    FUZZ_HOLDS(!lock_init(&peer->ranges.lock, LOCK_RANK_RMA, runtime_poisoned));
    FUZZ_HOLDS(
        !rma_ranges_add(&peer->ranges, (uintptr_t)own, sizeof(own), &first));
}

static void start(void)
{
    void *shared, *peers;

    node_begin(SELF);
    job.window_bytes =
        runtime.space.layout.data_bytes + runtime.space.layout.alternate_bytes;
    FUZZ_HOLDS(
        !control_alloc_zero(&runtime.space, sizeof(*rma_shared), &shared));
    rma_shared = shared;
    FUZZ_HOLDS(!rma_shared_init(rma_shared, runtime_poisoned));
    FUZZ_HOLDS(!control_alloc_zero(&runtime.space,
                                   2 * sizeof(*rma_shared->peers), &peers));
    rma_shared->peers = peers;
    announce(&rma_shared->peers[0]);
    announce(&rma_shared->peers[1]);
    FUZZ_HOLDS(!rma_wire_start());
    rma_far_start();
    FUZZ_HOLDS(!rma_far_open());
    node_keep();
}

/* Gets of this rank are under way to node 0; when they are over nothing of them
 * is written any more. */
static void input(const uint8_t *data, size_t bytes)
{
    rma_ticket ticket, several;

    FUZZ_HOLDS(!far_op_take(0, wanted, sizeof(wanted), 1, &ticket));
    FUZZ_HOLDS(!far_op_take(0, wanted, 8, 2, &several));
    node_words_count = 0;
    node_word(ticket);
    node_word(several);
    node_word(RMA_PRIVATE | (uintptr_t)own);
    node_word((uintptr_t)own + sizeof(own));
    node_word(job.window_bytes);
    node_input(data, bytes, RUNTIME_KIND_RMA,
               RUNTIME_KIND_RUN - RUNTIME_KIND_RMA);
    while (!rma_far_test(ticket) && far_op_answered(ticket, 0, 0))
        continue;
    while (!rma_far_test(several) && far_op_answered(several, 0, 0))
        continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    input(data, bytes);
    node_restore();
    return 0;
}
