/*
 * protocol_codec_refused.c - what is wrong with a message is found, and said.
 */
#include "protocol_codec.h"

static bool refused(const struct proto_message *m, const char *reason)
{
    int err = decode(encode(m));
    if (err == DRASYNC_EINVAL && !strcmp(why, reason))
        return true;
    printf("# %s: %d, \"%s\" for \"%s\"\n", proto_message_name(m->type), err,
           err ? why : "", reason);
    return false;
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

static void what_is_refused(void)
{
    struct proto_message m = valid(PROTO_REQUEST);
    m.node = NODES;
    tap_ok(refused(&m, "a node that does not exist"), "an unknown node");
    m = valid(PROTO_REQUEST);
    m.flags = PROTO_HOT;
    tap_ok(refused(&m, "a flag that this message does not have"),
           "a flag of another message");
    m = valid(PROTO_REQUEST);
    m.flags = PROTO_AHEAD | PROTO_MORE | PROTO_CHAINED;
    tap_ok(refused(&m, "a request ahead that waits"), "a hint that waits");
    m = valid(PROTO_REQUEST);
    m.mode = DRASYNC_READ;
    m.flags = PROTO_NEWER | PROTO_CHAINED;
    tap_ok(refused(&m, "a request for a newer version that cannot be one"),
           "a request for a newer version that has a place in a line");
    m.mode = DRASYNC_WRITE;
    m.flags = PROTO_NEWER | PROTO_AHEAD | PROTO_NOWAIT;
    m.after = 0;
    tap_ok(refused(&m, "a request for a newer version that cannot be one"),
           "a subscription for WRITE");
    m = valid(PROTO_REQUEST);
    m.mode = DRASYNC_WRITE;
    m.flags = PROTO_NEWER;
    m.after = m.version = 0;
    tap_ok(refused(&m, "a request for a newer version that cannot be one"),
           "a request for what is newer than no version");
    m = valid(PROTO_REQUEST);
    m.mode = DRASYNC_READ;
    m.flags = PROTO_KEEPS | PROTO_CHAINED;
    tap_ok(refused(&m, "a READ that keeps"), "a READ that keeps");
    m = valid(PROTO_REQUEST);
    m.mode = 3;
    tap_ok(refused(&m, "a mode that does not exist"), "an unknown mode");
    m = valid(PROTO_BURY);
    m.region = LAST + 1;
    tap_ok(refused(&m, "an address outside of the space"),
           "a region outside of the space");
    m = valid(PROTO_SETTLED);
    m.root = FIRST - 1;
    tap_ok(refused(&m, "no tree"), "a root outside of the space");
    m = transfer(0);
    m.items_count = 0;
    tap_ok(refused(&m, "an empty transfer"), "a transfer of nothing");
    m = transfer(0);
    m.mode = DRASYNC_WRITE;
    m.flags = PROTO_MORE;
    tap_ok(refused(&m, "a token that comes in portions"), "half of a token");
    m.flags = PROTO_FURTHER;
    tap_ok(refused(&m, "a token that comes in portions"), "the other half");
    m = valid(PROTO_BURY);
    m.items_count = 0;
    tap_ok(refused(&m, "a deletion of nothing"), "a deletion of nothing");
    m = valid(PROTO_REFUSED);
    m.error = 0;
    tap_ok(refused(&m, "an error that is none"), "a refusal without a reason");
    m = valid(PROTO_REQUEST);
    m.flags = 0;
    tap_ok(refused(&m, "a place in no line"), "a request behind another");
    m = valid(PROTO_REQUEST);
    m.flags |= PROTO_CLIMBS;
    m.mode = DRASYNC_WRITE;
    tap_ok(refused(&m, "a request that cannot be combined with others"),
           "a WRITE that climbs");
    m.mode = DRASYNC_READ;
    m.flags = PROTO_RELAYS | PROTO_NOWAIT;
    m.after = 0;
    tap_ok(refused(&m, "a request that cannot be combined with others"),
           "a request for others that does not wait");
    m.flags = PROTO_CLIMBS;
    m.node = SELF;
    tap_ok(refused(&m, "a request that climbs in vain"),
           "an own one that climbs");
    m = valid(PROTO_LOCATE);
    m.ticket = 1;
    m.mode = 0;
    tap_ok(refused(&m, "a mode that does not exist"),
           "a LOCATE that asks for it");
    m = valid(PROTO_REQUEST);
    m.flags = PROTO_UNMET;
    m.root = m.region + 4096;
    tap_ok(refused(&m, "a part that LOCATE asked for"), "a part that is UNMET");
    m = valid(PROTO_POISON);
    memset(m.name, 'x', sizeof(m.name));
    tap_ok(refused(&m, "a name without an end"), "a text without an end");
}

static void what_items_are_refused(void)
{
    struct proto_message m = transfer(0);
    items[0].parent = items[0].address;
    tap_ok(refused(&m, "a region that is its own parent"), "its own parent");
    m = transfer(0);
    m.root = m.region + 50;
    items[0].parent = 0;
    items[0].address = m.region;
    tap_ok(refused(&m, "an item without a parent"), "two roots of a tree");
    m = transfer(0);
    items[0].kind = PROTO_ITEM_UNSENT;
    items[0].flags = 0;
    tap_ok(refused(&m, "a transfer that does not begin with its region"),
           "a transfer that begins in the middle");
    m = transfer(PROTO_FURTHER);
    m.flags = 0;
    tap_ok(refused(&m, "a transfer that does not begin with its region"),
           "what should have come before");
    m = transfer(0);
    m.mode = DRASYNC_READ;
    m.items_count = 1;
    add(&m, PROTO_ITEM_PRESENCE);
    tap_ok(refused(&m, "a token's items without a token"),
           "a copy with presence");
    add(&m, PROTO_ITEM_UNSENT)->parent = m.region;
    items[m.items_count - 1].address = m.region + 1;
    m.mode = DRASYNC_WRITE;
    m.flags = 0;
    add(&m, PROTO_ITEM_CHILD);
    tap_ok(refused(&m, "an item after what is not sent"), "a child of nothing");
    m = transfer(0);
    m.mode = DRASYNC_WRITE;
    m.items_count = 1;
    add(&m, PROTO_ITEM_WAITER)->flags = PROTO_CLIMBS;
    items[1].mode = DRASYNC_READ;
    tap_ok(refused(&m, "a waiter that climbs"), "a waiter on its way");
    items[1].flags = PROTO_KEEPS;
    tap_ok(refused(&m, "a READ that keeps"), "a waiter for READ that keeps");
    m = valid(PROTO_RECALLED);
    m.flags = 0;
    tap_ok(refused(&m, "nodes that nobody asked for"), "an answer with nodes");
    m = valid(PROTO_OWNER);
    items[0].incarnation = 0;
    tap_ok(refused(&m, "an item without an incarnation"), "no incarnation");
    m = valid(PROTO_FREED);
    items[0].version = 0;
    tap_ok(refused(&m, "an extent without pages"), "an empty extent");
    m = valid(PROTO_LOCATED);
    m.items_count = 0;
    add(&m, PROTO_ITEM_ANCESTOR)->address = m.root + 1;
    tap_ok(refused(&m, "LOCATED in another tree"), "another root");
}

static struct proto_message gift(bool part)
{
    struct proto_message m;
    do
        m = transfer(PROTO_GIVEN);
    while ((m.root != m.region) != part);
    return m;
}

static void what_gifts_are_refused(void)
{
    struct proto_message m = gift(false);
    m.mode = DRASYNC_READ;
    tap_ok(refused(&m, "a gift that cannot be"), "a copy that is given");
    m = gift(false);
    m.version = UINT64_C(1) << 31;
    tap_ok(refused(&m, "a gift that cannot be"), "a gift to no rank");
    m = gift(false);
    m.flags |= PROTO_UNMET;
    tap_ok(refused(&m, "a gift that cannot be"), "a gift that answers LOCATE");
    m = gift(false);
    m.flags = 0;
    m.after = 1;
    tap_ok(refused(&m, "a gift's words without a gift"),
           "words without a gift");
    m = gift(true);
    m.flags = 0;
    m.after = 0;
    tap_ok(refused(&m, "a transfer that does not begin with its region"),
           "ancestors of what was asked for");
    m = gift(true);
    items[0].address = m.root + 1;
    tap_ok(refused(&m, "a transfer that does not begin with its region"),
           "ancestors that do not begin with the root");
    m = gift(true);
    items[1].parent = m.root + 2;
    tap_ok(refused(&m, "ancestors of something else"), "another's ancestors");
}

int main(void)
{
    edge_open();
    what_is_refused();
    what_items_are_refused();
    what_gifts_are_refused();
    return tap_end();
}
