/*
 * sys_send() and sys_recv().  The sender asks the schedulers where the objects
 * of the subtree are, keeps of the list what it has itself, and sends list and
 * bytes as one message, of which it keeps a copy until it is sent.  The
 * receiver puts the bytes at the same addresses.
 */
#include "base.h"
#include "runtime/record/record.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of this size on average are received straight into their place. */
#define IN_PLACE_BYTES 16384

/* A walk over slabs as they stand in messages. */
struct slab_view {
    struct bl_slab_name name;
    uint64_t *map;
    uint32_t *incs; /* or NULL */
};

static unsigned char *view_slab(unsigned char *bytes, struct slab_view *view)
{
    memcpy(&view->name, bytes, sizeof view->name);
    bytes += sizeof view->name;
    view->map = (uint64_t *)bytes;
    bytes += bl_map_words(view->name.slots) * 8;
    view->incs = NULL;
    if (view->name.has_incs) {
        view->incs = (uint32_t *)bytes;
        bytes += bl_incs_bytes(view->name.slots);
    }
    return bytes;
}

static unsigned char *slot_address(const struct bl_slab_name *slab,
                                   uint32_t slot)
{
    return bl.base + ((uint64_t)slab->page << BL_PAGE_SHIFT) +
           slot * slab->slot_bytes;
}

/* The next run of bits set in @map, from slot @from on; 0 when there is none.
 */
static int next_run(const uint64_t *map, uint32_t slots, uint32_t from,
                    uint32_t *first_out, uint32_t *count_out)
{
    uint32_t slot = from, first;
    uint64_t word;

    for (;;) {
        if (slot >= slots)
            return 0;
        word = map[slot / 64] >> (slot % 64);
        if (word)
            break;
        slot = (slot / 64 + 1) * 64;
    }
    slot += (uint32_t)__builtin_ctzll(word);
    first = slot;
    while (slot < slots) {
        word = ~map[slot / 64] >> (slot % 64);
        if (word) {
            slot += (uint32_t)__builtin_ctzll(word);
            break;
        }
        slot = (slot / 64 + 1) * 64;
    }
    if (slot > slots)
        slot = slots;
    *first_out = first;
    *count_out = slot - first;
    return 1;
}

struct outgoing {
    struct bl_buffer slabs;  /* what goes on the wire about them */
    struct bl_buffer remote; /* subregions of other schedulers, to be asked */
    uint64_t data_bytes;
    uint32_t count;
};

/* Of an answer to BL_OP_QUERY, keep what this worker has. */
static void keep_what_is_here(const struct bl_answer *answer,
                              struct outgoing *out)
{
    unsigned char *bytes = (unsigned char *)answer->body, *next;
    const unsigned char *end = answer->body + answer->body_bytes;
    struct slab_view view;
    struct bl_copy *copy;
    uint32_t i, slots;

    for (i = 0; i < answer->reply.count; i++, bytes = next) {
        next = view_slab(bytes, &view);
        copy = bl_copies_find(&bl.copies, view.name.page);
        if (!copy || copy->slab.serial != view.name.serial)
            continue;
        slots = bl_copy_mask(copy, view.map, view.incs);
        if (!slots)
            continue;
        memcpy(bl_buffer_add(&out->slabs, (size_t)(next - bytes)), bytes,
               (size_t)(next - bytes));
        out->data_bytes += slots * view.name.slot_bytes;
        out->count++;
    }
    if (bytes < end)
        memcpy(bl_buffer_add(&out->remote, (size_t)(end - bytes)), bytes,
               (size_t)(end - bytes));
}

static unsigned char *pack(const struct outgoing *out, struct bl_data *header)
{
    unsigned char *message, *slab, *place;
    uint32_t i, slot, first, count;
    struct slab_view view;

    message = bl_outbox_buffer(&bl.outbox, header->total_bytes);
    memcpy(message, header, sizeof *header);
    slab = message + sizeof *header;
    if (out->slabs.used)
        memcpy(slab, out->slabs.bytes, out->slabs.used);
    place = slab + out->slabs.used;
    for (i = 0; i < out->count; i++) {
        slab = view_slab(slab, &view);
        for (slot = 0;
             next_run(view.map, view.name.slots, slot, &first, &count);
             slot = first + count) {
            uint64_t bytes = count * view.name.slot_bytes;

            memcpy(place, slot_address(&view.name, first), bytes);
            place += bytes;
        }
    }
    return message;
}

