/* Reading a file of saved regions: see save.h.  The table: table.c. */
#include "save/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "save/bytes.h"
#include "save/table.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

struct save_reader {
    save_read_fn *read;
    void *arg;
    uint64_t header_sum, blocks, position;
    uint64_t data_left;    /* of the blocks to come */
    size_t at, filled;     /* of `data` */
    unsigned char *data;   /* SAVE_BLOCK_BYTES */
    unsigned char *stored; /* the same */
    void *decompressor;
};

/* @count bytes, or fewer where the file ends. */
static int read_some(struct save_reader *r, void *bytes, size_t count,
                     size_t *done_out)
{
    size_t done = 0, got = 1;
    int err = 0;

    while (done < count && !err && got) {
        err = r->read(r->arg, (char *)bytes + done, count - done, &got);
        if (!err)
            done += got;
    }
    r->position += done;
    *done_out = done;
    return err;
}

/* Exactly @count bytes; @what is missing otherwise. */
static int read_all(struct save_reader *r, void *bytes, size_t count,
                    const char *what, char *why)
{
    size_t done;
    int err = read_some(r, bytes, count, &done);

    if (err || done == count)
        return err;
    snprintf(why, SAVE_WHY_BYTES,
             "it is cut: it ends after %" PRIu64 " bytes, inside %s",
             r->position, what);
    return DRASYNC_EFORMAT;
}

static int altered(char *why, const char *what, uint64_t where)
{
    snprintf(why, SAVE_WHY_BYTES,
             "it is damaged: the checksum of %s, at byte %" PRIu64
             ", is not right",
             what, where);
    return DRASYNC_EFORMAT;
}

/* --- Header and table ----------------------------------------------------- */

static int read_header(struct save_reader *r, unsigned char *h, char *why)
{
    size_t got;
    int err = read_some(r, h, 8, &got);

    if (err)
        return err;
    if (got < 8 || memcmp(h, SAVE_MAGIC, 8)) {
        snprintf(why, SAVE_WHY_BYTES,
                 got ? "it is no file of saved regions" : "it is empty");
        return DRASYNC_EFORMAT;
    }
    err = read_all(r, h + 8, SAVE_HEADER_BYTES - 8, "the header", why);
    if (err)
        return err;
    /* Before the sum, as another version may have it elsewhere. */
    if (get32(h + HEADER_VERSION) != SAVE_VERSION) {
        snprintf(why, SAVE_WHY_BYTES,
                 "its format has version %" PRIu32
                 ", and this is DRASync %s, which reads version %d",
                 get32(h + HEADER_VERSION), DRASYNC_VERSION, SAVE_VERSION);
        return DRASYNC_EFORMAT;
    }
    if (get64(h + HEADER_SUM) != checksum(h, HEADER_SUM, 0))
        return altered(why, "the header", 0);
    if (get32(h + HEADER_BYTES) != SAVE_HEADER_BYTES) {
        snprintf(why, SAVE_WHY_BYTES, "its header has a length of its own");
        return DRASYNC_EFORMAT;
    }
    r->header_sum = get64(h + HEADER_SUM);
    return 0;
}

/* In pieces: what a header says need not be true. */
static int read_table(struct save_reader *r, uint64_t bytes,
                      unsigned char **table_out, char *why)
{
    unsigned char *table = NULL, *more;
    uint64_t done = 0, room = 0;
    int err = 0;

    while (done < bytes && !err) {
        if (done == room) {
            room = room ? room * 2 : SAVE_BLOCK_BYTES;
            if (room > bytes)
                room = bytes;
            more = realloc(table, room);
            if (!more) {
                err = DRASYNC_ENOMEM;
                break;
            }
            table = more;
        }
        err = read_all(r, table + done, room - done, "the table", why);
        done = room;
    }
    if (err)
        free(table);
    else
        *table_out = table;
    return err;
}

static int read_begin(struct save_reader *r, struct save_table *table_out,
                      char *why)
{
    unsigned char header[SAVE_HEADER_BYTES], *table = NULL;
    struct save_table t = {0};
    int err = read_header(r, header, why);

    if (!err)
        err = table_header(header, &t, why);
    if (!err)
        err = read_table(r, get64(header + HEADER_TABLE_BYTES), &table, why);
    if (err)
        return err;
    if (get64(header + HEADER_TABLE_SUM) !=
        checksum(table, get64(header + HEADER_TABLE_BYTES), 0))
        err = altered(why, "the table", SAVE_HEADER_BYTES);
    else
        err = table_read(table, &t, why);
    free(table);
    if (err)
        return err;
    r->data_left = t.data_bytes;
    *table_out = t;
    return 0;
}

/* --- Blocks --------------------------------------------------------------- */

#ifdef HAVE_ZSTD
static int decompress(struct save_reader *r, size_t stored, size_t bytes,
                      char *why)
{
    if (!r->decompressor)
        r->decompressor = ZSTD_createDCtx();
    if (!r->decompressor)
        return DRASYNC_ENOMEM;
    if (ZSTD_decompressDCtx(r->decompressor, r->data, SAVE_BLOCK_BYTES,
                            r->stored, stored) == bytes)
        return 0;
    snprintf(why, SAVE_WHY_BYTES,
             "it is damaged: block %" PRIu64 " cannot be decompressed",
             r->blocks);
    return DRASYNC_EFORMAT;
}

