/* Writing a file of saved regions: see save.h. */
#include "save/save.h"

#include <stdlib.h>
#include <string.h>

#include "save/bytes.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* The quickest level that is called normal; blocks that shrink by less than
 * this part stay plain. */
#define LEVEL     1
#define GAIN_PART 16

/* After a block that did not shrink so many are not tried, then twice as many,
 * up to the most. */
#define SKIPS_MAX 16

struct save_writer {
    save_write_fn *write;
    void *arg;
    uint64_t header_sum, blocks, written;
    size_t filled;           /* of `data` */
    uint32_t skips, skipped; /* blocks that are not tried: all, so far */
    unsigned char *data;     /* SAVE_BLOCK_BYTES */
    unsigned char *stored;   /* a head and what is stored of `data` */
    size_t stored_max;
    void *compressor;
};

int save_built(void)
{
#ifdef HAVE_XXHASH
    return 1;
#else
    return 0;
#endif
}

int save_compresses(void)
{
#ifdef HAVE_ZSTD
    return 1;
#else
    return 0;
#endif
}

void save_table_free(struct save_table *table)
{
    free(table->region);
    free(table->extent);
    free(table->name);
    table->region = NULL;
    table->extent = NULL;
    table->name = NULL;
}

static int write_all(struct save_writer *w, const void *bytes, size_t count)
{
    int err = w->write(w->arg, bytes, count);

    if (!err)
        w->written += count;
    return err;
}

/* --- Header and table ----------------------------------------------------- */

static void table_fill(const struct save_table *t, unsigned char *at)
{
    for (uint64_t i = 0; i < t->regions; i++, at += SAVE_REGION_BYTES) {
        put64(at, t->region[i].address);
        put32(at + 8, t->region[i].parent);
        put32(at + 12, t->region[i].extents);
    }
    for (uint64_t i = 0; i < t->extents; i++, at += SAVE_EXTENT_BYTES) {
        put64(at, t->extent[i].address);
        put64(at + 8, t->extent[i].pages);
        put64(at + 16, t->extent[i].used_bytes);
    }
    for (uint64_t i = 0; i < t->names; i++, at += SAVE_NAME_BYTES) {
        put64(at, t->name[i].region);
        memcpy(at + 8, t->name[i].name,
               strnlen(t->name[i].name, DRASYNC_NAME_MAX));
    }
}

static void header_fill(const struct save_table *t, const unsigned char *table,
                        uint64_t table_bytes, unsigned char *h)
{
    memcpy(h, SAVE_MAGIC, 8);
    put32(h + HEADER_VERSION, SAVE_VERSION);
    put32(h + HEADER_BYTES, SAVE_HEADER_BYTES);
    put64(h + HEADER_BASE, t->base);
    put64(h + HEADER_SPACE, t->space_bytes);
    put64(h + HEADER_WHEN, t->when_ns);
    put64(h + HEADER_TABLE_BYTES, table_bytes);
    put64(h + HEADER_REGIONS, t->regions);
    put64(h + HEADER_EXTENTS, t->extents);
    put64(h + HEADER_NAMES, t->names);
    put64(h + HEADER_DATA_BYTES, t->data_bytes);
    memcpy(h + HEADER_WRITER, t->writer,
           strnlen(t->writer, SAVE_WRITER_BYTES - 1));
    put64(h + HEADER_TABLE_SUM, checksum(table, table_bytes, 0));
    put64(h + HEADER_SUM, checksum(h, HEADER_SUM, 0));
}

static int write_table(struct save_writer *w, const struct save_table *t)
{
    uint64_t bytes = t->regions * SAVE_REGION_BYTES +
                     t->extents * SAVE_EXTENT_BYTES +
                     t->names * SAVE_NAME_BYTES;
    unsigned char header[SAVE_HEADER_BYTES] = {0}, *table = calloc(1, bytes);
    int err;

    if (!table)
        return DRASYNC_ENOMEM;
    table_fill(t, table);
    header_fill(t, table, bytes, header);
    w->header_sum = get64(header + HEADER_SUM);
    err = write_all(w, header, sizeof(header));
    if (!err)
        err = write_all(w, table, bytes);
    free(table);
    return err;
}

/* --- Blocks --------------------------------------------------------------- */

#ifdef HAVE_ZSTD
static int compressor_new(struct save_writer *w)
{
    w->stored_max = ZSTD_compressBound(SAVE_BLOCK_BYTES);
    w->compressor = ZSTD_createCCtx();
    return w->compressor ? 0 : DRASYNC_ENOMEM;
}

