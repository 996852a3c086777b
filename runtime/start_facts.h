/* start_facts.h - what ranks tell each other at the start. */
#ifndef DRASYNC_RUNTIME_START_FACTS_H
#define DRASYNC_RUNTIME_START_FACTS_H

#include <stdint.h>

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
    uint8_t threads_many; /* MPI gives MPI_THREAD_MULTIPLE */
    uint8_t direct;       /* boot_direct() of MPI's collectives */
    uint8_t leave;        /* boot_leave_vote() */
    uint8_t adapters;     /* boot_registers() */
    uint32_t addresses[START_ADDRESSES]; /* transport/connections.h; 0: none */
    char host[44];
};

#endif /* DRASYNC_RUNTIME_START_FACTS_H */
