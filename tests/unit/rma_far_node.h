/*
 * rma_far_node.h - a node that is asked for transfers, and asks itself: what the
 * code of runtime/rma/far*.c calls, and its start.  For one file of a program.
 */
#ifndef TESTS_RMA_FAR_NODE_H
#define TESTS_RMA_FAR_NODE_H

#include <sys/mman.h>

#include "memory_common.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/rma/far_runs.h"
#include "runtime/rma/state.h"
#include "runtime/shared.h"
#include "tests/unit/refused.h"

enum { NODES = 2, RANKS = 4, ASKER = 3, OTHER = 1, KINDS = 6 };
enum { PAGE = 4096, AREA = 1 << 20, BUFFER = 1 << 18 };

struct runtime runtime;
_Atomic uint32_t *runtime_poisoned;

static struct runtime_shared shared;
static const struct runtime_handler *handlers[KINDS];
static int answers, answer_err;
static size_t answer_bytes;
static bool looped;      /* what is sent arrives here, and so do the answers */
static int asked;        /* the node, and its leader's rank */
static int without = -1; /* for messages to this node there is no memory */
static char *end;        /* of the page for messages */

/* --- What the transfers' code calls --------------------------------------- */

void runtime_handle(uint32_t kind, const struct runtime_handler *handler)
{
    REQUIRE(kind - FAR_PUT < KINDS && handler->by_rank);
    handlers[kind - FAR_PUT] = handler;
}

/* @bytes end where memory ends. */
static void arrive(int from, uint32_t kind, const void *bytes, size_t count)
{
    char *message = end - count;

    if (count)
        memcpy(message, bytes, count);
    handlers[kind - FAR_PUT]->arrived(from, message, count, 0);
}

int progress_answer(int rank, const struct transport_message *m)
{
    static char copy[sizeof(struct far_answer) + FAR_RUNS_BYTES];
    struct far_answer a;

    REQUIRE(rank == ASKER && m->header_bytes >= sizeof(a));
    REQUIRE(m->header_bytes <= sizeof(copy) && !m->pieces_count);
    memcpy(&a, m->header, sizeof(a));
    answers++;
    answer_err = (int)a.err;
    answer_bytes = m->header_bytes - sizeof(a);
    if (looped) {
        memcpy(copy, m->header, m->header_bytes);
        arrive(asked, m->kind, copy, m->header_bytes);
    }
    return 0;
}

/* The whole of it arrives at once: so nobody waits. */
int progress_own_send(const struct runtime_message *m)
{
    REQUIRE(looped && m->node < NODES && !m->pieces_count);
    REQUIRE(m->header_bytes <= FAR_RUNS_BYTES);
    if (m->node == without)
        return DRASYNC_ENOMEM;
    asked = m->node;
    arrive(ASKER, m->kind, m->header, m->header_bytes);
    return 0;
}

int progress_own_wait(struct waiter *waiter)
{
    REQUIRE(!waiter);
    return 0;
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

void waiter_wake(struct waiter *w, int result)
{
    REQUIRE(!w && !result);
}

/* --- The node that is asked, and asks itself ------------------------------ */

static char *area; /* at place 0 */

static void start(void)
{
    static int node_of[RANKS] = {0, 1, 0, 1}, local_of[RANKS] = {0, 0, 1, 1};
    size_t room = FAR_RUNS_BYTES + PAGE;
    char *pages = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(pages != MAP_FAILED);
    end = pages + room;
    REQUIRE(!mprotect(end, PAGE, PROT_NONE));
    node_open(&runtime.space, GIB, 0, NODES, 256 * MIB);
    runtime.ranks = RANKS;
    runtime.nodes = NODES;
    runtime.node_of = node_of;
    runtime.local_of = local_of;
    runtime.shared = &shared;
    runtime_poisoned = control_poison_flag(&runtime.space);
    area = runtime.space.window;
    rma_far_start();
    REQUIRE(!rma_far_open());
    for (int i = 0; i < KINDS; i++)
        REQUIRE(handlers[i]);
}

#endif /* TESTS_RMA_FAR_NODE_H */