void bl_exchange_send(const char *file, int line, uint32_t region, int worker)
{
    struct bl_request request = {.op = BL_OP_QUERY};
    struct outgoing out = {0};
    struct bl_data header = {0};
    const struct bl_answer *answer;
    uint64_t first;

    request.region.region = region;
    answer = bl_ask(bl_owner_of_page(region - 1), &request);
    if (answer->reply.status != BL_OK)
        bl_fail(file, line, "Invalid region ID %u", region);
    RECORD_BEGIN();
    keep_what_is_here(answer, &out);
    request.op = BL_OP_PART;
    while (out.remote.used) {
        out.remote.used -= sizeof request.region;
        memcpy(&request.region, out.remote.bytes + out.remote.used,
               sizeof request.region);
        answer = bl_ask(bl_owner_of_page(request.region.region - 1), &request);
        keep_what_is_here(answer, &out);
    }
    header.region = region;
    header.slabs = out.count;
    header.slabs_bytes = out.slabs.used;
    header.total_bytes = sizeof header + out.slabs.used + out.data_bytes;
    first = header.total_bytes;
    if (out.data_bytes > BL_TOGETHER_BYTES)
        first -= out.data_bytes;
    bl_outbox_send(&bl.outbox, pack(&out, &header), first, header.total_bytes,
                   worker, BL_TAG_DATA);
    bl.stats.bytes_sent += out.data_bytes;
    RECORD_DONE(0, RECORD_SEND, region, worker, out.data_bytes);
    free(out.slabs.bytes);
    free(out.remote.bytes);
}

/* Take in the slots of one slab, whose bytes start at @bytes. */
static void unpack_slab(const struct slab_view *view,
                        const unsigned char *bytes)
{
    struct bl_copy *copy = bl_copies_adopt(&bl.copies, &view->name);
    uint32_t slot, first, count, i;
    int simple;

    if (!copy)
        return;
    simple = !view->incs && !copy->incs;
    for (slot = 0; next_run(view->map, view->name.slots, slot, &first, &count);
         slot = first + count) {
        if (simple)
            memcpy(slot_address(&view->name, first), bytes,
                   count * view->name.slot_bytes);
        for (i = first; i < first + count; i++) {
            uint32_t inc = view->incs ? view->incs[i] : 0;

            /* An older object's bytes do not go over a newer object. */
            if (bl_copy_has(copy, i) && bl_copy_inc(copy, i) > inc)
                continue;
            if (!simple)
                memcpy(slot_address(&view->name, i),
                       bytes + (i - first) * view->name.slot_bytes,
                       view->name.slot_bytes);
            bl_copy_gain(copy, i, inc);
        }
        bytes += count * view->name.slot_bytes;
    }
}

static uint64_t slots_in(const struct slab_view *view)
{
    uint64_t words = bl_map_words(view->name.slots), i, slots = 0;

    for (i = 0; i < words; i++)
        slots += (uint64_t)__builtin_popcountll(view->map[i]);
    return slots;
}

static void unpack(unsigned char *message, const struct bl_data *header)
{
    unsigned char *slab = message + sizeof *header;
    const unsigned char *bytes = slab + header->slabs_bytes;
    struct slab_view view;
    uint32_t i;

    for (i = 0; i < header->slabs; i++) {
        slab = view_slab(slab, &view);
        unpack_slab(&view, bytes);
        bytes += slots_in(&view) * view.name.slot_bytes;
    }
}

/* The first message of a sys_send(), matched as @handle. */
static unsigned char *receive_first(MPI_Message *handle, MPI_Status *status,
                                    struct bl_data *header_out,
                                    uint64_t *got_out)
{
    unsigned char *message;
    int bytes;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    message = bl_malloc((size_t)bytes);
    MPI_Mrecv(message, bytes, MPI_BYTE, handle, MPI_STATUS_IGNORE);
    memcpy(header_out, message, sizeof *header_out);
    *got_out = (uint64_t)bytes;
    return message;
}

/* The rest, behind it. */
static unsigned char *receive_rest(unsigned char *message, uint64_t got,
                                   uint64_t total, int source)
{
    uint64_t piece;

    if (got < total) {
        unsigned char *more = realloc(message, total);

        if (!more)
            bl_fail("sys_recv", 0, "Out of memory");
        message = more;
    }
    for (; got < total; got += piece) {
        piece = total - got;
        if (piece > BL_PIECE_BYTES)
            piece = BL_PIECE_BYTES;
        MPI_Recv(message + got, (int)piece, MPI_BYTE, source, BL_TAG_DATA,
                 bl.comm, MPI_STATUS_IGNORE);
    }
    return message;
}

/* Where data goes to: blocks of memory, each up to a piece. */
struct blocks {
    MPI_Aint *at;
    int *bytes;
    size_t count, room;
    uint64_t filled; /* of the last piece */
};

