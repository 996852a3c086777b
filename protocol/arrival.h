/*
 * arrival.h - answers to this node's requests whose data is under way: arrival.c,
 * for the files of protocol/.
 */
#ifndef DRASYNC_PROTOCOL_ARRIVAL_H
#define DRASYNC_PROTOCOL_ARRIVAL_H

#include "protocol/internal.h"

/* @a has got something: is that all? */
void arrival_advance(struct step *s, struct proto_arrival *a);
void arrival_end(struct step *s, struct proto_arrival *a, int error);

/* The request of @ticket for a message that ends it, which none may whose answer
 * has begun to come in portions: that poisons the job.  NULL: there is none, or
 * that. */
struct proto_op *request_ended(struct step *s, struct proto_region *r,
                               uint64_t ticket);

/* @op was given up: what it has locked is free, if nothing of an answer is on its
 * way. */
void op_let_go(struct step *s, struct proto_op *op);

#endif /* DRASYNC_PROTOCOL_ARRIVAL_H */
