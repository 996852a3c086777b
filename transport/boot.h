/*
 * boot.h - what the runtime needs of MPI at start and end, so that it does not
 * include mpi.h: who is who, a few collectives, a transport between ranks, and
 * the end of the job.
 *
 * MPI is looked up with dlsym when the first of these is called, because the
 * library is also loaded into processes that are no ranks.  Entry points are
 * PMPI_*, on private communicators, so tools do not see our traffic.
 *
 * Collectives are called by all ranks of the scope, by one thread at a time,
 * and not while another thread uses the same scope.
 */
#ifndef DRASYNC_TRANSPORT_BOOT_H
#define DRASYNC_TRANSPORT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

enum boot_scope {
    BOOT_ALL,
    BOOT_NODE,    /* the ranks of this node */
    BOOT_LEADERS, /* the lowest rank of each node; only they may call */
};

/* The levels of MPI, with MPICH's values. */
enum boot_thread_level {
    BOOT_SINGLE = 0,
    BOOT_FUNNELED = 1,
    BOOT_SERIALIZED = 2,
    BOOT_MULTIPLE = 3,
};

/*
 * Is there an MPI in this process, of MPICH's ABI?  With @load one is loaded if
 * there is none.  0, or a negative code with a line in @why.
 *   DRASYNC_ENOTREADY  no MPI, or one of another ABI
 */
int boot_find(bool load, char *why, size_t why_bytes);

/* The real function of MPI's own library, below all tools; NULL: none. */
void *boot_symbol(const char *name);

/* Does @address lie in the library that MPI's functions come from? */
bool boot_is_mpi(const void *address);

bool boot_initialized(void);
bool boot_finalized(void);

/* How many ranks MPI_COMM_WORLD has, and which of them this is; MPI must be up. */
int boot_world(int *rank_out);

/* Start MPI as the program would, asking for BOOT_MULTIPLE.  0, or
 * DRASYNC_EINTERNAL. */
int boot_start_mpi(void);
void boot_end_mpi(void);

/* The level MPI gives, whatever the program was told. */
int boot_thread_level(void);

struct boot;

/*
 * Collective over all ranks; MPI must be up.  @at_finalize is called by
 * MPI_Finalize before anything else, even where the library could not take
 * MPI_Finalize over.
 *   DRASYNC_EINTERNAL, DRASYNC_EPEER  MPI failed
 *   DRASYNC_ENOMEM  some rank has no memory
 */
int boot_open(void (*at_finalize)(void), struct boot **out);

int boot_rank(const struct boot *boot);
int boot_ranks(const struct boot *boot);

/*
 * Find the nodes: ranks that share memory and have the same @host_key, in
 * groups of at most @node_ranks (0: no limit).  Nodes are numbered by their
 * lowest rank. Collective over all.  @node_of, @local_of: [ranks], filled in.
 *   DRASYNC_EPEER
 *   DRASYNC_ENOMEM  some rank has no memory
 */
int boot_split(struct boot *boot, int node_ranks, uint64_t host_key,
               int *node_of, int *local_of, int *nodes_out);

/* After that: are there ranks of other nodes with which MPI talks through shared
 * memory? */
bool boot_neighbours(const struct boot *boot);

/* Collectives over a scope.  0 or DRASYNC_EPEER. */
int boot_barrier(struct boot *boot, enum boot_scope scope);
int boot_allgather(struct boot *boot, enum boot_scope scope, const void *in,
                   void *out, size_t bytes_each);
int boot_bcast(struct boot *boot, enum boot_scope scope, void *data,
               size_t bytes); /* from the lowest rank of the scope */
int boot_and(struct boot *boot, enum boot_scope scope, uint64_t *words,
             int count);
int boot_min(struct boot *boot, enum boot_scope scope, int64_t *value);

/*
 * This rank's end of a transport between all ranks; the numbers of nodes there
 * are those of ranks.  It calls alone, whenever it likes, once at a time; those
 * that talk to each other need the same @data.  @few: it keeps memory for few
 * messages that come at a time.  Close it before boot_close().
 */
int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user, bool few,
                   struct transport **out);

/* Free the communicators; collective over all, or not at all if @alone.  If not
 * alone, MPI_Finalize must come next on all ranks; see boot_leave.c. */
void boot_close(struct boot *boot, bool alone);

/* May MPI leave its connections as they are?  See boot_leave.c. */
bool boot_left(void);

/* The first call of MPI that failed in this process, with what MPI says of it:
 * "MPI_Bcast failed: ..."; NULL: none that is known. */
const char *boot_failure(void);

/* End the job now. */
void boot_abort(int code) __attribute__((noreturn));

#endif /* DRASYNC_TRANSPORT_BOOT_H */
