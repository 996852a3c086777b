/*
 * later.c - copies of regions that arrive: TRANSFERs with their extents, in one
 * message or in portions, whole or what changed since a version that is here, and
 * data that follows in a message of its own (runtime/native/later.h).  What is
 * read afterwards is, page by page, what came, or what the version before had.
 *
 * Four regions of node 0, the last below the third.  The node has a version of
 * each but the last; somebody READs that of the second; all are asked for again.
 * An input is a list of commands, each a byte and what it needs.
 */
#include "runtime/native/diff.h"
#include "runtime/native/wire.h"
#include "tests/fuzz/later_pages.h"

enum { SELF = 1, RUNS_MAX = 16 };
enum { READ_HERE, PINNED, PARENT, BELOW, REGIONS };
enum { HEADER_BYTES = 8192 };

static struct region regions[REGIONS];

/* Data that was announced: by node, and the number; how often, and at last for
 * what. */
static struct announced {
    int times;
    struct region *region;
    uint64_t version;
} announced[NODES][VERSIONS];

/* The node's first state, of what is not control memory. */
static struct region regions_begin[REGIONS];
static struct native_asked asked_begin[ASKED_MAX];

static void check_regions(void)
{
    for (int i = 0; i < REGIONS; i++) {
        const struct proto_region *r = native_find(regions[i].address);
        const struct proto_copy *copy = r ? proto_newest(r) : NULL;

        for (; copy; copy = proto_older(r, copy))
            check_copy(copy, &regions[i]);
    }
}

/* --- Messages --------------------------------------------------------------- */

/* A message that is being made, and the data that goes with it. */
struct making {
    char *bytes; /* HEADER_BYTES */
    size_t used;
    uint64_t bulk;
};

static void put(struct making *m, const void *what, size_t bytes)
{
    FUZZ_HOLDS(bytes <= HEADER_BYTES - m->used);
    if (bytes)
        memcpy(m->bytes + m->used, what, bytes);
    m->used += bytes;
}

/* In a copy that ends where its memory does. */
static bool deliver(struct making *m, int from, uint32_t kind, bool late)
{
    void *message = malloc(m->used ? m->used : 1);
    size_t bytes = m->used;

    FUZZ_HOLDS(message);
    memcpy(message, m->bytes, bytes);
    free(m->bytes);
    return node_deliver(from, kind, message, bytes, m->bulk, late);
}

static struct making making(void)
{
    struct making m = {.bytes = malloc(HEADER_BYTES)};

    FUZZ_HOLDS(m.bytes);
    return m;
}

/* Runs in order, mostly within the extents; what they carry of @used. */
static uint64_t read_runs(struct fuzz_input *in, struct delta_run *run,
                          uint64_t *count_out, const uint64_t *used)
{
    uint64_t count = fuzz_number(in, 1) % (RUNS_MAX + 1), bytes = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t where = fuzz_number(in, 1);

        run[i] = (struct delta_run){where & 3, where >> 2 & 7, where >> 5};
        if (run[i].extent < EXTENTS)
            bytes += delta_run_bytes(&run[i], used[run[i].extent]);
    }
    *count_out = count;
    return bytes;
}

/* What a TRANSFER says of one region. */
struct said {
    struct wire_region region;
    struct wire_extent extent[EXTENTS];
    struct delta_run run[RUNS_MAX];
    uint64_t version, used[EXTENTS];
    int from;
};

enum {
    SAY_EXTENTS = 1 << 0,
    SAY_RUNS = 1 << 1,
    SAY_DIFF = 1 << 2,
    SAY_BULK = 1 << 3,
    SAY_FEWER = 1 << 4,
};

static void read_extents(struct fuzz_input *in, struct said *said, bool others)
{
    for (int e = 0; e < EXTENTS && others; e++) {
        said->extent[e].first_page += fuzz_number(in, 1) & 1;
        said->extent[e].pages += fuzz_number(in, 1) & 1;
        said->extent[e].used_bytes = fuzz_number(in, 2);
    }
    for (int e = 0; e < EXTENTS; e++)
        said->used[e] = said->extent[e].used_bytes;
}

/* The part of @m about the region of item @item. */
static void put_region(struct fuzz_input *in, struct making *m,
                       struct region *r, uint32_t item, struct said *said)
{
    unsigned what = (unsigned)fuzz_number(in, 1);
    uint64_t base = fuzz_number(in, 1) % (VERSIONS + 1), bytes;
    uint64_t diff = 0;

