/*
 * references.h - managed regions on simulated nodes: protocol/references.h is fed
 * as runtime/managed/ feeds it, by ranks that do what a script says, while a
 * checker knows the true graph of who refers to whom.
 *
 * What the ownership protocol does is not simulated: a region is there or not,
 * ranks hold it or not, and who deletes it is refused where somebody does.
 *
 * Ranks, and a server of messages on each node, are coroutines.  They change at
 * refsim_pause() and where they wait for an answer; what lies between is what the
 * runtime does under a lock of an entry.  Messages between two nodes keep their
 * order.  All that is random comes from the seed.
 */
#ifndef DRASYNC_SIM_REFERENCES_H
#define DRASYNC_SIM_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "drasync.h"
#include "protocol/faults.h"
#include "protocol/references.h"
#include "protocol/search.h"

enum {
    REFSIM_NODES_MAX = 5,
    REFSIM_RANKS_MAX = 15,
    REFSIM_SLOTS = 8,
    REFSIM_REGIONS_MAX = 64, /* of a run */
    REFSIM_COMMANDS_MAX = 256,
    REFSIM_EVENTS_MAX = 400000, /* a run that makes more goes in circles */
};

/* --- Scripts (references_script.c) ---------------------------------------- */

enum refsim_verb {
    REFSIM_NEW, /* held for WRITE */
    REFSIM_MANAGE,
    REFSIM_READ,
    REFSIM_WRITE,
    REFSIM_RELEASE,
    REFSIM_REF,
    REFSIM_UNREF,
    REFSIM_GIVE,
    REFSIM_LINK,
    REFSIM_UNLINK,
    REFSIM_WEAK,
    REFSIM_LOCK, /* the weak handle of the slot that was made last */
    REFSIM_ON_END,
    REFSIM_COLLECT,
    REFSIM_VERBS,
};

/* One thing a rank does.  Slots are handles that all ranks know. */
struct refsim_command {
    uint32_t rank;
    uint8_t verb;
    uint32_t slot, other; /* other: to which rank, or slot */
};

struct refsim_script {
    uint64_t seed;
    uint32_t nodes, ranks_per_node;
    uint32_t delay_max, think_max;
    uint32_t fault; /* enum refs_fault */
    uint32_t count;
    struct refsim_command command[REFSIM_COMMANDS_MAX];
};

const char *refsim_name(uint8_t verb);

/* "references FROM TO [FAULTS]" or "references FILE", of simulate. */
int refsim_main(int argc, char **argv);

/* --- What is true (references_check.c) ------------------------------------ */

struct refsim_region {
    uint64_t address, incarnation;
    uint32_t number, home;
    bool alive, managed, mark;
    bool taken;         /* by who ends a circle */
    bool doomed;        /* the circle ends: nobody may follow its links */
    int64_t references; /* of all ranks' programs, under way too */
    uint32_t links[REFSIM_REGIONS_MAX];     /* how many, to which number */
    uint32_t met;                           /* bits: nodes whose ranks had it */
    uint32_t readers, writers, old_readers; /* holds; old: of older versions */
    uint32_t wanted[REFSIM_NODES_MAX];      /* calls at its end, by node */
    uint32_t told[REFSIM_NODES_MAX];
};

struct refsim_hold {
    struct refsim_region *region;
    bool write, old;
};

/* --- The world ------------------------------------------------------------ */

struct refsim_entry {
    struct refs_entry refs;
    struct refsim_entry *next, *unused_next;
    bool popped; /* off the list that it was on, and not looked at */
    uint32_t calls;
};

enum refsim_kind { REFSIM_ASK, REFSIM_HAND, REFSIM_COUNT, REFSIM_END };

struct refsim_packet {
    uint8_t kind, ask;
    bool wants_end, reply;
    uint32_t from, rank; /* rank: who waits for the answer */
    uint64_t address, incarnation, to, to_incarnation;
    int64_t by;
    int32_t node;
    int error;
    bool listed;
    struct refsim_packet *next; /* in an inbox */
};

struct refsim_list {
    struct refsim_entry *first, *last;
};

struct refsim_node {
    struct refsim_entry *entries;
    struct refsim_list fresh, lingering;
    struct refsim_packet *inbox, **inbox_end;
    bool idle; /* its server waits for messages */
    bool searching;
};

