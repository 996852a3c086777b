/* References of this node: more, fewer, and given to others. */
#include "runtime/managed/state.h"

#include "memory/limit.h"
#include "runtime/native/native.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"

static struct managed_entry *find(uint64_t address, uint64_t incarnation,
                                  int64_t by)
{
    struct managed_entry *e = incarnation ? managed_find(address, incarnation)
                                          : managed_referred(address);

    return e && refs_may_change(&e->refs, by) ? e : NULL;
}

/* By @by, under the lock.  The home is told under it too: before what the next
 * reference here may bring about. */
static int change(struct managed_entry *e, int64_t by,
                  struct managed_entry **ends_out)
{
    int64_t tell = refs_tell(&e->refs, by);
    int err = 0;

    if (tell)
        err = managed_count(e->home_node, runtime.node, e->refs.address,
                            e->refs.incarnation, tell, false);
    if (err)
        return err;
    refs_change(&e->refs, by);
    if (!ends_out)
        managed_home_look(e);
    else if (refs_look(&e->refs) && refs_end(&e->refs))
        *ends_out = e;
    managed_drop(e);
    return 0;
}

static int find_and_change(uint64_t address, uint64_t incarnation, int64_t by,
                           struct managed_entry **ends_out)
{
    struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    err = managed_lock(address);
    if (err)
        return err;
    e = find(address, incarnation, by);
    err = e ? change(e, by, ends_out) : DRASYNC_EINVAL;
    managed_unlock(address);
    return err;
}

int managed_change(uint64_t address, uint64_t incarnation, int64_t by)
{
    return find_and_change(address, incarnation, by, NULL);
}

int managed_link_end(uint64_t address, uint64_t incarnation)
{
    struct managed_entry *e;
    int err = managed_lock(address);

    if (err)
        return err;
    e = managed_find(address, incarnation);
    if (e) {
        refs_from_link(&e->refs);
        err = change(e, -1, NULL);
    }
    managed_unlock(address);
    return err;
}

int managed_give_back(uint64_t address)
{
    struct managed_entry *ends = NULL;
    _Atomic uint32_t *ending;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    ending = managed_ending_begin();
    err = find_and_change(address, 0, -1, &ends);
    if (ends)
        err = managed_home_end_one(ends);
    managed_ending_end(ending);
    return err;
}

int managed_referred_to(uint64_t address, bool own,
                        struct managed_name *name_out)
{
    const struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    err = managed_lock(address);
    if (err)
        return err;
    e = managed_referred(address);
    if (e && own && !managed_has_own(e))
        e = NULL;
    if (e)
        *name_out = (struct managed_name){.address = address,
                                          .incarnation = e->refs.incarnation,
                                          .home = e->home_node};
    managed_unlock(address);
    return e ? 0 : DRASYNC_EINVAL;
}

int managed_give_node(int node, const struct managed_name *name)
{
    bool listed = false;
    int err = managed_hand(node, name, &listed);

    /* Before this node says that it has none.  @node has the reference now: who
     * does not list it would end the region under it. */
    if (!err && listed) {
        limit_reserve_enter();
        err = managed_count(name->home, node, name->address, name->incarnation,
                            1, false);
        limit_reserve_leave();
        if (err == DRASYNC_ENOMEM)
            runtime_no_memory("count references to region %p",
                              (void *)(uintptr_t)name->address);
    }
    return err ? err : managed_change(name->address, name->incarnation, -1);
}
