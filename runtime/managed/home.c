/* The home of managed regions: who refers to them, and their end. */
#include "runtime/managed/state.h"

#include "memory/control.h"
#include "runtime/native/native.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/survive.h"

/* --- Who refers to a region ----------------------------------------------- */

/* Onto the end of a list, which has no lock of an address. */
static void put(struct managed_list *list, _Atomic uint64_t *count,
                struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();

    if (lock_take(&shared->list))
        return;
    if (!atomic_load_explicit(&e->listed, memory_order_relaxed)) {
        atomic_store_explicit(&e->listed, true, memory_order_relaxed);
        e->unused_next = NULL;
        if (list->first)
            list->last->unused_next = e;
        else
            list->first = e;
        list->last = e;
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    }
    lock_give(&shared->list);
}

/* Off @list, under its lock. */
static void take_off(struct managed_list *list, _Atomic uint64_t *count,
                     const struct managed_entry *e)
{
    struct managed_entry *before = NULL, *at = list->first;

    while (at && at != e) {
        before = at;
        at = at->unused_next;
    }
    if (!at)
        return;
    if (before)
        before->unused_next = at->unused_next;
    else
        list->first = at->unused_next;
    if (list->last == at)
        list->last = before;
    atomic_store_explicit(&at->listed, false, memory_order_relaxed);
    atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
}

/* What has ended is on no list: only what another node says that is not so could
 * have put it there. */
static void unlist(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();

    if (!atomic_load_explicit(&e->listed, memory_order_relaxed) ||
        lock_take(&shared->list))
        return;
    take_off(&shared->fresh, &shared->counts.fresh, e);
    take_off(&shared->lingering, &shared->counts.lingering, e);
    lock_give(&shared->list);
}

void managed_home_look(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();

    if (refs_look(&e->refs))
        put(&shared->fresh, &shared->counts.fresh, e);
}

/* --- What nodes ask and tell ---------------------------------------------- */

static int begin(struct managed_entry **e_out, uint64_t address,
                 uint64_t incarnation)
{
    struct managed_entry *e = managed_entry(address, incarnation, runtime.node);
    int err;

    if (!e)
        return DRASYNC_ENOMEM;
    *e_out = e;
    err = refs_begin(&e->refs);
    if (!err)
        atomic_fetch_add_explicit(&managed_get()->counts.managed, 1,
                                  memory_order_relaxed);
    return err;
}

/* Count @by for @node, under the lock. */
static int count(struct managed_entry *e, int node, int64_t by, bool wants_end)
{
    uint32_t room = refs_room(&e->refs, runtime.node, node);
    void *v;

    if (room) {
        if (control_alloc(&runtime.space, room * sizeof(struct refs_node), &v))
            return DRASYNC_ENOMEM;
        control_free(&runtime.space, refs_grow(&e->refs, v, room));
    }
    refs_count(&e->refs, runtime.node, node, by, wants_end);
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
        e->refs.home = false;
        managed_drop(e);
        atomic_fetch_sub_explicit(&managed_get()->counts.managed, 1,
                                  memory_order_relaxed);
    }
    return err;
}

int managed_home_ask(int node, enum refs_ask what, uint64_t address,
                     uint64_t incarnation)
{
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(address);
    if (err)
        return err;
    e = managed_find(address, incarnation);
    if (what == REFS_ASK_MANAGE)
        err = begin_with(node, address, incarnation);
    else
        err = refs_asked(e ? &e->refs : NULL);
    if (!err && what == REFS_ASK_REF)
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
    err = e && e->refs.home ? count(e, node, by, wants_end) : DRASYNC_EDELETED;
    managed_unlock(address);
    return err;
}

/* --- Ending --------------------------------------------------------------- */

/* The first of @list, or NULL. */
static struct managed_entry *pop(struct managed_list *list,
                                 _Atomic uint64_t *count)
{
    struct managed_entry *e;

    if (lock_take(&managed_get()->list))
        return NULL;
    e = list->first;
    if (e) {
        list->first = e->unused_next;
        atomic_store_explicit(&e->listed, false, memory_order_relaxed);
        atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    }
    lock_give(&managed_get()->list);
    return e;
}

