/*
 * protocol_codec.c - messages that no node would send: cut off, stretched,
 * counted wrong, of unknown types, random.  Each must be refused, or be a
 * message that is valid throughout; nothing may be read behind the last byte.
 * What is decoded ends where a page ends that may not be touched.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protocol/protocol.h"

enum {
    NODES = 5,
    SELF = 3,
    FIRST = 0x100, /* addresses of the space */
    LAST = 0x1ff,
    HEADER = 104,
    ITEM = 48,
    ITEMS_COUNT_AT = 20,
    BYTES_MAX = 1 << 20,
};

static int tests, failures;
static uint64_t state = 1;
static uint8_t *bytes_end, *items_end;
static sigjmp_buf overrun;
static const char *why;

static void ok(bool passed, const char *name)
{
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++tests, name);
    failures += !passed;
}

static uint64_t random64(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(random64() % limit);
}

static int64_t home(void *ctx, uint64_t address)
{
    (void)ctx;
    return address >= FIRST && address <= LAST ? (int64_t)(address % NODES)
                                               : -2;
}

static const struct proto_env env = {
    .self = SELF, .nodes = NODES, .home = home};

/* The end of an area with a page behind it that nobody may touch. */
static uint8_t *guarded(void)
{
    uint8_t *at = mmap(NULL, BYTES_MAX + 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + BYTES_MAX, 4096, PROT_NONE)) {
        perror("mmap");
        exit(1);
    }
    return at + BYTES_MAX;
}

static void on_overrun(int number)
{
    (void)number;
    siglongjmp(overrun, 1);
}

static uint64_t address(void)
{
    return FIRST + below(LAST - FIRST);
}

/* --- Valid messages ------------------------------------------------------- */

static struct proto_item items[64];

static struct proto_item *add(struct proto_message *m, uint8_t kind)
{
    struct proto_item *item = &items[m->items_count++];
    memset(item, 0, sizeof(*item));
    item->kind = kind;
    item->node = below(NODES);
    item->address = address();
    item->incarnation = 1 + below(1000);
    item->version = 1 + below(1000);
    item->epoch = 1 + below(1000);
    m->items = items;
    return item;
}

static void add_transfer(struct proto_message *m)
{
    uint32_t regions = 1 + below(4);
    m->mode = below(2) ? DRASYNC_READ : DRASYNC_WRITE;
    if (m->type == PROTO_BOUNCE)
        m->mode = DRASYNC_WRITE;
    else if (m->mode == DRASYNC_READ)
        m->flags = (uint16_t)(below(2) * PROTO_MORE |
                              below(2) * PROTO_FURTHER);
    for (uint32_t i = 0; i < regions; i++) {
        struct proto_item *item = add(m, PROTO_ITEM_REGION);
        item->address = i || m->flags & PROTO_FURTHER ? m->region + 1 + i
                                                      : m->region;
        item->parent = item->address != m->region ? m->region
                       : m->root == m->region     ? 0
                                                  : m->root;
        item->flags = m->type == PROTO_TRANSFER && below(2) ? PROTO_DATA : 0;
        if (m->mode == DRASYNC_READ)
            continue;
        add(m, PROTO_ITEM_CHILD);
        item = add(m, PROTO_ITEM_WAITER);
        item->mode = DRASYNC_READ;
        item->flags = PROTO_FRESH | PROTO_MORE;
        add(m, PROTO_ITEM_PRESENCE);
    }
    for (uint32_t i = below(3); m->type == PROTO_TRANSFER && i > 0; i--) {
        struct proto_item *item = add(m, PROTO_ITEM_TODO);
        item->parent = m->region + 100;
        item->address = m->region + 100 + i;
    }
}

