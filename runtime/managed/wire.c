/* What nodes ask and tell each other of managed regions. */
#include "runtime/managed/far.h"
#include "runtime/managed/state.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"

enum managed_kind {
    MANAGED_ASK = RUNTIME_KIND_MANAGED, /* calls */
    MANAGED_HAND,
    MANAGED_COUNT, /* messages */
    MANAGED_END,
    MANAGED_FAR, /* calls */
    MANAGED_LINKED,
};

_Static_assert((int)MANAGED_LINKED < (int)RUNTIME_KIND_TEST,
               "the kinds fit the range");

struct counted {
    uint64_t address, incarnation;
    int64_t by;
    int32_t node;
    int32_t wants_end;
};

/* More references than a node can have: no message says that. */
#define COUNT_MAX (INT64_C(1) << 40)

struct named {
    uint64_t address, incarnation;
};

/* --- To the home ---------------------------------------------------------- */

/* At home, for @node. */
static int answer(int node, const struct managed_asked *a)
{
    switch (a->what) {
    case REFS_ASK_LINK:
        return managed_home_link(a->address, a->incarnation, a->to,
                                 a->to_incarnation);
    case REFS_ASK_UNLINK:
        return managed_home_unlink(a->address, a->incarnation, a->to);
    default:
        return managed_home_ask(node, (enum refs_ask)a->what, a->address,
                                a->incarnation);
    }
}

int managed_ask(int home, const struct managed_asked *asked)
{
    size_t got;

    return home == runtime.node
               ? answer(home, asked)
               : runtime_call_helping(home, MANAGED_ASK, asked, sizeof(*asked),
                                      NULL, 0, &got);
}

static void ask_called(const struct runtime_caller *caller, const void *request,
                       size_t bytes)
{
    int err = DRASYNC_EINTERNAL;
    struct managed_asked a;

    if (bytes == sizeof(a)) {
        memcpy(&a, request, sizeof(a));
        err = answer(caller->node, &a);
    }
    runtime_reply(caller, err, NULL, 0);
}

int managed_count(int home, int node, uint64_t address, uint64_t incarnation,
                  int64_t by, bool wants_end)
{
    const struct counted c = {address, incarnation, by, node, wants_end};
    const struct runtime_message m = {
        .node = home,
        .kind = MANAGED_COUNT,
        .header = &c,
        .header_bytes = sizeof(c),
        .late = true,
    };

    return home == runtime.node
               ? managed_home_count(node, address, incarnation, by, wants_end)
               : runtime_send(&m);
}

static void counted(int from, const void *header, size_t bytes,
                    uint64_t context)
{
    struct counted c;
    int err;

    (void)context;
    if (bytes != sizeof(c))
        return;
    memcpy(&c, header, sizeof(c));
    if (c.node < 0 || c.node >= runtime.nodes || c.node == runtime.node)
        return;
    if (c.by < -COUNT_MAX || c.by > COUNT_MAX) {
        runtime_broken("node %d counts %" PRId64 " references to a region",
                       from, c.by);
        return;
    }
    err = managed_home_count(c.node, c.address, c.incarnation, c.by,
                             c.wants_end != 0);
    /* Deleted: by drasync_delete() of a node that did not know. */
    if (err == DRASYNC_ENOMEM)
        runtime_no_memory("count references to region %p",
                          (void *)(uintptr_t)c.address);
}

/* --- To a node ------------------------------------------------------------ */

int managed_hand(int node, const struct managed_name *name, bool *listed_out)
{
    uint8_t listed = 0;
    size_t got = 0;
    int err = runtime_call_helping(node, MANAGED_HAND, name, sizeof(*name),
                                   &listed, sizeof(listed), &got);

    *listed_out = listed != 0;
    return err ? err : got == sizeof(listed) ? 0 : DRASYNC_EINTERNAL;
}

/* Does what @n says of its home fit what is known here?  This node as the home of
 * what it does not manage would tell itself of a reference, under a lock that it
 * has already. */
static bool home_fits(const struct managed_entry *e,
                      const struct managed_name *n)
{
    return e->home_node == n->home && e->refs.home == (n->home == runtime.node);
}

