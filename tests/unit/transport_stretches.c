/*
 * Where the data of a message is cut (stretches.h), and that it then moves from
 * the sender's pieces into the receiver's without a buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "tests/unit/loop.h"
#include "transport/engine.h"
#include "tap.h"

#define KIB ((size_t)1 << 10)

/* Node 2 is on another host than nodes 0 and 1 (loop.h). */
enum { NODES = 3, FROM = 0, TO = 2, PIECES = 300 };

/* --- Alone ---------------------------------------------------------------- */

static int cut_as(const size_t *bytes, size_t count, const uint64_t *expected,
                  size_t expected_count)
{
    struct transport_piece pieces[PIECES] = {{NULL, 0}};
    uint64_t stretches[STRETCHES_MAX] = {0}, all = 0;

    for (size_t i = 0; i < count; i++) {
        pieces[i].bytes = bytes[i];
        all += bytes[i];
    }
    return stretches_of(pieces, count, stretches) == expected_count &&
           (!expected_count ||
            !memcmp(stretches, expected, expected_count * sizeof(*expected))) &&
           stretches_fit(stretches, expected_count, all);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void alone(void)
{
    static const size_t one[] = {300 * KIB},
                        headed[] = {4 * KIB, 256 * KIB, 256 * KIB, 54 * KIB};
    static const size_t few[] = {4 * KIB, 0,   8 * KIB, 100 * KIB,
                                 0,       KIB, 1,       64 * KIB};
    static const uint64_t head[] = {4 * KIB, 256 * KIB, 256 * KIB};
    static const uint64_t fews[] = {12 * KIB, 100 * KIB, KIB + 1};
    static size_t many[PIECES];
    static uint64_t long_ones[STRETCHES_MAX];

    tap_ok(cut_as(one, COUNT(one), NULL, 0), "one piece is one stretch");
    tap_ok(cut_as(headed, COUNT(headed), head, COUNT(head)),
           "long pieces are stretches");
    tap_ok(cut_as(few, COUNT(few), fews, COUNT(fews)),
           "short ones between them are one, those of no bytes nothing");
    for (size_t i = 0; i < PIECES; i++)
        many[i] = 100;
    tap_ok(cut_as(many, PIECES, NULL, 0), "short ones alone are one");
    for (size_t i = 0; i < PIECES; i++)
        many[i] = STRETCH_BYTES_MIN + i;
    for (size_t i = 0; i < STRETCHES_MAX; i++)
        long_ones[i] = many[i];
    tap_ok(cut_as(many, PIECES, long_ones, STRETCHES_MAX),
           "of more than are listed the rest is one");
}

static void fit(void)
{
    const uint64_t none[] = {0, 5}, much[] = {5, 6}, huge[] = {4, UINT64_MAX};

    tap_ok(stretches_fit(NULL, 0, 10), "a message that is not cut fits");
    tap_ok(!stretches_fit(none, 2, 10), "stretches of no bytes do not");
    tap_ok(!stretches_fit(much, 2, 11) && stretches_fit(much, 2, 12),
           "nor all of the data: the last is not listed");
    tap_ok(!stretches_fit(huge, 2, 10), "nor more than there is");
}

/* --- On the way ------------------------------------------------------------ */

struct side {
    struct transport_piece pieces[8];
    size_t count;
};

static struct side receiver;
static int arrivals, sents;

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    (void)user;
    (void)from;
    (void)kind;
    (void)header;
    (void)header_bytes;
    (void)bulk_bytes;
    (void)context_out;
    for (size_t i = 0; i < receiver.count; i++)
        if (transport_sink_add(sink, receiver.pieces[i].ptr,
                               receiver.pieces[i].bytes))
            return DRASYNC_ENOMEM;
    return 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    (void)user;
    (void)from;
    (void)kind;
    (void)header;
    (void)header_bytes;
    (void)context;
    arrivals++;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    (void)to;
    (void)kind;
    (void)context;
    sents += !result;
}

