/*
 * wire.h - what nodes tell each other of replicated regions.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_WIRE_H
#define DRASYNC_RUNTIME_REPLICA_WIRE_H

#include "runtime/replica/state.h"

/* --- wire.c: other nodes -------------------------------------------------- */

void replica_wire_open(void);
void replica_wire_directory(uint32_t node, const struct replica_message *m);

/* Send, or end the job; and end it, because of what node @from sent. */
void replica_wire_send(const struct runtime_message *message);
void replica_wire_bad(int from, const char *what);

struct replica_wire_free {
    uint64_t ptr;
    uint64_t region;
    uint64_t incarnation;
    int32_t worker; /* who freed it */
    int32_t line;
    uint32_t stack; /* where, in checked mode */
    char file[36];
};

int replica_wire_frees(int node, const struct replica_wire_free *frees,
                       size_t count);

/* Send off the frees that wait for company. */
int replica_flush_frees(void);

/* What an object of another node's worker may use; and free it, if @free_it, for
 * @who. */
int replica_wire_object(int node, const void *ptr, int free_it,
                        struct heap_who who, size_t *bytes_out);

/* --- wire_version.c ------------------------------------------------------- */

void replica_wire_versions_open(void);

/* Hand a version over to the transport; it is freed when it has been sent. */
int replica_wire_version(struct replica_version *version);

struct replica_forget {
    int64_t worker;
    uint64_t serial;
};

/* Node @node need not keep a version of this worker any longer. */
void replica_wire_forget(int node, uint64_t serial);

/*
 * --- wire_kept.c: versions of other nodes' workers, kept for more workers of
 * this one ---
 *
 * On the progress thread.  A sender names what it keeps by a serial number, and
 * a node has what it was sent as REPLICA_KEEP until it is told to forget it;
 * messages of a node come in order, so a name that is not there is an error,
 * DRASYNC_EINVAL.
 */

/* Keep @version, whose data is to come. */
int replica_kept_add(struct replica_version *version);

/* @name, sent as REPLICA_SAME, with what was kept; ready as soon as that is. */
int replica_kept_find(const struct replica_version *name,
                      struct replica_version **version_out);

/* The data is there. */
void replica_kept_arrived(int worker, uint64_t serial);

int replica_kept_forget(int worker, uint64_t serial);

void replica_wire_barrier(void);
void replica_barrier_node_arrived(void);
void replica_barrier_release(void);

#endif /* DRASYNC_RUNTIME_REPLICA_WIRE_H */
