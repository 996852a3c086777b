/*
 * start_socket.h - descriptors of the leader's for ranks that cannot open them
 * through /proc: over a socket whose name they know from the leader's facts.
 */
#ifndef DRASYNC_RUNTIME_START_SOCKET_H
#define DRASYNC_RUNTIME_START_SOCKET_H

#include <stdint.h>

struct start_facts;

/* On the leader.  A descriptor, or -1 with errno. */
int start_socket_listen(void);

/* Those who ask now get @count descriptors and @err; how many did.  Waits for
 * nobody. */
uint32_t start_socket_serve(int listener, const int *fds, int count, int err);

/* On another rank: at most @max descriptors in @fds, and @leader's error.  0, or
 * an errno; ECONNREFUSED: the leader does not listen yet; ECONNRESET: it ended
 * without an answer. */
int start_socket_ask(const struct start_facts *leader, int *fds, int max,
                     int *count_out, int *err_out);

#endif /* DRASYNC_RUNTIME_START_SOCKET_H */