static struct proto_message valid(uint8_t type)
{
    struct proto_message m = {.type = type, .node = 1, .via = below(NODES)};
    m.ticket = random64();
    m.region = FIRST + below(32);
    m.root = below(2) ? m.region : m.region + 50;
    m.incarnation = 1 + below(1000);
    m.version = random64();
    m.epoch = 1 + below(1000);
    m.mode = DRASYNC_READ;
    switch (type) {
    case PROTO_TRANSFER:
    case PROTO_BOUNCE:
        add_transfer(&m);
        break;
    case PROTO_LOCATED:
        for (uint32_t i = below(4); m.root != m.region && i < 4; i++)
            add(&m, PROTO_ITEM_ANCESTOR)->address = m.root + i;
        if (m.items_count)
            m.root = items[0].address;
        else
            m.root = m.region;
        break;
    case PROTO_OWNER:
        add(&m, PROTO_ITEM_OWNED);
        break;
    case PROTO_FREED:
        add(&m, PROTO_ITEM_EXTENT);
        add(&m, PROTO_ITEM_DELETED);
        break;
    case PROTO_RECALLED:
        m.flags = PROTO_MORE;
        add(&m, PROTO_ITEM_DELETED);
        add(&m, PROTO_ITEM_PRESENCE)->flags = PROTO_MORE;
        break;
    case PROTO_RECALL:
    case PROTO_BURY:
    case PROTO_BURIED:
        for (uint32_t i = below(4); i < 4; i++)
            add(&m, PROTO_ITEM_DELETED);
        break;
    case PROTO_REFUSED:
        m.error = DRASYNC_EDELETED;
        break;
    case PROTO_REQUEST:
        m.flags = PROTO_CHAINED | PROTO_MORE;
        m.after = random64();
        for (uint32_t i = below(4); i < 4; i++)
            add(&m, PROTO_ITEM_WANTED);
        break;
    case PROTO_POISON:
        strcpy(m.name, "because");
        break;
    default:
        break;
    }
    return m;
}

/* --- Decoding at the edge ------------------------------------------------- */

static struct proto_message got;
static struct proto_item *got_items;

/* Decode what stands before bytes_end: 0, an error, or 1: it was overrun. */
static int decode(size_t size)
{
    if (sigsetjmp(overrun, 1))
        return 1;
    const uint8_t *at = bytes_end - size;
    uint32_t count = proto_encoded_items(at, size);
    if (count > BYTES_MAX / sizeof(*got_items))
        return 1;
    got_items = (struct proto_item *)(void *)items_end - count;
    return proto_decode(&env, at, size, got_items, &got, &why);
}

static size_t encode(const struct proto_message *m)
{
    size_t size = proto_encoded_size(m);
    proto_encode(m, bytes_end - size);
    return size;
}

/* Is all that was believed true of a message? */
static bool sound(void)
{
    bool sound = got.type > PROTO_NO_MESSAGE &&
                 got.type < PROTO_MESSAGE_TYPES && got.node < NODES &&
                 got.via < NODES && memchr(got.name, 0, sizeof(got.name));
    for (uint32_t i = 0; i < got.items_count; i++) {
        const struct proto_item *item = &got.items[i];
        bool placeless = item->kind == PROTO_ITEM_WAITER ||
                         item->kind == PROTO_ITEM_PRESENCE;
        sound = sound && item->kind && item->kind < PROTO_ITEM_KINDS &&
                item->node < NODES &&
                (placeless || home(NULL, item->address) != -2) &&
                (!item->parent || placeless ||
                 item->kind == PROTO_ITEM_CHILD ||
                 item->kind == PROTO_ITEM_EXTENT ||
                 home(NULL, item->parent) != -2);
    }
    return sound;
}

static bool same(const struct proto_message *m)
{
    return m->type == got.type && m->mode == got.mode &&
           m->flags == got.flags && m->error == got.error &&
           m->node == got.node && m->via == got.via &&
           m->ticket == got.ticket && m->root == got.root &&
           m->region == got.region && m->incarnation == got.incarnation &&
           m->version == got.version && m->epoch == got.epoch &&
           m->after == got.after &&
           m->items_count == got.items_count &&
           !strcmp(m->name, got.name) &&
           (!m->items_count ||
            !memcmp(m->items, got.items, m->items_count * sizeof(items[0])));
}

/* --- Tests ---------------------------------------------------------------- */

static bool round_trips(uint8_t type)
{
    for (int i = 0; i < 1000; i++) {
        struct proto_message m = valid(type);
        int err = decode(encode(&m));
        if (err || !same(&m) || !sound()) {
            printf("# %s: %d, %s\n", proto_message_name(type), err, why);
            return false;
        }
    }
    return true;
}

static bool refused_at_other_lengths(uint8_t type)
{
    static uint8_t copy[BYTES_MAX];
    struct proto_message m = valid(type);
    size_t size = encode(&m);
    memcpy(copy, bytes_end - size, size);
    for (size_t other = 0; other < size + 200; other++) {
        if (other == size)
            continue;
        memset(bytes_end - other, 0, other);
        memcpy(bytes_end - other, copy, other < size ? other : size);
        int err = decode(other);
        if (err != DRASYNC_EINVAL) {
            printf("# %s of %zu bytes cut to %zu: %d\n",
                   proto_message_name(type), size, other, err);
            return false;
        }
    }
    return true;
}

