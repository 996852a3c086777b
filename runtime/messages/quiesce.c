/*
 * The end of messages, after Mattern's four counters: when all ranks of a node
 * have quiesced and nothing of it is under way, it says DONE with what it has
 * sent and received, up a binary tree, with the sums of the nodes below it.
 * Node 0 asks for another round until two in a row have the same sums, sent
 * equal to received; then STOP goes down the tree.
 */
#include "runtime/messages/dispatch.h"

#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

struct done_message {
    uint64_t sent, received;
    uint64_t round;
};

struct stop_message {
    uint64_t round; /* to begin, or... */
    uint64_t over;  /* ...1: that was all */
};

/* Of the progress thread. */
static struct {
    uint64_t round;
    uint64_t sums[2];     /* sent, received; of the nodes below, this round */
    uint64_t previous[2]; /* node 0: of the round before */
    bool has_previous;
    int children_done;
    bool said; /* this node has said DONE in this round */
    bool over;
} state;

static struct stop_message to_pass_on;
static bool pass_on;

static int children(int nodes, int node)
{
    int first = 2 * node + 1;

    return first >= nodes ? 0 : first + 1 >= nodes ? 1 : 2;
}

bool shutdown_over(void)
{
    return state.over && !pass_on;
}

void shutdown_done_arrived(int from, const void *header, size_t header_bytes)
{
    struct done_message done;

    if (header_bytes != sizeof(done) || (from - 1) / 2 != runtime.node ||
        state.children_done >= children(runtime.nodes, runtime.node)) {
        runtime_broken("node %d sent a DONE that cannot be", from);
        return;
    }
    memcpy(&done, header, sizeof(done));
    state.sums[0] += done.sent;
    state.sums[1] += done.received;
    state.children_done++;
}

static void begin_round(uint64_t round)
{
    state.round = round;
    state.sums[0] = state.sums[1] = 0;
    state.children_done = 0;
    state.said = false;
}

void shutdown_stop_arrived(int from, const void *header, size_t header_bytes)
{
    if (header_bytes != sizeof(to_pass_on) || runtime.node == 0 ||
        from != (runtime.node - 1) / 2 || !state.said) {
        runtime_broken("node %d sent a STOP that cannot be", from);
        return;
    }
    memcpy(&to_pass_on, header, sizeof(to_pass_on));
    pass_on = true;
}

static int send_struct(struct transport *transport, int to, uint32_t kind,
                       const void *what, size_t bytes)
{
    struct transport_message message = {
        .kind = kind, .header = what, .header_bytes = bytes};

    return dispatch_send(transport, to, &message);
}

/* A new round, or the end, to the nodes below and to this one. */
static int tell_below(struct transport *transport)
{
    int err = 0, first = 2 * runtime.node + 1;

    for (int i = 0; i < children(runtime.nodes, runtime.node) && !err; i++)
        err = send_struct(transport, first + i, RUNTIME_KIND_STOP, &to_pass_on,
                          sizeof(to_pass_on));
    pass_on = false;
    if (to_pass_on.over)
        state.over = true;
    else
        begin_round(to_pass_on.round);
    return err ? err : 1;
}

/* Node 0 has everybody's sums. */
static void conclude(uint64_t sent, uint64_t received)
{
    bool equal = state.has_previous && sent == received &&
                 state.previous[0] == sent && state.previous[1] == received;

    state.has_previous = true;
    state.previous[0] = sent;
    state.previous[1] = received;
    to_pass_on.round = state.round + 1;
    to_pass_on.over = equal;
    pass_on = true;
}

static bool node_quiet(const struct transport *transport)
{
    if (atomic_load(&runtime.shared->quiesced) != runtime.shared->locals ||
        !outbox_empty() || !transport_idle(transport))
        return false;
    for (int i = 0; runtime_modules[i]; i++) {
        if (runtime_modules[i]->idle && !runtime_modules[i]->idle())
            return false;
    }
    return true;
}

int shutdown_advance(struct transport *transport)
{
    if (state.over)
        return 0;
    if (pass_on)
        return tell_below(transport);
    if (state.said ||
        state.children_done < children(runtime.nodes, runtime.node) ||
        !node_quiet(transport))
        return 0;

    struct dispatch_counts own = dispatch_get_counts();
    struct done_message done = {
        .sent = state.sums[0] + own.sent,
        .received = state.sums[1] + own.received,
        .round = state.round,
    };
    state.said = true;
    if (runtime.node == 0) {
        conclude(done.sent, done.received);
        return 1;
    }
    int err = send_struct(transport, (runtime.node - 1) / 2, RUNTIME_KIND_DONE,
                          &done, sizeof(done));
    return err ? err : 1;
}