static void compressor_free(struct save_writer *w)
{
    ZSTD_freeCCtx(w->compressor);
}

/* How many bytes the block has compressed; 0: that does not pay. */
static size_t compress(struct save_writer *w)
{
    size_t bytes;

    if (w->skipped < w->skips) {
        w->skipped++;
        return 0;
    }
    w->skipped = 0;
    bytes = ZSTD_compressCCtx(w->compressor, w->stored + SAVE_BLOCK_HEAD_BYTES,
                              w->stored_max, w->data, w->filled, LEVEL);
    if (!ZSTD_isError(bytes) && bytes < w->filled - w->filled / GAIN_PART) {
        w->skips = 0;
        return bytes;
    }
    w->skips = !w->skips                  ? 1
               : w->skips < SKIPS_MAX / 2 ? w->skips * 2
                                          : SKIPS_MAX;
    return 0;
}
#else
static int compressor_new(struct save_writer *w)
{
    w->stored_max = SAVE_BLOCK_BYTES;
    return 0;
}

static void compressor_free(struct save_writer *w)
{
    (void)w;
}

static size_t compress(struct save_writer *w)
{
    (void)w;
    return 0;
}
#endif

static int write_block(struct save_writer *w)
{
    unsigned char *head = w->stored;
    size_t bytes = compress(w);

    memset(head, 0, SAVE_BLOCK_HEAD_BYTES);
    put32(head + BLOCK_METHOD, bytes ? SAVE_ZSTD : SAVE_PLAIN);
    if (!bytes) {
        bytes = w->filled;
        memcpy(head + SAVE_BLOCK_HEAD_BYTES, w->data, bytes);
    }
    put32(head + BLOCK_DATA_BYTES, (uint32_t)w->filled);
    put32(head + BLOCK_STORED_BYTES, (uint32_t)bytes);
    put64(head + BLOCK_SUM, block_sum(head, head + SAVE_BLOCK_HEAD_BYTES,
                                      w->header_sum, w->blocks));
    w->blocks++;
    w->filled = 0;
    return write_all(w, head, SAVE_BLOCK_HEAD_BYTES + bytes);
}

/* --- Calls ---------------------------------------------------------------- */

int save_writer_new(const struct save_table *table, save_write_fn *write,
                    void *arg, struct save_writer **writer_out)
{
    struct save_writer *w;
    int err = DRASYNC_ENOMEM;

    if (!save_built())
        return DRASYNC_EFILE;
    if (table->regions > SAVE_REGIONS_MAX ||
        table->extents > SAVE_EXTENTS_MAX || table->names > SAVE_NAMES_MAX)
        return DRASYNC_ELIMIT;
    w = calloc(1, sizeof(*w));
    if (!w)
        return DRASYNC_ENOMEM;
    w->write = write;
    w->arg = arg;
    if (compressor_new(w))
        goto fail;
    w->data = malloc(SAVE_BLOCK_BYTES);
    w->stored = malloc(SAVE_BLOCK_HEAD_BYTES + w->stored_max);
    if (!w->data || !w->stored)
        goto fail;
    err = write_table(w, table);
    if (err)
        goto fail;
    *writer_out = w;
    return 0;

fail:
    save_writer_free(w);
    return err;
}

int save_writer_put(struct save_writer *w, const void *bytes, size_t count)
{
    const char *from = bytes;
    int err = 0;

    while (count && !err) {
        size_t n = SAVE_BLOCK_BYTES - w->filled;

        if (n > count)
            n = count;
        memcpy(w->data + w->filled, from, n);
        w->filled += n;
        from += n;
        count -= n;
        if (w->filled == SAVE_BLOCK_BYTES)
            err = write_block(w);
    }
    return err;
}

int save_writer_end(struct save_writer *w)
{
    unsigned char end[SAVE_END_BYTES];
    int err = w->filled ? write_block(w) : 0;

    if (err)
        return err;
    memcpy(end, SAVE_END_MAGIC, 8);
    put64(end + END_BLOCKS, w->blocks);
    put64(end + END_FILE_BYTES, w->written + sizeof(end));
    put64(end + END_SUM, checksum(end, END_SUM, w->header_sum));
    return write_all(w, end, sizeof(end));
}

uint64_t save_writer_bytes(const struct save_writer *w)
{
    return w->written;
}

void save_writer_free(struct save_writer *w)
{
    if (!w)
        return;
    if (w->compressor)
        compressor_free(w);
    free(w->data);
    free(w->stored);
    free(w);
}
