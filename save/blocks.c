/* Blocks of data, encoded by several threads: see blocks.h. */
#include "save/blocks.h"

#include <pthread.h>
#include <stdbool.h>
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

#define SLOTS_MAX (2 * (SAVE_HELPERS_MAX + 1))

struct block {
    /* A head and SAVE_BLOCK_BYTES; and: a head and what they are compressed. */
    unsigned char *plain, *packed;
    size_t filled;
    uint64_t number; /* in the file */
    bool try;        /* to compress it */
    bool shrank;
    bool encoded; /* under the mutex */
    unsigned char *out;
    size_t out_bytes;
};

struct blocks {
    save_write_fn *write;
    void *arg;
    uint64_t header_sum, written;
    uint32_t skips, skipped; /* blocks that are not tried: all, so far */
    size_t packed_max;
    struct block slot[SLOTS_MAX];
    unsigned slots;

    /* Of block n the slot is n % slots.  Those up to `full` are filled, up to
     * `taken` encoded or being so, up to `out` written. */
    uint64_t full, taken, out;
    bool stop;
    pthread_mutex_t mutex; /* for the three, `encoded` and `stop` */
    pthread_cond_t filled, encoded;

    void *compressor; /* of the thread that fills and writes */
    unsigned helpers;
    pthread_t helper[SAVE_HELPERS_MAX];
};

/* --- One block ------------------------------------------------------------ */

#ifdef HAVE_ZSTD
static size_t packed_max(void)
{
    return ZSTD_compressBound(SAVE_BLOCK_BYTES);
}

static void *compressor_new(void)
{
    return ZSTD_createCCtx();
}

static void compressor_free(void *compressor)
{
    ZSTD_freeCCtx(compressor);
}

/* How many bytes the block has compressed; 0: that does not pay. */
static size_t compress(void *compressor, const struct block *block, size_t max)
{
    size_t bytes = ZSTD_compressCCtx(
        compressor, block->packed + SAVE_BLOCK_HEAD_BYTES, max,
        block->plain + SAVE_BLOCK_HEAD_BYTES, block->filled, LEVEL);

    return !ZSTD_isError(bytes) &&
                   bytes < block->filled - block->filled / GAIN_PART
               ? bytes
               : 0;
}
#else
static size_t packed_max(void)
{
    return 0;
}

static void *compressor_new(void)
{
    return NULL;
}

static void compressor_free(void *compressor)
{
    (void)compressor;
}

static size_t compress(void *compressor, const struct block *block, size_t max)
{
    (void)compressor, (void)block, (void)max;
    return 0;
}
#endif

/* @compressor is NULL where there was no memory for one. */
static void encode(const struct blocks *b, struct block *block,
                   void *compressor)
{
    size_t bytes = block->try && compressor
                       ? compress(compressor, block, b->packed_max)
                       : 0;
    unsigned char *head = bytes ? block->packed : block->plain;

    block->shrank = bytes > 0;
    if (!bytes)
        bytes = block->filled;
    memset(head, 0, SAVE_BLOCK_HEAD_BYTES);
    put32(head + BLOCK_METHOD, block->shrank ? SAVE_ZSTD : SAVE_PLAIN);
    put32(head + BLOCK_DATA_BYTES, (uint32_t)block->filled);
    put32(head + BLOCK_STORED_BYTES, (uint32_t)bytes);
    put64(head + BLOCK_SUM, block_sum(head, head + SAVE_BLOCK_HEAD_BYTES,
                                      b->header_sum, block->number));
    block->out = head;
    block->out_bytes = SAVE_BLOCK_HEAD_BYTES + bytes;
}

/* --- Many ----------------------------------------------------------------- */

static struct block *slot_of(struct blocks *b, uint64_t number)
{
    return &b->slot[number % b->slots];
}

/* The first block that nobody has taken, under the mutex, which is given back
 * meanwhile. */
static void encode_next(struct blocks *b, void *compressor)
{
    struct block *block = slot_of(b, b->taken++);

    pthread_mutex_unlock(&b->mutex);
    encode(b, block, compressor);
    pthread_mutex_lock(&b->mutex);
    block->encoded = true;
    pthread_cond_signal(&b->encoded);
}