struct refsim_rank {
    uint32_t id, node;
    struct refsim_command doing;
    struct refsim_hold held[2 * REFSIM_SLOTS];
    uint32_t held_count;
    uint32_t tokens[REFSIM_REGIONS_MAX]; /* references, by number */
    int error;                           /* of an answer */
    bool listed;
};

struct refsim {
    struct refsim_script *script;
    struct refsim_node node[REFSIM_NODES_MAX];
    struct refsim_rank rank[REFSIM_RANKS_MAX];
    uint32_t ranks;
    struct refsim_region region[REFSIM_REGIONS_MAX];
    uint32_t regions;
    struct refsim_region *slot[REFSIM_SLOTS], *weak[REFSIM_SLOTS];
    uint64_t incarnations, random, messages, ends;
    uint64_t stamps;                        /* of entries */
    uint64_t searches_begun, searches_done; /* over all nodes */
    uint32_t working; /* ranks that are not through with the script, */
    uint32_t there;   /* or not with giving all back */
    char finding[256];
    FILE *show;
};

extern struct refsim refsim;

/* --- Time (references.c) -------------------------------------------------- */

void refsim_found(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
uint64_t refsim_random(uint64_t below);

/* This coroutine goes on a while later. */
void refsim_pause(void);

/* This rank's, whose answer @p gets; what it says is in the rank. */
int refsim_ask(struct refsim_rank *rank, uint32_t node,
               const struct refsim_packet *p);
void refsim_send(uint32_t from, uint32_t to, const struct refsim_packet *p);

/* Run @script: true if nothing was found. */
bool refsim_run(struct refsim_script *script, FILE *show);

/* --- What runtime/managed/ does (references_calls.c) ----------------------- */

uint32_t refsim_home(uint64_t address);
struct refsim_entry *refsim_find(uint32_t node, uint64_t address,
                                 uint64_t incarnation);
/* The entry of what @node refers to at @address, or NULL. */
struct refsim_entry *refsim_referred(uint32_t node, uint64_t address);
struct refsim_entry *refsim_entry(uint32_t node, uint64_t address,
                                  uint64_t incarnation);

/* Whose @refs are. */
struct refsim_entry *refsim_entry_of(struct refs_entry *refs);

/* managed_change(); @ends_out: managed_give_back(), and what is to be ended is
 * there, for refsim_end_one(). */
int refsim_change(uint32_t node, uint64_t address, uint64_t incarnation,
                  int64_t by, struct refsim_entry **ends_out);
void refsim_end_one(uint32_t home, struct refsim_entry *e);

/* managed_home_look() and its like; the entry may go. */
void refsim_home_look(uint32_t node, struct refsim_entry *e);
void refsim_home_gone(uint32_t home, struct refsim_entry *e);
void refsim_home_linger(uint32_t home, struct refsim_entry *e);
void refsim_drop(uint32_t node, struct refsim_entry *e);

/* End what is unused here. */
void refsim_home_end(uint32_t home, bool all);

/* Ask the home of p->address, as managed_ask(). */
int refsim_answer(uint32_t home, uint32_t node, const struct refsim_packet *p);
void refsim_tell_count(uint32_t from, uint32_t node, uint64_t address,
                       uint64_t incarnation, int64_t by, bool wants_end);

/* A message has come to @node: in its server. */
void refsim_serve(uint32_t node, const struct refsim_packet *p);

/* --- Circles at one home (references_circles.c) ---------------------------- */

/* drasync_collect() of @rank. */
void refsim_collect(struct refsim_rank *rank);

/* --- Circles over several nodes (references_search.c) ---------------------- */

void refsim_search(void);

/* --- What ranks do (references_ranks.c) ------------------------------------ */

void refsim_do(struct refsim_rank *rank);

/* The rank's program ends: all that it has goes. */
void refsim_leave(struct refsim_rank *rank);

/* --- Checks --------------------------------------------------------------- */

struct refsim_region *refsim_at(uint64_t address, uint64_t incarnation);

/* @region is deleted. */
void refsim_ends(struct refsim_region *region);

/* All ranks are through, and all messages have come. */
void refsim_check_end(void);

/* Is there something left that has to end? */
bool refsim_left(const struct refsim_region **left_out);

#endif