/* Pieces of @memory, each behind a gap of @gap bytes. */
static void lay(struct side *side, char *memory, size_t gap,
                const size_t *bytes, size_t count)
{
    size_t at = 0;

    side->count = count;
    for (size_t i = 0; i < count; i++) {
        at += gap;
        side->pieces[i] = (struct transport_piece){memory + at, bytes[i]};
        at += bytes[i];
    }
}

/* Is all data of one side that of the other? */
static bool alike(const struct side *a, const struct side *b)
{
    size_t i = 0, k = 0, in_a = 0, in_b = 0;

    while (i < a->count && k < b->count) {
        size_t left_a = a->pieces[i].bytes - in_a;
        size_t left_b = b->pieces[k].bytes - in_b;
        size_t now = left_a < left_b ? left_a : left_b;

        if (memcmp((char *)a->pieces[i].ptr + in_a,
                   (char *)b->pieces[k].ptr + in_b, now) != 0)
            return false;
        in_a += now;
        in_b += now;
        i += in_a == a->pieces[i].bytes;
        k += in_b == b->pieces[k].bytes;
        in_a = now == left_a ? 0 : in_a;
        in_b = now == left_b ? 0 : in_b;
    }
    return i == a->count && k == b->count;
}

/* Send what @sender has; *sent_out, *received_out: buffers that were needed for
 * what is not short. */
static bool moves(const struct side *sender, int *sent_out, int *received_out)
{
    static const struct transport_events events = {on_place, on_arrived,
                                                   on_sent, NULL};
    struct transport *ends[NODES];
    const struct transport_message message = {
        .header = "h",
        .header_bytes = 1,
        .pieces = sender->pieces,
        .pieces_count = sender->count,
    };
    bool good;

    arrivals = sents = 0;
    if (transport_loop_open(NODES, TRANSPORT_BULK, &events, NULL, ends))
        abort();
    good = !transport_send(ends[FROM], TO, &message);
    for (int i = 0; i < 100; i++)
        for (int n = 0; n < NODES; n++)
            good &= transport_poll(ends[n]) >= 0;
    *sent_out = ((struct engine *)ends[FROM])->segment_spares.count;
    *received_out = ((struct engine *)ends[TO])->segment_spares.count;
    for (int n = 0; n < NODES; n++)
        transport_close(ends[n]);
    return good && arrivals == 1 && sents == 1 && alike(sender, &receiver);
}

static void on_the_way(void)
{
    static const size_t region[] = {4 * KIB, 256 * KIB, 256 * KIB, 1024 * KIB,
                                    54 * KIB};
    static const size_t joined[] = {4 * KIB, 512 * KIB, 1078 * KIB};
    const size_t room = 2048 * KIB;
    char *from = malloc(room), *to = malloc(room);
    struct side sender;
    int sent, received;

    for (size_t i = 0; i < room; i++)
        from[i] = (char)(i * 13 + (i >> 8));
    lay(&sender, from, 0, region, COUNT(region));
    lay(&receiver, to, 64, region, COUNT(region));
    memset(to, 0, room);
    tap_ok(moves(&sender, &sent, &received) && !sent && !received,
           "between pieces of the same lengths no buffer is needed");
    lay(&receiver, to, 0, region, COUNT(region));
    memset(to, 0, room);
    tap_ok(moves(&sender, &sent, &received) && !sent && !received,
           "nor where the receiver's adjoin");
    lay(&sender, from, 64, joined, COUNT(joined));
    memset(to, 0, room);
    tap_ok(moves(&sender, &sent, &received) && !sent && !received,
           "nor where the sender's cover several of those");
    lay(&receiver, to, 64, region, COUNT(region));
    memset(to, 0, room);
    tap_ok(moves(&sender, &sent, &received) && !sent && received > 0,
           "where they lie apart the receiver has one");
    free(from);
    free(to);
}

int main(void)
{
    alone();
    fit();
    on_the_way();
    return tap_end();
}
