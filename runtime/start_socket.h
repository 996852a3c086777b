/*
 * start_socket.h - descriptors of the leader's for ranks that cannot open them
 * through /proc: over a socket whose name they know from the leader's facts.
 *
 * Other users, and other jobs of this one, see the name once it is there.  They
 * get nothing: the leader asks the kernel who connects, and hears the leader's
 * secret first.  Nor do they delay the others: nobody waits for who connects and
 * says nothing.
 */
#ifndef DRASYNC_RUNTIME_START_SOCKET_H
#define DRASYNC_RUNTIME_START_SOCKET_H

#include <stdint.h>

struct start_facts;

/* Connections that have not said the secret: the oldest goes when there is one
 * more, and each after so long. */
#define START_SOCKET_ASKING_MAX 64
#define START_SOCKET_SILENT_US  5000000

/* On the leader, whose facts are @own.  0, or -1 with errno. */
int start_socket_listen(const struct start_facts *own);
void start_socket_close(void);

/* Those who ask now, at @now_us, get @count descriptors and @err; how many did.
 * Waits for nobody. */
uint32_t start_socket_serve(const int *fds, int count, int err,
                            uint64_t now_us);

/* On another rank: at most @max descriptors in @fds, and @leader's error.  0, or
 * an errno.  It makes sense to ask again after ECONNREFUSED: the leader does not
 * listen yet; ECONNRESET: it ended without an answer; EAGAIN: too many others
 * ask. */
int start_socket_ask(const struct start_facts *leader, int *fds, int max,
                     int *count_out, int *err_out);

/* What start_socket_ask() reads of an answer that comes by @fd. */
int start_socket_receive(int fd, int *fds, int max, int *count_out,
                         int *err_out);

#endif /* DRASYNC_RUNTIME_START_SOCKET_H */