/* The region is gone: tell those who want to know. */
static void gone(struct managed_entry *e)
{
    for (uint32_t i = 0; i < e->refs.nodes_count; i++)
        if (e->refs.nodes[i].wants_end &&
            managed_tell_end(e->refs.nodes[i].node, e->refs.address,
                             e->refs.incarnation))
            runtime_no_memory("tell of the end of region %p",
                              (void *)(uintptr_t)e->refs.address);
    unlist(e);
    e->refs.home = false;
    atomic_fetch_add_explicit(&managed_get()->counts.ended, 1,
                              memory_order_relaxed);
    managed_ended(e);
}

static bool is_gone(int err)
{
    return !err || err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED;
}

int managed_home_gone(struct managed_entry *e)
{
    uint64_t address = e->refs.address;
    struct refs_link *links;
    int err = managed_lock(address);

    if (err)
        return err;
    links = e->refs.links;
    e->refs.links = NULL;
    gone(e);
    managed_unlock(address);
    managed_links_end(links);
    return 0;
}

int managed_home_linger(struct managed_entry *e)
{
    struct managed_shared *shared = managed_get();
    uint64_t address = e->refs.address;
    int err = managed_lock(address);

    if (err)
        return err;
    refs_linger(&e->refs);
    put(&shared->lingering, &shared->counts.lingering, e);
    managed_unlock(address);
    return 0;
}

int managed_home_end_one(struct managed_entry *e)
{
    uint64_t address = e->refs.address;
    int err = native_delete_unused((drasync_region_t)(uintptr_t)address,
                                   e->refs.incarnation),
        lingers;

    if (is_gone(err))
        return managed_home_gone(e);
    lingers = managed_home_linger(e);
    return err == DRASYNC_EPEER ? err : lingers;
}

/* End @e, which was taken off its list, unless it is used again. */
static int end(struct managed_entry *e)
{
    uint64_t address = e->refs.address;
    int err = managed_lock(address);
    bool ends;

    if (err)
        return err;
    /* From here to its end nobody gets a reference. */
    ends = refs_end(&e->refs);
    managed_unlock(address);
    return ends ? managed_home_end_one(e) : 0;
}

static int end_all(struct managed_shared *shared, bool all)
{
    struct managed_entry *e;
    uint64_t left;
    int err = 0;

    /* Each once: end() appends to the list those that cannot end yet. */
    left = all ? atomic_load_explicit(&shared->counts.lingering,
                                      memory_order_relaxed)
               : 0;
    while (!err && left-- &&
           (e = pop(&shared->lingering, &shared->counts.lingering)))
        err = end(e);
    /* end() puts nothing back on `fresh`; but regions that lose their last
     * reference by it are appended. */
    while (!err &&
           atomic_load_explicit(&shared->counts.fresh, memory_order_relaxed) &&
           (e = pop(&shared->fresh, &shared->counts.fresh)))
        err = end(e);
    return err;
}

_Atomic uint32_t *managed_ending_begin(void)
{
    _Atomic uint32_t *ending;
    const char *why;

    if (!survive_wanted(&why))
        return NULL;
    /* Relaxed: read when this rank is dead. */
    ending = &managed_get()->rank[runtime.local].ending;
    atomic_fetch_add_explicit(ending, 1, memory_order_relaxed);
    return ending;
}

void managed_ending_end(_Atomic uint32_t *ending)
{
    if (ending)
        atomic_fetch_sub_explicit(ending, 1, memory_order_relaxed);
}

int managed_home_end(bool all)
{
    struct managed_shared *shared = managed_get();
    _Atomic uint32_t *ending;
    int err;

    if (!shared || (!all && !atomic_load_explicit(&shared->counts.fresh,
                                                  memory_order_relaxed)))
        return 0;
    ending = managed_ending_begin();
    err = end_all(shared, all);
    managed_ending_end(ending);
    return err;
}
