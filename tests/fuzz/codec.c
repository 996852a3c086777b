/*
 * codec.c - bytes that may be a message of the protocol.  What is decoded is
 * within the limits, and encodes to what decodes to the same.
 */
#include "protocol/protocol.h"
#include "tests/fuzz/fuzz.h"

enum { NODES = 5, SELF = 3, FIRST = 0x100, LAST = 0x1ff };

static int64_t home(void *ctx, uint64_t address)
{
    (void)ctx;
    return address >= FIRST && address <= LAST ? (int64_t)(address % NODES)
                                               : -2;
}

static const struct proto_env env = {
    .self = SELF, .nodes = NODES, .home = home};

static int decode(const void *bytes, size_t size, struct proto_item **items_out,
                  struct proto_message *m)
{
    uint32_t count = proto_encoded_items(bytes, size);
    const char *why = NULL;
    int err;

    *items_out = malloc(count * sizeof(**items_out) + 1);
    FUZZ_HOLDS(*items_out);
    err = proto_decode(&env, bytes, size, *items_out, m, &why);
    FUZZ_HOLDS(!err || (err == DRASYNC_EINVAL && why));
    FUZZ_HOLDS(err || m->items_count == count);
    return err;
}

static void encode_again(const struct proto_message *m, size_t bytes)
{
    struct proto_message again;
    struct proto_item *items;
    void *copy = malloc(bytes);

    FUZZ_HOLDS(copy && proto_encoded_size(m) == bytes);
    proto_encode(m, copy);
    FUZZ_HOLDS(!decode(copy, bytes, &items, &again));
    FUZZ_HOLDS(!memcmp(items, m->items, m->items_count * sizeof(*items)));
    again.items = m->items;
    FUZZ_HOLDS(!memcmp(&again, m, sizeof(again)));
    free(items);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct proto_message m;
    struct proto_item *items;

    if (!decode(data, bytes, &items, &m)) {
        FUZZ_HOLDS(m.node < NODES && m.via < NODES);
        FUZZ_HOLDS(proto_message_name(m.type)[0]);
        (void)proto_message_tree(&m);
        encode_again(&m, bytes);
    }
    free(items);
    return 0;
}
