/* The directory: making regions, freeing them, and the messages of both. */
#include "protocol/replica_internal.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "include/drasync.h"

struct replica_entry *replica_next(const struct replica_entry *top,
                                   const struct replica_entry *entry)
{
    if (entry->first_child)
        return entry->first_child;
    while (entry != top) {
        if (entry->next)
            return entry->next;
        entry = entry->parent;
    }
    return NULL;
}

void replica_dir_init(struct replica_dir *dir, uint32_t node,
                      const struct replica_env *env, struct replica_entry *root)
{
    memset(dir, 0, sizeof(*dir));
    dir->env = env;
    dir->node = node;
    dir->root = root;
    memset(root, 0, sizeof(*root));
    root->state = REPLICA_LIVE;
    root->home = env->nodes; /* nobody's: it cannot be freed */
}

void replica_create(struct replica_dir *dir, struct replica_entry *entry,
                    struct replica_entry *parent)
{
    assert(parent->state == REPLICA_LIVE);
    entry->incarnation = ++dir->incarnation;
    entry->home = dir->node;
    entry->state = REPLICA_LIVE;
    replica_link_child(parent, entry);
}

void replica_send_to(struct replica_dir *dir, uint32_t node, uint32_t type,
                     const struct replica_entry *entry)
{
    struct replica_message m = {
        .type = type,
        .origin = dir->node,
        .address = entry->address,
        .incarnation = entry->incarnation,
    };

    dir->env->send(dir->env->ctx, node, &m);
}

/* The subregions of @entry whose home is here go with it. */
static void drop_children(struct replica_dir *dir, struct replica_entry *entry)
{
    struct replica_entry *child = entry->first_child;

    while (child) {
        struct replica_entry *next = child->next;

        if (child->early) {
            /* It is not below this one. */
        } else if (child->home != dir->node) {
            replica_unlink_child(child);
        } else {
            child->parent_waits = 1;
            entry->children_left++;
            if (child->state == REPLICA_LIVE) {
                child->state = REPLICA_DYING;
                child->work = dir->work;
                dir->work = child;
            }
        }
        child = next;
    }
}

/* @entry waits for nothing more; says whether that ends a wait above. */
static struct replica_entry *finish(struct replica_dir *dir,
                                    struct replica_entry *entry)
{
    struct replica_entry *parent = entry->parent_waits ? entry->parent : NULL;

    if (entry->state == REPLICA_DROPPED) {
        replica_send_to(dir, entry->home, REPLICA_MSG_DROPPED, entry);
        return NULL;
    }
    while (entry->nodes) {
        struct replica_link *link = entry->nodes;

        entry->nodes = link->next;
        replica_send_to(dir, link->node, REPLICA_MSG_RECYCLE, entry);
        dir->env->link_free(dir->env->ctx, link);
    }
    replica_unlink_child(entry);
    if (entry->has_waiter && entry->waiter_node == dir->node) {
        dir->env->freed(dir->env->ctx, entry->waiter, DRASYNC_OK);
    } else if (entry->has_waiter) {
        struct replica_message m = {
            .type = REPLICA_MSG_FREED,
            .origin = dir->node,
            .address = entry->address,
            .token = entry->waiter,
        };

        dir->env->send(dir->env->ctx, entry->waiter_node, &m);
    }
    dir->env->recycle(dir->env->ctx, entry);
    if (parent)
        parent->children_left--;
    return parent;
}

static void finish_up(struct replica_dir *dir, struct replica_entry *entry)
{
    while (entry && !entry->drops_left && !entry->children_left)
        entry = finish(dir, entry);
}

/*
 * Drop @entry and all below it that must go.  A region's children are dropped
 * before anything is finished, so a count of them is never short.
 */
static void drop_all(struct replica_dir *dir, struct replica_entry *entry)
{
    assert(!dir->work);
    entry->work = NULL;
    dir->work = entry;
    while (dir->work) {
        struct replica_link *link;

        entry = dir->work;
        dir->work = entry->work;
        dir->env->drop(dir->env->ctx, entry);
        /* A home keeps it linked, so that freeing the parent waits for it. */
        if (entry->home != dir->node)
            replica_unlink_child(entry);
        for (link = entry->nodes; link; link = link->next) {
            entry->drops_left++;
            replica_send_to(dir, link->node, REPLICA_MSG_DROP, entry);
        }
        drop_children(dir, entry);
        finish_up(dir, entry);
    }
}

static void start_free(struct replica_dir *dir, struct replica_entry *entry,
                       uint32_t node, uint64_t token)
{
    entry->has_waiter = 1;
    entry->waiter = token;
    entry->waiter_node = node;
    entry->state = REPLICA_DYING;
    drop_all(dir, entry);
}

void replica_free(struct replica_dir *dir, struct replica_entry *entry,
                  uint64_t token)
{
    struct replica_message m = {
        .type = REPLICA_MSG_FREE,
        .origin = dir->node,
        .address = entry->address,
        .incarnation = entry->incarnation,
        .token = token,
    };

    assert(entry->state == REPLICA_LIVE && entry != dir->root);
    if (entry->home == dir->node)
        start_free(dir, entry, dir->node, token);
    else
        dir->env->send(dir->env->ctx, entry->home, &m);
}

/* --- Messages --- */

