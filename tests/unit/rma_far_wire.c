/*
 * Transfers by messages in one process: random shapes there and back, and
 * messages that no rank would send: cut off, stretched, with runs outside the
 * memory, of lengths that do not fit, random.  Those are refused and touch
 * nothing.
 */
#include "tests/unit/rma_far_node.h"

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
    return next_random() % limit;
}

/* --- Shapes, there and back ----------------------------------------------- */

enum { RUNS_MAX = 700 };

struct shape {
    struct rma_runs runs;
    size_t count, next;
    struct rma_run list[RUNS_MAX];
};

static bool next_run(struct rma_runs *runs, struct rma_run *out)
{
    struct shape *s = (struct shape *)runs;

    if (s->next == s->count)
        return false;
    *out = s->list[s->next++];
    return true;
}

/* Of @bytes in any order within @span, which does not overlap. */
static void make_shape(struct shape *s, uint64_t bytes)
{
    uint64_t at = 0, small = below(2);

    s->runs.next = next_run;
    s->count = s->next = 0;
    while (bytes) {
        struct rma_run *r = &s->list[s->count++];

        r->bytes = 1 + below(small ? 70 : 40000);
        r->count = 1 + below(small ? 40 : 3);
        if (r->bytes > bytes || s->count == RUNS_MAX)
            r->bytes = bytes;
        if (r->bytes * r->count > bytes || s->count == RUNS_MAX)
            r->count = bytes / r->bytes;
        r->stride = r->bytes + below(3) * below(60);
        r->at = at + below(3);
        at = r->at + r->stride * r->count;
        REQUIRE(at < AREA);
        bytes -= r->bytes * r->count;
    }
}

/* The place of each byte, one after the other, in @to. */
static void list_bytes(const struct shape *s, size_t *to)
{
    for (size_t i = 0; i < s->count; i++)
        for (uint64_t k = 0; k < s->list[i].count; k++)
            for (uint64_t b = 0; b < s->list[i].bytes; b++)
                *to++ = s->list[i].at + k * s->list[i].stride + b;
}

static void fill(char *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)next_random();
}

static bool shapes(bool put)
{
    static struct shape there, here;
    static char mine[AREA], wanted[AREA];
    static size_t from[BUFFER], to[BUFFER];
    const uint64_t place = 8 * PAGE;
    bool good = true;

    looped = true;
    refused = 0;
    for (int turn = 0; turn < 300 && good; turn++) {
        uint64_t bytes = 1 + below(turn % 3 ? 9000 : BUFFER / 2);
        char *theirs = area + place;
        rma_ticket ticket = 0;

        make_shape(&there, bytes);
        make_shape(&here, bytes);
        list_bytes(put ? &here : &there, from);
        list_bytes(put ? &there : &here, to);
        fill(theirs, AREA);
        fill(mine, AREA);
        memcpy(wanted, put ? theirs : mine, AREA);
        for (size_t i = 0; i < bytes; i++)
            wanted[to[i]] = (put ? mine : theirs)[from[i]];
        good = !(put ? rma_far_put_runs(0, place, &there.runs, mine, &here.runs,
                                        bytes, &ticket)
                     : rma_far_get_runs(0, place, &there.runs, mine, &here.runs,
                                        bytes, &ticket)) &&
               rma_far_test(ticket) && !rma_far_flush_begin(0) &&
               !rma_far_flush_end(0) && !refused &&
               !memcmp(put ? theirs : mine, wanted, AREA);
    }
    looped = false;
    return good;
}

/* --- Without memory ------------------------------------------------------- */

/* Node 0 cannot be asked; node 1 can, and is. */
static bool no_memory(void)
{
    const uint64_t place = 8 * PAGE;
    rma_ticket ticket = 7;
    char byte = 1;
    bool good;

    looped = true;
    good = !rma_far_put(0, place, &byte, 1, NULL) &&
           !rma_far_put(1, place, &byte, 1, NULL);
    without = 0;
    good = good && rma_far_cover(0, &ticket) == DRASYNC_ENOMEM && ticket == 7 &&
           rma_far_flush_all(true) == DRASYNC_ENOMEM && far_small_open(0) &&
           !far_small_open(1);
    without = -1;
    good = good && !rma_far_flush_all(true) && !far_small_open(0);
    looped = false;
    return good;
}

