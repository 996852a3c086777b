/*
 * heap.h - a scheduler's books: the regions it owns and the objects in them.
 * It never touches the objects' memory, which only workers have.
 *
 * Regions form a tree; a region's parent and children may be another
 * scheduler's, so the books name them by number and serial.  Objects of up to
 * BL_SMALL_MAX bytes share slabs by size class, larger ones have a slab each.
 * Not thread-safe.
 */
#ifndef BASELINE_HEAP_H
#define BASELINE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "pages.h"
#include "wire.h"

#define BL_SMALL_MAX      32768
#define BL_CLASSES        36
#define BL_SLAB_ORDER_MAX 6

struct bl_slab {
    struct bl_region *region;
    struct bl_slab *next, *prev;           /* of the region */
    struct bl_slab *part_next, *part_prev; /* with free slots, of the class */
    struct bl_slab_name name;
    uint64_t *map;  /* a bit for each slot in use */
    uint32_t *incs; /* incarnations, or NULL: all 0 */
    uint32_t live;
    uint32_t hint; /* no free slot in the map's words before this one */
    uint8_t class; /* BL_CLASSES: one large object */
    uint8_t order;
};

struct bl_region {
    struct bl_region *next, *prev; /* of all */
    struct bl_name name;
    struct bl_name parent;
    struct bl_name *children;
    uint32_t children_count, children_room;
    uint32_t scan; /* where the next child is looked for first */
    struct bl_slab *slabs;
    struct bl_slab *parts[BL_CLASSES];
    uint8_t orders[BL_CLASSES]; /* of the next slab */
    uint8_t first_page_used;    /* the page of the number is a slab */
};

struct bl_heap {
    struct bl_pages pages;
    struct bl_region *regions;
    uint64_t serial;
};

/* A growing buffer, for messages. */
struct bl_buffer {
    unsigned char *bytes;
    size_t used, room;
};

/* Room for @bytes more at the end, now used; ends the process without memory.
 */
void *bl_buffer_add(struct bl_buffer *buffer, size_t bytes);

/* Memory, or the end of the process with a line on stderr. */
void *bl_malloc(size_t bytes);

int bl_heap_open(struct bl_heap *heap, uint32_t first, uint32_t count);
void bl_heap_close(struct bl_heap *heap);

/* NULL if there is no page left.  The caller links it to its parent. */
struct bl_region *bl_heap_new(struct bl_heap *heap, struct bl_name parent);

/* The root region, which gets page 0; on the first scheduler only. */
struct bl_region *bl_heap_new_root(struct bl_heap *heap);

/* NULL if there is none; a @serial of 0 matches any. */
struct bl_region *bl_heap_find(struct bl_heap *heap, uint32_t region,
                               uint64_t serial);

void bl_region_add_child(struct bl_region *region, struct bl_name child);
void bl_region_remove_child(struct bl_region *region, struct bl_name child);

/* Free @region and its objects; not its children, not its parent's link. */
void bl_heap_delete(struct bl_heap *heap, struct bl_region *region);

/*
 * Allocate @count objects of @size bytes each and append them to @runs_out as
 * struct bl_runs.  BL_OK or BL_NO_MEMORY, and then some may be allocated.
 */
enum bl_status bl_heap_alloc(struct bl_heap *heap, struct bl_region *region,
                             uint64_t size, uint32_t count,
                             struct bl_buffer *runs_out, uint32_t *runs_count);

/* The slab and slot of the object at @address. */
enum bl_status bl_heap_lookup(struct bl_heap *heap, uint64_t address,
                              struct bl_slab **slab_out, uint32_t *slot_out);

/* Free what bl_heap_lookup() found. */
void bl_heap_free(struct bl_heap *heap, struct bl_slab *slab, uint32_t slot);

/* Append all slabs of @region with objects in them, as wire.h says. */
void bl_region_describe(const struct bl_region *region, struct bl_buffer *out,
                        uint32_t *slabs_count);

#endif /* BASELINE_HEAP_H */
