/*
 * blocks.h - the data of a file that is written: cut into blocks, which are
 * compressed, put under checksums, and written in order.
 *
 * One thread fills and writes; helpers, if there are some, encode what is full
 * meanwhile, and so does that thread where it would wait for them.  What may be
 * under way at a time is bounded: two blocks for each of these threads.
 *
 * One thread at a time for one of these.
 */
#ifndef SAVE_BLOCKS_H
#define SAVE_BLOCKS_H

#include "save/save.h"

struct blocks;

/* For a file with a header of @header_sum; NULL: no memory. */
struct blocks *blocks_new(save_write_fn *write, void *arg, uint64_t header_sum);

/* save_writer_help(). */
unsigned blocks_help(struct blocks *blocks, unsigned helpers,
                     save_start_fn *start);

/* The next @count bytes; and: those were all.  Errors of the write function. */
int blocks_put(struct blocks *blocks, const void *bytes, size_t count);
int blocks_end(struct blocks *blocks);

/* How many blocks, and bytes of the file, have been written. */
uint64_t blocks_count(const struct blocks *blocks);
uint64_t blocks_written(const struct blocks *blocks);

void blocks_free(struct blocks *blocks); /* NULL is ignored */

#endif /* SAVE_BLOCKS_H */