/* --- What no rank would send ---------------------------------------------- */

enum { LIST = 3, BLOCK = 8, COUNT = 4, DATA = LIST * BLOCK * COUNT };

struct message {
    struct far_runs_head head;
    struct far_run runs[LIST];
    char data[FAR_RUNS_BYTES];
};

static char before[AREA];

/* As a rank would send it; how long. */
static size_t valid(uint32_t kind, struct message *m)
{
    bool put = kind == FAR_PUT_RUNS;

    memset(m, 0x5a, sizeof(*m));
    m->head = (struct far_runs_head){1, LIST, DATA};
    for (int i = 0; i < LIST; i++)
        m->runs[i] = (struct far_run){
            .place = (uint64_t)i * 512,
            .stride = 2 * BLOCK,
            .bytes = BLOCK,
            .count = COUNT,
        };
    return sizeof(m->head) + sizeof(m->runs) + (put ? DATA : 0);
}

static void as_new(void)
{
    refused = answers = 0;
    memcpy(area, before, AREA);
}

static bool untouched(void)
{
    return !memcmp(area, before, AREA);
}

/* Answered with an error. */
static bool is_refused(uint32_t kind, const struct message *m, size_t bytes)
{
    as_new();
    arrive(ASKER, kind, m, bytes);
    return answers == 1 && answer_err == DRASYNC_EINVAL && !answer_bytes &&
           !refused && untouched();
}

static bool is_done(uint32_t kind)
{
    struct message m;
    size_t bytes = valid(kind, &m);

    as_new();
    arrive(ASKER, kind, &m, bytes);
    return answers == 1 && !answer_err && !refused &&
           answer_bytes == (kind == FAR_GET_RUNS ? DATA : 0) &&
           untouched() == (kind == FAR_GET_RUNS);
}

static bool lengths(uint32_t kind)
{
    struct message m;
    size_t right = valid(kind, &m);
    bool good = true;

    for (size_t bytes = 0; bytes < 1000; bytes++) {
        as_new();
        arrive(ASKER, kind, &m, bytes);
        if (bytes != right)
            good = good && untouched() && refused + answers == 1 &&
                   (refused || answer_err == DRASYNC_EINVAL);
    }
    return good;
}

static bool wrong_runs(uint32_t kind)
{
    const uint64_t size =
        runtime.space.layout.data_bytes + runtime.space.layout.alternate_bytes;
    const struct far_run wrong[] = {
        {size, 16, 8, 4},
        {size - 55, 16, 8, 4},
        {UINT64_MAX, 16, 8, 4},
        {UINT64_MAX - 7, 16, 8, 4},
        {RMA_PRIVATE, 16, 8, 4},
        {0, size / 3, 8, 4},
        {0, UINT64_MAX / 3, 8, 4},
        {0, UINT64_MAX, 8, 4},
        {512, UINT64_MAX, 8, 4},
        {0, UINT64_C(1) << 62, 8, 4},
        {0, 16, 0, 4},
        {0, 16, 8, 0},
        {0, 16, 8, 5},
        {0, 16, 8, 3},
        {0, 16, UINT32_MAX, 4},
        {0, 0, UINT32_MAX, UINT32_MAX},
        {0, 0, 8, UINT32_MAX},
        {0, 0, 1, UINT32_MAX},
        {size - 8, UINT64_MAX, 16, 2},
    };
    bool good = true;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        for (int at = 0; at < LIST; at++) {
            struct message m;
            size_t bytes = valid(kind, &m);

            m.runs[at] = wrong[i];
            good = good && is_refused(kind, &m, bytes);
        }
    }
    return good;
}

static bool wrong_heads(uint32_t kind)
{
    const uint64_t many[] = {LIST + 1,          FAR_RUNS_BYTES,
                             UINT64_MAX,        UINT64_MAX / 24 + 2,
                             UINT64_C(1) << 61, UINT64_C(1) << 32};
    const uint64_t sizes[] = {0,        DATA - 1,       DATA + 1,
                              2 * DATA, FAR_RUNS_BYTES, UINT64_MAX};
    bool good = true;

    for (int i = 0; i < 6; i++) {
        struct message m;
        size_t bytes = valid(kind, &m);

        m.head.bytes = sizes[i];
        good = good && is_refused(kind, &m, bytes);
        bytes = valid(kind, &m);
        m.head.runs = many[i];
        as_new();
        arrive(ASKER, kind, &m, bytes);
        good = good && untouched() &&
               (refused == 1 || answer_err == DRASYNC_EINVAL);
    }
    return good;
}

