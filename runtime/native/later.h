/*
 * later.h - the data of a region that follows its TRANSFER, in a message of its
 * own.  Private to runtime/native/{send,receive}*.c.
 *
 * A reader that keeps an older version gets the pages that changed since
 * (delta.h).  Which these are takes a pass over the region; with a large one
 * that is too long for the step that answers.  So the TRANSFER goes at once,
 * and says `later`: a number that its sender has not used before.  A chore of
 * the sender looks for what changed, in pieces, and sends a message of kind
 * RUNTIME_KIND_NATIVE_LATER with that number, a wire_later with its delta_runs,
 * and their data.
 *
 * For the protocol nothing is new: data may come after later messages anyway.
 * Until both have been sent the transfer has not left (proto_sent()), so the
 * frames of the copy stay and do not change; and until both have arrived it has
 * not arrived (proto_arrived()), so the copy and its base stay at the receiver.
 *
 * Where somebody still reads the base there, what did not change is copied from
 * it, in pieces as well.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LATER_H
#define DRASYNC_RUNTIME_NATIVE_LATER_H

#include "runtime/native/delta.h"
#include "runtime/native/wire.h"

struct wire_later {
    uint64_t later, runs;
};

/* --- The sender (send_later.c) -------------------------------------------- */

/* A TRANSFER whose data is being read; in control memory.  The last of its
 * messages with data says that it has left. */
struct shipment {
    uint64_t reserved[2];
    uint64_t root, ticket;
    uint32_t messages; /* with data, that have not left */
};

struct later_answer;

/* What changed in ship->copy will be sent with ship's TRANSFER, of which it
 * makes *later_out.  DRASYNC_ENOMEM. */
int later_answer_new(const struct proto_effect *ship,
                     struct later_answer **answer_out, uint64_t *later_out);

/* @answer, of a TRANSFER to node @to, begins; it counts in @shipment. */
void later_answer_begin(struct later_answer *answer, uint32_t to,
                        struct shipment *shipment);

/* A message of @shipment has left; the runtime's `sent`. */
void native_wire_sent(int to, uint64_t context, int result);

/* --- The receiver (receive_later.c) --------------------------------------- */

/* Data that is announced; on the leader, of the progress thread. */
struct later;

/*
 * In a TRANSFER of node @from, @in->later is announced for @frames, and what
 * does not come is as in @base, if that is not NULL.  DRASYNC_ENOMEM.
 */
int later_expect(int from, const struct wire_region *in,
                 const struct wire_extent *extents,
                 struct native_frames *frames, struct native_frames *base,
                 struct later **later_out);

/* It counts in @arrival, which waits for it; or is refused, when it comes. */
void later_begin(struct later *later, struct native_arrival *arrival);
void later_refuse(struct later *later);

/* A part of @arrival is in place, or with @err there is no room for it
 * (receive.c). */
void native_arrival_part(struct native_arrival *arrival, int err);

/* @run lies within the extents. */
bool native_run_fits(const struct delta_run *run,
                     const struct wire_extent *extents, uint64_t count);

void native_later_send_start(void);
void native_later_receive_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_LATER_H */
