/*
 * limits.h - the named limits of the protocol.
 *
 * Reaching one is an error that somebody sees: DRASYNC_ELIMIT at the call, or
 * POISON for a peer's message.
 */
#ifndef DRASYNC_PROTOCOL_LIMITS_H
#define DRASYNC_PROTOCOL_LIMITS_H

enum {
    /* Nodes of one job. */
    PROTO_NODES_MAX = 65536,
    /* Regions between a root and its deepest subregion. */
    PROTO_DEPTH_MAX = 4096,
    /* Items in one message: regions, children, waiters... */
    PROTO_ITEMS_MAX = 1 << 24,
    /* Direct subregions of a region that goes to another node for WRITE: its token
     * names each, and what is left to be asked for names them once more. */
    PROTO_CHILDREN_MAX = 1 << 22,
    /* Regions in the first of the messages that answer a READ. */
    PROTO_PORTION_FIRST = 512,
    /* Items of one message of an answer, from which on what is left of the subtree
     * is left to be asked for; or about a deletion, from which on the rest goes in
     * another one; and regions in one message of a READ's.  With the data's own
     * lists both stay below RUNTIME_HEADER_BYTES_MAX. */
    PROTO_ANSWER_ITEMS = 1 << 19,
    PROTO_PORTION_MAX = 1 << 17,
    /* Further parts that one request may ask for. */
    PROTO_WANTED_MAX = 256,
    /* A READ asked ahead lets so many pass that were not, and then none. */
    PROTO_AHEAD_PASSED_MAX = 4,
    /* Forwards after which what was asked ahead is given up. */
    PROTO_HOPS_AHEAD = 8,
    /* Forwards after which a request goes by way of the region's home. */
    PROTO_HOPS_DETOUR = 2,
    /* The same again: after so many, twice as many and so on.  A power of 2. */
    PROTO_HOPS_LOST = 32,
    /* Requests that travel with a token; the others wait in a line. */
    PROTO_WAITERS_MAX = 32,
    /* Nodes known to have been at a region, which travel with its token. */
    PROTO_PRESENCE_MAX = 32,
    /* Items of a message for which it is worth a look whether all are known: some
     * regions, and what goes along with a token. */
    PROTO_ITEMS_KNOWN_MAX = 16 + PROTO_WAITERS_MAX + PROTO_PRESENCE_MAX + 1,
    /* Nodes that wait for the next version of a region; and versions of regions
     * of one tree that a node waits for: what is under way for a tree is a list. */
    PROTO_SUBSCRIBERS_MAX = 16,
    PROTO_SUBSCRIPTIONS_MAX = 64,
    /* This many READs in a row must each bring another version before the next
     * version is asked for ahead (a subscription); twice as many after each one
     * that was in vain, doubled at most PROTO_SUBSCRIBE_VAIN_MAX times. */
    PROTO_SUBSCRIBE = 2,
    PROTO_SUBSCRIBE_VAIN_MAX = 6,
    /* This many READs must bring the same version before it is asked for with a
     * promise that stays; twice as many after each time that was in vain. */
    PROTO_REREADS = 3,
    /* A version that is READ so often is rather kept than the next one awaited. */
    PROTO_REREADS_MANY = 16,
    /* Promises of a region at a time: a writer waits for all of them. */
    PROTO_PROMISES_MAX = 64,
    /* After this many subscriptions that were of use, one that was in vain
     * counts no longer. */
    PROTO_SUBSCRIBE_USED = 16,
    /* Children of a node in the trees in which READs are combined. */
    PROTO_FANOUT = 16,
    /* Hops from which the requester tells the home who has the region now. */
    PROTO_HOPS_LONG = 3,
    /* Forwards of one request; more means that the hints are broken. */
    PROTO_HOPS_MAX = 60000,
};

#endif
