/*
 * The agent: a thread that reads and changes private memory of this process for
 * others, which cannot reach it.
 *
 * A thread that asks puts an ask, in control memory, on a stack of the rank,
 * and waits.  For another node the progress thread puts it there, and the agent
 * sends the answer.  While a rank has no agent its stack is closed, and asks
 * are refused; whoever closes it takes the asks that are on it and refuses them
 * too.
 *
 * Orders.  The exchange by which put() pushes an ask (release) pairs with that
 * of take() (acquire): the ask is whole.  Two of Dekker's pairs, all
 * sequentially consistent, keep the agent from sleeping on work: put() writes
 * `head`, and agent_end() `ending`, then exchanges `asleep`; agent_main()
 * writes `asleep`, then reads both.  So it is woken, or sees what was written.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/rma/state.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/thread.h"

struct rma_ask {
    struct rma_ask *next;
    struct rma_sizes sizes;
    struct rma_request request;
    bool remote;
    struct runtime_caller caller; /* if so */
    struct waiter waiter;         /* if not */
    _Alignas(16) char data[];
};

/* The stack of a rank that has no agent. */
#define CLOSED ((struct rma_ask *)(void *)rma_shared)

/* Begin and end of announcements, and so of the agent. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool started;
static _Atomic bool ending;

static struct rma_peer *peer_of(int rank)
{
    return &rma_shared->peers[runtime.local_of[rank]];
}

static struct rma_peer *self(void)
{
    return &rma_shared->peers[runtime.local];
}

/* --- Asking --------------------------------------------------------------- */

static int ask_new(const struct rma_request *request,
                   const struct rma_sizes *sizes, const void *in,
                   struct rma_ask **ask_out)
{
    size_t room = sizes->in > sizes->out ? sizes->in : sizes->out;
    struct rma_ask *ask;
    void *v;
    int err = control_alloc(&runtime.space, sizeof(*ask) + room, &v);

    if (err)
        return err;
    ask = v;
    ask->request = *request;
    ask->sizes = *sizes;
    ask->remote = false;
    waiter_reset(&ask->waiter);
    if (sizes->in)
        memcpy(ask->data, in, sizes->in);
    *ask_out = ask;
    return 0;
}

/* DRASYNC_EINVAL: the rank has no agent. */
static int put(struct rma_peer *peer, struct rma_ask *ask)
{
    struct rma_ask *head = atomic_load(&peer->head);

    do {
        if (head == CLOSED)
            return DRASYNC_EINVAL;
        ask->next = head;
        passed_give();
    } while (!atomic_compare_exchange_weak(&peer->head, &head, ask));
    if (atomic_exchange(&peer->asleep, 0))
        wait_futex_wake(&peer->asleep, 1);
    return 0;
}

int rma_agent_ask(const struct rma_request *request,
                  const struct rma_sizes *sizes, const void *in, void *out)
{
    struct rma_ask *ask;
    int result, err = ask_new(request, sizes, in, &ask);

    if (err)
        return err;
    err = put(peer_of(request->rank), ask);
    if (!err) {
        err = waiter_wait(&ask->waiter, WAIT_FOREVER, &result);
        if (err)
            return err; /* poisoned; it may be used still */
        err = result;
    }
    if (!err && out && sizes->out)
        memcpy(out, ask->data, sizes->out);
    control_free(&runtime.space, ask);
    return err;
}

int rma_agent_pass(const struct rma_request *request,
                   const struct rma_sizes *sizes, const void *in,
                   const struct runtime_caller *caller)
{
    struct rma_ask *ask;
    int err = ask_new(request, sizes, in, &ask);

    if (err)
        return err;
    ask->remote = true;
    ask->caller = *caller;
    err = put(peer_of(request->rank), ask);
    if (err)
        control_free(&runtime.space, ask);
    return err;
}

/* --- The thread ----------------------------------------------------------- */

static void answer(struct rma_ask *ask, int result)
{
    if (!ask->remote) {
        waiter_wake(&ask->waiter, result);
        return;
    }
    if (runtime_reply(&ask->caller, result, ask->data,
                      result ? 0 : ask->sizes.out))
        runtime_no_memory("answer another node");
    control_free(&runtime.space, ask);
}

