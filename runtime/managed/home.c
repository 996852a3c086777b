/* The home of managed regions: who refers to them, and their end. */
#include "runtime/managed/state.h"

#include <string.h>

#include "memory/control.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* --- Who refers to a region ----------------------------------------------- */

/* What is known of @node, made if need be; NULL: no memory. */
static struct managed_node *node_of(struct managed_entry *e, int node)
{
    uint32_t room = e->nodes_room ? 2 * e->nodes_room : 2;
    struct managed_node *n;
    void *v;

    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].node == node)
            return &e->nodes[i];
    if (e->nodes_count == e->nodes_room) {
        if (control_alloc(&runtime.space, room * sizeof(*n), &v))
            return NULL;
        if (e->nodes_count)
            memcpy(v, e->nodes, e->nodes_count * sizeof(*n));
        control_free(&runtime.space, e->nodes);
        e->nodes = v;
        e->nodes_room = room;
    }
    n = &e->nodes[e->nodes_count++];
    *n = (struct managed_node){.node = node};
    return n;
}

static void node_drop(struct managed_entry *e, struct managed_node *n)
{
    if (!n->listed && !n->wants_end)
        *n = e->nodes[--e->nodes_count];
}

static bool is_unused(const struct managed_entry *e)
{
    if (e->references)
        return false;
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].listed)
            return false;
    return true;
}

/* Onto a list, which has no lock of an address. */
static void list(struct managed_entry **head, _Atomic uint64_t *count,
                 struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();

    if (lock_take(&shared->list))
        return;
    e->unused_next = *head;
    *head = e;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    lock_give(&shared->list);
}

void managed_home_look(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();

    if (!e->home || e->use != MANAGED_USED || !is_unused(e))
        return;
    e->use = MANAGED_UNUSED;
    list(&shared->fresh, &shared->counts.fresh, e);
}

/* --- What nodes ask and tell ---------------------------------------------- */

static int begin(struct managed_entry **e_out, uint64_t address,
                 uint64_t incarnation)
{
    struct managed_entry *e = managed_entry(address, incarnation);

    if (!e)
        return DRASYNC_ENOMEM;
    *e_out = e;
    if (e->home)
        return DRASYNC_EMANAGED;
    e->home = true;
    e->use = MANAGED_USED;
    atomic_fetch_add_explicit(&managed_get()->counts.managed, 1,
                              memory_order_relaxed);
    return 0;
}

/* Count @by for @node, under the lock. */
static int count(struct managed_entry *e, int node, int64_t by, bool wants_end)
{
    struct managed_node *n;

    if (node == runtime.node) {
        e->references += by;
    } else {
        n = node_of(e, node);
        if (!n)
            return DRASYNC_ENOMEM;
        n->listed += by;
        n->wants_end = n->wants_end || wants_end;
        node_drop(e, n);
    }
    managed_home_look(e);
    return 0;
}

/* A first reference is lost for lack of memory: the entry too. */
static int begin_with(int node, uint64_t address, uint64_t incarnation)
{
    struct managed_entry *e = NULL;
    int err = begin(&e, address, incarnation);

    if (err)
        return err;
    err = count(e, node, 1, false);
    if (err) {
        e->home = false;
        managed_drop(e);
    }
    return err;
}

int managed_home_ask(int node, enum managed_ask what, uint64_t address,
                     uint64_t incarnation)
{
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(address);
    if (err)
        return err;
    e = managed_find(address, incarnation);
    if (what == MANAGED_ASK_MANAGE)
        err = begin_with(node, address, incarnation);
    else if (!e || !e->home)
        err = DRASYNC_EDELETED;
    else if (e->use == MANAGED_ENDING)
        err = DRASYNC_EAGAIN;
    else if (what == MANAGED_ASK_REF)
        err = count(e, node, 1, false);
    managed_unlock(address);
    return err;
}

