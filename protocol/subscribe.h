/*
 * subscribe.h - what a node notes of its READs of a region of another node, by
 * which it subscribes to the next version: subscribe.c.  protocol.h includes this.
 */
#ifndef DRASYNC_PROTOCOL_SUBSCRIBE_H
#define DRASYNC_PROTOCOL_SUBSCRIBE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. */
struct proto_news {
    uint64_t seen;        /* the version that was READ last */
    uint8_t news;         /* READs in a row that brought another one, */
    uint8_t times;        /* and READs of that one, */
    uint8_t times_before; /* and of the one before it */
    uint8_t vain;         /* of what was asked by that, and is not forgiven */
    uint8_t used;         /* those that were not since the last of them */
    bool hinted;   /* proto_ahead() names it, so it is not subscribed to */
    uint16_t open; /* root: subscriptions in the tree that are under way */
};

#endif
