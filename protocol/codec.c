/*
 * codec.c - messages to bytes and back.  Little-endian, fixed widths: a header,
 * the name if the type has one, the items.  Decoding trusts nothing.
 */
#include <endian.h>

#include "protocol/internal.h"

enum {
    HEADER_BYTES = 80,
    TYPE_AT = 1, /* in the header */
    ITEMS_COUNT_AT = 20,
    NAME_BYTES = DRASYNC_NAME_MAX + 1,
    MAGIC = 0xD5,
};

static bool has_name(uint8_t type)
{
    return type == PROTO_POISON;
}

static inline uint8_t *put(uint8_t *at, uint64_t value, size_t bytes)
{
    uint64_t little = htole64(value);
    memcpy(at, &little, bytes);
    return at + bytes;
}

static inline uint64_t get(const uint8_t **at, size_t bytes)
{
    uint64_t little = 0;
    memcpy(&little, *at, bytes);
    *at += bytes;
    return le64toh(little);
}

static size_t size_of(uint8_t type, uint32_t items_count)
{
    size_t size_bytes = HEADER_BYTES;
    if (has_name(type))
        size_bytes += NAME_BYTES;
    return size_bytes + (size_t)items_count * PROTO_ITEM_BYTES;
}

size_t proto_encoded_size(const struct proto_message *m)
{
    return size_of(m->type, m->items_count);
}

void proto_encode(const struct proto_message *m, void *bytes)
{
    uint8_t *at = bytes;
    at = put(at, MAGIC, 1);
    at = put(at, m->type, 1);
    at = put(at, m->mode, 1);
    at = put(at, 0, 1);
    at = put(at, m->flags, 2);
    at = put(at, m->hops, 2);
    at = put(at, (uint16_t)m->error, 2);
    at = put(at, 0, 2);
    at = put(at, m->node, 4);
    at = put(at, m->via, 4);
    at = put(at, m->items_count, 4);
    const uint64_t wide[] = {m->ticket,  m->root,  m->region, m->incarnation,
                             m->version, m->epoch, m->after};
    for (int i = 0; i < 7; i++)
        at = put(at, wide[i], 8);
    if (has_name(m->type)) {
        memcpy(at, m->name, NAME_BYTES);
        at += NAME_BYTES;
    }
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        at = put(at, item->kind, 1);
        at = put(at, item->mode, 1);
        at = put(at, item->flags, 2);
        at = put(at, item->node, 4);
        at = put(at, item->address, 8);
        at = put(at, item->incarnation, 8);
        at = put(at, item->parent, 8);
        at = put(at, item->version, 8);
        at = put(at, item->epoch, 8);
    }
}

static void get_header(const uint8_t *at, struct proto_message *m)
{
    memset(m, 0, sizeof(*m));
    at++;
    m->type = (uint8_t)get(&at, 1);
    m->mode = (uint8_t)get(&at, 1);
    at++;
    m->flags = (uint16_t)get(&at, 2);
    m->hops = (uint16_t)get(&at, 2);
    m->error = (int16_t)get(&at, 2);
    at += 2;
    m->node = (uint32_t)get(&at, 4);
    m->via = (uint32_t)get(&at, 4);
    m->items_count = (uint32_t)get(&at, 4);
    uint64_t *wide[] = {&m->ticket,  &m->root,  &m->region, &m->incarnation,
                        &m->version, &m->epoch, &m->after};
    for (int i = 0; i < 7; i++)
        *wide[i] = get(&at, 8);
}

static void get_item(const uint8_t *at, struct proto_item *item)
{
    item->kind = (uint8_t)get(&at, 1);
    item->mode = (uint8_t)get(&at, 1);
    item->flags = (uint16_t)get(&at, 2);
    item->node = (uint32_t)get(&at, 4);
    item->address = get(&at, 8);
    item->incarnation = get(&at, 8);
    item->parent = get(&at, 8);
    item->version = get(&at, 8);
    item->epoch = get(&at, 8);
}

/* The length and the counts agree. */
static bool shaped(const uint8_t *bytes, size_t size_bytes,
                   uint32_t *items_count_out)
{
    if (size_bytes < HEADER_BYTES || bytes[0] != MAGIC)
        return false;
    const uint8_t *at = bytes + ITEMS_COUNT_AT;
    uint8_t type = bytes[TYPE_AT];
    *items_count_out = (uint32_t)get(&at, 4);
    return type > PROTO_NO_MESSAGE && type < PROTO_MESSAGE_TYPES &&
           *items_count_out <= PROTO_ITEMS_MAX &&
           size_of(type, *items_count_out) == size_bytes;
}

