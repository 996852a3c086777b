/*
 * model.h - nodes and ranks that run the real protocol over a network with
 * costs: how many messages, how many bytes, how long.
 *
 * sim.h asks whether the protocol is right; this asks what it costs, at sizes
 * where checking everything would take for ever.  Steps are those of protocol/
 * and addresses those of memory/ (lanes, chunks).  Time is virtual, in
 * nanoseconds; nothing is random.
 *
 * The network, after LogGP: a message takes the progress thread of its node
 * `overhead` to send, its bytes pass the node's link one message after the
 * other, it travels `latency`, and takes the progress thread of the receiver
 * `overhead` again, first come, first served.  So a node that everybody asks
 * shows as a line before it.
 *
 * Callers give each rank's operations one by one through a callback.
 */
#ifndef DRASYNC_SIM_MODEL_H
#define DRASYNC_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "memory/space.h"
#include "protocol/protocol.h"

enum {
    MODEL_NODES_MAX = 65536,
    MODEL_RANKS_MAX = 1 << 20,
};

struct model_packet;

struct model_cost {
    uint64_t latency_ns, overhead_ns; /* between nodes */
    double bandwidth_mb_s;            /* of a node's link, each way */
    uint64_t local_ns;                /* from rank to rank on one node */
    double local_mb_s;                /* messages' bytes on one node; 0: free */
    uint64_t step_ns;                 /* a call that is served on its node */
    double copy_mb_s;                 /* a rank copies a pinned region */
    uint32_t cores;                   /* for all; 0: one each */
    uint64_t quantum_ns;              /* before another rank gets the core */
    bool together; /* the progress thread runs on its node's ranks' core */
};

extern const struct model_cost model_cost_default;

enum model_verb {
    MODEL_END,
    MODEL_COMPUTE, /* ns of the program's own work */
    MODEL_CALL,    /* ns of work inside a call */
    MODEL_CREATE,  /* slot; below `other` unless that is MODEL_NO_SLOT */
    MODEL_GROW,    /* slot gets `bytes` more */
    MODEL_ACQUIRE, /* slot, mode */
    MODEL_RELEASE, /* slot; mode, or 0: of WRITE if there is one */
    MODEL_DELETE,  /* slot */
    MODEL_AHEAD,   /* slot, mode: it is asked ahead */
    MODEL_SEND,    /* a message of `bytes` to peer, with a tag */
    MODEL_RECEIVE, /* the next from peer with that tag */
    MODEL_ASK,     /* server number peer, which works ns for the answer */
    MODEL_BARRIER, /* of all ranks that have not ended */
    MODEL_POST,    /* flag number slot is up */
    MODEL_AWAIT,   /* until it is */
    MODEL_VERBS,
};

#define MODEL_NO_SLOT UINT32_MAX

struct model_op {
    uint8_t verb, mode;
    bool counted;  /* one of the operations that the result is about; BARRIER:
                      the result is about what follows */
    bool progress; /* SEND: by way of the progress threads */
    bool newer;    /* ACQUIRE: only what the rank has not seen; of one slot */
    uint32_t peer, tag;
    uint32_t slot, other;
    uint64_t bytes, ns;
};

struct model_extent {
    uint64_t page, pages;
};

struct model_region {
    uint64_t address, incarnation;
    uint64_t bytes, pages;
    struct model_extent *extents;
    uint32_t extents_count, extents_room;
    bool dead;
};

struct model_mail {
    uint32_t from, tag;
    uint64_t sent_ns;
};

struct model_rank {
    uint32_t id, node;
    struct model_op doing;
    struct proto_op *op;
    bool blocked, ended, running;
    uint64_t seen;          /* the version that it acquired last with `newer` */
    uint64_t issued, since; /* when the operation began, and the wait */
    uint64_t left_ns;       /* of what it computes */
    uint64_t slice_ns, quantum_ns;
    uint64_t stolen_ns;
    struct model_rank *next_wait; /* for the same chunk */
    struct model_mail *mail;
    uint32_t mail_count, mail_room;
    /* Spent so far: on its own work, in calls and on what comes over the
     * network, and waiting for other ranks. */
    uint64_t compute_ns, call_ns, wait_ns, end_ns;
};

struct model_node {
    struct proto_node proto;
    uint64_t tickets;
    uint64_t lane_next, lane_end; /* pages */
    uint64_t had;                 /* pages from managers */
    struct chunk_book *book;      /* a manager's */
    uint64_t thread_free, out_free, in_free;
    uint64_t messages, busy_ns; /* of its progress thread */
    struct model_rank *wants;   /* ranks that wait for a chunk, one asks */
    bool asking;
};

struct model_server {
    uint64_t free_ns, busy_ns, requests;
};

struct model_totals {
    uint64_t operations, latency_ns, latency_max_ns;
    uint64_t messages, bytes, chunks;
    uint64_t by_type[PROTO_MESSAGE_TYPES];
    uint64_t begin_ns, end_ns;
};

