/* How a region of another node becomes known here, and finds its parent. */
#include "protocol/replica_internal.h"

#include <stddef.h>

#include "include/drasync.h"

void replica_link_child(struct replica_entry *parent,
                        struct replica_entry *child)
{
    child->parent = parent;
    child->next = NULL;
    child->prev = parent->last_child;
    if (parent->last_child)
        parent->last_child->next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
}

void replica_unlink_child(struct replica_entry *child)
{
    struct replica_entry *parent = child->parent;

    if (!parent)
        return;
    if (child->prev)
        child->prev->next = child->next;
    else
        parent->first_child = child->next;
    if (child->next)
        child->next->prev = child->prev;
    else
        parent->last_child = child->prev;
    child->parent = NULL;
    child->next = NULL;
    child->prev = NULL;
    child->early = 0;
}

int replica_attach(struct replica_dir *dir, uint64_t address,
                   uint64_t incarnation)
{
    uint32_t home = dir->env->home_of(dir->env->ctx, address);
    struct replica_entry *entry;

    if (home == dir->node || home >= dir->env->nodes)
        return DRASYNC_ENOREGION;
    entry = dir->env->make(dir->env->ctx, address);
    if (!entry)
        return DRASYNC_ENOMEM;
    entry->incarnation = incarnation;
    entry->home = home;
    entry->state = REPLICA_ASKING;
    replica_send_to(dir, home, REPLICA_MSG_ATTACH, entry);
    return 0;
}

/* @entry is LIVE now, and so are those that waited for it. */
static void settle(struct replica_dir *dir, struct replica_entry *top)
{
    struct replica_entry *entry = top;

    while (entry) {
        struct replica_entry *child;

        entry->state = REPLICA_LIVE;
        dir->env->known(dir->env->ctx, entry, 1);
        for (child = entry->first_child; child; child = child->next)
            if (child->state == REPLICA_HALF) {
                child->work = dir->work;
                dir->work = child;
            }
        entry = dir->work;
        if (entry)
            dir->work = entry->work;
    }
}

/* Nothing that waited for @top will be LIVE. */
static void doom(struct replica_dir *dir, struct replica_entry *top)
{
    struct replica_entry *entry = top;

    while (entry) {
        struct replica_entry *child, *next;

        for (child = entry->first_child; child; child = next) {
            next = child->next;
            if (child->early)
                continue;
            replica_unlink_child(child);
            child->state = REPLICA_DOOMED;
            child->work = dir->work;
            dir->work = child;
        }
        dir->env->known(dir->env->ctx, entry, 0);
        entry = dir->work;
        if (entry)
            dir->work = entry->work;
    }
}

/*
 * @entry, which is HALF, goes below the region of @incarnation at @address.  An
 * older one that is still there goes first: another node's word may come before
 * the home's that the older one is recycled.
 */
static int join(struct replica_dir *dir, struct replica_entry *entry,
                uint64_t address, uint64_t incarnation)
{
    struct replica_entry *parent =
        address ? dir->env->find(dir->env->ctx, address) : dir->root;
    int err;

    if (!parent) {
        err = replica_attach(dir, address, incarnation);
        if (err == DRASYNC_ENOMEM)
            return err;
        parent = dir->env->find(dir->env->ctx, address);
    }
    if (parent && parent->incarnation < incarnation) {
        if (parent->home == dir->node)
            return DRASYNC_EINTERNAL;
        replica_link_child(parent, entry);
        entry->early = 1;
        entry->parent_incarnation = incarnation;
        return 0;
    }
    if (!parent || parent->incarnation != incarnation ||
        parent->state > REPLICA_LIVE) {
        entry->state = REPLICA_DOOMED;
        doom(dir, entry);
        return 0;
    }
    replica_link_child(parent, entry);
    if (parent->state == REPLICA_LIVE)
        settle(dir, entry);
    return 0;
}

/* Those that came too early to be below @entry, linked by `work`. */
static struct replica_entry *take_early(struct replica_entry *entry)
{
    struct replica_entry *child, *next, *early = NULL;

    for (child = entry->first_child; child; child = next) {
        next = child->next;
        if (!child->early)
            continue;
        replica_unlink_child(child);
        child->work = early;
        early = child;
    }
    return early;
}

/* Another region may be at @address now. */
static int join_early(struct replica_dir *dir, struct replica_entry *early,
                      uint64_t address)
{
    int err = 0;

    while (early && !err) {
        struct replica_entry *child = early;

        early = child->work;
        err = join(dir, child, address, child->parent_incarnation);
    }
    return err;
}

/* Nobody has @entry any more. */
int replica_recycle(struct replica_dir *dir, struct replica_entry *entry)
{
    uint64_t address = entry->address;
    struct replica_entry *early = take_early(entry);

    replica_unlink_child(entry);
    dir->env->recycle(dir->env->ctx, entry);
    return join_early(dir, early, address);
}

int replica_on_attached(struct replica_dir *dir, uint32_t from,
                        const struct replica_message *m)
{
    struct replica_entry *entry = dir->env->find(dir->env->ctx, m->address);
    struct replica_entry *early;
    int err;

    if (!entry || entry->state != REPLICA_ASKING || !m->incarnation)
        return DRASYNC_EINTERNAL;
    early = take_early(entry);
    entry->home = from;
    entry->incarnation = m->incarnation;
    entry->state = REPLICA_HALF;
    err = join(dir, entry, m->parent, m->parent_incarnation);
    return err ? err : join_early(dir, early, m->address);
}

int replica_on_unknown(struct replica_dir *dir, const struct replica_message *m)
{
    struct replica_entry *entry = dir->env->find(dir->env->ctx, m->address);

    if (!entry || entry->state != REPLICA_ASKING)
        return DRASYNC_EINTERNAL;
    doom(dir, entry);
    return replica_recycle(dir, entry);
}
