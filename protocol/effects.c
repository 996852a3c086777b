/* effects.c - the list of what a step did. */
#include "protocol/internal.h"

void proto_effects_clear(struct proto_effects *effects)
{
    effects->count = 0;
    effects->kinds = 0;
    effects->leaving_count = 0;
    effects->items_count = 0;
}

void proto_effects_free(struct proto_effects *effects, void (*give)(void *))
{
    give(effects->effect);
    give(effects->leaving);
    give(effects->item);
}

/* One more of *@array, whose elements have @size bytes, cleared; or @lost, if
 * there is no memory for it. */
static void *append(struct proto_effects *out, void **array, size_t *count,
                    size_t *room, size_t size, void *lost)
{
    void *element = lost;
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 16;
        void *now = out->grow(*array, more * size);
        if (now) {
            *array = now;
            *room = more;
        }
    }
    if (*count < *room)
        element = (char *)*array + (*count)++ * size;
    else
        out->failed = true;
    memset(element, 0, size);
    return element;
}

struct proto_effect *effect(struct step *s, enum proto_effect_kind kind)
{
    struct proto_effects *out = s->out;
    void *array = out->effect;
    struct proto_effect *e = append(out, &array, &out->count, &out->room,
                                    sizeof(*e), &out->lost.effect);
    out->effect = array;
    e->kind = kind;
    out->kinds |= 1u << kind;
    return e;
}

struct proto_message *send_message(struct step *s, uint32_t to,
                                   enum proto_message_type type)
{
    struct proto_effects *out = s->out;
    void *array = out->leaving;
    size_t index = out->leaving_count;
    struct proto_leaving *leaving =
        append(out, &array, &out->leaving_count, &out->leaving_room,
               sizeof(*leaving), &out->lost.leaving);
    out->leaving = array;
    leaving->first_item = out->items_count;
    leaving->message.type = (uint8_t)type;
    leaving->message.node = self_of(s);
    struct proto_effect *e = effect(s, PROTO_SEND);
    e->node = to;
    e->message = index;
    return &leaving->message;
}

struct proto_effect *effect_of(struct step *s, size_t index)
{
    return s->out->failed ? &s->out->lost.effect : &s->out->effect[index];
}

struct proto_leaving *leaving_of(struct step *s, size_t send_index)
{
    struct proto_effects *out = s->out;
    return out->failed ? &out->lost.leaving
                       : &out->leaving[out->effect[send_index].message];
}

struct proto_item *add_item(struct step *s, size_t send_index,
                            enum proto_item_kind kind)
{
    struct proto_effects *out = s->out;
    void *array = out->item;
    struct proto_item *item =
        append(out, &array, &out->items_count, &out->items_room, sizeof(*item),
               &out->lost.item);
    out->item = array;
    item->kind = (uint8_t)kind;
    message_of(s, send_index)->items_count++;
    return item;
}

void add_deleted(struct step *s, size_t send, const struct proto_region *r)
{
    struct proto_item *item = add_item(s, send, PROTO_ITEM_DELETED);
    item->address = r->address;
    item->incarnation = r->incarnation;
}

struct proto_message *proto_effect_message(struct proto_effects *effects,
                                           size_t index)
{
    struct proto_leaving *leaving =
        &effects->leaving[effects->effect[index].message];
    leaving->message.items =
        effects->item ? effects->item + leaving->first_item : NULL;
    return &leaving->message;
}

struct proto_message *send_about(struct step *s, uint32_t to,
                                 enum proto_message_type type,
                                 const struct proto_region *r, uint64_t ticket)
{
    struct proto_message *m = send_message(s, to, type);
    m->root = r->root->address;
    m->region = r->address;
    m->incarnation = r->incarnation;
    m->ticket = ticket;
    return m;
}

void poison(struct step *s, const char *why)
{
    effect(s, PROTO_POISONED)->why = why;
    for (uint32_t node = 0; node < s->env->nodes; node++) {
        if (node == self_of(s))
            continue;
        struct proto_message *m = send_message(s, node, PROTO_POISON);
        strncpy(m->name, why, DRASYNC_NAME_MAX);
    }
}

void granted(struct step *s, struct proto_op *op, struct proto_hold *hold,
             bool split)
{
    list_move_all(&s->begin, &op->below);
    if (op->detached)
        return;
    op->detached = true;
    struct proto_effect *e = effect(s, PROTO_GRANTED);
    e->waiter = op->waiter;
    e->region = op->kind == OP_DELETE ? NULL : op->target;
    e->address = op->target ? op->target->address : 0;
    e->hold = hold;
    e->split = split;
}

void failed(struct step *s, struct proto_op *op, int error)
{
    list_move_all(&s->begin, &op->below);
    if (op->detached)
        return;
    op->detached = true;
    struct proto_effect *e = effect(s, PROTO_FAILED);
    e->waiter = op->waiter;
    e->error = error;
    e->unsettled = op->unsettled;
    e->waited = op->waited;
    e->incarnation = op->target ? op->target->incarnation : 0;
}
