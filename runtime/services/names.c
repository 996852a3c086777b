/*
 * The name service's calls and messages.
 *
 * Whoever looks a name up takes a slot of his node, says so to the manager, and
 * waits in the slot; the manager answers when it has the name, or at once if
 * asked not to wait.  An answer names slot and ticket, and one that comes after
 * its waiter gave up finds another ticket there and is dropped.
 */
#include "runtime/services/names.h"

#include <string.h>

#include "memory/control.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/services/names_table.h"
#include "runtime/shared.h"
#include "runtime/wait.h"
#include "runtime/waiting.h"

#define LOCK_RANK_NAMES 200
#define MANAGER         0

enum names_kind {
    NAMES_PUBLISH = RUNTIME_KIND_NAMES, /* a call */
    NAMES_WITHDRAW,                     /* messages */
    NAMES_LOOKUP,
    NAMES_NAMED,
    NAMES_GIVE_UP,
};

struct names_slot {
    struct waiter waiter;
    _Atomic uint64_t ticket; /* 0: free */
    uint64_t address;
};

struct names_shared {
    struct lock lock; /* of the slots */
    uint64_t tickets;
    struct names_slot slots[NAMES_WAITS_MAX];
    struct names_table table; /* at the manager */
};

/* On the wire. */
struct names_request {
    char name[DRASYNC_NAME_MAX + 1];
    uint64_t address, incarnation;
    uint64_t ticket;
    uint32_t slot;
    uint32_t no_wait;
};

struct names_answer {
    uint64_t ticket, address;
    uint32_t slot;
    int32_t result;
};

static struct names_shared *names;

static int manager(void)
{
    return runtime.node == MANAGER;
}

struct names_table *names_table_here(void)
{
    return &names->table;
}

/* --- At the node that asked ----------------------------------------------- */

static int slot_take(uint32_t *slot_out, uint64_t *ticket_out)
{
    int err = lock_take(&names->lock);

    if (err)
        return err;
    for (uint32_t i = 0; i < NAMES_WAITS_MAX; i++) {
        struct names_slot *s = &names->slots[i];

        if (atomic_load(&s->ticket))
            continue;
        waiter_reset(&s->waiter);
        *slot_out = i;
        *ticket_out = ++names->tickets;
        atomic_store(&s->ticket, *ticket_out);
        lock_give(&names->lock);
        return 0;
    }
    lock_give(&names->lock);
    return DRASYNC_ELIMIT;
}

static void slot_give(uint32_t slot)
{
    if (lock_take(&names->lock))
        return;
    atomic_store(&names->slots[slot].ticket, 0);
    lock_give(&names->lock);
}

static void slot_answer(const struct names_answer *answer)
{
    struct names_slot *s;

    if (answer->slot >= NAMES_WAITS_MAX || lock_take(&names->lock))
        return;
    s = &names->slots[answer->slot];
    if (atomic_load(&s->ticket) == answer->ticket && !waiter_done(&s->waiter)) {
        s->address = answer->address;
        waiter_wake(&s->waiter, answer->result);
    }
    lock_give(&names->lock);
}

/* --- At the manager; all under the table's lock --------------------------- */

static void answer(int node, uint32_t slot, uint64_t ticket, int result,
                   uint64_t address)
{
    const struct names_answer a = {
        .ticket = ticket, .address = address, .slot = slot, .result = result};
    const struct runtime_message m = {.node = node,
                                      .kind = NAMES_NAMED,
                                      .header = &a,
                                      .header_bytes = sizeof(a)};

    if (node == MANAGER)
        slot_answer(&a);
    else if (runtime_send(&m))
        runtime_no_memory("answer a lookup of a name");
}

static int serve_publish(const struct names_request *r)
{
    struct name_want *want;
    int err = lock_take(&names->table.lock);

    if (err)
        return err;
    err = names_table_add(&runtime.space, &names->table, r->name, r->address,
                          r->incarnation);
    while (!err && (want = names_table_wanted(&names->table, r->name))) {
        answer(want->node, want->slot, want->ticket, 0, r->address);
        control_free(&runtime.space, want);
    }
    lock_give(&names->table.lock);
    return err;
}

