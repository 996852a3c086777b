/* References of this node: more, fewer, and given to others. */
#include "runtime/managed/state.h"

#include "runtime/native/native.h"
#include "runtime/process.h"

/* What may be about to end has none to spare: circles.c. */
static bool may_change(const struct managed_entry *e, int64_t by)
{
    return e->references > 0 &&
           !(by > 0 && e->home && e->use == MANAGED_ENDING);
}

static struct managed_entry *find(uint64_t address, uint64_t incarnation,
                                  int64_t by)
{
    struct managed_entry *e = incarnation ? managed_find(address, incarnation)
                                          : managed_referred(address);

    return e && may_change(e, by) ? e : NULL;
}

/* By @by, under the lock.  The home is told under it too: before what the next
 * reference here may bring about. */
static int change(struct managed_entry *e, int64_t by)
{
    int err = 0;

    if (e->references + by == 0 && e->told)
        err = managed_count(native_home(e->address), runtime.node, e->address,
                            e->incarnation, -e->told, false);
    if (err)
        return err;
    e->references += by;
    e->told = e->references ? e->told : 0;
    managed_home_look(e);
    managed_drop(e);
    return 0;
}

int managed_change(uint64_t address, uint64_t incarnation, int64_t by)
{
    struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    err = managed_lock(address);
    if (err)
        return err;
    e = find(address, incarnation, by);
    err = e ? change(e, by) : DRASYNC_EINVAL;
    managed_unlock(address);
    return err;
}

int managed_referred_to(uint64_t address, uint64_t *incarnation_out)
{
    const struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    err = managed_lock(address);
    if (err)
        return err;
    e = managed_referred(address);
    if (e)
        *incarnation_out = e->incarnation;
    managed_unlock(address);
    return e ? 0 : DRASYNC_EINVAL;
}

int managed_give_node(int node, uint64_t address, uint64_t incarnation)
{
    bool listed = false;
    int err = managed_hand(node, address, incarnation, &listed);

    /* Before this node says that it has none. */
    if (!err && listed)
        err = managed_count(native_home(address), node, address, incarnation, 1,
                            false);
    return err ? err : managed_change(address, incarnation, -1);
}
