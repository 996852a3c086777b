/*
 * save.c - files of saved regions: see save/save.h.  What is read is sound, or
 * refused with words that say why.
 *
 * If the first byte of an input is odd, the checksums of what follows are made
 * right first, so that what they guard is reached.
 */
#include "save/bytes.h"
#include "save/save.h"
#include "tests/fuzz/fuzz.h"

/* More data than this is not read. */
#define DATA_BYTES_MAX ((uint64_t)8 << 20)

struct bytes {
    const uint8_t *at;
    size_t left;
};

static int read_bytes(void *arg, void *to, size_t count, size_t *got_out)
{
    struct bytes *b = arg;

    *got_out = b->left < count ? b->left : count;
    memcpy(to, b->at, *got_out);
    b->at += *got_out;
    b->left -= *got_out;
    return 0;
}

/* Blocks from @at on, as far as there are some; then the end. */
static void mend_blocks(uint8_t *file, size_t bytes, size_t at,
                        uint64_t data_bytes)
{
    uint64_t sum = get64(file + HEADER_SUM), index = 0;

    while (data_bytes && bytes - at >= SAVE_BLOCK_HEAD_BYTES) {
        uint32_t stored = get32(file + at + BLOCK_STORED_BYTES);
        uint32_t data = get32(file + at + BLOCK_DATA_BYTES);

        if (stored > bytes - at - SAVE_BLOCK_HEAD_BYTES || data > data_bytes)
            return;
        put64(file + at + BLOCK_SUM,
              block_sum(file + at, file + at + SAVE_BLOCK_HEAD_BYTES, sum,
                        index++));
        data_bytes -= data;
        at += SAVE_BLOCK_HEAD_BYTES + stored;
        if (!data)
            return;
    }
    if (bytes - at >= SAVE_END_BYTES)
        put64(file + at + END_SUM, checksum(file + at, END_SUM, sum));
}

static void mend(uint8_t *file, size_t bytes)
{
    uint64_t table;

    if (bytes < SAVE_HEADER_BYTES)
        return;
    table = get64(file + HEADER_TABLE_BYTES);
    if (table > bytes - SAVE_HEADER_BYTES)
        table = bytes - SAVE_HEADER_BYTES;
    put64(file + HEADER_TABLE_SUM,
          checksum(file + SAVE_HEADER_BYTES, table, 0));
    put64(file + HEADER_SUM, checksum(file, HEADER_SUM, 0));
    mend_blocks(file, bytes, SAVE_HEADER_BYTES + table,
                get64(file + HEADER_DATA_BYTES));
}

/* What a loader counts on. */
static void look(const struct save_table *t)
{
    uint64_t extents = 0, bytes = 0;

    FUZZ_HOLDS(t->regions && t->region[0].parent == SAVE_NO_PARENT);
    for (uint64_t i = 0; i < t->regions; i++) {
        FUZZ_HOLDS(!i || t->region[i].parent < i);
        FUZZ_HOLDS(t->extent[extents].address == t->region[i].address);
        extents += t->region[i].extents;
        FUZZ_HOLDS(extents <= t->extents);
    }
    for (uint64_t i = 0; i < t->extents; i++) {
        const struct save_extent *e = &t->extent[i];

        FUZZ_HOLDS(e->address > t->base && e->pages &&
                   e->used_bytes <= e->pages * SAVE_PAGE_BYTES &&
                   e->address - t->base + e->pages * SAVE_PAGE_BYTES <=
                       t->space_bytes);
        bytes += e->used_bytes;
    }
    FUZZ_HOLDS(extents == t->extents && bytes == t->data_bytes);
    for (uint64_t i = 0; i < t->names; i++)
        FUZZ_HOLDS(t->name[i].region < t->regions && t->name[i].name[0] &&
                   memchr(t->name[i].name, 0, sizeof(t->name[i].name)));
}

static int read_data(struct save_reader *reader, uint64_t left, char *why)
{
    char piece[4096];
    int err = 0;

    while (left && !err) {
        size_t n = left < sizeof(piece) ? (size_t)left : sizeof(piece);

        err = save_reader_get(reader, piece, n, why);
        left -= n;
    }
    return err ? err : save_reader_end(reader, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct save_reader *reader;
    struct save_table table;
    struct bytes input;
    char why[SAVE_WHY_BYTES];
    uint8_t *file;
    int err;

    if (!bytes || !save_built())
        return 0;
    file = malloc(bytes);
    FUZZ_HOLDS(file);
    memcpy(file, data + 1, bytes - 1);
    if (data[0] & 1)
        mend(file, bytes - 1);
    input = (struct bytes){file, bytes - 1};
    err = save_reader_new(read_bytes, &input, &table, &reader, why);
    if (!err) {
        look(&table);
        if (table.data_bytes <= DATA_BYTES_MAX)
            err = read_data(reader, table.data_bytes, why);
        save_reader_free(reader);
        save_table_free(&table);
    }
    FUZZ_HOLDS(!err || (err == DRASYNC_EFORMAT && why[0]) ||
               err == DRASYNC_ENOMEM);
    free(file);
    return 0;
}
