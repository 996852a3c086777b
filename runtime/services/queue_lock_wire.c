/*
 * The messages of locks: what they hold, sending them, and what the progress
 * thread does when they come.
 */
#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/services/queue_lock.h"
#include "runtime/services/queue_lock_state.h"
#include "runtime/shared.h"

enum {
    LOCK_ASK = RUNTIME_KIND_QUEUE_LOCK,
    LOCK_GIVEN,
    LOCK_FOLLOW,
    LOCK_LEFT,
    LOCK_PUSH,
    LOCK_PUSHED,
};

/* On the wire. */
struct lock_ask {
    uint64_t tail, who;
    uint64_t try;
};

struct lock_given {
    uint64_t who;
    int64_t result;
};

struct lock_follow {
    uint64_t before, who;
};

struct lock_left {
    uint64_t tail, who;
};

/* There and back. */
struct lock_push {
    uint64_t tail, who;
};

/* --- Sending -------------------------------------------------------------- */

static int tell(int node, uint32_t kind, const void *header, size_t bytes)
{
    const struct runtime_message m = {
        .node = node,
        .kind = kind,
        .header = header,
        .header_bytes = bytes,
        .late = kind == LOCK_LEFT,
    };

    return runtime_send(&m);
}

int queue_tell_ask(int node, uint64_t tail, uint64_t who, bool try)
{
    const struct lock_ask m = {.tail = tail, .who = who, .try = try};

    return tell(node, LOCK_ASK, &m, sizeof(m));
}

int queue_tell_follow(uint64_t before, uint64_t who)
{
    const struct lock_follow m = {.before = before, .who = who};

    return tell(queue_node(before), LOCK_FOLLOW, &m, sizeof(m));
}

int queue_tell_given(uint64_t who, int result)
{
    const struct lock_given m = {.who = who, .result = result};

    return tell(queue_node(who), LOCK_GIVEN, &m, sizeof(m));
}

int queue_tell_left(int node, uint64_t tail, uint64_t who)
{
    const struct lock_left m = {.tail = tail, .who = who};

    return tell(node, LOCK_LEFT, &m, sizeof(m));
}

int queue_tell_push(uint64_t last, uint64_t tail, uint64_t who)
{
    const struct lock_push m = {.tail = tail, .who = who};

    return tell(queue_node(last), LOCK_PUSH, &m, sizeof(m));
}

/* --- Arriving ------------------------------------------------------------- */

static struct queue_tail *tail_at(uint64_t address)
{
    struct queue_tail *tail = (void *)(uintptr_t)address;

    passed_far_take();
    if (!control_plausible(&runtime.space, tail, sizeof(*tail)) ||
        tail->magic != TAIL_MAGIC)
        return NULL;
    return tail;
}

static bool entry_here(uint64_t name)
{
    struct queue_entry *e = queue_entry_of(name);
    bool here;

    passed_far_take();
    here = (name & NAME_BIT) && queue_is_here(name) &&
           control_plausible(&runtime.space, e, sizeof(*e)) &&
           e->magic == ENTRY_MAGIC;
    passed_far_give();
    return here;
}

static bool waits_here(uint64_t name)
{
    return entry_here(name) && !waiter_done(&queue_entry_of(name)->waiter);
}

static bool is_elsewhere(uint64_t name)
{
    return (name & NAME_BIT) && !queue_is_here(name) &&
           queue_node(name) < runtime.nodes;
}

static void answer(uint64_t who, int result)
{
    if (queue_give(who, result))
        runtime_no_memory("give a lock");
}

/* The node of who tries has nothing under way: that would be here already. */
static void try_arrived(struct queue_tail *tail, uint64_t who)
{
    uint64_t last = queue_try(tail, who);

    if (!last || queue_is_here(last) || queue_node(last) == queue_node(who))
        answer(who, last ? DRASYNC_EAGAIN : 0);
    else if (queue_tell_push(last, (uintptr_t)tail, who))
        runtime_no_memory("try a lock");
}

