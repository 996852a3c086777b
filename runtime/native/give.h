/*
 * give.h - regions that ranks give each other: what travels with a gift, and the
 * inbox of each rank of the node.
 *
 * A gift is a region that was released, its data on the node of the rank that it
 * is for, and a note in that rank's inbox; who takes the note acquires the region.
 * Between nodes data and note are one TRANSFER (protocol/give.c).  The note comes
 * in the order of the gifts, whatever the data does.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_GIVE_H
#define DRASYNC_RUNTIME_NATIVE_GIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/native/state.h"

/* Gifts that a rank has not taken. */
#define GIVE_GIFTS_MAX (1u << 20)

struct gift {
    uint64_t reserved_by_control[2];
    struct gift *next;
    uint64_t address, incarnation;
    int32_t from, tag;
};

/* Rank @rank of this node has died: it takes nothing more. */
void give_bury(int rank);

/* The inboxes of a node, in control memory: by the leader. */
int give_shared_new(void **shared_out);
/* Of this rank: at the start, and in finalize, when it takes nothing more. */
void give_start(void);
void give_end(void);

/* DRASYNC_ENOMEM. */
int gift_new(int32_t from, int32_t tag, uint64_t address, struct gift **out);
void gift_free(struct gift *gift);

/*
 * Have room for a gift in the inbox of the rank with number @local on this node.
 *   DRASYNC_ELIMIT     GIVE_GIFTS_MAX are there
 *   DRASYNC_ENOTREADY  that rank is in finalize
 */
int give_reserve(int local);
/* Use that room, or give it back.  DRASYNC_ENOTREADY, as above; the room is
 * given back then. */
int give_post(int local, struct gift *gift);
void give_unreserve(int local);

/*
 * Take out the first gift from @from with @tag (DRASYNC_ANY) of this rank's,
 * waiting until @deadline_us (0: not at all).  DRASYNC_EAGAIN, DRASYNC_EPEER (also:
 * @from has died, and the job goes on), DRASYNC_ENOMEM.
 */
int give_take_out(int32_t from, int32_t tag, uint64_t deadline_us,
                  struct gift **out);
/* @gifts, a list of what was taken out, is before all others again, its last one
 * first; or with those who wait for it.  NULL: nothing. */
void give_put_back(struct gift *gifts);

/* On the progress thread, before the step of @message, a gift from @node: note
 * it. */
void give_arrives(int node, const struct proto_message *message);

#endif /* DRASYNC_RUNTIME_NATIVE_GIVE_H */
