/*
 * save.h - the file that drasync_save() writes and drasync_load() reads: its
 * format, a writer and a reader.  docs/save.md shows the format byte by byte.
 *
 * A file is a header, a table of regions, extents and names, blocks of data,
 * and an end.  Numbers are little-endian.  The data is that of all extents, one
 * behind the other in the table's order, cut into blocks of SAVE_BLOCK_BYTES;
 * each is compressed if that pays.  Everything is under a checksum; those of
 * blocks and of the end begin with the header's, so that no block of another
 * file passes for one of this.
 *
 * Pure: bytes come and go by functions of the caller, in order, and the reader
 * believes nothing.  What it gives back is so far sound that parents come
 * before children, extents lie inside the space and do not overlap, and
 * numbers agree; whether addresses are free is not known here.
 *
 * One thread at a time for one writer or reader.  A writer may have helpers,
 * threads that compress and make checksums, and call nothing of the caller's.
 */
#ifndef SAVE_SAVE_H
#define SAVE_SAVE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"

#define SAVE_VERSION 1

#define SAVE_MAGIC \
    "\x89"         \
    "DRAS\r\n\x1a"
#define SAVE_END_MAGIC "DRASend\n"

#define SAVE_HEADER_BYTES     128
#define SAVE_REGION_BYTES     16
#define SAVE_EXTENT_BYTES     24
#define SAVE_NAME_BYTES       72
#define SAVE_BLOCK_HEAD_BYTES 24
#define SAVE_END_BYTES        32

#define SAVE_BLOCK_BYTES ((size_t)1 << 20)
#define SAVE_PAGE_BYTES  ((uint64_t)4096)

/* In one file. */
#define SAVE_REGIONS_MAX ((uint64_t)1 << 28)
#define SAVE_EXTENTS_MAX ((uint64_t)1 << 28)
#define SAVE_NAMES_MAX   ((uint64_t)1 << 20)

/* The longest extent, in pages, and the largest space, in bytes. */
#define SAVE_EXTENT_PAGES_MAX ((uint64_t)1 << 31)
#define SAVE_SPACE_BYTES_MAX  ((uint64_t)1 << 46)

#define SAVE_NO_PARENT UINT32_MAX

#define SAVE_WRITER_BYTES 32

/* How a block is stored. */
enum save_method { SAVE_PLAIN, SAVE_ZSTD };

struct save_region {
    uint64_t address;
    uint32_t parent;  /* its place in the table; SAVE_NO_PARENT: the first */
    uint32_t extents; /* at least 1; they follow each other in extent[] */
};

/* The first extent of a region begins at the region's address. */
struct save_extent {
    uint64_t address, pages;
    uint64_t used_bytes; /* from its start: so much is saved */
};

struct save_name {
    uint32_t region; /* its place in the table */
    char name[DRASYNC_NAME_MAX + 1];
};

struct save_table {
    uint64_t base, space_bytes; /* of the job that saved it */
    uint64_t when_ns;           /* since 1970 */
    uint64_t regions, extents, names;
    uint64_t data_bytes;            /* of all extents */
    char writer[SAVE_WRITER_BYTES]; /* DRASync's version */
    struct save_region *region;
    struct save_extent *extent;
    struct save_name *name;
};

void save_table_free(struct save_table *table);

/* Is it built with what checksums are made by?  Without, writer and reader
 * refuse with DRASYNC_EFILE.  And does it compress? */
int save_built(void);
int save_compresses(void);

/* What is wrong with a file, in words. */
#define SAVE_WHY_BYTES 192

/* --- Writing -------------------------------------------------------------- */

/* Write all of it; 0 or an error, which the writer hands on. */
typedef int save_write_fn(void *arg, const void *bytes, size_t count);

struct save_writer;

/*
 * Begin a file: write header and table.  @table's data_bytes, sums and order
 * are the caller's to have right.
 *   DRASYNC_ENOMEM, DRASYNC_EFILE (save_built()), DRASYNC_ELIMIT (too many
 *   regions, extents or names), errors of @write
 */
int save_writer_new(const struct save_table *table, save_write_fn *write,
                    void *arg, struct save_writer **writer_out);

#define SAVE_HELPERS_MAX 7

/* As pthread_create(), without attributes. */
typedef int save_start_fn(pthread_t *thread, void *(*run)(void *arg),
                          void *arg);

/*
 * Before any data comes: start up to @helpers threads, SAVE_HELPERS_MAX at most,
 * which end with the writer; how many there are.  Without all or any it is slower.
 * The writer has two blocks for each of them and two for its caller, as they are and
 * compressed, which is about 4 MiB for each thread.
 */
unsigned save_writer_help(struct save_writer *writer, unsigned helpers,
                          save_start_fn *start);

/* The next @count bytes of data. */
int save_writer_put(struct save_writer *writer, const void *bytes,
                    size_t count);

/* All data has come: write the end. */
int save_writer_end(struct save_writer *writer);

/* What has been written so far. */
uint64_t save_writer_bytes(const struct save_writer *writer);

void save_writer_free(struct save_writer *writer); /* NULL is ignored */

/* --- Reading -------------------------------------------------------------- */

/* The next @count bytes, fewer at the end: *got_out.  0 or an error. */
typedef int save_read_fn(void *arg, void *bytes, size_t count, size_t *got_out);

struct save_reader;

/*
 * Begin to read: header and table.  *table_out, which the caller frees, lives on
 * by itself.
 *   DRASYNC_EFORMAT  not such a file, of another version, cut or altered: @why
 *                    says what is wrong
 *   DRASYNC_ENOMEM, DRASYNC_EFILE (save_built()), errors of @read
 */
int save_reader_new(save_read_fn *read, void *arg, struct save_table *table_out,
                    struct save_reader **reader_out, char why[SAVE_WHY_BYTES]);

/* The next @count bytes of data.  The same errors. */
int save_reader_get(struct save_reader *reader, void *bytes, size_t count,
                    char why[SAVE_WHY_BYTES]);

/* All data was read: is the end there, and nothing behind it? */
int save_reader_end(struct save_reader *reader, char why[SAVE_WHY_BYTES]);

void save_reader_free(struct save_reader *reader); /* NULL is ignored */

#endif /* SAVE_SAVE_H */