static int serve(struct rma_ask *ask)
{
    const struct rma_request *r = &ask->request;
    void *address;
    int err = rma_reach(runtime.rank, r->place, ask->sizes.span, &address);

    if (err)
        return err;
    passed_unseen_begin();
    err = rma_request_do(r, address, ask->data);
    passed_unseen_end();
    return err;
}

/* Take the stack, leave @head there, and serve what was on it, the oldest
 * first; or refuse.  True if there was anything. */
static bool take(struct rma_ask *head, bool refuse)
{
    struct rma_ask *stack = atomic_exchange(&self()->head, head);
    struct rma_ask *first = NULL, *next;

    passed_take();
    if (stack == CLOSED || !stack)
        return false;
    for (; stack; stack = next) {
        next = stack->next;
        stack->next = first;
        first = stack;
    }
    for (; first; first = next) {
        next = first->next;
        answer(first, refuse ? DRASYNC_EINVAL : serve(first));
    }
    return true;
}

static void *agent_main(void *unused)
{
    struct rma_peer *peer = self();

    (void)unused;
    limit_reserve_enter();
    prctl(PR_SET_NAME, "drasync-agent");
    progress_short_slice();
    while (!atomic_load(&ending)) {
        if (take(NULL, false))
            continue;
        atomic_store(&peer->asleep, 1);
        if (!atomic_load(&peer->head) && !atomic_load(&ending))
            wait_futex(&peer->asleep, 1, WAIT_FOREVER);
        atomic_store(&peer->asleep, 0);
    }
    return NULL;
}

/* The mutex is held in both. */
static int agent_start(void)
{
    int err;

    /* Alone, its progress thread can do what is asked. */
    if (started || runtime.locals == 1)
        return 0;
    atomic_store(&ending, false);
    atomic_store(&self()->head, NULL);
    err = thread_create(&thread, agent_main, NULL);
    if (err) {
        take(CLOSED, true);
        return DRASYNC_ENOMEM;
    }
    started = true;
    return 0;
}

static void agent_end(void)
{
    struct rma_peer *peer = self();

    if (!started)
        return;
    started = false;
    atomic_store(&ending, true);
    if (atomic_exchange(&peer->asleep, 0))
        wait_futex_wake(&peer->asleep, 1);
    pthread_join(thread, NULL);
    take(CLOSED, true);
}

/* --- Announcing ----------------------------------------------------------- */

static int announced(const void *address, size_t bytes)
{
    uint64_t place;
    int err = rma_running();

    if (!err)
        err = rma_place_of(address, bytes, &place);
    if (err)
        return err == DRASYNC_EPEER || err == DRASYNC_ENOTREADY
                   ? err
                   : DRASYNC_EINVAL;
    return place & RMA_PRIVATE ? 0 : DRASYNC_EINVAL;
}

int rma_private_begin(void *address, size_t bytes)
{
    bool first, last;
    int err = announced(address, bytes);

    if (err || !bytes)
        return err;
    pthread_mutex_lock(&mutex);
    err = rma_ranges_add(&self()->ranges, (uintptr_t)address, bytes, &first);
    if (!err && first) {
        err = agent_start();
        if (err)
            rma_ranges_remove(&self()->ranges, (uintptr_t)address, bytes,
                              &last);
    }
    pthread_mutex_unlock(&mutex);
    return err;
}

int rma_private_end(void *address, size_t bytes)
{
    bool last;
    int err = announced(address, bytes);

    if (err || !bytes)
        return err;
    pthread_mutex_lock(&mutex);
    err = rma_ranges_remove(&self()->ranges, (uintptr_t)address, bytes, &last);
    if (!err && last)
        agent_end();
    pthread_mutex_unlock(&mutex);
    return err;
}

void rma_agent_leave(void)
{
    if (!rma_shared)
        return;
    pthread_mutex_lock(&mutex);
    rma_ranges_clear(&self()->ranges);
    agent_end();
    pthread_mutex_unlock(&mutex);
}

int rma_peers_init(struct rma_shared *shared, int locals,
                   _Atomic uint32_t *poison)
{
    void *peers;
    int err = control_alloc_zero(
        &runtime.space, (size_t)locals * sizeof(*shared->peers), &peers);

    if (err)
        return err;
    shared->peers = peers;
    for (int i = 0; i < locals && !err; i++) {
        err = lock_init(&shared->peers[i].ranges.lock, LOCK_RANK_RMA, poison);
        atomic_store(&shared->peers[i].head, (struct rma_ask *)(void *)shared);
    }
    return err;
}
