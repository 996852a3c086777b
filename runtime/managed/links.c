/* Links: regions that refer to others.  At the home of the one that refers. */
#include "runtime/managed/state.h"

#include "memory/control.h"
#include "runtime/native/native.h"
#include "runtime/process.h"

/* Links of a region that are looked at, under the lock of its address: some
 * hundred microseconds. */
#define LINKS_MAX ((size_t)LINKED_MAX * 32)

/* The entry at its home; under the lock. */
static int at_home(uint64_t address, uint64_t incarnation,
                   struct managed_entry **e_out)
{
    struct managed_entry *e = managed_find(address, incarnation);

    *e_out = e;
    return refs_asked(e ? &e->refs : NULL);
}

/* @link has a reference of this node from here on; and where it leads to, if this
 * node is its home as well: that is there as long as the link has it. */
static int find_end(struct refs_link *link)
{
    struct managed_entry *e;
    int err = managed_lock(link->address);

    if (err)
        return err;
    e = managed_find(link->address, link->incarnation);
    /* The node was given one, which a drasync_unref() too many may have taken. */
    if (!e || !refs_to_link(&e->refs))
        err = DRASYNC_EINVAL;
    else if (e->refs.home)
        link->to = &e->refs;
    managed_unlock(link->address);
    return err;
}

/* The link's reference is the node's again. */
static void leave_end(const struct refs_link *link)
{
    struct managed_entry *e;

    if (managed_lock(link->address))
        return;
    e = managed_find(link->address, link->incarnation);
    if (e)
        refs_from_link(&e->refs);
    managed_unlock(link->address);
}

static int add(uint64_t address, uint64_t incarnation, struct refs_link *link)
{
    struct managed_entry *e;
    int err = managed_lock(address);

    if (err)
        return err;
    err = at_home(address, incarnation, &e);
    if (!err) {
        refs_link(&e->refs, link);
        atomic_fetch_add_explicit(&managed_get()->counts.links, 1,
                                  memory_order_relaxed);
    }
    managed_unlock(address);
    return err;
}

/* @link, which has its reference, becomes one of the region at @address. */
static int link_to_end(uint64_t address, uint64_t incarnation,
                       struct refs_link *link)
{
    int err = add(address, incarnation, link);

    if (!err)
        return 0;
    if (err == DRASYNC_EAGAIN)
        leave_end(link);
    else
        managed_link_end(link->address, link->incarnation);
    control_free(&runtime.space, link);
    return err;
}

int managed_home_link(uint64_t address, uint64_t incarnation, uint64_t to,
                      uint64_t to_incarnation)
{
    struct refs_link *link = NULL;
    void *v;
    int err = managed_open();

    if (!err)
        err = control_alloc(&runtime.space, sizeof(*link), &v);
    if (!err) {
        link = v;
        *link =
            (struct refs_link){.address = to, .incarnation = to_incarnation};
        err = find_end(link);
    }
    if (!err)
        return link_to_end(address, incarnation, link);
    control_free(&runtime.space, link);
    if (err != DRASYNC_EINVAL)
        managed_change(to, to_incarnation, -1);
    return err;
}

int managed_home_unlink(uint64_t address, uint64_t incarnation, uint64_t to)
{
    struct refs_link *link = NULL;
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(address);
    if (err)
        return err;
    err = at_home(address, incarnation, &e);
    if (!err && !(link = refs_unlink(&e->refs, to)))
        err = DRASYNC_EINVAL;
    managed_unlock(address);
    managed_links_end(link);
    return err;
}

/* They are no more, and what they refer to has been told. */
void managed_links_free(struct refs_link *links)
{
    struct refs_link *next;

    for (; links; links = next) {
        next = links->next;
        atomic_fetch_sub_explicit(&managed_get()->counts.links, 1,
                                  memory_order_relaxed);
        control_free(&runtime.space, links);
    }
}

void managed_links_end(struct refs_link *links)
{
    for (const struct refs_link *l = links; l; l = l->next)
        managed_link_end(l->address, l->incarnation);
    managed_links_free(links);
}

/* --- Checked mode --------------------------------------------------------- */

static int where(struct linked *l)
{
    struct native_root root;
    int err;

    if (l->count != 1)
        return DRASYNC_EINTERNAL;
    err = native_root_of((void *)(uintptr_t)l->link[0].address, &root);
    if (err)
        return err;
    l->address = root.address;
    l->incarnation = root.incarnation;
    return 0;
}

static int are_linked(struct linked *l)
{
    const struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EDELETED;
    err = managed_lock(l->address);
    if (err)
        return err;
    e = managed_find(l->address, l->incarnation);
    /* Of what is DOOMED links may have been cut. */
    if (!e || !e->refs.home || e->refs.use == REFS_DOOMED)
        err = DRASYNC_EDELETED;
    else
        l->many = !refs_linked(&e->refs, l->link, l->count, LINKS_MAX);
    managed_unlock(l->address);
    return err;
}

int managed_linked_answer(struct linked *l)
{
    return l->what == LINKED_WHERE ? where(l) : are_linked(l);
}
