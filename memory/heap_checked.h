/*
 * heap_checked.h - a heap whose objects have red zones, and whose freed slots
 * wait in a quarantine: to find writes past an object's end, writes after free,
 * and objects that are freed twice.
 *
 * An object begins where its slot does, so pointers are those of heap.h.  At the
 * slot's end lies a note: the object's size, and who made and freed it.  What is
 * between the object and its note, HEAP_ZONE_MIN bytes or more, is filled with a
 * pattern that nobody may write.  Of a freed object all bytes are.  It stays
 * taken as far as the heap knows, in a queue by age, until the queue has more
 * than HEAP_QUARANTINE_OBJECTS or more bytes than it may.
 *
 * What is wrong is added to @faults, and mended, so it is found once.  All of it
 * lies in the region and travels with it; each note has a check sum, over the
 * address and @life too, so nothing that lies there from another life is
 * believed.
 *
 * Only for heaps that heap_checked_begin() made so; with others each call does
 * what the one of heap.h does.  Callers guarantee what heap.h asks for, and
 * that all calls on such a heap are these.  Not through magazines.
 */
#ifndef MEMORY_HEAP_CHECKED_H
#define MEMORY_HEAP_CHECKED_H

#include "memory/heap.h"

#include <stdbool.h>

/* Bytes behind an object that are watched: an eighth of its size, but so many. */
#define HEAP_ZONE_MIN 16
#define HEAP_ZONE_MAX 256

/* What the patterns are made of. */
#define HEAP_ZONE_BYTE  0xfb
#define HEAP_FREED_BYTE 0xfd

/* The queue: so many, and so many bytes, or an eighth of what the heap has given
 * out, or one object.  Such as are larger than HEAP_QUARANTINE_EACH do not wait. */
#define HEAP_QUARANTINE_OBJECTS 4096
#define HEAP_QUARANTINE_BYTES   ((uint64_t)1 << 20)
#define HEAP_QUARANTINE_EACH    ((uint64_t)16 << 20)

/* Who called, and from where: @stack is a number that means something on @rank.
 * Rank -1: not known. */
struct heap_who {
    int32_t rank;
    uint32_t stack;
};

enum heap_wrong {
    HEAP_WRITTEN_PAST,  /* behind its end */
    HEAP_WRITTEN_FREED, /* after it was freed */
    HEAP_FREED_TWICE,
    HEAP_POINTS_OUT, /* it has an address that no other process may have */
};

struct heap_fault {
    enum heap_wrong wrong;
    bool noted; /* false: its note was overwritten as well, `bytes` is the most
                   that it can have, and who made it is not known */
    uint64_t object, bytes;
    uint64_t first, last; /* the bytes written, or that are the address, from
                             the object's start */
    uint64_t address;     /* of HEAP_POINTS_OUT */
    struct heap_who made, freed;
    /* Not `noted`: the object right behind, whose user may have written in front
     * of its start; 0: none. */
    uint64_t behind, behind_bytes;
    struct heap_who behind_made;
};

#define HEAP_FAULTS_MAX 16

/* The first so many; `count` counts all. */
struct heap_faults {
    uint64_t count;
    struct heap_fault fault[HEAP_FAULTS_MAX];
};

/* Is @word the address of what this process alone has? */
typedef bool heap_points_out_fn(uint64_t word);

struct heap_checked {
    const struct heap_context *context;
    struct heap *heap;
    uint64_t *queue; /* where the heap's user keeps a word for us, at first 0 */
    uint64_t life;   /* tells apart heaps that had the same addresses */
    struct heap_who who; /* calls now */
    struct heap_faults *faults;
    /* heap_checked_walk() asks it of all words of all objects; NULL: of none. */
    heap_points_out_fn *points_out;
    bool marks; /* marks.h: close what is no object's; only with view 0 */
};

/* After heap_init(): objects get red zones from now on. */
void heap_checked_begin(struct heap *heap);
/* For a heap that comes from another job: it is a plain one from now on,
 * without red zones for new objects and without checks of those that old ones
 * have. */
void heap_checked_end(struct heap *heap);

/* As heap_alloc(). */
int heap_checked_alloc(const struct heap_checked *checked, size_t size_bytes,
                       void **ptr_out);
/* As heap_alloc_many(). */
int heap_checked_alloc_many(const struct heap_checked *checked,
                            size_t size_bytes, size_t count, void **ptrs_out);
/* As heap_free(); DRASYNC_EFREED also for what is in quarantine. */
int heap_checked_free(const struct heap_checked *checked, void *ptr);

/* As heap_usable(), which is what was asked for.  Without faults and queue. */
int heap_checked_usable(const struct heap_checked *checked, const void *ptr,
                        size_t *bytes_out);

/* How much of the heap is objects': its used_bytes without those that wait in
 * the queue, and without the queue.  Needs no faults. */
uint64_t heap_checked_used(const struct heap_checked *checked);

/* Close what is no object's, in all of the heap, of which nothing is closed, nor
 * changed by this.  0 or DRASYNC_EINTERNAL. */
int heap_checked_mark(const struct heap_checked *checked);

/* Look at all objects, and freed ones.  0 or DRASYNC_EINTERNAL. */
int heap_checked_walk(const struct heap_checked *checked);

#endif