struct model_event {
    uint64_t time, order;
    void *what;
    uint32_t who;
    uint8_t kind;
};

struct model {
    struct model_cost cost;
    uint32_t nodes, ranks, per_node;
    /* The rank's next operation; MODEL_END at the end. */
    void (*next)(void *ctx, uint32_t rank, struct model_op *op_out);
    void *ctx;

    struct model_node *node;
    struct model_rank *rank;
    struct model_region *region; /* by slot */
    uint32_t regions;
    struct model_server *server;
    uint32_t servers;
    bool *flag;
    uint32_t flags;
    struct space space;  /* node 0's: lanes, and memory for the books */
    uint64_t lane_pages; /* 0: as the product has it */
    uint32_t fanout;     /* of trees of readers; the same */
    uint32_t subscribe;  /* READs before a subscription; 0: never */

    uint64_t now, order, stamp, events;
    struct model_event *heap;
    uint64_t heap_count, heap_room;
    struct model_entry **table;
    uint64_t table_slots, table_count;
    struct proto_effects *spare;
    struct model_object *objects; /* the protocol's, of all nodes */
    struct model_rank **queue;    /* ranks that want a core */
    uint32_t queue_first, queue_count, cores_busy;
    uint32_t robbed; /* the last rank whose core a progress thread took */
    uint32_t at_barrier, ended;
    struct model_totals total;
    char error[160]; /* why it could not go on; "" if it could */
};

/* model.c */

/*
 * Make ready: set cost, nodes, per_node, regions (slots), servers, flags,
 * lane_pages, next and ctx first, and zero the rest.  0, or -1 with `error`.
 */
int model_open(struct model *model);
void model_close(struct model *model);

/* Run to the end; 0, or -1 with `error`: it failed, or nobody can go on. */
int model_run(struct model *model);

void model_fail(struct model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct proto_region *model_find(struct model *model, uint32_t node,
                                uint64_t address);
void model_env(struct model *model, uint32_t node, struct proto_env *env);
struct model_region *model_region_at(struct model *model, uint64_t address);
/* Pages for a region, its address if it has none; false: a chunk is needed. */
bool model_pages(struct model *model, uint32_t node,
                 struct model_region *region, uint64_t pages);

/* model_net.c */
enum model_event_kind {
    MODEL_EVENT_RANK,    /* the rank goes on */
    MODEL_EVENT_CORE,    /* its time on a core is over */
    MODEL_EVENT_COMES,   /* a packet is at its node */
    MODEL_EVENT_HANDLE,  /* and is looked at */
    MODEL_EVENT_SENT,    /* a TRANSFER's data has left */
    MODEL_EVENT_ARRIVED, /* and is in place */
    MODEL_EVENT_ANSWER,  /* of a server */
};

void model_event(struct model *model, uint64_t time, enum model_event_kind kind,
                 uint32_t who, void *what);
bool model_pop(struct model *model, struct model_event *event_out);
struct proto_effects *model_effects(struct model *model);
void model_effects_run(struct model *model, uint32_t node,
                       struct proto_effects *out, struct model_packet *packet);
void model_effects_give(struct model *model, struct proto_effects *out);
void model_net_event(struct model *model, const struct model_event *event);
void model_chunk_ask(struct model *model, uint32_t node, uint64_t pages);
void model_send(struct model *model, struct model_rank *rank);

/* model_rank.c */
void model_rank_event(struct model *model, const struct model_event *event);
/* What the rank waited for is there. */
void model_rank_done(struct model *model, struct model_rank *rank,
                     const struct proto_effect *effect);
void model_rank_mail(struct model *model, struct model_rank *rank,
                     uint32_t from, uint32_t tag, uint64_t sent_ns);
/* The rank waits from now on. */
void model_rank_block(struct model *model, struct model_rank *rank);
/* Its operation is over but for @ns of work. */
void model_rank_finished(struct model *model, struct model_rank *rank,
                         uint64_t ns);
/* So much of the wait that ends now is not another rank's. */
void model_rank_overhead(struct model_rank *rank, uint64_t ns);
/* The progress thread of a node works for @ns, now or soon: on a core of its
 * own, if there is one. */
void model_rank_steal(struct model *model, uint32_t node, uint64_t ns);
/* The node has a chunk, or (error) there is none. */
void model_rank_chunk(struct model *model, uint32_t node, int error);

/* model_talk.c: what the rank is doing */
void model_rank_receive(struct model *model, struct model_rank *rank);
void model_rank_ask(struct model *model, struct model_rank *rank);
void model_rank_post(struct model *model, struct model_rank *rank);
/* From @node, without work for anybody. */
void model_flag_raise(struct model *model, uint32_t flag, uint32_t node);
void model_rank_await(struct model *model, struct model_rank *rank);
/* Go on behind the barrier, if all are there. */
void model_rank_barrier_look(struct model *model);

#endif