static void decompressor_free(struct save_reader *r)
{
    ZSTD_freeDCtx(r->decompressor);
}
#else
static int decompress(struct save_reader *r, size_t stored, size_t bytes,
                      char *why)
{
    (void)r;
    (void)stored;
    (void)bytes;
    snprintf(why, SAVE_WHY_BYTES,
             "it is compressed, and this DRASync was built without zstd");
    return DRASYNC_EFILE;
}

static void decompressor_free(struct save_reader *r)
{
    (void)r;
}
#endif

/* The next block, of which there is one, into `data`. */
static int read_block(struct save_reader *r, char *why)
{
    uint64_t expected =
        r->data_left < SAVE_BLOCK_BYTES ? r->data_left : SAVE_BLOCK_BYTES;
    unsigned char head[SAVE_BLOCK_HEAD_BYTES];
    uint64_t begin = r->position;
    uint32_t bytes, stored, method;
    char what[48];
    int err;

    snprintf(what, sizeof(what), "block %" PRIu64, r->blocks);
    err = read_all(r, head, sizeof(head), what, why);
    if (err)
        return err;
    bytes = get32(head + BLOCK_DATA_BYTES);
    stored = get32(head + BLOCK_STORED_BYTES);
    method = get32(head + BLOCK_METHOD);
    if (bytes != expected || stored > bytes || method > SAVE_ZSTD ||
        (method == SAVE_PLAIN && stored != bytes))
        return altered(why, what, begin);
    err = read_all(r, r->stored, stored, what, why);
    if (err)
        return err;
    if (get64(head + BLOCK_SUM) !=
        block_sum(head, r->stored, r->header_sum, r->blocks))
        return altered(why, what, begin);
    if (method == SAVE_PLAIN) {
        unsigned char *swap = r->data;

        r->data = r->stored;
        r->stored = swap;
    } else {
        err = decompress(r, stored, bytes, why);
    }
    if (err)
        return err;
    r->blocks++;
    r->data_left -= bytes;
    r->at = 0;
    r->filled = bytes;
    return 0;
}

/* --- Calls ---------------------------------------------------------------- */

int save_reader_new(save_read_fn *read, void *arg, struct save_table *table_out,
                    struct save_reader **reader_out, char why[SAVE_WHY_BYTES])
{
    struct save_reader *r;
    int err = DRASYNC_ENOMEM;

    *why = 0;
    if (!save_built()) {
        snprintf(why, SAVE_WHY_BYTES, "this DRASync was built without xxHash");
        return DRASYNC_EFILE;
    }
    r = calloc(1, sizeof(*r));
    if (!r)
        return DRASYNC_ENOMEM;
    r->read = read;
    r->arg = arg;
    r->data = malloc(SAVE_BLOCK_BYTES);
    r->stored = malloc(SAVE_BLOCK_BYTES);
    if (r->data && r->stored)
        err = read_begin(r, table_out, why);
    if (err)
        save_reader_free(r);
    else
        *reader_out = r;
    return err;
}

int save_reader_get(struct save_reader *r, void *bytes, size_t count,
                    char why[SAVE_WHY_BYTES])
{
    char *to = bytes;

    while (count) {
        size_t n = r->filled - r->at;

        if (!n && !r->data_left)
            return DRASYNC_EINVAL;
        if (!n) {
            int err = read_block(r, why);

            if (err)
                return err;
            n = r->filled;
        }
        if (n > count)
            n = count;
        memcpy(to, r->data + r->at, n);
        r->at += n;
        to += n;
        count -= n;
    }
    return 0;
}

int save_reader_end(struct save_reader *r, char why[SAVE_WHY_BYTES])
{
    unsigned char end[SAVE_END_BYTES], more;
    uint64_t begin = r->position;
    size_t got = 0;
    int err;

    if (r->data_left || r->at < r->filled)
        return DRASYNC_EINVAL;
    err = read_all(r, end, sizeof(end), "its end", why);
    if (err)
        return err;
    if (memcmp(end, SAVE_END_MAGIC, 8) ||
        get64(end + END_BLOCKS) != r->blocks ||
        get64(end + END_FILE_BYTES) != r->position ||
        get64(end + END_SUM) != checksum(end, END_SUM, r->header_sum))
        return altered(why, "its end", begin);
    err = r->read(r->arg, &more, 1, &got);
    if (!err && got) {
        snprintf(why, SAVE_WHY_BYTES,
                 "it is damaged: there is something behind its end, at byte "
                 "%" PRIu64,
                 r->position);
        err = DRASYNC_EFORMAT;
    }
    return err;
}

void save_reader_free(struct save_reader *r)
{
    if (!r)
        return;
    if (r->decompressor)
        decompressor_free(r);
    free(r->data);
    free(r->stored);
    free(r);
}
