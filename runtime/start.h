/*
 * start.h - between the files of runtime/ that start and end it; and the
 * questions that the take-over of MPI_Init asks.
 *
 * The start is one exchange of what each rank knows (start_facts.c), from which
 * all conclude the same: whether they can start, who is where (start_places.c),
 * at which address.  Then the ranks of a node meet in a page that their leader
 * makes (start_page.c), and sleep there; only leaders talk through MPI.
 */
#ifndef DRASYNC_RUNTIME_START_H
#define DRASYNC_RUNTIME_START_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/process.h"

/* Did the library start MPI by itself?  Then MPI_Init has nothing to do. */
bool runtime_started_mpi(void);

/* Before MPI reads what is set for it, and starts threads: boot_before_mpi(), and
 * what the kernel does at once for a process of one thread, and for one of
 * several only after a grace period of RCU (10 ms and more).  Without it all
 * works, later. */
void start_before_mpi(void);

/* --- What ranks tell each other -------------------------------------------- */

/* So many addresses of a host are known to the others. */
#define START_ADDRESSES 8

/* What a rank tells all others, once. */
struct start_facts {
    uint64_t machine_key; /* who see each other in /proc */
    uint64_t host_key;    /* and share a host name and a network */
    uint64_t options_hash;
    uint64_t start_ticks; /* of the process: runtime/peer.h */
    uint64_t secret[2]; /* random, of the rank and this start: start_socket.h */
    int32_t pid;
    int32_t page_fd;       /* start_page_reserve() */
    int32_t err;           /* why it cannot start */
    int32_t space_err;     /* the same, with its own options; 0 if err */
    uint32_t free_places;  /* for the space: bits of space_probe() */
    uint32_t processors;   /* of its machine */
    uint32_t allowed;      /* that it may use; */
    uint32_t allowed_key;  /* equal for those who may use the same */
    uint16_t threads_many; /* MPI gives MPI_THREAD_MULTIPLE */
    uint16_t leave;        /* boot_leave_vote() */
    uint32_t addresses[START_ADDRESSES]; /* transport/connections.h; 0: none */
    char host[44];
};

/* What came of it, the same on all ranks but for the order of memory. */
struct start_agreed {
    struct start_facts *facts; /* [ranks] */
    struct space_layout layout;
    int candidate; /* where the space lies */
};

/*
 * Exchange facts.  0, or a code, the same on all ranks; then one rank has said
 * why, and there is nothing in *@out.  Collective over all, as runtime_start()
 * is.  Fills in runtime.options.
 */
int start_agree(struct start_agreed *out);

/* Rank @who says @line ("": it has said it) before any rank goes on, as they may
 * end the job next.  Collective over all. */
void start_refused(int who, const char *line);

/* --- Who is where ---------------------------------------------------------- */

/* Arrays for @ranks, in struct runtime's fields of these names; host_of: the
 * first rank of each one's host. */
struct start_places {
    int *node_of, *local_of, *leader_of, *host_of;
    int nodes, hosts;
};

/*
 * Ranks with the same host key are a host; a host is cut, in the order of ranks,
 * into nodes of @node_ranks (0: one node).  Nodes are numbered by their first
 * rank.  The arrays are in @room, of start_places_bytes(), which is the caller's.
 */
void start_places_find(const struct start_facts *facts, int ranks,
                       int node_ranks, void *room, struct start_places *out);
size_t start_places_bytes(int ranks);

/* Do the ranks on the machine of @rank outnumber its processors, or those who may
 * use just what @rank may? */
bool start_crowded(const struct start_facts *facts, int ranks, int rank);

/* Is that so of each rank? */
bool start_all_crowded(const struct start_facts *facts, int ranks);

/* --- Where a node meets ----------------------------------------------------- */

/* What the leader makes and all ranks of its node open. */
enum start_file {
    START_DATA,
    START_CONTROL,
    START_WAKE, /* a pipe: runtime/messages/outbox.h */
    START_FILES,
};

/*
 * Hold a descriptor for the page, whose number others may be told.  -1 with
 * errno.
 */
int start_page_reserve(void);

/* On the leader, whose facts are @own: make the page, at @own->page_fd.  0, or an
 * error that has been said; then others hear of it as they do of the page. */
int start_page_make(const struct start_facts *own);

/* On the others: wait for the leader, whose facts these are, to make the page.
 * 0, or an error that has been said. */
int start_page_open(const struct start_facts *leader);

/* On the leader: @files are there, with all that is to be in them, or, with
 * @err, will not be. */
void start_page_fill(const int *files, int err);

/* On the others: wait for that; own descriptors of the @files.  0,
 * DRASYNC_EPEER: the leader cannot; or an error that has been said. */
int start_page_files(const struct start_facts *leader, int *files);

/* This rank has done its part, or could not: @err.  On the leader: wait for the
 * others of the node; the least error of any. */
int start_page_arrive(int err);

/* What the leader concludes, @err, on all ranks of the node.  Ends the page. */
int start_page_conclude(int err);

/* --- Parts of the start and the end ----------------------------------------- */

/* Map the node's memory: as leader into new @files, else into those given.  0,
 * or an error that has been said. */
int start_memory_make(const struct start_agreed *agreed, int *files);
int start_memory_open(const struct start_agreed *agreed, const int *files);

/* Fill the shared structure, on the leader. */
int start_shared(const struct start_facts *facts);

/* Handlers for exit and fork, once. */
void start_watch_process(void);

/* MPI_Finalize has begun, seen through MPI or the take-over. */
void stop_at_finalize(void);

/* After that: MPI must be left as it is, since a rank has died without which
 * MPI_Finalize does not end (survive.h). */
bool stop_leaves_mpi(void);

/* Where there is one node: if all its ranks are in finalize, or buried, that
 * ends. */
void stop_look(void);

/* This rank's end without MPI_Finalize; waits for nobody. */
void stop_alone(void);

#endif /* DRASYNC_RUNTIME_START_H */