/* A reference for this node. */
static int take(const struct managed_name *n, uint8_t *listed_out)
{
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(n->address);
    if (err)
        return err;
    e = managed_entry(n->address, n->incarnation, n->home);
    if (!e) {
        err = DRASYNC_ENOMEM;
    } else if (!home_fits(e, n)) {
        managed_drop(e);
        err = DRASYNC_EDELETED;
    } else {
        *listed_out = refs_given(&e->refs);
    }
    managed_unlock(n->address);
    return err;
}

static void handed(const struct runtime_caller *caller, const void *request,
                   size_t bytes)
{
    int err = DRASYNC_EINTERNAL;
    uint8_t listed = 0;
    struct managed_name n;

    if (bytes == sizeof(n)) {
        memcpy(&n, request, sizeof(n));
        if (n.home >= 0 && n.home < runtime.nodes)
            err = take(&n, &listed);
    }
    runtime_reply(caller, err, &listed, sizeof(listed));
}

int managed_tell_end(int node, uint64_t address, uint64_t incarnation)
{
    const struct named n = {address, incarnation};
    const struct runtime_message m = {
        .node = node,
        .kind = MANAGED_END,
        .header = &n,
        .header_bytes = sizeof(n),
        .late = true,
    };

    return runtime_send(&m);
}

static void end_arrived(int from, const void *header, size_t bytes,
                        uint64_t context)
{
    struct managed_entry *e;
    struct named n;

    (void)from;
    (void)context;
    if (bytes != sizeof(n))
        return;
    memcpy(&n, header, sizeof(n));
    if (!managed_get() || managed_lock(n.address))
        return;
    e = managed_find(n.address, n.incarnation);
    if (e)
        managed_ended(e);
    managed_unlock(n.address);
}

/* --- Circles over several nodes (far.c, far_node.c) ------------------------ */

int managed_far_ask(int node, const struct far_request *request, size_t bytes,
                    void *reply, size_t reply_max, size_t *reply_bytes_out)
{
    return node == runtime.node
               ? managed_far_answer(request, bytes, reply, reply_max,
                                    reply_bytes_out)
               : runtime_call_helping(node, MANAGED_FAR, request, bytes, reply,
                                      reply_max, reply_bytes_out);
}

static void far_called(const struct runtime_caller *caller, const void *request,
                       size_t bytes)
{
    /* Of the progress thread. */
    static _Alignas(16) char reply[FAR_REPLY_BYTES_MAX];
    size_t reply_bytes = 0;
    int err =
        managed_far_answer(request, bytes, reply, sizeof(reply), &reply_bytes);

    runtime_reply(caller, err, reply, reply_bytes);
}

/* --- Checked mode (linked.c) ----------------------------------------------- */

int managed_linked_ask(int node, struct linked *l)
{
    size_t bytes = LINKED_BYTES(l->count), got;
    int err;

    if (node == runtime.node)
        return managed_linked_answer(l);
    err = runtime_call_helping(node, MANAGED_LINKED, l, bytes, l, sizeof(*l),
                               &got);
    return !err && got != bytes ? DRASYNC_EINTERNAL : err;
}

static void linked_called(const struct runtime_caller *caller,
                          const void *request, size_t bytes)
{
    /* Of the progress thread. */
    static struct linked l;
    int err = DRASYNC_EINTERNAL;

    if (bytes >= LINKED_BYTES(0) && bytes <= sizeof(l)) {
        memcpy(&l, request, bytes);
        if (l.count <= LINKED_MAX && bytes == LINKED_BYTES(l.count))
            err = managed_linked_answer(&l);
    }
    runtime_reply(caller, err, &l, err ? 0 : bytes);
}

void managed_wire_start(void)
{
    static const struct runtime_handler count = {.arrived = counted};
    static const struct runtime_handler end = {.arrived = end_arrived};

    runtime_serve(MANAGED_ASK, ask_called);
    runtime_serve(MANAGED_HAND, handed);
    runtime_serve(MANAGED_FAR, far_called);
    runtime_serve(MANAGED_LINKED, linked_called);
    runtime_handle(MANAGED_COUNT, &count);
    runtime_handle(MANAGED_END, &end);
}
