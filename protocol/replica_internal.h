/* replica_internal.h - what the files of the directory (replica.h) share. */
#ifndef DRASYNC_PROTOCOL_REPLICA_INTERNAL_H
#define DRASYNC_PROTOCOL_REPLICA_INTERNAL_H

#include "protocol/replica.h"

void replica_link_child(struct replica_entry *parent,
                        struct replica_entry *child);
void replica_unlink_child(struct replica_entry *child);

/* A message of @type about @entry. */
void replica_send_to(struct replica_dir *dir, uint32_t node, uint32_t type,
                     const struct replica_entry *entry);

/* Nobody has @entry, of another home, any more. */
int replica_recycle(struct replica_dir *dir, struct replica_entry *entry);

/* Messages. */
int replica_on_attached(struct replica_dir *dir, uint32_t from,
                        const struct replica_message *m);
int replica_on_unknown(struct replica_dir *dir,
                       const struct replica_message *m);

#endif