static void serve_lookup(int node, const struct names_request *r)
{
    struct name_want want = {
        .node = node, .slot = r->slot, .ticket = r->ticket};
    const struct name_entry *entry;
    int err = lock_take(&names->table.lock);

    if (err)
        return;
    entry = names_table_find(&names->table, r->name);
    if (entry) {
        answer(node, r->slot, r->ticket, 0, entry->address);
    } else if (r->no_wait) {
        answer(node, r->slot, r->ticket, DRASYNC_EAGAIN, 0);
    } else {
        memcpy(want.name, r->name, sizeof(want.name));
        err = names_table_want(&runtime.space, &names->table, &want);
        if (err)
            answer(node, r->slot, r->ticket, err, 0);
    }
    lock_give(&names->table.lock);
}

static void serve_give_up(int node, const struct names_request *r)
{
    if (lock_take(&names->table.lock))
        return;
    control_free(&runtime.space, names_table_unwant(&names->table, r->name,
                                                    node, r->slot, r->ticket));
    lock_give(&names->table.lock);
}

static int serve_withdraw(const struct names_region *regions, size_t count)
{
    int err = lock_take(&names->table.lock);

    if (err)
        return err;
    for (size_t i = 0; i < count; i++)
        names_table_drop(&runtime.space, &names->table, regions[i].address,
                         regions[i].incarnation);
    lock_give(&names->table.lock);
    return 0;
}

/* --- Messages ------------------------------------------------------------- */

static int request_valid(const void *header, size_t bytes)
{
    const struct names_request *r = header;

    return bytes == sizeof(*r) && r->name[0] &&
           memchr(r->name, 0, sizeof(r->name)) && manager();
}

static void lookup_arrived(int from, const void *header, size_t bytes,
                           uint64_t context)
{
    (void)context;
    if (request_valid(header, bytes))
        serve_lookup(from, header);
    else
        runtime_broken("node %d sent a broken lookup of a name", from);
}

static void give_up_arrived(int from, const void *header, size_t bytes,
                            uint64_t context)
{
    (void)context;
    if (request_valid(header, bytes))
        serve_give_up(from, header);
    else
        runtime_broken("node %d sent a broken end of a lookup", from);
}

static void named_arrived(int from, const void *header, size_t bytes,
                          uint64_t context)
{
    (void)context;
    if (from == MANAGER && bytes == sizeof(struct names_answer))
        slot_answer(header);
    else
        runtime_broken("node %d sent a broken name", from);
}

static void publish_called(const struct runtime_caller *caller,
                           const void *request, size_t bytes)
{
    int result = request_valid(request, bytes) ? serve_publish(request)
                                               : DRASYNC_EINTERNAL;

    runtime_reply(caller, result, NULL, 0);
}

static void withdraw_arrived(int from, const void *header, size_t bytes,
                             uint64_t context)
{
    (void)context;
    if (manager() && bytes % sizeof(struct names_region) == 0)
        serve_withdraw(header, bytes / sizeof(struct names_region));
    else
        runtime_broken("node %d sent a broken end of names", from);
}

/* --- Calls ---------------------------------------------------------------- */

static void request_fill(struct names_request *r, const char *name)
{
    memset(r, 0, sizeof(*r));
    strncpy(r->name, name, DRASYNC_NAME_MAX);
}

int names_publish(const char *name, uint64_t address, uint64_t incarnation)
{
    struct names_request r;
    size_t got;

    request_fill(&r, name);
    r.address = address;
    r.incarnation = incarnation;
    if (manager())
        return serve_publish(&r);
    return runtime_call(MANAGER, NAMES_PUBLISH, &r, sizeof(r), NULL, 0, &got);
}

static int tell_manager(uint32_t kind, const struct names_request *r)
{
    const struct runtime_message m = {
        .node = MANAGER, .kind = kind, .header = r, .header_bytes = sizeof(*r)};

    if (!manager())
        return runtime_send(&m);
    if (kind == NAMES_LOOKUP)
        serve_lookup(MANAGER, r);
    else
        serve_give_up(MANAGER, r);
    return 0;
}

