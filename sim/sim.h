/*
 * sim.h - many simulated nodes and ranks in one thread: a script of what ranks
 * do, a seed for when things happen, and checkers that know what must hold.
 *
 * Time is virtual.  Everything random comes from the seed, so that a run can be
 * repeated; nothing depends on addresses of objects or on the machine.
 */
#ifndef DRASYNC_SIM_SIM_H
#define DRASYNC_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "protocol/protocol.h"
#include "protocol/faults.h"

enum {
    SIM_NODES_MAX = 4096,
    SIM_RANKS_MAX = 16384,
    SIM_SLOTS_MAX = 4096,
    SIM_EVENTS_MAX = 20000000, /* a run that makes more is going in circles */
    SIM_LANE_PAGES = 1 << 16,
    SIM_CHUNK_PAGES = 8,
};

/* --- Scripts -------------------------------------------------------------- */

enum sim_verb {
    SIM_CREATE,
    SIM_SUB,
    SIM_ACQUIRE,
    SIM_TRY,
    SIM_TIMED,
    SIM_RELEASE,
    SIM_DELETE,
    SIM_WRITE,
    SIM_READ,
    SIM_ALLOC,
    SIM_DROP,
    SIM_GIVE,
    SIM_AHEAD,
    SIM_NEWER,
    SIM_END,
    SIM_VERBS,
};

/* One thing a rank does.  Slots are handles that all ranks know. */
struct sim_command {
    uint32_t rank;
    uint8_t verb, mode;
    bool together; /* scenarios: do not wait for the messages to settle */
    uint32_t slot,
        other; /* other: parent, timeout (NEWER: 0: none), or to whom */
};

struct sim_script {
    uint64_t seed;
    uint32_t nodes, ranks_per_node;
    uint32_t threads;       /* so many of them, one after the other, are threads
                               of one rank of the protocol; 0: 1 */
    uint32_t delay_max;     /* of a message */
    uint32_t think_max;     /* between two commands of a rank */
    uint32_t slow_node;     /* its messages take 20 times as long; 0: none */
    uint32_t lane_pages;    /* then chunks */
    uint32_t memory_fault;  /* one take in so many fails; 0: none */
    uint32_t data_fault;    /* one transfer's data in so many has no memory */
    uint32_t bounce_fault;  /* one BOUNCE in so many finds none: the job ends */
    uint32_t waiters;       /* that travel with a token; 0: as the product */
    uint32_t presence;      /* nodes that travel with it; the same */
    uint32_t fanout;        /* of the trees of readers; the same */
    uint32_t portion;       /* regions in a message of an answer; the same */
    uint32_t answer;        /* items of one, then the rest is left; the same */
    uint32_t subscribe;     /* READs before a subscription; 0: never */
    uint32_t subscriptions; /* under way of a node in a tree; the same */
    uint32_t fault;         /* enum sim_fault */
    bool scenario; /* commands run one after the other, and are shown */
    uint32_t count, room;
    struct sim_command *command;
};

void sim_generate(struct sim_script *script, uint64_t seed);
const char *sim_errname(int error);
void sim_generate_wide(struct sim_script *script, uint64_t seed,
                       uint32_t nodes);
void sim_script_free(struct sim_script *script);
void sim_add(struct sim_script *script, struct sim_command command);
void sim_print(const struct sim_script *script, FILE *to);
void sim_print_command(const struct sim_script *script,
                       const struct sim_command *command, FILE *to);
/* 0, or the number of the line that is wrong. */
int sim_parse(struct sim_script *script, FILE *from);

/* --- The world ------------------------------------------------------------ */

/* What stands for a copy's frames: the tag of the last write. */
struct sim_frames {
    uint64_t tag;
    bool freed;
};

/* What is true of a region. */
struct oracle {
    uint64_t address, incarnation, number;
    struct oracle *parent, *next;
    uint64_t birth, death; /* in steps */
    uint64_t *tags;        /* all tags it had: each the step of its write */
    uint32_t tags_count, tags_room;
    uint64_t extents[16]; /* addresses of single pages */
    uint32_t extents_count;
    uint32_t slot;
    bool deleting;
    uint64_t here; /* nodes that have its memory; a bit for
                      each of the first 64 */
    uint64_t told; /* the version of the last WRITE hold, from when it began */
};

struct sim_seen {
    struct oracle *region;
    uint64_t tag;
};

struct sim_held {
    struct oracle *region;
    uint32_t writes, reads;
    uint64_t order; /* in which they were taken, the last in bit 0; 1: WRITE */
    struct proto_hold *hold;
    struct sim_seen *seen;
    uint32_t seen_count, seen_room;
};

/* The version of a region that a rank saw last. */
struct sim_known {
    const struct oracle *region;
    uint64_t version;
};

/* A rank with one thread, or one of the threads of a rank: it has its own
 * commands and the holds that it took; all are the protocol's rank's. */