static bool refused_with_other_counts(uint8_t type)
{
    static const uint32_t wrong[] = {1,          2,          7,
                                     0x7fffffff, 0x80000000, 0xffffffff,
                                     1 << 22,    (1 << 22) + 1,
                                     /* times 48: a multiple of 2^32 */
                                     0x10000000, 0x20000000};
    struct proto_message m = valid(type);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        size_t size = encode(&m);
        uint32_t count = m.items_count + wrong[i];
        for (int b = 0; b < 4; b++)
            *(bytes_end - size + ITEMS_COUNT_AT + b) =
                (uint8_t)(count >> 8 * b);
        int err = decode(size);
        if (err != DRASYNC_EINVAL) {
            printf("# %s with %u items: %d\n", proto_message_name(type), count,
                   err);
            return false;
        }
    }
    return true;
}

static bool refused_of_unknown_type(void)
{
    for (uint32_t type = 0; type < 256; type++) {
        if (type > PROTO_NO_MESSAGE && type < PROTO_MESSAGE_TYPES)
            continue;
        struct proto_message m = valid((uint8_t)PROTO_SETTLED);
        size_t size = encode(&m);
        *(bytes_end - size + 1) = (uint8_t)type;
        if (decode(size) != DRASYNC_EINVAL)
            return false;
    }
    return true;
}

static bool random_bytes_are_refused_or_sound(void)
{
    for (int i = 0; i < 300000; i++) {
        size_t size = below(4) ? HEADER + ITEM * below(4) : below(600);
        uint8_t *at = bytes_end - size;
        for (size_t b = 0; b < size; b++)
            at[b] = (uint8_t)random64();
        if (size >= HEADER && below(8)) {
            at[0] = 0xd5;
            at[1] = (uint8_t)(1 + below(PROTO_MESSAGE_TYPES));
            memset(at + ITEMS_COUNT_AT, 0, 4);
            at[ITEMS_COUNT_AT] = (uint8_t)((size - HEADER) / ITEM);
        }
        int err = decode(size);
        if (err != DRASYNC_EINVAL && (err || !sound()))
            return false;
    }
    return true;
}

static bool changed_bytes_are_refused_or_sound(void)
{
    for (int i = 0; i < 300000; i++) {
        uint8_t type = (uint8_t)(1 + below(PROTO_MESSAGE_TYPES - 1));
        struct proto_message m = valid(type);
        size_t size = encode(&m);
        for (uint32_t n = 1 + below(3); n > 0; n--)
            *(bytes_end - 1 - below((uint32_t)size)) =
                (uint8_t)(below(2) ? random64() : below(4));
        int err = decode(size);
        if (err != DRASYNC_EINVAL && (err || !sound())) {
            printf("# %s: %d\n", proto_message_name(type), err);
            return false;
        }
    }
    return true;
}

static bool refused(const struct proto_message *m, const char *reason)
{
    int err = decode(encode(m));
    if (err == DRASYNC_EINVAL && !strcmp(why, reason))
        return true;
    printf("# %s: %d, \"%s\" for \"%s\"\n", proto_message_name(m->type), err,
           err ? why : "", reason);
    return false;
}

static void what_is_refused(void)
{
    struct proto_message m = valid(PROTO_REQUEST);
    m.node = NODES;
    ok(refused(&m, "a node that does not exist"), "an unknown node");
    m = valid(PROTO_REQUEST);
    m.flags = PROTO_HELD;
    ok(refused(&m, "a flag that this message does not have"),
       "a flag of another message");
    m = valid(PROTO_REQUEST);
    m.mode = 3;
    ok(refused(&m, "a mode that does not exist"), "an unknown mode");
    m = valid(PROTO_BURY);
    m.region = LAST + 1;
    ok(refused(&m, "an address outside of the space"),
       "a region outside of the space");
    m = valid(PROTO_SETTLED);
    m.root = FIRST - 1;
    ok(refused(&m, "no tree"), "a root outside of the space");
    m = valid(PROTO_TRANSFER);
    m.items_count = 0;
    ok(refused(&m, "an empty transfer"), "a transfer of nothing");
    m = valid(PROTO_TRANSFER);
    m.mode = DRASYNC_WRITE;
    m.flags = PROTO_MORE;
    ok(refused(&m, "a token that comes in portions"), "half of a token");
    m.flags = PROTO_FURTHER;
    ok(refused(&m, "a token that comes in portions"), "the other half");
    m = valid(PROTO_BURY);
    m.items_count = 0;
    ok(refused(&m, "a deletion of nothing"), "a deletion of nothing");
    m = valid(PROTO_REFUSED);
    m.error = 0;
    ok(refused(&m, "an error that is none"), "a refusal without a reason");
    m = valid(PROTO_REQUEST);
    m.flags = 0;
    ok(refused(&m, "a place in no line"), "a request behind another");
    m = valid(PROTO_REQUEST);
    m.flags |= PROTO_CLIMBS;
    m.mode = DRASYNC_WRITE;
    ok(refused(&m, "a request that cannot be combined with others"),
       "a WRITE that climbs");
    m.mode = DRASYNC_READ;
    m.flags = PROTO_RELAYS | PROTO_NOWAIT;
    m.after = 0;
    ok(refused(&m, "a request that cannot be combined with others"),
       "a request for others that does not wait");
    m.flags = PROTO_CLIMBS;
    m.node = SELF;
    ok(refused(&m, "a request that climbs in vain"), "an own one that climbs");
    m = valid(PROTO_LOCATE);
    m.node = SELF;
    ok(refused(&m, "an own question that comes back"), "an own LOCATE");
    m = valid(PROTO_POISON);
    memset(m.name, 'x', sizeof(m.name));
    ok(refused(&m, "a name without an end"), "a text without an end");
}