/* An error that nobody would hear of ends the job. */
static bool without_ticket(void)
{
    struct message m;
    size_t bytes = valid(FAR_PUT_RUNS, &m);

    m.head.ticket = 0;
    as_new();
    arrive(ASKER, FAR_PUT_RUNS, &m, bytes);
    if (answers || refused || untouched())
        return false;
    m.runs[1].place = UINT64_MAX;
    as_new();
    arrive(ASKER, FAR_PUT_RUNS, &m, bytes);
    return !answers && refused == 1 && untouched();
}

/* Bits turned; what is done nevertheless stays in the node's memory. */
static bool random_bits(void)
{
    bool good = true;

    for (int i = 0; i < 100000; i++) {
        uint32_t kind = below(2) ? FAR_PUT_RUNS : FAR_GET_RUNS;
        struct message m;
        size_t bytes = valid(kind, &m);
        size_t list = sizeof(m.head) + sizeof(m.runs);

        for (uint64_t k = 1 + below(4); k; k--)
            ((unsigned char *)&m)[8 + below(list - 8)] ^=
                (unsigned char)(1u << below(8));
        refused = answers = 0;
        arrive(ASKER, kind, &m, bytes);
        good = good && refused + answers == 1 &&
               (refused || !answer_err || answer_err == DRASYNC_EINVAL);
    }
    return good;
}

/* Answers to what was not asked, from whom it was not asked, and too long. */
static bool wrong_answers(void)
{
    static struct {
        struct far_answer a;
        char data[64];
    } m;
    char buffer[64] = {0};
    rma_ticket ticket;
    bool good = true;

    REQUIRE(!far_op_take(0, buffer, 8, 1, &ticket));
    for (int from = 1; from < RANKS; from++) {
        m.a.ticket = ticket;
        refused = 0;
        arrive(from, FAR_DATA, &m, sizeof(m.a) + 8);
        arrive(from, FAR_DONE, &m, sizeof(m.a));
        good = good && refused == 2 && !rma_far_test(ticket);
    }
    for (int i = 0; i < 200; i++) {
        m.a.ticket = ticket ^ (UINT64_C(1) << i % 64);
        refused = 0;
        arrive(0, i % 2 ? FAR_DATA : FAR_DONE, &m, sizeof(m.a) + (size_t)i % 9);
        good = good && refused == 1 && !rma_far_test(ticket);
    }
    for (size_t bytes = 0; bytes < sizeof(m.a); bytes++) {
        refused = 0;
        arrive(0, FAR_DONE, &m, bytes);
        good = good && refused == 1 && !rma_far_test(ticket);
    }
    memset(m.data, 1, sizeof(m.data));
    m.a.ticket = ticket;
    refused = 0;
    arrive(0, FAR_DATA, &m, sizeof(m.a) + 8);
    return good && !refused && rma_far_test(ticket) && buffer[7] == 1 &&
           buffer[8] == 0;
}

int main(void)
{
    static const uint32_t kinds[] = {FAR_PUT_RUNS, FAR_GET_RUNS};

    start();
    tap_ok(shapes(true), "puts in random shapes");
    tap_ok(shapes(false), "gets in random shapes");
    tap_ok(no_memory(),
           "a flush without memory for one node flushes the others");
    fill(area, AREA);
    memcpy(before, area, AREA);
    for (int i = 0; i < 2; i++) {
        tap_ok(is_done(kinds[i]), "a transfer that is right is done");
        tap_ok(lengths(kinds[i]), "lengths that are wrong");
        tap_ok(wrong_runs(kinds[i]), "runs that are wrong");
        tap_ok(wrong_heads(kinds[i]), "numbers that are wrong");
    }
    tap_ok(without_ticket(), "what is wrong and not answered ends the job");
    tap_ok(random_bits(), "random transfers");
    tap_ok(wrong_answers(), "answers that were not asked for");
    return tap_end();
}
