/* Packets leave, alone or with those that had time to wait: see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static struct sending *sending_new(struct engine *engine, int to, size_t room)
{
    struct sending *s = spares_take(&engine->packet_spares, sizeof(*s) + room);

    if (!s)
        return NULL;
    memset(s, 0, sizeof(*s));
    s->to = to;
    s->room = room;
    return s;
}

static void sending_free(struct engine *engine, struct sending *s)
{
    spares_give(&engine->packet_spares, s, sizeof(*s) + s->room);
}

static struct packet *append(struct sending *s, enum packet_type type,
                             size_t bytes)
{
    struct packet *p = (void *)(s->data + s->bytes);

    memset(p, 0, sizeof(*p));
    p->type = type;
    /* The padding too is read, by the network. */
    memset(p->bytes + bytes, 0, PACKET_PADDED(bytes) - bytes);
    s->bytes += sizeof(*p) + PACKET_PADDED(bytes);
    return p;
}

/* @s, which does not hang anywhere, with more room; NULL: no memory, @s stays. */
static struct sending *sending_grow(struct engine *engine, struct sending *s,
                                    size_t room)
{
    struct sending *larger = sending_new(engine, s->to, room);

    if (!larger)
        return NULL;
    memcpy(larger->data, s->data, s->bytes);
    larger->bytes = s->bytes;
    larger->soon = s->soon;
    larger->patient = s->patient;
    larger->soons = s->soons;
    sending_free(engine, s);
    return larger;
}

static uint8_t add_soons(uint8_t a, uint8_t b)
{
    return a + b < UINT8_MAX ? (uint8_t)(a + b) : UINT8_MAX;
}

int packet_send(struct engine *engine, struct sending *s)
{
    struct wire *wire = engine->wire;
    bool done = false;

    engine->soons_left[s->to] = add_soons(engine->soons_left[s->to], s->soons);
    int err = wire->ops->send(wire, s->to, WIRE_CONTROL, 0, s->data, s->bytes,
                              &s->request);

    if (err) {
        sending_free(engine, s);
        return err;
    }
    /* Most are gone at once. */
    err = wire->ops->test(wire, &s->request, &done, NULL, NULL);
    if (done) {
        sending_free(engine, s);
        return err;
    }
    *engine->sending_last = s;
    engine->sending_last = &s->next;
    engine->sending_bytes += s->bytes;
    return err;
}

/* --- Those that may be late ----------------------------------------------- */

static struct sending *late_take(struct engine *engine, struct sending *s)
{
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->next = NULL;
    engine->late_to[s->to] = NULL;
    engine->transport.late--;
    engine->transport.soon -= s->soon;
    return s;
}

static void late_add(struct engine *engine, struct sending *s)
{
    s->next = engine->late;
    if (s->next)
        s->next->link = &s->next;
    s->link = &engine->late;
    engine->late = s;
    engine->late_to[s->to] = s;
    engine->transport.late++;
    engine->transport.soon += s->soon;
}

int packets_flush(struct transport *transport, bool all)
{
    struct engine *engine = (struct engine *)transport;
    struct sending *next;
    int moved = 0;

    for (struct sending *s = engine->late; s; s = next) {
        next = s->next;
        if (!all && !s->soon)
            continue;
        if (s->patient)
            patience_in_vain(&engine->patience[s->to]);
        int err = packet_send(engine, late_take(engine, s));

        if (err)
            return err;
        moved++;
    }
    return moved;
}