/* A TRANSFER with just these flags. */
static struct proto_message transfer(uint16_t flags)
{
    struct proto_message m;
    do
        m = valid(PROTO_TRANSFER);
    while (m.flags != flags);
    return m;
}

static void what_items_are_refused(void)
{
    struct proto_message m = valid(PROTO_TRANSFER);
    items[0].parent = items[0].address;
    ok(refused(&m, "a region that is its own parent"), "its own parent");
    m = valid(PROTO_TRANSFER);
    m.root = m.region + 50;
    items[0].parent = 0;
    items[0].address = m.region;
    ok(refused(&m, "an item without a parent"), "two roots of a tree");
    m = valid(PROTO_TRANSFER);
    items[0].kind = PROTO_ITEM_TODO;
    items[0].flags = 0;
    ok(refused(&m, "a transfer that does not begin with its region"),
       "a transfer that begins in the middle");
    m = transfer(PROTO_FURTHER);
    m.flags = 0;
    ok(refused(&m, "a transfer that does not begin with its region"),
       "what should have come before");
    m = transfer(0);
    m.mode = DRASYNC_READ;
    m.items_count = 1;
    add(&m, PROTO_ITEM_PRESENCE);
    ok(refused(&m, "a token's items without a token"), "a copy with presence");
    add(&m, PROTO_ITEM_TODO)->parent = m.region;
    items[m.items_count - 1].address = m.region + 1;
    m.mode = DRASYNC_WRITE;
    m.flags = 0;
    add(&m, PROTO_ITEM_CHILD);
    ok(refused(&m, "an item after what is not sent"), "a child of nothing");
    m = transfer(0);
    m.mode = DRASYNC_WRITE;
    m.items_count = 1;
    add(&m, PROTO_ITEM_WAITER)->flags = PROTO_CLIMBS;
    items[1].mode = DRASYNC_READ;
    ok(refused(&m, "a waiter that climbs"), "a waiter on its way");
    m = valid(PROTO_RECALLED);
    m.flags = 0;
    ok(refused(&m, "nodes that nobody asked for"), "an answer with nodes");
    m = valid(PROTO_OWNER);
    items[0].incarnation = 0;
    ok(refused(&m, "an item without an incarnation"), "no incarnation");
    m = valid(PROTO_FREED);
    items[0].version = 0;
    ok(refused(&m, "an extent without pages"), "an empty extent");
    m = valid(PROTO_LOCATED);
    m.items_count = 0;
    add(&m, PROTO_ITEM_ANCESTOR)->address = m.root + 1;
    ok(refused(&m, "LOCATED in another tree"), "another root");
}

int main(void)
{
    char name[80];
    bytes_end = guarded();
    items_end = guarded();
    signal(SIGSEGV, on_overrun);
    signal(SIGBUS, on_overrun);
    for (uint8_t type = 1; type < PROTO_MESSAGE_TYPES; type++) {
        snprintf(name, sizeof(name), "%s comes as it was sent",
                 proto_message_name(type));
        ok(round_trips(type), name);
        snprintf(name, sizeof(name), "%s is refused at any other length",
                 proto_message_name(type));
        ok(refused_at_other_lengths(type), name);
        snprintf(name, sizeof(name), "%s is refused with any other count",
                 proto_message_name(type));
        ok(refused_with_other_counts(type), name);
    }
    ok(refused_of_unknown_type(), "unknown types are refused");
    ok(random_bytes_are_refused_or_sound(), "random bytes are refused");
    ok(changed_bytes_are_refused_or_sound(),
       "messages with changed bytes are refused, or sound");
    what_is_refused();
    what_items_are_refused();
    printf("1..%d\n", tests);
    return failures > 0;
}
