/*
 * sockets.h - what a thread can sleep on to be woken when MPI's sockets have
 * something.
 *
 * MPI tells nobody which descriptors it waits for.  But what moves its messages
 * over TCP (UCX, libfabric) keeps its connections in epoll sets of this process,
 * and a set is a descriptor that can be waited for itself.
 */
#ifndef DRASYNC_TRANSPORT_SOCKETS_H
#define DRASYNC_TRANSPORT_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The epoll sets of this process that have a TCP connection among their members
 * now, at most @max; how many.  They stay their owners', who may be others than
 * MPI (a launcher's library, the program), and may close them: so who is woken may
 * have nothing to do.  That there are some does not say that MPI's messages come
 * there: see sockets_moved().
 */
int sockets_find_sets(int *fds, int max);

/*
 * How much has moved over the connections in these sets: another number if any
 * data went or came in between.  Others' connections are mostly silent, so if it
 * is another one after MPI has sent something to another host, and the same while
 * MPI does not run over TCP.  0 where the kernel does not count (before Linux 4.6).
 */
uint64_t sockets_moved(void);

/* Call @visit with each TCP connection among the members of the epoll set @set,
 * until it returns false. */
void sockets_each_connection(int set, bool (*visit)(void *arg, int fd),
                             void *arg);

#endif /* DRASYNC_TRANSPORT_SOCKETS_H */
