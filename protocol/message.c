/* message.c - a message comes in: which trees it needs, and its handler. */
#include "protocol/internal.h"

static handler *const handlers[PROTO_MESSAGE_TYPES] = {
#define PROTO_HANDLER_ENTRY(name) [PROTO_##name] = on_##name,
    PROTO_MESSAGES(PROTO_HANDLER_ENTRY)
#undef PROTO_HANDLER_ENTRY
};

static const char *const names[PROTO_MESSAGE_TYPES] = {
    [PROTO_NO_MESSAGE] = "NONE",
#define PROTO_NAME_ENTRY(name) [PROTO_##name] = #name,
    PROTO_MESSAGES(PROTO_NAME_ENTRY)
#undef PROTO_NAME_ENTRY
};

const char *proto_message_name(unsigned type)
{
    return type < PROTO_MESSAGE_TYPES ? names[type] : "UNKNOWN";
}

/* Does it need the tree at its root alone, if all its items are known to be in
 * that? */
static bool by_items(const struct proto_message *m)
{
    return m->type == PROTO_TRANSFER || m->type == PROTO_RECALLED ||
           m->type == PROTO_BURY || m->type == PROTO_BURIED ||
           m->type == PROTO_FREED;
}

uint64_t proto_message_tree(const struct proto_message *m)
{
    switch (m->type) {
    case PROTO_REQUEST:
    case PROTO_REFUSED:
    case PROTO_SETTLED:
    case PROTO_RECALL:
    case PROTO_REVOKE:
    case PROTO_REVOKED:
    case PROTO_UNREAD:
        return m->root;
    case PROTO_LOCATE:
        return m->region;
    default:
        return by_items(m) && m->items_count <= PROTO_ITEMS_KNOWN_MAX
                   ? m->root
                   : PROTO_TREE_ALL;
    }
}

/* Are all its items about the region at @address? */
static bool names_only(const struct proto_message *m, uint64_t address)
{
    for (uint32_t i = 0; i < m->items_count; i++)
        if (m->items[i].address && m->items[i].address != address)
            return false;
    return true;
}

bool proto_message_tree_enough(
    const struct proto_message *m, const struct proto_region *root,
    struct proto_region *(*find)(void *ctx, uint64_t address), void *ctx)
{
    if (m->type == PROTO_LOCATE)
        return root != NULL; /* else the address may be had in any tree */
    if (!by_items(m))
        return true;
    if (!root && m->type == PROTO_TRANSFER && m->flags & PROTO_GIVEN)
        return names_only(m, m->root); /* no record has that address */
    for (uint32_t i = 0; root && i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        const struct proto_region *r;
        if (!item->address || item->kind == PROTO_ITEM_EXTENT)
            continue; /* about the region before it; or no region's address */
        r = find(ctx, item->address);
        if (r && r == root && r->locating && !item->parent)
            continue; /* what is learned of it links it to no other */
        if (!r || r->incarnation != item->incarnation || r->root != root->root)
            return false;
    }
    return root != NULL;
}

void proto_node_open(struct proto_node *node, const struct proto_env *env)
{
    memset(node, 0, sizeof(*node));
    node->env = *env;
    node->waiters_max = PROTO_WAITERS_MAX;
    node->presence_max = PROTO_PRESENCE_MAX;
    node->fanout = PROTO_FANOUT;
    node->portion_first = PROTO_PORTION_FIRST;
    node->answer_items = PROTO_ANSWER_ITEMS;
    node->children_max = PROTO_CHILDREN_MAX;
    node->subscriptions_max = PROTO_SUBSCRIPTIONS_MAX;
}

void proto_message(struct proto_node *node, uint32_t from,
                   const struct proto_message *message,
                   struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    handlers[message->type](&s, from, message);
    step_end(&s);
}

void on_POISON(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_effect *e = effect(s, PROTO_POISONED);
    e->node = from;
    e->why = m->name;
    e->told = true;
}