    said->region = (struct wire_region){
        .item = item,
        .extents = what & SAY_FEWER ? fuzz_number(in, 1) : EXTENTS,
        .base = base ? FIRST + base - 1 : 0,
        .later = fuzz_number(in, 1) % VERSIONS,
        .diff_runs = what & SAY_DIFF ? 1 : 0,
    };
    for (int e = 0; e < EXTENTS; e++)
        said->extent[e] = (struct wire_extent){
            r->first_page + (e ? 4u << e : 0), extent_pages[e], extent_used[e]};
    read_extents(in, said, what & SAY_EXTENTS);
    bytes = what & SAY_RUNS
                ? read_runs(in, said->run, &said->region.runs, said->used)
                : 0;
    put(m, &said->region, sizeof(said->region));
    put(m, said->extent,
        sizeof(said->extent[0]) *
            (said->region.extents < EXTENTS ? said->region.extents : EXTENTS));
    put(m, said->run, said->region.runs * sizeof(said->run[0]));
    if (what & SAY_DIFF) {
        diff = fuzz_number(in, 4);
        put(m, &diff, sizeof(diff));
        put(m, &diff, sizeof(diff));
    }
    for (int e = 0; e < EXTENTS && !base; e++)
        bytes += wire_bytes(said->used[e]);
    m->bulk += what & SAY_BULK ? fuzz_number(in, 2) : bytes;
}

/* It was taken: what is the version to be? */
static void note_said(struct region *r, const struct said *said)
{
    struct version *v = version_of(r, said->version), *base;
    uint64_t later = said->region.later;

    if (!v)
        return;
    v->other |=
        v->known || said->region.diff_runs || said->region.extents != EXTENTS;
    v->known = true;
    memcpy(v->used, said->used, sizeof(v->used));
    memset(v->page, CAME, sizeof(v->page));
    if (said->region.base) {
        base = version_of(r, said->region.base);
        if (base)
            as_base(v, base);
        runs_came(v, said->run, v->other ? 0 : said->region.runs);
    }
    if (later) {
        struct announced *a = &announced[said->from][later];

        /* With two of that number nobody can tell whose data comes. */
        if (a->region)
            version_of(a->region, a->version)->other = v->other = true;
        *a = (struct announced){a->times + 1, r, said->version};
    }
}

static void add_item(struct proto_item *item, const struct region *r,
                     uint64_t version)
{
    *item = (struct proto_item){
        .kind = PROTO_ITEM_REGION,
        .flags = PROTO_DATA,
        .address = r->address,
        .incarnation = 1,
        .parent = r == &regions[BELOW] ? regions[PARENT].address : 0,
        .version = version,
        .epoch = 1,
    };
}

static void put_message(struct making *m, const struct proto_message *message)
{
    struct wire_head head = {.message_bytes = proto_encoded_size(message)};

    put(m, &head, sizeof(head));
    FUZZ_HOLDS(head.message_bytes <= HEADER_BYTES - m->used);
    proto_encode(message, m->bytes + m->used);
    m->used += (head.message_bytes + 7) & ~(size_t)7;
}

static const uint16_t transfer_flags[] = {PROTO_SHARED, PROTO_HOT,
                                          PROTO_MORE,   PROTO_FURTHER,
                                          PROTO_UNMET,  PROTO_TELL};

/* A TRANSFER for READ, that was asked for or not. */
static void transfer(struct fuzz_input *in)
{
    unsigned where = (unsigned)fuzz_number(in, 1), i = where % REGIONS;
    unsigned flags = (unsigned)fuzz_number(in, 1);
    struct region *first = &regions[i];
    struct region *top = i == BELOW ? &regions[PARENT] : first;
    bool two = i == PARENT && where & 4;
    struct proto_item item[2];
    struct said said[2] = {0};
    struct proto_message t = {
        .type = PROTO_TRANSFER,
        .mode = DRASYNC_READ,
        .ticket = native_asked_of(top->address)->ticket + (where >> 6 == 3),
        .root = top->address,
        .region = top->address,
        .incarnation = 1,
        .epoch = 1,
        .node = SELF,
        .items = item,
        .items_count = two ? 2 : 1,
    };
    struct making m = making();

    for (int f = 0; f < 6; f++)
        t.flags |= flags >> f & 1 ? transfer_flags[f] : 0;
    for (unsigned n = 0; n < t.items_count; n++) {
        said[n].version = FIRST + fuzz_number(in, 1) % VERSIONS;
        said[n].from = where & 8 ? 2 : 0;
        add_item(&item[n], n ? &regions[BELOW] : first, said[n].version);
    }
    put_message(&m, &t);
    for (unsigned n = 0; n < t.items_count; n++)
        put_region(in, &m, n ? &regions[BELOW] : first, n, &said[n]);
    if (!deliver(&m, said[0].from, RUNTIME_KIND_NATIVE + PROTO_TRANSFER,
                 where & 16))
        return;
    for (unsigned n = 0; n < t.items_count; n++)
        note_said(n ? &regions[BELOW] : first, &said[n]);
}

static bool send_later(int from, uint64_t number, const struct delta_run *run,
                       uint64_t runs, uint64_t bulk, bool late)
{
    const struct wire_later head = {number, runs};
    struct announced *a = &announced[from][number];
    struct making m = making();

    m.bulk = bulk;
    put(&m, &head, sizeof(head));
    put(&m, run, runs * sizeof(*run));
    if (!deliver(&m, from, RUNTIME_KIND_NATIVE_LATER, late))
        return false;
    if (a->region)
        runs_came(version_of(a->region, a->version), run, runs);
    a->region = NULL;
    return true;
}

