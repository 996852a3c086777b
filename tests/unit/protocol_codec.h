/*
 * protocol_codec.h - for the tests of proto_decode(): valid messages at random,
 * and decoding that ends where a page ends that may not be touched.
 *
 * Callers call edge_open() first.
 */
#ifndef DRASYNC_TESTS_PROTOCOL_CODEC_H
#define DRASYNC_TESTS_PROTOCOL_CODEC_H

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protocol/protocol.h"
#include "tap.h"

enum {
    NODES = 5,
    SELF = 3,
    FIRST = 0x100, /* addresses of the space */
    LAST = 0x1ff,
    BYTES_MAX = 1 << 20,
};

static uint64_t state = 1;
static uint8_t *bytes_end, *items_end;
static sigjmp_buf overrun;
static const char *why;

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

/* A TRANSFER of tokens becomes a gift, which names what is above. */
static void give(struct proto_message *m)
{
    m->flags = PROTO_GIVEN;
    m->version = below(1u << 31);
    m->after = random64();
    if (m->root != m->region)
        add(m, PROTO_ITEM_ANCESTOR)->address = m->root;
}

static void add_transfer(struct proto_message *m)
{
    uint32_t regions = 1 + below(4);
    m->mode = below(2) ? DRASYNC_READ : DRASYNC_WRITE;
    if (m->type == PROTO_BOUNCE)
        m->mode = DRASYNC_WRITE;
    else if (m->mode == DRASYNC_READ)
        m->flags = (uint16_t)(below(2) * PROTO_MORE | below(2) * PROTO_FURTHER);
    else if (below(2))
        give(m);
    for (uint32_t i = 0; i < regions; i++) {
        struct proto_item *item = add(m, PROTO_ITEM_REGION);
        item->address =
            i || m->flags & PROTO_FURTHER ? m->region + 1 + i : m->region;
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
        struct proto_item *item = add(m, PROTO_ITEM_UNSENT);
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

static void edge_open(void)
{
    bytes_end = guarded();
    items_end = guarded();
    signal(SIGSEGV, on_overrun);
    signal(SIGBUS, on_overrun);
}

#endif