struct sim_rank {
    uint32_t id, node;
    int32_t local;
    struct sim_rank *first; /* of the threads of its rank, */
    uint32_t threads;       /* and how many they are */
    uint32_t *todo;         /* indices of commands */
    uint32_t todo_count, at;
    bool blocked, done;
    bool gave_up;    /* asking, or was refused, at least once */
    uint32_t serial; /* of the operation it waits for */
    struct proto_op *op;
    struct sim_command doing;
    struct oracle *target;
    uint64_t started;
    uint64_t began, moved; /* when; and the last that others may notice */
    struct sim_held *held;
    uint32_t held_count, held_room;
    struct sim_known *known;
    uint32_t known_count, known_room;
    uint64_t newer; /* it asked for what is newer than this version */
    const struct oracle *newer_of; /* of this region; its address may be used
                                      again meanwhile */
};

struct sim_node {
    struct proto_node proto;
    uint32_t id;
    uint64_t tickets;
    _Atomic bool deletes_asked;
    uint32_t lane_used;
    uint64_t *free_pages;
    uint32_t free_count, free_room;
    long objects[PROTO_TYPES];
    bool poisoned; /* it has ended the job, or was told so */
};

/* A TRANSFER's data on its way. */
struct sim_data {
    uint32_t from, to, count;
    uint64_t ticket, root;
    bool captured, expected;
    struct {
        uint32_t item;
        struct proto_copy *source;
        struct proto_region *region;
        uint64_t tag;
        struct sim_frames *target;
        uint64_t base; /* only what changed since comes; 0: all */
    } part[];
};

struct sim_packet {
    struct sim_packet *next; /* while it is held back */
    uint32_t from, to;
    struct sim_data *data;
    size_t size_bytes;
    uint8_t bytes[];
};

struct sim_event {
    uint64_t time, order;
    uint8_t kind;
    uint32_t who, serial;
    void *what;
};

enum {
    EVENT_RANK,
    EVENT_PACKET,
    EVENT_SENT,
    EVENT_ARRIVED,
    EVENT_TIMEOUT,
    EVENT_LATE
};

struct sim_channel {
    uint64_t key, last;
    struct sim_packet *held, **held_last; /* that have time, in their order */
};

struct sim {
    struct sim_script *script;
    struct sim_node *node;
    struct sim_rank *rank;
    uint32_t ranks_count;
    uint64_t now, step, order, tag_step, random, counter;
    struct sim_event *heap;
    uint32_t heap_count, heap_room;
    struct oracle *regions; /* all, newest first */
    struct oracle *slot[SIM_SLOTS_MAX];
    uint64_t numbers;
    uint32_t *chunk_owner;
    uint32_t chunks_count, chunks_room;
    uint64_t packets, grants, events;
    bool asks_ahead; /* some rank has */
    bool loose;     /* some gave up or gave: something goes on without a rank */
    uint64_t gifts; /* to other nodes, on their way */
    bool reserved;  /* this step's takes succeed */
    uint8_t handling; /* type of the message that is being handled */
    bool poisoned;    /* some node has ended the job, as it should */
    struct sim_channel *channels;
    uint32_t channels_count, channels_room;
    void *table, *arena, *objects;
    struct proto_effects *spare[64];
    uint32_t spare_count;
    char finding[256]; /* what is wrong; "" if nothing is */
    FILE *show;        /* scenarios: where to tell */
};