uint32_t proto_encoded_items(const void *bytes, size_t size_bytes)
{
    uint32_t count;
    return shaped(bytes, size_bytes, &count) ? count : 0;
}

/* Which kinds of items a type may carry, as bits. */
static unsigned items_of(uint8_t type)
{
    switch (type) {
    case PROTO_TRANSFER:
        return 1u << PROTO_ITEM_REGION | 1u << PROTO_ITEM_CHILD |
               1u << PROTO_ITEM_WAITER | 1u << PROTO_ITEM_PRESENCE |
               1u << PROTO_ITEM_UNSENT | 1u << PROTO_ITEM_ANCESTOR;
    case PROTO_BOUNCE:
        return 1u << PROTO_ITEM_REGION | 1u << PROTO_ITEM_CHILD |
               1u << PROTO_ITEM_WAITER | 1u << PROTO_ITEM_PRESENCE;
    case PROTO_LOCATED:
        return 1u << PROTO_ITEM_ANCESTOR;
    case PROTO_REQUEST:
        return 1u << PROTO_ITEM_WANTED;
    case PROTO_OWNER:
        return 1u << PROTO_ITEM_OWNED;
    case PROTO_FREED:
        return 1u << PROTO_ITEM_EXTENT | 1u << PROTO_ITEM_DELETED;
    case PROTO_RECALLED:
        return 1u << PROTO_ITEM_DELETED | 1u << PROTO_ITEM_PRESENCE;
    case PROTO_RECALL:
    case PROTO_BURY:
    case PROTO_BURIED:
        return 1u << PROTO_ITEM_DELETED;
    default:
        return 0;
    }
}

enum {
    REQUEST_FLAGS = PROTO_NOWAIT | PROTO_DELETION | PROTO_DETOUR | PROTO_FRESH |
                    PROTO_LOST | PROTO_HOMEWARD | PROTO_MORE | PROTO_CHAINED |
                    PROTO_CLIMBS | PROTO_RELAYS | PROTO_UNMET | PROTO_AHEAD |
                    PROTO_NEWER | PROTO_KEEPS,
    /* What a request for a newer version has not. */
    NEWER_NEVER = PROTO_CHAINED | PROTO_CLIMBS | PROTO_RELAYS | PROTO_UNMET |
                  PROTO_DELETION,
};

/* The flags that a message of @type may have. */
static unsigned flags_of(uint8_t type)
{
    switch (type) {
    case PROTO_LOCATE:
        return PROTO_CLIMBS | PROTO_NOWAIT;
    case PROTO_LOCATED:
        return PROTO_HOT;
    case PROTO_REFUSED:
        return PROTO_HOT | PROTO_DELETION;
    case PROTO_REQUEST:
        return REQUEST_FLAGS;
    case PROTO_TRANSFER:
        return PROTO_SHARED | PROTO_HOT | PROTO_MORE | PROTO_FURTHER |
               PROTO_UNMET | PROTO_GIVEN | PROTO_TELL;
    case PROTO_RECALL:
        return PROTO_HELD | PROTO_MORE | PROTO_DELETION;
    case PROTO_RECALLED:
        return PROTO_BUSY | PROTO_MORE;
    default:
        return 0;
    }
}

static unsigned item_flags_of(uint8_t kind)
{
    switch (kind) {
    case PROTO_ITEM_REGION:
        return PROTO_DATA;
    case PROTO_ITEM_WAITER:
        return REQUEST_FLAGS;
    case PROTO_ITEM_PRESENCE:
        return PROTO_MORE | PROTO_BUSY;
    default:
        return 0;
    }
}

static bool inside(const struct proto_env *env, uint64_t address)
{
    return env->home(env->ctx, address) != -2;
}

static bool mode_valid(uint8_t mode)
{
    return mode == DRASYNC_READ || mode == DRASYNC_WRITE;
}

/* Of a TRANSFER or BOUNCE: may it begin with @item?  A gift may name what is
 * above it first; what bounces may be only what lies below. */
static bool may_begin(const struct proto_message *m,
                      const struct proto_item *item)
{
    if (item->kind == PROTO_ITEM_ANCESTOR)
        return m->flags & PROTO_GIVEN && item->address == m->root &&
               m->root != m->region;
    return item->kind == PROTO_ITEM_REGION &&
           (m->type == PROTO_BOUNCE || m->flags & PROTO_FURTHER ||
            item->address == m->region);
}