/* The entry that @m is about, if it is the same life of that address. */
static struct replica_entry *find(struct replica_dir *dir,
                                  const struct replica_message *m)
{
    struct replica_entry *entry = dir->env->find(dir->env->ctx, m->address);

    if (entry && m->incarnation && entry->incarnation != m->incarnation)
        return NULL;
    return entry;
}

/* Pass a request on that another node can answer; 0: there is none. */
static int forward(struct replica_dir *dir, uint32_t from,
                   const struct replica_entry *entry,
                   const struct replica_message *m)
{
    uint32_t home =
        entry ? entry->home : dir->env->home_of(dir->env->ctx, m->address);

    if (home >= dir->env->nodes || home == dir->node || home == from ||
        home == m->origin)
        return 0;
    dir->env->send(dir->env->ctx, home, m);
    return 1;
}

static int on_attach(struct replica_dir *dir, uint32_t from,
                     const struct replica_message *m)
{
    struct replica_entry *entry = find(dir, m);
    struct replica_message reply = {
        .type = REPLICA_MSG_UNKNOWN,
        .origin = dir->node,
        .address = m->address,
    };
    struct replica_link *link;

    if (entry && entry->home == dir->node && entry->state == REPLICA_LIVE) {
        for (link = entry->nodes; link && link->node != m->origin;)
            link = link->next;
        if (!link) {
            link = dir->env->link_new(dir->env->ctx);
            if (!link)
                return DRASYNC_ENOMEM;
            link->node = m->origin;
            link->next = entry->nodes;
            entry->nodes = link;
        }
        reply.type = REPLICA_MSG_ATTACHED;
        reply.incarnation = entry->incarnation;
        reply.parent = entry->parent->address;
        reply.parent_incarnation = entry->parent->incarnation;
    } else if (forward(dir, from, entry, m)) {
        return 0;
    }
    dir->env->send(dir->env->ctx, m->origin, &reply);
    return 0;
}

static int on_free(struct replica_dir *dir, uint32_t from,
                   const struct replica_message *m)
{
    struct replica_entry *entry = find(dir, m);
    struct replica_message reply = {
        .type = REPLICA_MSG_FREED,
        .origin = dir->node,
        .address = m->address,
        .token = m->token,
        .result = DRASYNC_ENOREGION,
    };

    if (entry && entry->home == dir->node && entry->state == REPLICA_LIVE) {
        start_free(dir, entry, m->origin, m->token);
        return 0;
    }
    if (forward(dir, from, entry, m))
        return 0;
    dir->env->send(dir->env->ctx, m->origin, &reply);
    return 0;
}

static int on_drop(struct replica_dir *dir, uint32_t from,
                   const struct replica_message *m)
{
    struct replica_entry *entry = find(dir, m);
    struct replica_entry gone = {.address = m->address,
                                 .incarnation = m->incarnation};

    if (!entry || entry->state == REPLICA_ASKING) {
        replica_send_to(dir, from, REPLICA_MSG_DROPPED, &gone);
        return 0;
    }
    if (entry->home != from || entry->state > REPLICA_DOOMED)
        return DRASYNC_EINTERNAL;
    if (entry->state == REPLICA_HALF)
        dir->env->known(dir->env->ctx, entry, 0);
    entry->state = REPLICA_DROPPED;
    drop_all(dir, entry);
    return 0;
}

static int on_dropped(struct replica_dir *dir, const struct replica_message *m)
{
    struct replica_entry *entry = find(dir, m);

    if (!entry || entry->state != REPLICA_DYING || !entry->drops_left)
        return DRASYNC_EINTERNAL;
    entry->drops_left--;
    finish_up(dir, entry);
    return 0;
}

static int on_recycle(struct replica_dir *dir, const struct replica_message *m)
{
    struct replica_entry *entry = find(dir, m);

    if (!entry || entry->state == REPLICA_ASKING)
        return 0;
    if (entry->state != REPLICA_DROPPED || entry->children_left)
        return DRASYNC_EINTERNAL;
    return replica_recycle(dir, entry);
}

int replica_receive(struct replica_dir *dir, uint32_t from,
                    const struct replica_message *m)
{
    if (from >= dir->env->nodes || m->origin >= dir->env->nodes || !m->address)
        return DRASYNC_EINTERNAL;
    /* What this node asks is not sent on to it. */
    if ((m->type == REPLICA_MSG_ATTACH || m->type == REPLICA_MSG_FREE) &&
        m->origin == dir->node)
        return DRASYNC_EINTERNAL;
    switch (m->type) {
    case REPLICA_MSG_ATTACH:
        return on_attach(dir, from, m);
    case REPLICA_MSG_ATTACHED:
        return replica_on_attached(dir, from, m);
    case REPLICA_MSG_UNKNOWN:
        return replica_on_unknown(dir, m);
    case REPLICA_MSG_FREE:
        return on_free(dir, from, m);
    case REPLICA_MSG_FREED:
        dir->env->freed(dir->env->ctx, m->token, (int)m->result);
        return 0;
    case REPLICA_MSG_DROP:
        return on_drop(dir, from, m);
    case REPLICA_MSG_DROPPED:
        return on_dropped(dir, m);
    case REPLICA_MSG_RECYCLE:
        return on_recycle(dir, m);
    default:
        return DRASYNC_EINTERNAL;
    }
}