/* world.c */
void *sim_alloc(struct sim *sim, size_t size_bytes);
void world_open(struct sim *sim, struct sim_script *script);
void world_close(struct sim *sim);
uint64_t sim_random(struct sim *sim, uint64_t below);
void sim_found(struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct proto_region *world_find(struct sim *sim, uint32_t node,
                                uint64_t address);
struct proto_region *world_next_root(struct sim *sim, uint32_t node,
                                     uint64_t *cursor);
/* A page cut on @node. */
uint64_t page_cut(struct sim *sim, uint32_t node);
void page_free(struct sim_node *node, uint64_t address);
void page_back(struct sim *sim, uint32_t node, uint64_t address,
               uint64_t pages);
bool page_used(struct sim *sim, uint64_t address);
uint64_t page_node(uint32_t id); /* its bit in oracle.here; or 0 */
void page_arrival_check(struct sim *sim, uint32_t id, const struct oracle *o);
void page_end_check(struct sim *sim);
struct sim_frames *frames_new(struct sim *sim, uint64_t tag);

/* net.c */
void event_add(struct sim *sim, uint64_t time, uint8_t kind, uint32_t who,
               uint32_t serial, void *what);
bool event_run(struct sim *sim);
void effects_run(struct sim *sim, uint32_t node, struct proto_effects *out,
                 struct sim_packet *packet);
struct proto_effects *effects_take(struct sim *sim);
void effects_give(struct sim *sim, struct proto_effects *out);
void net_close(struct sim *sim);
void event_rank(struct sim *sim, struct sim_rank *rank);
/* What the script's reader wants to see of a message. */
void show_message(struct sim *sim, uint32_t from, uint32_t to,
                  const struct proto_message *m);

/* ranks.c */
void rank_next(struct sim *sim, struct sim_rank *rank);
void rank_ended(struct sim *sim, struct sim_rank *rank,
                const struct proto_effect *effect);
void rank_timeout(struct sim *sim, struct sim_rank *rank, uint32_t serial);
bool rank_do(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *command);
/* Acquire as the command says; only what is newer than rank->newer. */
bool rank_acquire(struct sim *sim, struct sim_rank *rank,
                  const struct sim_command *command);
/* What this thread took; all else is about the holds of the whole rank. */
struct sim_held *held_of(struct sim_rank *rank, const struct oracle *region);
struct sim_held *held_add(struct sim_rank *rank, struct oracle *region);
void held_remove(struct sim_rank *rank, struct sim_held *held);
bool held_above(struct sim_rank *rank, const struct oracle *region);
bool held_below(struct sim_rank *rank, const struct oracle *region);
/* Has a thread of @rank but @rank itself a hold of @region? */
bool held_beside(struct sim_rank *rank, const struct oracle *region);
/* Is it for this thread to write, since a hold that it took covers @region? */
bool held_write_own(struct sim_rank *rank, const struct oracle *region);
/* The hold that this thread took last of what it took of @held ends. */
int rank_release(struct sim *sim, struct sim_rank *rank,
                 struct proto_region *region, struct sim_held *held);
bool in_order(struct sim_rank *rank, const struct oracle *region);
void rank_tell(struct sim *sim, struct sim_rank *rank, int error);
/* Before a WRITE hold is used: readers keep the frames they have. */
void rank_split(struct sim *sim, struct sim_rank *rank,
                struct proto_region *top);
void rank_acquired(struct sim *sim, struct sim_rank *rank,
                   struct proto_region *region, struct proto_hold *hold,
                   bool split_needed);
void rank_check_error(struct sim *sim, struct sim_rank *rank, int error);
struct oracle *oracle_handle(struct sim *sim, struct oracle *o);
bool held_write(struct sim_rank *rank, const struct oracle *region);
/* Have all its threads ended? */
static inline bool rank_over(const struct sim_rank *rank)
{
    for (uint32_t t = 0; t < rank->threads; t++)
        if (!rank->first[t].done)
            return false;
    return true;
}
static inline bool rank_same(const struct sim_rank *a, const struct sim_rank *b)
{
    return a->first == b->first;
}

/* gifts.c */
bool do_give(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *command);
/* Before the step: @m is a gift for a rank of @node. */
void gift_arrives(struct sim *sim, uint32_t node,
                  const struct proto_message *m);

/* ahead.c */
bool do_ahead(struct sim *sim, struct sim_rank *rank,
              const struct sim_command *command);
/* What was asked ahead and not used is given back. */
void ahead_end(struct sim *sim);
/* After a step of @node, that handled a message, with @out; or NULL. */
void ahead_check(struct sim *sim, uint32_t node,
                 const struct proto_message *handled,
                 struct proto_effects *out);

/* newer.c */
bool do_newer(struct sim *sim, struct sim_rank *rank,
              const struct sim_command *command);
/* Has @rank, which has just asked, got the request of one that gave up?  No
 * ticket of its node was beyond @before; @out is what came of it. */
bool newer_taken_over(const struct sim_rank *rank, uint64_t before,
                      const struct proto_effects *out);
/* @rank was granted @region, by @hold if that is READ. */
void newer_granted(struct sim *sim, struct sim_rank *rank, struct oracle *o,
                   const struct proto_region *region,
                   const struct proto_hold *hold);
/* Nothing goes on any more: ranks that wait for what nobody writes give up;
 * true if there were some. */
bool newer_end(struct sim *sim);

/* oracle.c */
struct oracle *oracle_new(struct sim *sim, uint64_t address, uint64_t tag,
                          uint64_t incarnation, struct oracle *parent);
struct oracle *oracle_of(struct sim *sim, const struct proto_region *region);
bool oracle_below(const struct oracle *region, const struct oracle *top);
bool oracle_before(const struct oracle *a, const struct oracle *b);
uint64_t oracle_last(const struct oracle *region);
void oracle_tag(struct sim *sim, struct oracle *region, uint64_t tag);
void check_write_grant(struct sim *sim, struct sim_rank *rank,
                       struct oracle *region);
void check_read_grant(struct sim *sim, struct sim_rank *rank,
                      struct oracle *region, struct sim_held *held);
void check_pins(struct sim *sim, struct sim_rank *rank, struct sim_held *held);
/* @rank uses the data of @o: its node has the addresses. */
void check_here(struct sim *sim, const struct sim_rank *rank,
                const struct oracle *o);
void check_delete(struct sim *sim, struct sim_rank *rank,
                  struct oracle *region);
void check_end(struct sim *sim);

/* run.c */
/* Run @script; true if nothing was found.  @finding_out has 256 bytes. */
bool sim_run(struct sim_script *script, FILE *show, char *finding_out,
             uint64_t *packets_out);

/* shrink.c */
/* Make a script that fails as short as can be. */
void sim_shrink(struct sim_script *script, char *finding);

#endif
