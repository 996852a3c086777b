/* Links: regions that refer to others.  At the home of the one that refers. */
#include "runtime/managed/state.h"

#include "memory/control.h"
#include "runtime/process.h"

/* The entry at its home; under the lock. */
static int at_home(uint64_t address, uint64_t incarnation,
                   struct managed_entry **e_out)
{
    struct managed_entry *e = managed_find(address, incarnation);

    if (!e || !e->home)
        return DRASYNC_EDELETED;
    if (e->use == MANAGED_ENDING)
        return DRASYNC_EAGAIN;
    *e_out = e;
    return 0;
}

static int add(uint64_t address, uint64_t incarnation,
               struct managed_link *link)
{
    struct managed_entry *e;
    int err = managed_lock(address);

    if (err)
        return err;
    err = at_home(address, incarnation, &e);
    if (!err) {
        link->next = e->links;
        e->links = link;
        atomic_fetch_add_explicit(&managed_get()->counts.links, 1,
                                  memory_order_relaxed);
    }
    managed_unlock(address);
    return err;
}

int managed_home_link(uint64_t address, uint64_t incarnation, uint64_t to,
                      uint64_t to_incarnation)
{
    struct managed_link *link = NULL;
    void *v;
    int err = managed_open();

    if (!err)
        err = control_alloc(&runtime.space, sizeof(*link), &v);
    if (!err) {
        link = v;
        *link =
            (struct managed_link){.address = to, .incarnation = to_incarnation};
        err = add(address, incarnation, link);
    }
    if (err)
        control_free(&runtime.space, link);
    if (err && err != DRASYNC_EAGAIN)
        managed_change(to, to_incarnation, -1);
    return err;
}

/* Take the last link to @to out. */
static int take(struct managed_entry *e, uint64_t to,
                struct managed_link **link_out)
{
    struct managed_link **p = &e->links;

    while (*p && (*p)->address != to)
        p = &(*p)->next;
    if (!*p)
        return DRASYNC_EINVAL;
    *link_out = *p;
    *p = (*p)->next;
    (*link_out)->next = NULL;
    return 0;
}

int managed_home_unlink(uint64_t address, uint64_t incarnation, uint64_t to)
{
    struct managed_link *link = NULL;
    struct managed_entry *e;
    int err = managed_open();

    if (!err)
        err = managed_lock(address);
    if (err)
        return err;
    err = at_home(address, incarnation, &e);
    if (!err)
        err = take(e, to, &link);
    managed_unlock(address);
    managed_links_end(link);
    return err;
}

void managed_links_end(struct managed_link *links)
{
    struct managed_link *next;

    for (; links; links = next) {
        next = links->next;
        atomic_fetch_sub_explicit(&managed_get()->counts.links, 1,
                                  memory_order_relaxed);
        managed_change(links->address, links->incarnation, -1);
        control_free(&runtime.space, links);
    }
}