static void ask_arrived(int from, const void *header, size_t bytes,
                        uint64_t context)
{
    const struct lock_ask *m = header;
    struct queue_tail *tail = bytes == sizeof(*m) ? tail_at(m->tail) : NULL;

    (void)context;
    if (!tail || !is_elsewhere(m->who) || queue_node(m->who) != from)
        runtime_broken("node %d asked for a lock that is none", from);
    else if (m->try)
        try_arrived(tail, m->who);
    else if (!queue_ask(tail, m->who))
        answer(m->who, 0);
}

static void given_arrived(int from, const void *header, size_t bytes,
                          uint64_t context)
{
    const struct lock_given *m = header;

    (void)context;
    if (bytes == sizeof(*m) && waits_here(m->who))
        waiter_wake(&queue_entry_of(m->who)->waiter, (int)m->result);
    else
        runtime_broken("node %d gave a lock that nobody asked for", from);
}

static void follow_arrived(int from, const void *header, size_t bytes,
                           uint64_t context)
{
    const struct lock_follow *m = header;

    (void)context;
    if (bytes != sizeof(*m) || !entry_here(m->before) ||
        !(queue_is_here(m->who) ? entry_here(m->who) : is_elsewhere(m->who)))
        runtime_broken("node %d waits for a lock that is none", from);
    else if (!queue_follow(m->before, m->who))
        answer(m->who, 0);
}

static void left_arrived(int from, const void *header, size_t bytes,
                         uint64_t context)
{
    const struct lock_left *m = header;
    struct queue_tail *tail = bytes == sizeof(*m) ? tail_at(m->tail) : NULL;

    (void)context;
    if (!tail || !is_elsewhere(m->who) || queue_node(m->who) != from) {
        runtime_broken("node %d left a lock that is none", from);
        return;
    }
    queue_leave(tail, m->who);
    /* Nothing of it is used after that: it may be the last. */
    passed_far_give();
    atomic_fetch_add(&tail->left, 1);
    doorbell_ring(&runtime.shared->call_doorbell);
}

static void push_arrived(int from, const void *header, size_t bytes,
                         uint64_t context)
{
    (void)context;
    if (bytes != sizeof(struct lock_push))
        runtime_broken("node %d tries a lock that is none", from);
    else if (tell(from, LOCK_PUSHED, header, bytes))
        runtime_no_memory("try a lock");
}

/* Whoever is the last now was not when the try began, or has the lock. */
static void pushed_arrived(int from, const void *header, size_t bytes,
                           uint64_t context)
{
    const struct lock_push *m = header;
    struct queue_tail *tail = bytes == sizeof(*m) ? tail_at(m->tail) : NULL;

    (void)context;
    if (!tail ||
        !(queue_is_here(m->who) ? waits_here(m->who) : is_elsewhere(m->who)))
        runtime_broken("node %d answered for a lock that is none", from);
    else
        answer(m->who, queue_try(tail, m->who) ? DRASYNC_EAGAIN : 0);
}

static int queue_lock_start(void)
{
    static const struct runtime_handler ask = {.arrived = ask_arrived};
    static const struct runtime_handler given = {.arrived = given_arrived};
    static const struct runtime_handler follow = {.arrived = follow_arrived};
    static const struct runtime_handler left = {.arrived = left_arrived};
    static const struct runtime_handler push = {.arrived = push_arrived};
    static const struct runtime_handler pushed = {.arrived = pushed_arrived};

    runtime_handle(LOCK_ASK, &ask);
    runtime_handle(LOCK_GIVEN, &given);
    runtime_handle(LOCK_FOLLOW, &follow);
    runtime_handle(LOCK_LEFT, &left);
    runtime_handle(LOCK_PUSH, &push);
    runtime_handle(LOCK_PUSHED, &pushed);
    return 0;
}

const struct runtime_module queue_lock_module = {
    .name = "queue_lock",
    .start = queue_lock_start,
};
