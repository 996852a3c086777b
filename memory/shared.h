/*
 * shared.h - what lies where in the control part.  Private to memory/.
 *
 * In order: struct shared, the tables' bitmaps, the runtime's area, the page
 * map, the run records, the heap's class map, the heap.  Only the first three
 * are reserved from the start.
 */
#ifndef MEMORY_SHARED_H
#define MEMORY_SHARED_H

#include "memory/buddy.h"
#include "memory/control.h"
#include "memory/dump.h"
#include "memory/lock.h"
#include "memory/pages.h"
#include "memory/punched.h"
#include "memory/space.h"
#include "memory/table.h"

#include <stdatomic.h>
#include <stdint.h>

#define SHARED_MAGIC UINT64_C(0x3130636e79737264)

/* The control heap grows in these. */
#define CONTROL_GRANULE_BYTES ((uint64_t)65536)

#define CONTROL_CLASSES 64

/* Chunks of one node; they double, so few are many. */
#define CHUNKS_ADDED_MAX 256

/* The control heap is a sixteenth of the data part, and at least this. */
#define CONTROL_HEAP_BYTES_MIN ((uint64_t)256 << 20)

struct shared_layout {
    uint64_t user_offset;
    struct table page_map;  /* _Atomic(struct extent *) for each page */
    struct table records;   /* struct buddy_record for each page of the file */
    struct table class_map; /* a byte for each granule of the heap */
    uint64_t heap_offset;
    uint64_t heap_bytes;
    uint64_t total_bytes;
};

struct control_class {
    struct lock lock;
    uint64_t slot_bytes;
    struct control_slot *free;
    char *bump;
    char *bump_end;
    uint64_t objects;
};

struct control_heap {
    struct lock growth;
    _Atomic uint64_t granules; /* of the heap in use */
    struct control_class classes[CONTROL_CLASSES];
};

struct chunk {
    uint64_t first_page;
    uint64_t pages;
    uint64_t node;
};

/* A manager's book: what of its part of the upper half is granted. */
struct chunk_book {
    struct lock lock;
    uint64_t free_first[BUDDY_ORDERS]; /* one free block of each order; or 0 */
    uint64_t count, room;
    struct chunk *granted; /* `room` of them, by first page */
};

/* Runs that nodes have claimed, by first page: moved.c. */
struct moved {
    _Atomic uint64_t count;
    uint64_t reserved, room;
    struct chunk *run; /* `room` of them */
};

/* The lock of the book is also that of what this node has got, and of what has
 * moved. */
struct chunks {
    struct chunk_book book;
    struct moved moved;
    uint64_t added_count;
    struct chunk added[CHUNKS_ADDED_MAX];
};

struct limit {
    _Atomic uint64_t used_bytes;
    _Atomic uint64_t limit_bytes;
    _Atomic uint64_t unchecked_bytes; /* charged since the last look outside */
};

/* Forgotten extents with frames, by `next` and `frames` (the one before); under
 * the lock of extents. */
struct kept {
    struct extent *oldest, *newest;
    _Atomic uint64_t pages;
};

struct shared {
    _Atomic uint64_t magic;
    _Atomic uint32_t poison;
    int32_t node;
    int32_t nodes;
    uint64_t data_bytes;
    uint64_t shared_bytes; /* sizeof(struct shared), to tell versions apart */
    struct shared_layout layout;
    struct limit limit;
    struct punched punched; /* frames of the data file that are gone */
    _Atomic uint64_t control_reserved_bytes;
    struct buddy runs;       /* of this node's addresses */
    struct buddy alternates; /* of the file's alternate part */
    struct lock extents;
    struct kept kept;
    _Atomic uint64_t extent_stamp;
    struct chunks chunks;
    struct control_heap heap;
    struct dump dump;
};

struct shared_layout shared_layout_for(uint64_t data_bytes);

static inline struct shared *shared_of(const struct space *space)
{
    return (struct shared *)space->control;
}

/*
 * Reserve a range of the control file, charged to the limit.  0 or
 * DRASYNC_ENOMEM.  And the reverse.
 */
int shared_reserve(const struct space *space, uint64_t offset, uint64_t bytes);
void shared_unreserve(const struct space *space, uint64_t offset,
                      uint64_t bytes);

/* Parts of control_create(). */
int control_heap_create(const struct space *space);
int pages_create(const struct space *space);
int frames_create(const struct space *space);

#endif
