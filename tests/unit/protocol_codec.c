/*
 * protocol_codec.c - messages that no node would send: cut off, stretched,
 * counted wrong, of unknown types, random.  Each must be refused, or be a
 * message that is valid throughout; nothing may be read behind the last byte.
 */
#include "protocol_codec.h"

enum { ITEM = 48, ITEMS_COUNT_AT = 20 };

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
        sound =
            sound && item->kind && item->kind < PROTO_ITEM_KINDS &&
            item->node < NODES &&
            (placeless || home(NULL, item->address) != -2) &&
            (!item->parent || placeless || item->kind == PROTO_ITEM_CHILD ||
             item->kind == PROTO_ITEM_EXTENT || home(NULL, item->parent) != -2);
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
           m->after == got.after && m->items_count == got.items_count &&
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
    static const uint32_t wrong[] = {1, 2, 7, 0x7fffffff, 0x80000000,
                                     0xffffffff, 1 << 22, (1 << 22) + 1,
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

/* Many of them have the length of a message, so that more is looked at. */
static bool random_bytes_are_refused_or_sound(void)
{
    const struct proto_message empty = {.type = PROTO_SETTLED};
    size_t header = proto_encoded_size(&empty);
    int shaped = 0;
    for (int i = 0; i < 300000; i++) {
        size_t size = below(4) ? header + ITEM * below(4) : below(600);
        uint8_t *at = bytes_end - size;
        for (size_t b = 0; b < size; b++)
            at[b] = (uint8_t)random64();
        if (size >= header && below(8)) {
            at[0] = 0xd5;
            at[1] = (uint8_t)(1 + below(PROTO_MESSAGE_TYPES));
            memset(at + ITEMS_COUNT_AT, 0, 4);
            at[ITEMS_COUNT_AT] = (uint8_t)((size - header) / ITEM);
        }
        int err = decode(size);
        if (err != DRASYNC_EINVAL && (err || !sound()))
            return false;
        shaped += !err || strcmp(why, "not a message");
    }
    return shaped > 100000;
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

int main(void)
{
    char name[80];
    edge_open();
    for (uint8_t type = 1; type < PROTO_MESSAGE_TYPES; type++) {
        snprintf(name, sizeof(name), "%s comes as it was sent",
                 proto_message_name(type));
        tap_ok(round_trips(type), name);
        snprintf(name, sizeof(name), "%s is refused at any other length",
                 proto_message_name(type));
        tap_ok(refused_at_other_lengths(type), name);
        snprintf(name, sizeof(name), "%s is refused with any other count",
                 proto_message_name(type));
        tap_ok(refused_with_other_counts(type), name);
    }
    tap_ok(refused_of_unknown_type(), "unknown types are refused");
    tap_ok(random_bytes_are_refused_or_sound(), "random bytes are refused");
    tap_ok(changed_bytes_are_refused_or_sound(),
           "messages with changed bytes are refused, or sound");
    return tap_end();
}