/* Where @item stands among the others, and what it belongs to. */
static const char *check_place(const struct proto_message *m,
                               const struct proto_item *item, uint32_t i)
{
    bool transfer = m->type == PROTO_TRANSFER || m->type == PROTO_BOUNCE;
    bool tree =
        item->kind == PROTO_ITEM_REGION || item->kind == PROTO_ITEM_UNSENT;
    bool about_region = item->kind == PROTO_ITEM_CHILD ||
                        item->kind == PROTO_ITEM_WAITER ||
                        item->kind == PROTO_ITEM_PRESENCE;
    bool after_ancestor = i > 0 && item[-1].kind == PROTO_ITEM_ANCESTOR;
    if (transfer && i == 0 && !may_begin(m, item))
        return "a transfer that does not begin with its region";
    if (transfer && i > 0 &&
        (item->kind == PROTO_ITEM_ANCESTOR
             ? !after_ancestor || i >= PROTO_DEPTH_MAX
             : after_ancestor && (item->kind != PROTO_ITEM_REGION ||
                                  item->address != m->region ||
                                  item->parent != item[-1].address)))
        return "ancestors of something else";
    if (transfer && i > 0 && item[-1].kind == PROTO_ITEM_UNSENT &&
        item->kind != PROTO_ITEM_UNSENT)
        return "an item after what is not sent";
    if (transfer && about_region && m->mode != DRASYNC_WRITE)
        return "a token's items without a token";
    if (!transfer && about_region && (i == 0 || !(m->flags & PROTO_MORE)))
        return "nodes that nobody asked for";
    if (tree && item->parent == item->address)
        return "a region that is its own parent";
    if (tree && !item->parent &&
        (item->kind == PROTO_ITEM_UNSENT || item->address != m->root))
        return "an item without a parent";
    if (m->type == PROTO_LOCATED && i == 0 && item->address != m->root)
        return "LOCATED in another tree";
    return NULL;
}

static const char *check_item(const struct proto_env *env,
                              const struct proto_message *m,
                              const struct proto_item *item, uint32_t i)
{
    if (!item->kind || item->kind >= PROTO_ITEM_KINDS ||
        !(items_of(m->type) & 1u << item->kind))
        return "an item that this message does not carry";
    if (item->node >= env->nodes)
        return "an item with a node that does not exist";
    if (item->flags & ~item_flags_of(item->kind))
        return "an item with a flag that it does not have";
    const char *why = check_place(m, item, i);
    if (why)
        return why;
    if (item->kind == PROTO_ITEM_WAITER && item->flags & PROTO_CLIMBS)
        return "a waiter that climbs";
    if (item->kind == PROTO_ITEM_WAITER && item->flags & PROTO_KEEPS &&
        item->mode != DRASYNC_WRITE)
        return "a READ that keeps";
    if (item->kind == PROTO_ITEM_WAITER && item->flags & PROTO_NEWER)
        return "a waiter for a newer version that travels";
    if (item->kind == PROTO_ITEM_WAITER && item->flags & PROTO_AHEAD &&
        item->mode != DRASYNC_READ)
        return "a request ahead that waits for WRITE";
    if (item->kind == PROTO_ITEM_WAITER)
        return mode_valid(item->mode) ? NULL : "a waiter without a mode";
    if (item->kind == PROTO_ITEM_PRESENCE)
        return NULL;
    if (!inside(env, item->address))
        return "an item with an address outside of the space";
    if (item->kind == PROTO_ITEM_EXTENT)
        return item->version && item->version <= UINT64_C(1) << 40
                   ? NULL
                   : "an extent without pages";
    if (!item->incarnation)
        return "an item without an incarnation";
    if (item->parent && !inside(env, item->parent))
        return "an item with a parent outside of the space";
    return NULL;
}

