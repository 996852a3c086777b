/*
 * boot.h - what the runtime needs of MPI at start and end, so that it does not
 * include mpi.h: who is who, a few collectives, a transport between ranks, and
 * the end of the job.
 *
 * MPI is looked up with dlsym when the first of these is called, because the
 * library is also loaded into processes that are no ranks.  Entry points are
 * PMPI_*, on private communicators, so tools do not see our traffic.
 *
 * What is collective is called by all ranks, by one thread at a time.
 */
#ifndef DRASYNC_TRANSPORT_BOOT_H
#define DRASYNC_TRANSPORT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

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

/* Is the library at @path one of ours? */
bool boot_is_ours(const char *path);

/* Does a reference to @name, looked up as the loader does, reach one of those? */
bool boot_reaches_us(const char *name);

/*
 * Do the program's calls of MPI's functions @names, which our libraries have too,
 * come to these and then to MPI itself, with no other library's in between?  The
 * first is looked up; of the others, which may be missing, it is only asked
 * whether another library has them before MPI does.
 */
bool boot_direct(const char *const *names, size_t count);

bool boot_initialized(void);
bool boot_finalized(void);

/* Before MPI is started, after boot_find(): have it send longer messages at once
 * where that is faster (at_once.c).  May set a variable of the environment. */
void boot_before_mpi(void);

/* May MPI have memory of this host registered, by network adapters that move it by
 * themselves, or otherwise? */
bool boot_registers(void);

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
 * MPI must be up.  Not collective.
 *
 * @at_finalize is called by MPI_Finalize before anything else, even where the
 * library could not take MPI_Finalize over.  @meanwhile (or NULL) is called now
 * and then by who waits for other ranks in one of the functions below: it may
 * end the job.
 *   DRASYNC_EINTERNAL  MPI failed
 */
int boot_open(void (*at_finalize)(void), void (*meanwhile)(void),
              struct boot **out);

int boot_rank(const struct boot *boot);
int boot_ranks(const struct boot *boot);

/*
 * What each rank says (@in), told to all: @out has room for @bytes_each of each
 * rank.  Collective over all ranks, in the order of the program's own
 * collectives on MPI_COMM_WORLD.  Waits in naps, as all that comes below does.
 * 0 or DRASYNC_EPEER.
 */
int boot_gather(struct boot *boot, const void *in, void *out,
                size_t bytes_each);

/* What ranks must tell each other for boot_places.leave: see boot_leave.c. */
enum boot_leave_vote {
    BOOT_LEAVE_HOSTS = 1, /* if there are several hosts */
    BOOT_LEAVE_HOST = 2,  /* even if there is one */
};
unsigned boot_leave_vote(void);

/* Who is where.  The arrays stay until boot_close(). */
struct boot_places {
    const int *host_of;   /* [ranks]: the first rank of its host */
    const int *leader_of; /* [nodes]: the first rank of each */
    int node, nodes;      /* this rank's */
    bool neighbours;      /* are there ranks of other nodes on this host? */
    bool leave;           /* MPI_Finalize needs help, on all ranks */
};

/*
 * Where there are several nodes: make what they talk through, a communicator of
 * all ranks that nobody else uses.  Collective over all, which know the same.
 * 0 or DRASYNC_EPEER.
 */
int boot_join(struct boot *boot, const struct boot_places *places);

/* After that: are there ranks of other nodes with which MPI talks through shared
 * memory? */
bool boot_neighbours(const struct boot *boot);

/* The least of the leaders' values, on all of them, once all have come.  As a
 * side effect, each leader gets connected to some others.  Only the first rank
 * of each node calls.  0 or DRASYNC_EPEER. */
int boot_min(struct boot *boot, int64_t *value);

/*
 * This rank's end of a transport between all ranks; the numbers of nodes there
 * are those of ranks.  It calls alone, whenever it likes, once at a time; those
 * that talk to each other need the same @data.  @few: it keeps memory for few
 * messages that come at a time.  Close it before boot_close().
 */
int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user, bool few,
                   struct transport **out);

/* Free what boot_join() made; collective over all, or not at all if @alone.  If
 * not alone, MPI_Finalize must come next on all ranks; see boot_leave.c. */
void boot_close(struct boot *boot, bool alone);

/* May MPI leave its connections as they are?  See boot_leave.c. */
bool boot_left(void);

/* The first call of MPI that failed in this process, with what MPI says of it:
 * "MPI_Bcast failed: ..."; NULL: none that is known. */
const char *boot_failure(void);

/* End the job now. */
void boot_abort(int code) __attribute__((noreturn));

#endif /* DRASYNC_TRANSPORT_BOOT_H */
