/*
 * wire.h - what workers and schedulers of the baseline say to each other.
 *
 * All messages go over one communicator that duplicates MPI_COMM_WORLD: its
 * first ranks are the workers, its last the schedulers.  Numbers are in host
 * order: ranks of one job run one binary.
 *
 * Pages are numbered from the start of the range of addresses; a region's
 * number is its first page + 1.  Page 0 is the root region's, so its inner
 * number is BL_ROOT; programs call it 0.
 */
#ifndef BASELINE_WIRE_H
#define BASELINE_WIRE_H

#include <stdint.h>

#define BL_PAGE_SHIFT 12
#define BL_PAGE_BYTES ((uint64_t)1 << BL_PAGE_SHIFT)
#define BL_ALIGN      64

/* The root region's number inside; one that a program may not pass. */
#define BL_ROOT 1u

/* An MPI count is an int: longer messages go in pieces of this size. */
#define BL_PIECE_BYTES ((uint64_t)1 << 30)

/* Data up to this size comes with its description, in one message. */
#define BL_TOGETHER_BYTES ((uint64_t)1 << 17)

enum bl_tag {
    BL_TAG_REQUEST = 1, /* to a scheduler, from workers and schedulers */
    BL_TAG_REPLY,       /* to a worker: struct bl_reply */
    BL_TAG_MORE,        /* to a worker: reply.more_bytes right after it */
    BL_TAG_DATA,        /* between workers: sys_send() */
};

/*
 * Requests.  A request about a region or an object goes to the scheduler that
 * owns its address.  What concerns several schedulers travels between them and
 * carries all it needs; none of them waits.  The last one replies.
 */
enum bl_op {
    BL_OP_ALLOC,  /* size, region, count objects */
    BL_OP_FREE,   /* address */
    BL_OP_RESIZE, /* address, size, region: does it fit where it is? */
    BL_OP_RALLOC, /* region is the parent, level the hint */
    BL_OP_CREATE, /* the same, on its way down the tree of schedulers */
    BL_OP_LINK,   /* region's new child is other */
    BL_OP_RFREE,  /* region, at its owner */
    BL_OP_UNLINK, /* region leaves its parent, other */
    BL_OP_DROP,   /* region is out of the tree: free it, then the list */
    BL_OP_QUERY,  /* region: where its subtree's objects are */
    BL_OP_PART,   /* the same for a subregion; gone is not an error */
    BL_OP_BYE,    /* this worker finalizes */
};

/* A region, told apart from an earlier one with the same number. */
struct bl_name {
    uint64_t serial;
    uint32_t region;
    uint32_t pad;
};

struct bl_request {
    uint32_t op;
    uint32_t worker; /* who waits for the reply */
    uint64_t size;
    uint64_t address; /* from the start of the range */
    struct bl_name region;
    struct bl_name other;
    int32_t level;
    uint32_t count; /* objects; for BL_OP_DROP, names that follow */
};

enum bl_status {
    BL_OK,
    BL_BAD_REGION,
    BL_NO_MEMORY,
    BL_MISALIGNED,
    BL_NOT_ALLOCATED,
};

struct bl_reply {
    uint32_t status;
    uint32_t region;
    uint64_t size; /* of the object's slot, in bytes */
    uint32_t in_place;
    uint32_t count; /* of what follows */
    uint64_t more_bytes;
};

/*
 * A slab: a run of pages cut into slots of one size.  @serial tells it from
 * earlier slabs on the same pages.  An object is a slot's incarnation: the
 * number counts how often the slot was freed.
 */
struct bl_slab_name {
    uint64_t serial;
    uint64_t slot_bytes;
    uint32_t page;
    uint32_t pages;
    uint32_t slots;
    uint32_t has_incs; /* a table of incarnations follows the map */
};

/* Follows the reply to BL_OP_ALLOC: neighbouring new objects. */
struct bl_run {
    struct bl_slab_name slab;
    uint32_t first;
    uint32_t count;
    uint32_t inc;
    uint32_t pad;
};

/*
 * Follow the reply to BL_OP_QUERY and BL_OP_PART, reply.count times: a
 * struct bl_slab_name, its map (a bit for each slot), and the incarnations
 * unless all are 0; then, up to the end, the struct bl_names of subregions that
 * other schedulers own.
 *
 * A message of BL_TAG_DATA: struct bl_data, then slabs in the same form, whose
 * maps say which slots come; then the slots' bytes, in messages of their own if
 * there are many.
 */
struct bl_data {
    uint64_t total_bytes; /* of the whole message */
    uint64_t slabs_bytes;
    uint32_t region;
    uint32_t slabs;
};

static inline uint64_t bl_map_words(uint32_t slots)
{
    return ((uint64_t)slots + 63) / 64;
}

/* Bytes of the incarnations of a slab on the wire: whole words. */
static inline uint64_t bl_incs_bytes(uint32_t slots)
{
    return ((uint64_t)slots + 1) / 2 * 8;
}

#endif /* BASELINE_WIRE_H */
