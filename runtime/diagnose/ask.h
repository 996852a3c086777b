/*
 * ask.h - facts.h, asked of any node.
 *
 * From a thread of the program that holds no lock and is in no step.  A node that
 * does not answer within ASK_TIMEOUT_US gives DRASYNC_EAGAIN, and is not waited
 * for again by this process.  What is asked of this node is answered here.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_ASK_H
#define DRASYNC_RUNTIME_DIAGNOSE_ASK_H

#include "runtime/diagnose/facts.h"
#include "runtime/messages/messages.h"

#define ASK_TIMEOUT_US 2000000

/* Waits in an answer. */
#define ASK_WAITS_MAX 64

/* Ranks in an answer. */
#define ASK_DOING_MAX 256

/* In the module's `start`. */
void ask_start(void);

int ask_waits(int node, size_t first, struct facts_wait *out,
              size_t *count_out);
int ask_doing(int node, size_t first, bool threads, struct facts_doing *out,
              size_t *count_out);
int ask_rank(int32_t rank, struct facts_rank *out);
int ask_request(int32_t rank, uint32_t index, struct facts_rank *out);
int ask_mpi(int32_t rank, int32_t to, int32_t tag, bool places,
            struct facts_mpi *out);
int ask_region(int node, uint64_t at, int32_t rank, bool places,
               struct facts_region *out);

/* The same, of the node that has the token of what @wait waits for.
 * DRASYNC_EAGAIN also if that is not found. */
int ask_about_wait(const struct facts_wait *wait, bool places,
                   struct facts_region *out);

/* The name of the region, or false. */
bool ask_name(uint64_t address, char name[DRASYNC_NAME_MAX + 1]);

/* The most of what a node says of itself, and its 0. */
#define ASK_VIEW_BYTES 32768

/* What drasync-ps prints of a node; cut if it is long. */
int ask_view(int node, char text[ASK_VIEW_BYTES]);
/* Answer the node that asks for it. */
void ask_answer_view(const struct runtime_caller *caller);

enum ask_why {
    ASK_WHY_STALL, /* a wait lasts */
    ASK_WHY_END,   /* the job ends with it */
    ASK_WHY_USER,  /* somebody asked for it */
    ASK_WHY_FAIL,  /* an acquire fails: ask_claim_deadlock() */
};

/* May this rank print a report for the job?  Of each kind one in @pause_us does,
 * of ASK_WHY_END the first, and of ASK_WHY_STALL the first few.  True too if node
 * 0, which says so, is silent. */
bool ask_claim(uint64_t pause_us, enum ask_why why);

/* Of all who find the deadlock with this number (deadlock_number()): is this rank the
 * first to claim it?  True too if node 0 is silent. */
bool ask_claim_deadlock(uint64_t number);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_ASK_H */
