/* Messages come in, in packets: see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

/* Ask where the data of @in goes.  0, or why it is refused. */
static int place(struct engine *engine, struct incoming *in, const char *header)
{
    struct transport *t = &engine->transport;
    int err =
        t->events.place(t->user, in->from, in->kind, header, in->header_bytes,
                        in->bulk_bytes, &in->sink, &in->context);

    if (!err && in->sink.bytes != in->bulk_bytes)
        err = DRASYNC_EINTERNAL;
    return err;
}

static void arrived(struct engine *engine, struct incoming *in,
                    const char *header)
{
    struct transport *t = &engine->transport;

    t->counters.messages_received++;
    t->counters.bytes_received += in->bulk_bytes;
    t->events.arrived(t->user, in->from, in->kind, header, in->header_bytes,
                      in->context);
}

/* A message that is all in its packet. */
static void message_whole(struct engine *engine, int from,
                          const struct packet *p)
{
    struct incoming in = {
        .from = from,
        .kind = p->kind,
        .header_bytes = p->header_bytes,
        .bulk_bytes = p->bulk_bytes,
    };

    if (!place(engine, &in, p->bytes)) {
        bulk_fill(&in, p->bytes + p->here_bytes, p->data_bytes);
        arrived(engine, &in, p->bytes);
    }
    transport_sink_free(&in.sink);
}

/* The header of @in is whole, and its data is to be announced; @in is ours. */
static int header_whole(struct engine *engine, struct incoming *in)
{
    int err;

    if (!stretches_fit(in->stretches, in->stretches_count, in->bulk_bytes)) {
        bulk_free_incoming(engine, in);
        return DRASYNC_EINTERNAL;
    }
    err = place(engine, in, in->header);
    if (!err && in->bulk_bytes) {
        bulk_expect(engine, in);
        return 0;
    }
    if (!err)
        arrived(engine, in, in->header);
    else if (in->bulk_bytes)
        err = engine_answer(engine, in->from, PACKET_REFUSE, in->id, err, 0);
    else
        err = 0;
    bulk_free_incoming(engine, in);
    return err;
}

/* The same with data in packets: who sent it is not told of a refusal. */
static int take_data(struct engine *engine, struct incoming **link,
                     const struct packet *p)
{
    struct incoming *in = *link;

    if (p->data_bytes > in->bulk_bytes - in->data_got)
        return DRASYNC_EINTERNAL;
    if (!in->placed) {
        in->refused = place(engine, in, in->header) != 0;
        in->placed = true;
    }
    if (!in->refused)
        bulk_fill(in, p->bytes + p->here_bytes, p->data_bytes);
    in->data_got += p->data_bytes;
    if (in->data_got < in->bulk_bytes)
        return 0;
    *link = in->next;
    if (!in->refused)
        arrived(engine, in, in->header);
    bulk_free_incoming(engine, in);
    return 0;
}

/* The list of stretches of @in, as far as @p has it. */
static int take_stretches(struct incoming *in, const struct packet *p)
{
    size_t bytes = in->stretches_count * sizeof(*in->stretches);

    if (p->data_bytes > bytes - in->data_got)
        return DRASYNC_EINTERNAL;
    if (p->data_bytes)
        memcpy((char *)in->stretches + in->data_got, p->bytes + p->here_bytes,
               p->data_bytes);
    in->data_got += p->data_bytes;
    return in->data_got == bytes;
}

/* What @p has of the message at @link. */
static int take(struct engine *engine, struct incoming **link,
                const struct packet *p)
{
    struct incoming *in = *link;
    int all;

    if (p->here_bytes > in->header_bytes - in->header_got)
        return DRASYNC_EINTERNAL;
    memcpy(in->header + in->header_got, p->bytes, p->here_bytes);
    in->header_got += p->here_bytes;
    if (p->data_bytes && in->header_got < in->header_bytes)
        return DRASYNC_EINTERNAL;
    if (in->header_got < in->header_bytes)
        return 0;
    if (in->eager)
        return take_data(engine, link, p);
    all = take_stretches(in, p);
    if (all <= 0)
        return all;
    *link = in->next;
    return header_whole(engine, in);
}

/* The message of @from of which packets are to come. */
static struct incoming **partial_link(struct engine *engine, int from)
{
    struct incoming **link = &engine->partial;

    while (*link && (*link)->from != from)
        link = &(*link)->next;
    return link;
}

int message_first(struct engine *engine, int from, const struct packet *p)
{
    struct incoming *in;

    if (*partial_link(engine, from) ||
        p->header_bytes > TRANSPORT_HEADER_BYTES_MAX ||
        p->bulk_bytes >
            (p->eager ? EAGER_LONG_MAX : TRANSPORT_BULK_BYTES_MAX) ||
        p->value < 0 || p->value > (p->eager ? 0 : STRETCHES_MAX))
        return DRASYNC_EINTERNAL;
    if (p->here_bytes == p->header_bytes && p->data_bytes == p->bulk_bytes) {
        message_whole(engine, from, p);
        return 0;
    }
    in = calloc(1, sizeof(*in));
    if (in)
        in->header = spares_take(&engine->header_spares, p->header_bytes + 1);
    if (in && p->value)
        in->stretches = calloc((size_t)p->value, sizeof(*in->stretches));
    if (!in || !in->header || (p->value && !in->stretches)) {
        if (in)
            bulk_free_incoming(engine, in);
        return DRASYNC_ENOMEM;
    }
    in->stretches_count = (size_t)p->value;
    in->from = from;
    in->kind = p->kind;
    in->id = p->id;
    in->header_bytes = p->header_bytes;
    in->bulk_bytes = p->bulk_bytes;
    in->eager = p->eager;
    in->next = engine->partial;
    engine->partial = in;
    return take(engine, &engine->partial, p);
}

int message_more(struct engine *engine, int from, const struct packet *p)
{
    struct incoming **link = partial_link(engine, from);

    return *link ? take(engine, link, p) : DRASYNC_EINTERNAL;
}