static void add_block(struct blocks *blocks, unsigned char *at, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t part = BL_PIECE_BYTES - blocks->filled % BL_PIECE_BYTES;

        if (part > bytes)
            part = bytes;
        if (blocks->count == blocks->room) {
            blocks->room = blocks->room * 2 + 64;
            blocks->at = realloc(blocks->at, blocks->room * sizeof(MPI_Aint));
            blocks->bytes = realloc(blocks->bytes, blocks->room * sizeof(int));
            if (!blocks->at || !blocks->bytes)
                bl_fail("sys_recv", 0, "Out of memory");
        }
        blocks->at[blocks->count] = (MPI_Aint)at;
        blocks->bytes[blocks->count++] = (int)part;
        blocks->filled += part;
        at += part;
        bytes -= part;
    }
}

/*
 * Where the data may go straight to its place: all slabs are as new as any
 * here, no slot was ever used twice, and the blocks are large.  0 if not.
 */
static int find_blocks(unsigned char *message, const struct bl_data *header,
                       struct blocks *blocks)
{
    unsigned char *bytes = message + sizeof *header;
    struct slab_view view;
    uint32_t i, slot, first, count;

    for (i = 0; i < header->slabs; i++) {
        struct bl_copy *copy;

        bytes = view_slab(bytes, &view);
        copy = bl_copies_adopt(&bl.copies, &view.name);
        if (!copy || copy->incs || view.incs)
            return 0;
        for (slot = 0;
             next_run(view.map, view.name.slots, slot, &first, &count);
             slot = first + count)
            add_block(blocks, slot_address(&view.name, first),
                      count * view.name.slot_bytes);
    }
    return blocks->count > 0 &&
           blocks->filled / blocks->count >= IN_PLACE_BYTES;
}

static void receive_in_place(unsigned char *message,
                             const struct bl_data *header,
                             const struct blocks *blocks, int source)
{
    unsigned char *bytes = message + sizeof *header;
    struct slab_view view;
    size_t from, to;
    uint64_t i;

    for (from = 0; from < blocks->count; from = to) {
        uint64_t piece = 0;
        MPI_Datatype type;

        for (to = from; to < blocks->count && piece < BL_PIECE_BYTES; to++)
            piece += (uint64_t)blocks->bytes[to];
        MPI_Type_create_hindexed((int)(to - from), blocks->bytes + from,
                                 blocks->at + from, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        MPI_Recv(MPI_BOTTOM, 1, type, source, BL_TAG_DATA, bl.comm,
                 MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
    for (i = 0; i < header->slabs; i++) {
        struct bl_copy *copy;
        uint64_t word;

        bytes = view_slab(bytes, &view);
        copy = bl_copies_adopt(&bl.copies, &view.name);
        for (word = 0; word < bl_map_words(view.name.slots); word++)
            copy->map[word] |= view.map[word];
    }
}

uint32_t bl_exchange_recv(const char *file, int line, uint32_t region,
                          int worker)
{
    struct bl_wait wait = {0};
    struct blocks blocks = {0};
    struct bl_data header;
    unsigned char *message;
    MPI_Message handle;
    MPI_Status status;
    uint64_t got;
    int there;

    for (;;) {
        MPI_Improbe(worker, BL_TAG_DATA, bl.comm, &there, &handle, &status);
        if (record_wanted())
            drasync_record_poll(there);
        if (there)
            break;
        bl_outbox_reap(&bl.outbox, 1);
        bl_pause_unlocked(&wait);
    }
    RECORD_BEGIN();
    message = receive_first(&handle, &status, &header, &got);
    if (region && header.region != region)
        bl_fail(file, line, "Worker %d sent region ID %u, not %u", worker,
                header.region == BL_ROOT ? 0 : header.region,
                region == BL_ROOT ? 0 : region);
    if (got < header.total_bytes && find_blocks(message, &header, &blocks)) {
        receive_in_place(message, &header, &blocks, worker);
    } else {
        message = receive_rest(message, got, header.total_bytes, worker);
        unpack(message, &header);
    }
    free(blocks.at);
    free(blocks.bytes);
    bl.stats.bytes_received +=
        header.total_bytes - header.slabs_bytes - sizeof header;
    free(message);
    RECORD_DONE(0, RECORD_RECV, header.region, worker,
                header.total_bytes - header.slabs_bytes - sizeof header);
    return header.region;
}

int bl_exchange_discard(void)
{
    struct bl_data header;
    unsigned char *message;
    MPI_Message handle;
    MPI_Status status;
    uint64_t got;
    int there;

    MPI_Improbe(MPI_ANY_SOURCE, BL_TAG_DATA, bl.comm, &there, &handle, &status);
    if (!there)
        return 0;
    message = receive_first(&handle, &status, &header, &got);
    free(receive_rest(message, got, header.total_bytes, status.MPI_SOURCE));
    return 1;
}
