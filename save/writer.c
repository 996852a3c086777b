/* Writing a file of saved regions: see save.h. */
#include "save/save.h"

#include <stdlib.h>
#include <string.h>

#include "save/blocks.h"
#include "save/bytes.h"

struct save_writer {
    save_write_fn *write;
    void *arg;
    uint64_t header_sum, written; /* header and table */
    struct blocks *blocks;
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

/* --- Calls ---------------------------------------------------------------- */

int save_writer_new(const struct save_table *table, save_write_fn *write,
                    void *arg, struct save_writer **writer_out)
{
    struct save_writer *w;
    int err;

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
    err = write_table(w, table);
    if (err)
        goto fail;
    w->blocks = blocks_new(write, arg, w->header_sum);
    err = w->blocks ? 0 : DRASYNC_ENOMEM;
    if (err)
        goto fail;
    *writer_out = w;
    return 0;

fail:
    save_writer_free(w);
    return err;
}

unsigned save_writer_help(struct save_writer *w, unsigned helpers,
                          save_start_fn *start)
{
    return blocks_help(w->blocks, helpers, start);
}

int save_writer_put(struct save_writer *w, const void *bytes, size_t count)
{
    return blocks_put(w->blocks, bytes, count);
}

int save_writer_end(struct save_writer *w)
{
    unsigned char end[SAVE_END_BYTES];
    int err = blocks_end(w->blocks);

    if (err)
        return err;
    memcpy(end, SAVE_END_MAGIC, 8);
    put64(end + END_BLOCKS, blocks_count(w->blocks));
    put64(end + END_FILE_BYTES, save_writer_bytes(w) + sizeof(end));
    put64(end + END_SUM, checksum(end, END_SUM, w->header_sum));
    return write_all(w, end, sizeof(end));
}

uint64_t save_writer_bytes(const struct save_writer *w)
{
    return w->written + blocks_written(w->blocks);
}

void save_writer_free(struct save_writer *w)
{
    if (!w)
        return;
    blocks_free(w->blocks);
    free(w);
}
