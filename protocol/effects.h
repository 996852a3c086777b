/*
 * effects.h - what a step of the protocol did: messages, wake-ups, data that
 * comes and goes.  protocol.h, which includes this, has the steps.
 */
#ifndef DRASYNC_PROTOCOL_EFFECTS_H
#define DRASYNC_PROTOCOL_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

struct proto_copy;
struct proto_hold;
struct proto_region;

enum proto_effect_kind {
    /* Ship message to node.  The SHIP effects of a TRANSFER follow it; if there
     * are any, proto_sent(message.ticket) is due once, for each such message:
     * the answer to a READ may be several. */
    PROTO_SEND,
    /* The data of copy goes with the TRANSFER before, as item `item`; or what
     * changed since base_version, if the caller knows that. */
    PROTO_SHIP,
    /* waiter has what it asked for: see the fields for what.  An acquire: hold
     * (READ: pins to map) or, for WRITE, NULL; region; split.  A delete:
     * address, for the record may be gone. */
    PROTO_GRANTED,
    /* waiter's operation ended with error. */
    PROTO_FAILED,
    /* A region of the TRANSFER that is being handled, with its item: the place
     * to look at what the runtime attached about it (extents); copy is where
     * its data goes if data is set, all of it or, with base, maybe only what
     * changed since base->version: see proto_take_frames(). */
    PROTO_ARRIVING,
    /* After the ARRIVINGs of one TRANSFER: data will come; proto_arrived() is
     * due once for this message, with region, ticket and node. */
    PROTO_EXPECT,
    /* Nobody refers to copy any more: its frames can go, if it had any.  frames
     * is what the copy had; the copy itself is gone. */
    PROTO_COPY_RELEASED,
    /* The record of region goes; memory is what it had.  dead: the region was
     * deleted (its extents come back by EXTENT effects at their homes). */
    PROTO_GONE,
    /* An address run that was cut here is free again: address, pages. */
    PROTO_EXTENT,
    /* What was asked ahead of region, whose caller's memory is memory: acquired
     * for the first time (used), or given up before that (data: it came); or it
     * is asked now, without proto_ahead() (begun). */
    PROTO_ASKED_AHEAD,
    /* The job must end: why, a text that lasts as long as the message that is
     * handled; tell the user, and send the POISONs. */
    PROTO_POISONED,
};

struct proto_effect {
    enum proto_effect_kind kind;
    int error;
    bool split; /* GRANTED: some current copies are pinned: proto_split() them
                   before anybody writes */
    bool data, dead, used, begun;
    bool told; /* POISONED: by a message of node */
    /* FAILED, of a delete: all that was in its way is a READ that was answered
     * and whose node has not said that it is over: it soon will, as a rule. */
    bool unsettled;
    /* FAILED, DRASYNC_EDELETED: the region was deleted while this waited for it.
     * Else what has its address by now may be what was meant. */
    bool waited;
    bool hint; /* ARRIVING: it was asked ahead, and may be refused */
    /* SEND: nobody waits for it; nor is it to be there soon.  The order of
     * messages is kept. */
    bool late, lazy;
    /* SEND: no rank waits for it, as it is of what was asked ahead; or not yet
     * (the runtime says so). */
    bool ahead, soon;
    uint64_t base_version;   /* SHIP: the receiver keeps it; 0: none */
    struct proto_copy *base; /* ARRIVING: what it kept, if the sender knows */
    uint32_t node, item;
    void *waiter, *memory, *frames;
    struct proto_region *region;
    struct proto_copy *copy;
    struct proto_hold *hold;
    uint64_t address, pages, ticket;
    uint64_t incarnation; /* FAILED: of what was asked for; 0: not known */
    const char *why;
    size_t message; /* SEND: see proto_effect_message() */
};

/* A message that leaves, and where its items begin. */
struct proto_leaving {
    struct proto_message message;
    size_t first_item;
};

/*
 * What a step did, in order.  The caller owns it, clears it with
 * proto_effects_clear() before each step, and gives a grow function like
 * realloc(); if that fails `failed` is set and the job must end, because the
 * step cannot be undone.
 */
struct proto_effects {
    struct proto_effect *effect;
    size_t count, room;
    uint32_t kinds;                /* there are some of these, as bits */
    struct proto_leaving *leaving; /* the messages of SENDs */
    size_t leaving_count, leaving_room;
    struct proto_item *item;
    size_t items_count, items_room;
    bool failed;
    struct {
        struct proto_effect effect;
        struct proto_leaving leaving;
        struct proto_item item;
    } lost; /* where goes what there is no memory for */
    void *(*grow)(void *old, size_t size_bytes);
};

void proto_effects_clear(struct proto_effects *effects);
/* Give back by @give what grow() got. */
void proto_effects_free(struct proto_effects *effects, void (*give)(void *));

/* The message of a SEND effect with its items in place, valid until the next
 * step with the same effects.  Before it is encoded, PROTO_KEEPS may be added. */
struct proto_message *proto_effect_message(struct proto_effects *effects,
                                           size_t index);

#endif