static const char *check_header(const struct proto_env *env,
                                const struct proto_message *m)
{
    bool transfer = m->type == PROTO_TRANSFER || m->type == PROTO_BOUNCE;
    bool tree = m->type == PROTO_REQUEST || m->type == PROTO_REFUSED ||
                m->type == PROTO_SETTLED || m->type == PROTO_RECALL ||
                m->type == PROTO_RECALLED || m->type == PROTO_BURY ||
                m->type == PROTO_BURIED || m->type == PROTO_REVOKE ||
                m->type == PROTO_REVOKED || m->type == PROTO_UNREAD || transfer;
    if (m->node >= env->nodes || m->via >= env->nodes)
        return "a node that does not exist";
    if (m->flags & ~flags_of(m->type))
        return "a flag that this message does not have";
    if (m->type == PROTO_BOUNCE && m->mode != DRASYNC_WRITE)
        return "copies that come back";
    if ((m->type == PROTO_REQUEST || transfer ||
         (m->type == PROTO_LOCATE && m->ticket)) &&
        !mode_valid(m->mode))
        return "a mode that does not exist";
    if ((m->type == PROTO_TRANSFER || m->type == PROTO_REQUEST) &&
        m->flags & PROTO_UNMET && m->region != m->root)
        return "a part that LOCATE asked for";
    if (tree && (!m->incarnation || !inside(env, m->root)))
        return "no tree";
    if ((tree || m->type == PROTO_LOCATE || m->type == PROTO_LOCATED ||
         m->type == PROTO_OWNER || m->type == PROTO_FREED) &&
        !inside(env, m->region))
        return "an address outside of the space";
    if (m->type == PROTO_LOCATED && !m->error && (!m->incarnation || !m->epoch))
        return "LOCATED without what was located";
    if (m->type == PROTO_LOCATED && m->items_count >= PROTO_DEPTH_MAX)
        return "LOCATED too deep";
    if (m->type == PROTO_LOCATED && !m->items_count && m->root != m->region)
        return "LOCATED in another tree";
    if (m->type == PROTO_REQUEST && m->items_count > PROTO_WANTED_MAX)
        return "too many parts wanted";
    if (m->after && m->type != PROTO_TRANSFER && m->type != PROTO_LOCATE &&
        m->type != PROTO_LOCATED && !(m->flags & PROTO_CHAINED))
        return "a place in no line";
    if (m->type == PROTO_REQUEST && m->flags & (PROTO_CLIMBS | PROTO_RELAYS) &&
        (m->mode != DRASYNC_READ || m->flags & PROTO_NOWAIT))
        return "a request that cannot be combined with others";
    if (m->type == PROTO_REQUEST && m->flags & PROTO_AHEAD &&
        !(m->flags & PROTO_NOWAIT))
        return "a request ahead that waits";
    if (m->type == PROTO_REQUEST && m->flags & PROTO_KEEPS &&
        m->mode != DRASYNC_WRITE)
        return "a READ that keeps";
    if (m->type == PROTO_REQUEST && m->flags & PROTO_NEWER &&
        (m->flags & NEWER_NEVER ||
         (m->flags & PROTO_AHEAD ? m->mode != DRASYNC_READ : !m->version)))
        return "a request for a newer version that cannot be one";
    if (m->type == PROTO_REQUEST && m->flags & PROTO_CLIMBS &&
        (m->node == env->self || m->items_count))
        return "a request that climbs in vain";
    if (transfer && m->flags & (PROTO_MORE | PROTO_FURTHER) &&
        m->mode != DRASYNC_READ)
        return "a token that comes in portions";
    if (transfer && m->flags & PROTO_TELL && m->mode != DRASYNC_READ)
        return "a token that is READ";
    if (m->type == PROTO_TRANSFER && m->flags & PROTO_GIVEN &&
        (m->mode != DRASYNC_WRITE || m->flags != PROTO_GIVEN ||
         m->version > INT32_MAX))
        return "a gift that cannot be";
    if (m->type == PROTO_TRANSFER && m->after && !(m->flags & PROTO_GIVEN))
        return "a gift's words without a gift";
    if (transfer && m->items_count == 0)
        return "an empty transfer";
    if (items_of(m->type) & 1u << PROTO_ITEM_DELETED && m->items_count == 0)
        return "a deletion of nothing";
    if (has_name(m->type) && !memchr(m->name, 0, NAME_BYTES))
        return "a name without an end";
    if ((m->type == PROTO_REFUSED && m->error >= 0) || m->error > 0)
        return "an error that is none";
    return NULL;
}

int proto_decode(const struct proto_env *env, const void *bytes,
                 size_t size_bytes, struct proto_item *items,
                 struct proto_message *message, const char **why_out)
{
    const uint8_t *at = bytes;
    uint32_t count;
    *why_out = "not a message";
    if (!shaped(bytes, size_bytes, &count))
        return DRASYNC_EINVAL;
    get_header(at, message);
    at += HEADER_BYTES;
    if (has_name(message->type)) {
        memcpy(message->name, at, NAME_BYTES);
        at += NAME_BYTES;
    }
    *why_out = check_header(env, message);
    if (*why_out)
        return DRASYNC_EINVAL;
    for (uint32_t i = 0; i < message->items_count; i++) {
        get_item(at, &items[i]);
        at += PROTO_ITEM_BYTES;
        *why_out = check_item(env, message, &items[i], i);
        if (*why_out)
            return DRASYNC_EINVAL;
    }
    message->items = items;
    return 0;
}