/* The data that follows a TRANSFER. */
static void follow(struct fuzz_input *in)
{
    unsigned where = (unsigned)fuzz_number(in, 1);
    int from = where & 8 ? 2 : 0;
    const struct announced *a = &announced[from][where % VERSIONS];
    struct delta_run run[RUNS_MAX];
    uint64_t runs, bulk;

    bulk = read_runs(in, run, &runs,
                     a->region ? version_of(a->region, a->version)->used
                               : extent_used);
    if (where & 32)
        bulk = fuzz_number(in, 2);
    send_later(from, where % VERSIONS, run, runs, bulk, where & 16);
}

/* A rank asks again, or gives back what it has. */
static void call(struct fuzz_input *in)
{
    unsigned what = (unsigned)fuzz_number(in, 1);
    struct region *r = &regions[what % REGIONS];
    int32_t rank = what >> 4 & 1;

    if (what & 8)
        native_node_release(rank, r->address, DRASYNC_READ);
    else if (waiter_done(&r->wait.waiter))
        native_node_acquire(rank, r->address, DRASYNC_READ, &r->wait);
}

/* Any other message of the protocol. */
static void other(struct fuzz_input *in)
{
    int rank = fuzz_number(in, 1) & 1 ? 2 : 0;
    uint32_t type = 1 + (uint32_t)fuzz_number(in, 1) % PROTO_MESSAGE_TYPES;

    if (type != PROTO_TRANSFER)
        node_arrive(in, rank, RUNTIME_KIND_NATIVE + type);
}

static void command(struct fuzz_input *in)
{
    switch (fuzz_number(in, 1) % 6) {
    case 0:
        transfer(in);
        break;
    case 1:
        follow(in);
        break;
    case 2:
        native_node_turn();
        break;
    case 3:
        node_later();
        break;
    case 4:
        call(in);
        break;
    default:
        other(in);
    }
    if (!chores && !later_count)
        check_regions();
}

/* --- The node ---------------------------------------------------------------- */

/* What is announced comes, and what is to be copied is. */
static void finish(void)
{
    for (int from = 0; from < NODES; from += 2)
        for (uint64_t number = 0; number < VERSIONS; number++)
            for (; announced[from][number].times;
                 announced[from][number].times--)
                send_later(from, number, NULL, 0, 0, false);
    while (chores)
        native_node_turn();
}

/* The copy of @r that is here gets pages that can be told from what comes. */
static void fill_base(struct region *r)
{
    const struct proto_copy *copy = proto_newest(native_find(r->address));
    const struct native_frames *frames = copy->frames;
    struct version *v = version_of(r, FIRST);

    for (int e = 0; e < EXTENTS; e++)
        for (uint64_t p = 0; p < extent_pages[e]; p++) {
            memset(page_at(frames, e, p), base_byte(e, p), PAGE_BYTES);
            v->page[e][p] = BASE_PAGE;
        }
}

static void make_region(int i)
{
    static const uint8_t bytes[] = {0, 1 << 4, 0, 0, 0, 0};
    struct region *r = &regions[i];
    struct fuzz_input in;
    uint8_t first[sizeof(bytes)];

    memcpy(first, bytes, sizeof(first));
    first[0] = (uint8_t)i;
    in = (struct fuzz_input){first, sizeof(first)};
    native_node_acquire(0, r->address, DRASYNC_READ, &r->wait);
    transfer(&in);
    FUZZ_HOLDS(waiter_done(&r->wait.waiter) && !r->wait.waiter.result);
    fill_base(r);
    if (i != PINNED)
        native_node_release(0, r->address, DRASYNC_READ);
    native_node_acquire(1, r->address, DRASYNC_READ, &r->wait);
    FUZZ_HOLDS(native_asked_of(r->address)->version == FIRST);
}

static void start(void)
{
    uint64_t page = 64;

    native_node_begin(SELF);
    for (int i = 0; i < REGIONS; i++, page += 64) {
        page = native_node_page(0, page);
        regions[i].first_page = page;
        regions[i].address = page << PAGE_SHIFT;
        regions[i].address += (uintptr_t)runtime.space.base;
        node_word(regions[i].address);
        if (i != BELOW)
            make_region(i);
        node_word(native_asked_of(regions[i].address)->ticket);
    }
    memcpy(regions_begin, regions, sizeof(regions));
    memcpy(asked_begin, native_asked, sizeof(asked_begin));
    memset(announced, 0, sizeof(announced));
    node_keep();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    for (int i = 0; i < BELOW; i++)
        fill_base(&regions[i]);
    node_run(data, bytes, command);
    finish();
    if (!node_over)
        check_regions();
    node_restore();
    memcpy(regions, regions_begin, sizeof(regions));
    memcpy(native_asked, asked_begin, sizeof(asked_begin));
    memset(announced, 0, sizeof(announced));
    return 0;
}