static void *help(void *arg)
{
    struct blocks *b = arg;
    void *compressor = compressor_new();

    pthread_mutex_lock(&b->mutex);
    while (!b->stop)
        if (b->taken < b->full)
            encode_next(b, compressor);
        else
            pthread_cond_wait(&b->filled, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
    compressor_free(compressor);
    return NULL;
}

/* Whether the next block is worth a try, as far as known. */
static bool is_tried(struct blocks *b)
{
    if (b->skipped < b->skips) {
        b->skipped++;
        return false;
    }
    b->skipped = 0;
    return true;
}

static void learn(struct blocks *b, const struct block *block)
{
    if (!block->try)
        return;
    if (block->shrank)
        b->skips = 0;
    else
        b->skips = !b->skips                  ? 1
                   : b->skips < SKIPS_MAX / 2 ? b->skips * 2
                                              : SKIPS_MAX;
}

/* Write the first block that is not yet. */
static int write_next(struct blocks *b)
{
    struct block *block = slot_of(b, b->out);
    int err;

    pthread_mutex_lock(&b->mutex);
    while (!block->encoded)
        if (b->taken < b->full)
            encode_next(b, b->compressor);
        else
            pthread_cond_wait(&b->encoded, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
    block->encoded = false;
    learn(b, block);
    b->out++;
    err = b->write(b->arg, block->out, block->out_bytes);
    if (!err)
        b->written += block->out_bytes;
    block->filled = 0;
    return err;
}

static void submit(struct blocks *b)
{
    struct block *block = slot_of(b, b->full);

    block->number = b->full;
    block->try = is_tried(b);
    pthread_mutex_lock(&b->mutex);
    b->full++;
    if (b->helpers)
        pthread_cond_signal(&b->filled);
    pthread_mutex_unlock(&b->mutex);
}

/* --- Calls ---------------------------------------------------------------- */

/* Another slot; false: no memory. */
static bool slot_add(struct blocks *b)
{
    struct block *block = &b->slot[b->slots];

    block->plain = malloc(SAVE_BLOCK_HEAD_BYTES + SAVE_BLOCK_BYTES);
    block->packed = malloc(SAVE_BLOCK_HEAD_BYTES + b->packed_max);
    if (!block->plain || !block->packed) {
        free(block->plain);
        free(block->packed);
        return false;
    }
    b->slots++;
    return true;
}

struct blocks *blocks_new(save_write_fn *write, void *arg, uint64_t header_sum)
{
    struct blocks *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->write = write;
    b->arg = arg;
    b->header_sum = header_sum;
    b->packed_max = packed_max();
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->filled, NULL);
    pthread_cond_init(&b->encoded, NULL);
    b->compressor = compressor_new();
    if (slot_add(b) && (b->compressor || !save_compresses()))
        return b;
    blocks_free(b);
    return NULL;
}

unsigned blocks_help(struct blocks *b, unsigned helpers, save_start_fn *start)
{
    /* Slots first: who helps counts them. */
    if (helpers > SAVE_HELPERS_MAX)
        helpers = SAVE_HELPERS_MAX;
    while (b->slots < 2 * (helpers + 1) && slot_add(b))
        ;
    while (b->helpers < helpers && b->helpers + 1 < b->slots &&
           !start(&b->helper[b->helpers], help, b))
        b->helpers++;
    return b->helpers;
}

int blocks_put(struct blocks *b, const void *bytes, size_t count)
{
    const char *from = bytes;
    int err = 0;

    while (count && !err) {
        struct block *block = slot_of(b, b->full);
        size_t n;

        if (b->full - b->out == b->slots) {
            err = write_next(b);
            continue;
        }
        n = SAVE_BLOCK_BYTES - block->filled;
        if (n > count)
            n = count;
        memcpy(block->plain + SAVE_BLOCK_HEAD_BYTES + block->filled, from, n);
        block->filled += n;
        from += n;
        count -= n;
        if (block->filled == SAVE_BLOCK_BYTES)
            submit(b);
    }
    return err;
}

int blocks_end(struct blocks *b)
{
    int err = 0;

    if (b->full - b->out < b->slots && slot_of(b, b->full)->filled)
        submit(b);
    while (b->out < b->full && !err)
        err = write_next(b);
    return err;
}

uint64_t blocks_count(const struct blocks *b)
{
    return b->out;
}

uint64_t blocks_written(const struct blocks *b)
{
    return b->written;
}

void blocks_free(struct blocks *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->mutex);
    b->stop = true;
    pthread_cond_broadcast(&b->filled);
    pthread_mutex_unlock(&b->mutex);
    for (unsigned i = 0; i < b->helpers; i++)
        pthread_join(b->helper[i], NULL);
    for (unsigned i = 0; i < b->slots; i++) {
        free(b->slot[i].plain);
        free(b->slot[i].packed);
    }
    if (b->compressor)
        compressor_free(b->compressor);
    pthread_cond_destroy(&b->encoded);
    pthread_cond_destroy(&b->filled);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}