int managed_home_count(int node, uint64_t address, uint64_t incarnation,
                       int64_t by, bool wants_end)
{
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(address);
    if (err)
        return err;
    e = managed_find(address, incarnation);
    err = e && e->home ? count(e, node, by, wants_end) : DRASYNC_EDELETED;
    managed_unlock(address);
    return err;
}

/* --- Ending --------------------------------------------------------------- */

/* The first of the fresh ones, or with @all of those that linger, too. */
static struct managed_entry *pop(struct managed_entry **head,
                                 _Atomic uint64_t *count)
{
    struct managed_entry *e;

    if (lock_take(&managed_get()->list))
        return NULL;
    e = *head;
    if (e) {
        *head = e->unused_next;
        atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    }
    lock_give(&managed_get()->list);
    return e;
}

/* The region is gone: tell those who want to know. */
static void gone(struct managed_entry *e)
{
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].wants_end &&
            managed_tell_end(e->nodes[i].node, e->address, e->incarnation))
            runtime_poison("no memory to tell of the end of region %p",
                           (void *)(uintptr_t)e->address);
    e->home = false;
    atomic_fetch_add_explicit(&managed_get()->counts.ended, 1,
                              memory_order_relaxed);
    managed_ended(e);
}

/* Which region has that address now, and does this rank hold it?  A home that
 * gave it away may have to ask its owner. */
static int identify(drasync_region_t region, struct native_identity *now)
{
    int err = native_identify(region, now);

    if (err != DRASYNC_ENOREGION)
        return err;
    *now = (struct native_identity){0};
    return native_ask_incarnation(region, &now->incarnation);
}

/* Delete it, if it is still the region that was managed, and not held. */
static int delete_unused(uint64_t address, uint64_t incarnation)
{
    drasync_region_t region = (drasync_region_t)(uintptr_t)address;
    bool taken = native_take_again(region);
    struct native_identity now;
    int err = identify(region, &now);

    if (!err && now.held && !taken)
        err = DRASYNC_EBUSY;
    if (!err && now.incarnation != incarnation)
        err = DRASYNC_ENOREGION;
    if (!err)
        err = native_delete(region);
    if (err && taken)
        native_release(region);
    return err;
}

static bool is_gone(int err)
{
    return !err || err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED;
}

int managed_home_gone(struct managed_entry *e)
{
    uint64_t address = e->address;
    struct managed_link *links;
    int err = managed_lock(address);

    if (err)
        return err;
    links = e->links;
    e->links = NULL;
    gone(e);
    managed_unlock(address);
    managed_links_end(links);
    return 0;
}

/* End @e, which was taken off its list. */
static int end(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();
    uint64_t address = e->address, incarnation = e->incarnation;
    int err = managed_lock(address);

    if (err)
        return err;
    if (!is_unused(e)) {
        e->use = MANAGED_USED;
        managed_unlock(address);
        return 0;
    }
    /* From here to its end nobody gets a reference. */
    e->use = MANAGED_ENDING;
    managed_unlock(address);
    err = delete_unused(address, incarnation);
    if (is_gone(err))
        return managed_home_gone(e);
    if (managed_lock(address))
        return DRASYNC_EPEER;
    e->use = MANAGED_UNUSED;
    list(&shared->lingering, &shared->counts.lingering, e);
    managed_unlock(address);
    return err == DRASYNC_EPEER ? err : 0;
}

int managed_home_end(bool all)
{
    struct managed_shared *shared = managed_get();
    struct managed_entry *e;
    uint64_t left;
    int err = 0;

    if (!shared)
        return 0;
    /* Those that come back to the list meanwhile wait for the next time. */
    left = all ? atomic_load_explicit(&shared->counts.lingering,
                                      memory_order_relaxed)
               : 0;
    while (!err && left-- &&
           (e = pop(&shared->lingering, &shared->counts.lingering)))
        err = end(e);
    /* None comes back to this one, but what an end leaves without a reference
     * comes to it. */
    while (!err &&
           atomic_load_explicit(&shared->counts.fresh, memory_order_relaxed) &&
           (e = pop(&shared->fresh, &shared->counts.fresh)))
        err = end(e);
    return err;
}