int names_lookup(const char *name, uint64_t timeout_us, uint64_t *address_out)
{
    uint64_t deadline =
        timeout_us ? wait_deadline_us(timeout_us) : WAIT_FOREVER;
    struct names_request r;
    struct names_slot *s;
    int err, result;

    request_fill(&r, name);
    r.no_wait = timeout_us == 0;
    err = slot_take(&r.slot, &r.ticket);
    if (err)
        return err;
    s = &names->slots[r.slot];
    err = tell_manager(NAMES_LOOKUP, &r);
    if (!err) {
        struct waiting w = {
            .what = WAITING_NAME,
            .name = name,
            .timed = deadline != WAIT_FOREVER,
        };

        waiting_begin(&w);
        runtime_remote_wait(1);
        err = waiter_wait(&s->waiter, deadline, &result);
        runtime_remote_wait(-1);
        waiting_end(&w);
        if (err == DRASYNC_EAGAIN)
            tell_manager(NAMES_GIVE_UP, &r);
        if (!err)
            err = result;
        if (!err)
            *address_out = s->address;
    }
    slot_give(r.slot);
    return err != DRASYNC_EAGAIN ? err : death_refused(err);
}

static bool is_valid(const void *object, size_t bytes)
{
    uint64_t offset =
        (uint64_t)((uintptr_t)object - (uintptr_t)runtime.space.control);

    return (uintptr_t)object % 8 == 0 &&
           offset < runtime.space.layout.control_bytes &&
           bytes <= runtime.space.layout.control_bytes - offset;
}

bool names_look(uint64_t address, char name_out[DRASYNC_NAME_MAX + 1])
{
    const struct names_shared *n =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_NAMES]);
    const struct name_entry *e =
        runtime.node == MANAGER && n && is_valid(n, sizeof(*n))
            ? names_table_look(&n->table, address, is_valid)
            : NULL;

    if (!e)
        return false;
    memcpy(name_out, e->name, DRASYNC_NAME_MAX);
    name_out[DRASYNC_NAME_MAX] = 0;
    return true;
}

int names_withdraw(const struct names_region *regions, size_t count)
{
    const size_t most = RUNTIME_HEADER_BYTES_MAX / sizeof(*regions);
    int err = 0;

    if (manager())
        return serve_withdraw(regions, count);
    for (size_t i = 0; i < count && !err; i += most) {
        size_t n = count - i < most ? count - i : most;
        const struct runtime_message m = {.node = MANAGER,
                                          .kind = NAMES_WITHDRAW,
                                          .header = regions + i,
                                          .header_bytes = n * sizeof(*regions)};

        err = runtime_send(&m);
    }
    return err;
}

/* --- Start ---------------------------------------------------------------- */

static int names_start_leader(void)
{
    struct names_shared *n;
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(*n), &v);

    if (err)
        return err;
    n = v;
    err = lock_init(&n->table.lock, LOCK_RANK_NAMES,
                    control_poison_flag(&runtime.space));
    if (!err)
        err = lock_init(&n->lock, LOCK_RANK_NAMES + 1,
                        control_poison_flag(&runtime.space));
    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_NAMES], v);
    return err;
}

static int names_start(void)
{
    static const struct runtime_handler withdraw = {
        .arrived = withdraw_arrived,
    };
    static const struct runtime_handler lookup = {.arrived = lookup_arrived};
    static const struct runtime_handler named = {.arrived = named_arrived};
    static const struct runtime_handler give_up = {
        .arrived = give_up_arrived,
    };

    names = atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_NAMES]);
    runtime_handle(NAMES_LOOKUP, &lookup);
    runtime_handle(NAMES_NAMED, &named);
    runtime_handle(NAMES_GIVE_UP, &give_up);
    runtime_serve(NAMES_PUBLISH, publish_called);
    names_of_start();
    runtime_handle(NAMES_WITHDRAW, &withdraw);
    return 0;
}

/* Who waits for a name does not come by these locks, and would not learn that the
 * rank died with one. */
static void names_rank_died(int rank)
{
    (void)rank;
    if (!lock_take(&names->table.lock))
        lock_give(&names->table.lock);
    if (!lock_take(&names->lock))
        lock_give(&names->lock);
}

const struct runtime_module names_module = {
    .name = "names",
    .start_leader = names_start_leader,
    .start = names_start,
    .rank_died = names_rank_died,
};
