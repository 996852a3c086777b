/*
 * far.h - the search for circles over all nodes (protocol/search.h): what the
 * rank that searches asks the nodes, its own among them.
 *
 * One rank of the job searches at a time; node 0 says which.  It asks nodes one
 * after another, in questions that each take a node well under a millisecond, as
 * they are answered on progress threads.  Then it holds what it found for WRITE,
 * which brings the data to its node, and deletes it.
 *
 * If the rank dies the job ends.  DRASYNC_ENOMEM: nothing has ended.
 */
#ifndef DRASYNC_RUNTIME_MANAGED_FAR_H
#define DRASYNC_RUNTIME_MANAGED_FAR_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/search.h"

enum far_what {
    FAR_ELECT,  /* node 0: may I search?  `number` 0, then as answered */
    FAR_OVER,   /* node 0: my search is over */
    FAR_LOOK,   /* records, from `shard` and `bucket` on */
    FAR_FREEZE, /* a byte for each: is it frozen? */
    FAR_THAW,
    FAR_READ, /* a byte for each: is it held for READ here? */
    FAR_DOOM,
    FAR_CUT,    /* links between what is doomed */
    FAR_GONE,   /* the home: it is deleted */
    FAR_LINGER, /* the home: it could not be deleted, and is tried again */
};

struct far_item {
    uint64_t address, incarnation, stamp;
};

#define FAR_ITEMS_MAX 1024

struct far_request {
    uint32_t what;
    uint32_t shard, bucket;
    uint32_t count; /* of items */
    uint64_t number;
    struct far_item item[FAR_ITEMS_MAX]; /* not all are sent */
};

#define FAR_REQUEST_BYTES(count) \
    (offsetof(struct far_request, item) + (count) * sizeof(struct far_item))

struct far_elected {
    uint64_t number; /* of the search that the caller wants to be over */
    uint32_t yes;    /* the caller searches */
    uint32_t over;   /* that search is over */
};

/* Records follow.  What is too long for an answer is not in one, and is taken
 * for live: 16,000 links of one region. */
struct far_looked {
    uint32_t shard, bucket; /* to go on with; MANAGED_SHARDS: that was all */
    uint64_t bytes;         /* of records */
};

#define FAR_REPLY_BYTES_MAX ((size_t)256 << 10)

/* At this node (far_node.c).  On any thread, no lock held. */
int managed_far_answer(const struct far_request *request, size_t bytes,
                       void *reply, size_t reply_max, size_t *reply_bytes_out);

/* At any node (wire.c), on a rank's thread.  Errors also of messages. */
int managed_far_ask(int node, const struct far_request *request, size_t bytes,
                    void *reply, size_t reply_max, size_t *reply_bytes_out);

/* --- What was seen (far_look.c) -------------------------------------------- */

/* An answer to FAR_LOOK. */
struct far_block {
    struct far_block *next;
    _Alignas(16) char bytes[];
};

struct far_search {
    struct refs_search refs;
    size_t seen_room;
    struct far_block *blocks;
};

/* Ask all nodes, and find garbage: search->refs.part.  DRASYNC_ENOMEM,
 * DRASYNC_EPEER; managed_far_forget() in any case. */
int managed_far_look(struct far_search *search);
void managed_far_forget(struct far_search *search);

#endif /* DRASYNC_RUNTIME_MANAGED_FAR_H */