struct packet *packet_late(struct engine *engine, int to, enum packet_type type,
                           size_t bytes, enum waits how, bool counts)
{
    size_t more = sizeof(struct packet) + PACKET_PADDED(bytes);
    size_t room =
        how == WAITS_LATE ? LATE_BYTES_MAX : packet_bytes_max(engine, to);
    struct sending *s = engine->late_to[to];

    if (s && s->bytes + more > s->room) {
        late_take(engine, s);
        if (s->bytes + more <= room) {
            struct sending *larger = sending_grow(engine, s, room);

            late_add(engine, larger ? larger : s);
            if (!larger)
                return NULL;
            s = larger;
        } else {
            if (packet_send(engine, s))
                return NULL;
            s = NULL;
        }
    }
    if (!s) {
        if (engine->transport.late == LATE_NODES_MAX &&
            packets_flush(&engine->transport, true) < 0)
            return NULL;
        s = sending_new(engine, to, more < room ? room : more);
        if (!s)
            return NULL;
        late_add(engine, s);
    }
    if (!s->soon && how != WAITS_LATE) {
        s->soon = true;
        engine->transport.soon++;
    }
    if (how == WAITS_PATIENT)
        s->patient = true;
    else if (engine->transport.corked && how == WAITS_SOON &&
             patience_counts(&engine->patience[to])) {
        patience_followed(&engine->patience[to], now_us(engine));
        s->patient = false;
    }
    s->soons = add_soons(s->soons, counts);
    return append(s, type, bytes);
}

/* --- All others ------------------------------------------------------------ */

struct packet *packet_new(struct engine *engine, int to, enum packet_type type,
                          size_t bytes, struct sending **sending_out)
{
    struct sending *late = engine->late_to[to], *s;
    struct patience *patience = &engine->patience[to];
    size_t more = sizeof(struct packet) + PACKET_PADDED(bytes);

    if (patience_counts(patience))
        patience_followed(patience, now_us(engine));
    if (late)
        late_take(engine, late);
    if (late && late->bytes + more <= late->room) {
        *sending_out = late;
        return append(late, type, bytes);
    }
    if (late && late->bytes + more > packet_bytes_max(engine, to)) {
        if (packet_send(engine, late))
            return NULL;
        late = NULL;
    }
    s = late ? sending_grow(engine, late, more + late->bytes)
             : sending_new(engine, to, more);
    *sending_out = s;
    if (!s && late)
        late_add(engine, late);
    return s ? append(s, type, bytes) : NULL;
}

struct sending *packet_room(struct engine *engine, int to, size_t bytes)
{
    return sending_new(engine, to,
                       sizeof(struct packet) + PACKET_PADDED(bytes));
}

struct packet *packet_in(struct sending *s, enum packet_type type, size_t bytes)
{
    return append(s, type, bytes);
}

void packets_free(struct engine *engine, struct sending *list)
{
    while (list) {
        struct sending *next = list->next;
        sending_free(engine, list);
        list = next;
    }
}

int engine_answer(struct engine *engine, int to, enum packet_type type,
                  uint64_t id, int32_t value, uint64_t bulk_bytes)
{
    struct sending *s;
    struct packet *p = packet_new(engine, to, type, 0, &s);

    if (!p)
        return DRASYNC_ENOMEM;
    p->id = id;
    p->value = value;
    p->bulk_bytes = bulk_bytes;
    return packet_send(engine, s);
}

/* Those to a node leave in order, so behind one that has not left there is no
 * look at the next ones to its node, which would cost a system call each. */
int packets_poll(struct engine *engine)
{
    struct sending **link = &engine->sending_first;
    int moved = 0, waits_for = -1;

    for (int i = 0; *link && i < PACKETS_A_POLL_MAX; i++) {
        struct sending *s = *link;
        bool done = false;

        if (s->to == waits_for) {
            link = &s->next;
            continue;
        }
        int err = engine->wire->ops->test(engine->wire, &s->request, &done,
                                          NULL, NULL);
        if (err)
            return err;
        if (!done) {
            waits_for = s->to;
            link = &s->next;
            continue;
        }
        *link = s->next;
        if (!*link)
            engine->sending_last = link;
        engine->sending_bytes -= s->bytes;
        sending_free(engine, s);
        moved++;
    }
    return moved;
}

void packets_close(struct engine *engine)
{
    while (engine->late)
        sending_free(engine, late_take(engine, engine->late));
}
