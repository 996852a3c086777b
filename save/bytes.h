/*
 * bytes.h - numbers and checksums as they stand in a file.  Private to save/
 * and its tests.
 */
#ifndef SAVE_BYTES_H
#define SAVE_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"

#ifdef HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

/* Where fields of the header stand. */
enum {
    HEADER_VERSION = 8,
    HEADER_BYTES = 12,
    HEADER_BASE = 16,
    HEADER_SPACE = 24,
    HEADER_WHEN = 32,
    HEADER_TABLE_BYTES = 40,
    HEADER_REGIONS = 48,
    HEADER_EXTENTS = 56,
    HEADER_NAMES = 64,
    HEADER_DATA_BYTES = 72,
    HEADER_WRITER = 80,
    HEADER_TABLE_SUM = 112,
    HEADER_SUM = 120,
};

/* Of the head of a block, and of the end. */
enum {
    BLOCK_DATA_BYTES = 0,
    BLOCK_STORED_BYTES = 4,
    BLOCK_METHOD = 8,
    BLOCK_UNUSED = 12,
    BLOCK_SUM = 16,
    END_BLOCKS = 8,
    END_FILE_BYTES = 16,
    END_SUM = 24,
};

static inline void put32(unsigned char *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof(value));
}

static inline void put64(unsigned char *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof(value));
}

static inline uint32_t get32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return le32toh(value);
}

static inline uint64_t get64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return le64toh(value);
}

static inline uint64_t checksum(const void *bytes, size_t count, uint64_t seed)
{
#ifdef HAVE_XXHASH
    return XXH3_64bits_withSeed(bytes, count, seed);
#else
    (void)bytes;
    return count ^ seed;
#endif
}

/* Of block @index of the file with this header: its head up to the sum, and
 * what is stored. */
static inline uint64_t block_sum(const unsigned char *head, const void *stored,
                                 uint64_t header_sum, uint64_t index)
{
    uint64_t seed = checksum(head, BLOCK_SUM, header_sum + index);

    return checksum(stored, get32(head + BLOCK_STORED_BYTES), seed);
}

#endif /* SAVE_BYTES_H */
