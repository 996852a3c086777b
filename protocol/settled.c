/* settled.c - SETTLED: what a TRANSFER brought is in place, or given up. */
#include "protocol/internal.h"

/* The last transfer of @r's data from here may be over: RECALL or BURY waited. */
static void answer_asker(struct step *s, struct proto_region *r)
{
    if (r->sends)
        return;
    if (r->asker) {
        uint32_t asker = r->asker - 1;
        bool bury = r->asked == PROTO_BURY;
        size_t send = s->out->count;
        r->asker = 0;
        send_about(s, asker, bury ? PROTO_BURIED : PROTO_RECALLED, r, 0);
        add_deleted(s, send, r);
        if (bury)
            region_dead(s, r);
    }
    if (r->lock && r->lock->kind == OP_DELETE)
        delete_next(s, r->lock);
}

void region_sent(struct step *s, struct proto_region *r)
{
    r->sends--;
    mark_gc(s, r);
    answer_asker(s, r);
    if (!r->sends && r->forgotten)
        region_unindex(s, r);
}

/* The data of @pin is not needed any more. */
static void end_copy(struct step *s, struct proto_pin *pin)
{
    struct proto_copy *copy = pin->copy;
    if (!copy)
        return;
    pin->copy = NULL;
    copy->sends--;
    pinned_update(pin->region);
    copy_check(s, pin->region, copy);
}

void end_sending(struct step *s, struct proto_sending *sending)
{
    struct proto_op *relay = sending->relay;
    while (!list_empty(&sending->pins)) {
        struct proto_pin *pin =
            CONTAINER(sending->pins.next, struct proto_pin, link);
        struct proto_region *r = pin->region;
        end_copy(s, pin);
        pin_end(s, pin);
        region_sent(s, r);
    }
    list_remove(&sending->link);
    give(s, PROTO_SENDING, sending);
    if (relay)
        relay_settled(s, relay);
}

/* What was sent is known to be there: it need not be sent again. */
static void note_presence(struct proto_sending *sending)
{
    struct proto_link *head = &sending->pins;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
        struct proto_presence *p = presence_of(pin->region, sending->node);
        if (p && p->version < pin->version)
            p->version = pin->version;
    }
}

/* What was promised is not there. */
static void forget_promise(const struct proto_sending *sending)
{
    const struct proto_link *head = &sending->pins;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_pin *pin =
            CONTAINER(l, const struct proto_pin, link);
        struct proto_presence *p = presence_of(pin->region, sending->node);
        if (p)
            p->promised = 0;
    }
}

void sending_settled(struct step *s, struct proto_region *root, uint32_t node,
                     uint64_t ticket, bool settled, bool sent, bool placed)
{
    struct proto_link *head = &root->sendings;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_sending *sending =
            CONTAINER(l, struct proto_sending, link);
        if (sending->node != node || sending->ticket != ticket)
            continue;
        /* A node that asks twice with one ticket has two answers. */
        if (sent && !sending->unsent)
            continue;
        if (settled && placed)
            note_presence(sending);
        else if (settled && sending->promise)
            forget_promise(sending);
        sending->settled |= settled;
        sending->unsent -= sent;
        mark_gc(s, root);
        if (sending->settled && !sending->unsent) {
            end_sending(s, sending);
            return;
        }
        if (sent && sending->unsent)
            return;
        for (l = sending->pins.next; l != &sending->pins; l = l->next) {
            struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
            if (settled)
                unshare(s, pin);
            else if (!sending->token)
                end_copy(s, pin);
        }
        return;
    }
}

void proto_sent_each(const struct proto_region *root, uint32_t to,
                     uint64_t ticket, proto_sent_visit *visit, void *arg)
{
    const struct proto_link *head = &root->root->sendings;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_sending *sending =
            CONTAINER(l, const struct proto_sending, link);
        if (sending->node != to || sending->ticket != ticket)
            continue;
        const struct proto_link *pins = &sending->pins;
        if (sending->unsent > 1)
            return; /* with the last of its messages */
        for (l = pins->next; l != pins; l = l->next) {
            const struct proto_pin *pin =
                CONTAINER(l, const struct proto_pin, link);
            if (pin->copy && pin->region->owned &&
                proto_version(pin->region) == pin->version)
                visit(pin->region, pin->copy, pin->version, arg);
        }
        return;
    }
}

void proto_sent(struct proto_node *node, struct proto_region *root, uint32_t to,
                uint64_t ticket, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    sending_settled(&s, root->root, to, ticket, false, true, false);
    step_end(&s);
}

void on_SETTLED(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    /* The record is there as long as the sending is. */
    if (r && r->incarnation == m->incarnation)
        sending_settled(s, r->root, from, m->ticket, true, false,
                        m->error == 0);
}
